"""A run's plots for a page of print: as wide as its columns, without titles, readable in grey.

A caption has what a title would say. Each AQM has a colour and a dash of its own, and the legend
lies below the panels. Depends on the figures of a result and on matplotlib.
"""

from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.results.plots import bare, delay_axis, named_legend
from sojourn.results.queues import Queue, plotted
from sojourn.results.result import Result
from sojourn.results.style import COLOURS, DASHES, INK, TARGET_COLOUR, delay_floor
from sojourn.results.traffic.curves import Curve, completion_curves, voice_curves
from sojourn.runtime.run_files import DELAY_PLOT, DISTRIBUTION_PLOT

_TWO_COLUMNS = 5.0
"""Inches from which on a picture has room for several panels beside each other."""


def paper_figures(result: Result, width: float) -> Iterator[tuple[str, Figure]]:
    """All plots, each with the name of its file; `width` in inches."""
    for queue in plotted(result):
        ending = queue.bottleneck.ending
        yield f"{DELAY_PLOT}{ending}", _over_time(result, queue, width)
        yield f"{DISTRIBUTION_PLOT}{ending}", _distribution(queue, result.scenario.target, width)
    for name, axis, counted, panels in (
        ("completion_times", "completion time, ms", "exchanges", list(completion_curves(result))),
        ("voice", "one-way delay, ms", "datagrams", list(voice_curves(result))),
    ):
        if panels:
            floor = delay_floor(result.scenario.target)
            yield name, _curves(panels, axis, counted, width, floor)


def _over_time(result: Result, queue: Queue, width: float) -> Figure:
    """One panel for each AQM: mean and range of the delay."""
    count = len(queue.runs)
    figure = Figure(figsize=(width, 0.62 + 0.85 * count), layout="constrained")
    panels = figure.subplots(count, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    target = result.scenario.target / 1e6
    floor = delay_floor(result.scenario.target)
    for panel, run in zip(panels, queue.runs, strict=True):
        course = run.findings.over_time
        low, mean, high = (
            np.maximum(values / 1e6, floor) for values in (course.low, course.mean, course.high)
        )
        time = course.time / 1e9
        panel.set_yscale("log")
        panel.fill_between(time, low, high, color="0.75", linewidth=0, step="mid")
        panel.plot(time, mean, color=INK, linewidth=0.8)
        panel.axhline(target, color=TARGET_COLOUR, linewidth=0.7, linestyle=(0, (5, 3)))
        panel.set_title(run.label, loc="left", pad=2)
        bare(panel)
        delay_axis(panel.yaxis)
    panels[0].set_ylim(floor, 1.6 * max(queue.highest, 2 * target))
    panels[0].set_xlim(0, result.scenario.duration / 1e9)
    panels[-1].set_xlabel("time, s", color=INK)
    figure.supylabel("queue delay, ms", color=INK, fontsize=8)
    return figure


def _distribution(queue: Queue, target: int, width: float) -> Figure:
    """The share of packets up to a delay; `target` is in ns."""
    curves = [
        (
            run.label,
            run.findings.distribution.delay / 1e6,
            100 * run.findings.distribution.share,
        )
        for run in queue.runs
    ]
    floor = delay_floor(target)
    figure = _curves([("", curves)], "queue delay, ms", "packets", width, floor)
    at = target / 1e6
    figure.axes[0].axvline(at, color=TARGET_COLOUR, linewidth=0.7, linestyle=(0, (5, 3)))
    return figure


def _curves(
    panels: list[tuple[str, list[Curve]]], axis: str, counted: str, width: float, floor: float
) -> Figure:
    """Cumulative distributions from `floor`, ms, a panel each, with one legend below all."""
    across = min(len(panels), 2 if width > _TWO_COLUMNS else 1)
    down = -(-len(panels) // across)
    labels = list(dict.fromkeys(label for _, curves in panels for label, _, _ in curves))
    most = 4 if width > _TWO_COLUMNS else 2
    rows = -(-len(labels) // most)
    figure = Figure(figsize=(width, 2.0 * down + 0.2 * rows + 0.2), layout="constrained")
    grid = list(figure.subplots(down, across, squeeze=False).flat)
    lines = {}
    for panel, (title, curves) in zip(grid, panels, strict=False):
        for label, delay, share in curves:
            place = labels.index(label)
            (lines[label],) = panel.plot(
                np.maximum(delay, floor),
                share,
                color=COLOURS[place % len(COLOURS)],
                linestyle=DASHES[place % len(DASHES)],
                linewidth=1.3,
            )
        _style_axes(panel, title, axis, counted, floor)
    for panel in grid[len(panels) :]:
        panel.set_visible(False)
    look = {"loc": "outside lower center", "ncols": most, "frameon": False, "fontsize": 8}
    named_legend(figure, [lines[label] for label in labels], labels, **look)
    return figure


def _style_axes(panel: Axes, title: str, axis: str, counted: str, floor: float) -> None:
    panel.set_xscale("log")
    panel.set_ylim(0, 101)
    if panel.get_xlim()[0] < floor:
        panel.set_xlim(left=floor)
    bare(panel)
    delay_axis(panel.xaxis)
    panel.set_xlabel(axis, color=INK)
    panel.set_ylabel(f"{counted}, %", color=INK)
    if title:
        panel.set_title(title, loc="left", pad=2)
