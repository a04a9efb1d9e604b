"""The report's plots: a queue's delay over time, one panel for each AQM, and its distribution.

Depends on the figures that `statistics` derives and on `panels`, not on the page.
"""

from collections.abc import Sequence

import numpy as np

from sojourn.model.units import RATE
from sojourn.results.queues import Queue, QueueRun, rates
from sojourn.results.report.panels import Entry, Figure, Panel, Reading, Scale
from sojourn.results.result import Result
from sojourn.results.statistics import Floats
from sojourn.results.style import INK, MUTED, decimals, delay_floor, looks, milliseconds
from sojourn.results.traffic.curves import Curve

_DROP, _MARK = "#b91c1c", "#7c3aed"
_ABOVE = 106
"""End of the axis of shares, %: room for a label above the curves."""


def over_time(result: Result, queue: Queue) -> Figure:
    """The delay of a queue, all runs on the same logarithmic scale, each in a panel of its own."""
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    highest = 1.6 * max(queue.highest, 2 * target)
    floor = delay_floor(result.scenario.target)
    time = Scale(0, result.scenario.duration / 1e9, "time, s")
    figure = Figure(time, panel_height=165, decimals=3)
    for run in queue.runs:
        entry = Entry(run.label, look[run.label].colour)
        delay = Scale(floor, highest, logarithmic=True)
        panel = figure.add_panel(_panel_title(run), delay, colour=entry.colour)
        _add_delay(panel, run, entry, floor)
        panel.add_rule("width", target)
    _mark_steps(figure, result, queue, highest)
    return figure


def _mark_steps(figure: Figure, result: Result, queue: Queue, highest: float) -> None:
    """A line in every panel where the link's rate changes, and the rates in the first panel."""
    for at, rate in rates(result, queue):
        for panel in figure.panels:
            panel.add_rule("height", at / 1e9, colour=MUTED, dash="dotted")
        figure.panels[0].add_text(at / 1e9, highest, RATE.format(rate), MUTED)


def _panel_title(run: QueueRun) -> str:
    summary = run.summary
    return (
        f"{run.label}   mean {milliseconds(summary.mean)} ms, "
        f"p99 {milliseconds(summary.p99)} ms, max {milliseconds(summary.max)} ms"
    )


def _add_delay(panel: Panel, run: QueueRun, entry: Entry, floor: float) -> None:
    over_time = run.findings.over_time
    time = np.round(over_time.time / 1e9, 6)
    low, mean, high = (_drawn(v, floor) for v in (over_time.low, over_time.mean, over_time.high))
    panel.add_band(*_outline(time, low, high), entry)
    panel.add_line(time, mean, entry, _reading(floor), low=low, high=high)
    _add_events(panel, run, time, 1.25 * floor)


def _add_events(panel: Panel, run: QueueRun, time: Floats, foot: float) -> None:
    """A stroke at `foot`, ms, for each bin in which packets were dropped or marked."""
    over_time = run.findings.over_time
    within = (time[1] - time[0]) / 2 if len(time) > 1 else None
    for event, counts, colour in (
        ("dropped", over_time.drops, _DROP),
        ("marked", over_time.marks, _MARK),
    ):
        some = counts > 0
        if some.any():
            entry = Entry(f"{run.label}, {event}", colour)
            reading = Reading("packets", 0, within=within)
            panel.add_strokes(time[some], foot, counts[some], entry, reading)


def _outline(time: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The band from `low` to `high` as polygons, one for each stretch without an empty bin."""
    full = np.flatnonzero(~np.isnan(low))
    stretches = np.split(full, np.flatnonzero(np.diff(full) > 1) + 1)
    gap = np.array([np.nan])
    x = [part for s in stretches for part in (time[s], time[s][::-1], gap)]
    y = [part for s in stretches for part in (high[s], low[s][::-1], gap)]
    return np.concatenate(x), np.concatenate(y)


def distribution(result: Result, queue: Queue) -> Figure:
    """The share of a queue's packets that waited at most a given time."""
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    highest = 1.3 * max(queue.highest, 2 * target)
    floor = delay_floor(result.scenario.target)
    delay = Scale(floor, highest, "queue delay, ms (log scale)", logarithmic=True)
    digits = _reading(floor).decimals
    figure = Figure(delay, panel_height=380, at="at most {} ms", decimals=digits, zoom="both")
    panel = figure.add_panel("", Scale(0, _ABOVE, "packets with at most this delay, %"))
    for run in sorted(queue.runs, key=lambda run: run.summary.median or 0):
        curve = run.findings.distribution
        note = f"median {milliseconds(run.summary.median)} ms"
        entry = Entry(run.label, look[run.label].colour, look[run.label].dash, note)
        share = np.round(100 * curve.share, 4)
        reading = Reading("% of packets", 1, last=True)
        panel.add_line(_drawn(curve.delay, floor), share, entry, reading, width=2.2)
        figure.legend.append(entry)
    panel.add_rule("height", target)
    panel.add_text(target, _ABOVE, f"target {target:g} ms", INK)
    return figure


def traffic(result: Result, groups: Sequence[tuple[str, list[Curve]]], axis: str) -> Figure:
    """The share of each group's times up to a time, a panel per group, a curve per AQM."""
    look = looks(result.folder.runs)
    times = [time for _, curves in groups for _, time, _ in curves]
    floor = delay_floor(result.scenario.target)
    low = max(0.8 * min(float(time[0]) for time in times), floor)
    high = 1.3 * max(float(time[-1]) for time in times)
    scale = Scale(low, max(high, 2 * low), f"{axis}, ms (log scale)", logarithmic=True)
    figure = Figure(scale, panel_height=240, at="at most {} ms", zoom="both")
    for name, curves in groups:
        panel = figure.add_panel(f"{name}, %", Scale(0, _ABOVE))
        for label, time, share in curves:
            entry = Entry(label, look[label].colour, look[label].dash)
            delay = _drawn(time * 1e6, floor)
            reading = Reading(f"% of {name}", 1, last=True)
            panel.add_line(delay, np.round(share, 4), entry, reading, width=2)
            if entry not in figure.legend:
                figure.legend.append(entry)
    return figure


def _drawn(values: Floats, floor: float) -> Floats:
    """ns to ms, rounded to what can be seen above `floor`, so that the page stays small."""
    return np.maximum(values / 1e6, floor).round(decimals(floor) + 2)


def _reading(floor: float) -> Reading:
    return Reading("ms", decimals(floor))
