"""The report's plots of flows: each one's course under an AQM, and all AQMs' goodput and fairness.

Depends on the series that `flow_series` derives and on `panels`, not on the page.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sojourn.model.scenario.groups import groups_of
from sojourn.results.flow_series import Floats, FlowSeries, read_flow_series
from sojourn.results.flow_table import FlowFigures, flow_figures
from sojourn.results.report.panels import Entry, Figure, Reading, Scale, extent
from sojourn.results.result import Result
from sojourn.results.style import COLOURS, looks

SLOTS = 12
"""Flows whose curves are drawn at once."""

LISTED = 2_000
"""Flows that the table lists."""

_DASHES = ("solid", "dashed")
"""With the colours, a look of its own for each slot."""

_Row = tuple[str, Callable[[FlowSeries], Floats], Reading]
"""A panel: its title, its values, their reading."""

_ALL: tuple[_Row, ...] = (
    ("goodput of all flows, Mbit/s", lambda s: s.total / 1e6, Reading("Mbit/s", 1)),
    ("Jain's fairness index", lambda s: s.fairness, Reading("", 3)),
)

_EACH: tuple[_Row, ...] = (
    ("goodput, Mbit/s", lambda s: s.goodput / 1e6, Reading("Mbit/s", 2)),
    ("congestion window, kB", lambda s: s.window / 1e3, Reading("kB", 1)),
    ("smoothed round-trip time, ms", lambda s: s.round_trip / 1e6, Reading("ms", 2)),
    ("segments sent again so far", lambda s: s.retransmitted, Reading("", 0)),
)


def series_of(result: Result) -> dict[str, FlowSeries]:
    """The series of every AQM that has some."""
    duration = result.compared or result.scenario.duration
    read = {name: read_flow_series(aqm.folder, duration) for name, aqm in result.aqms.items()}
    return {name: series for name, series in read.items() if series is not None}


def shares(result: Result, series: Mapping[str, FlowSeries]) -> Figure:
    """Goodput of all flows together and Jain's index, one curve for each AQM."""
    look = looks(result.folder.runs)
    figure = Figure(_time(series), panel_height=220)
    figure.legend = [Entry(label, look[label].colour, look[label].dash) for label in series]
    for title, values, reading in _ALL:
        panel = figure.add_panel(title, Scale(low=0))
        for entry in figure.legend:
            one = series[entry.label]
            panel.add_line(one.time / 1e9, np.round(values(one), 4), entry, reading)
    return figure


def single(series: Mapping[str, FlowSeries]) -> Figure:
    """Goodput, window, round trip and retransmissions of the flows that the page selects.

    Each slot is a curve a panel; the page fills them from `each_flow`.
    """
    figure = Figure(_time(series), panel_height=150, menu=list(series))
    nothing = np.zeros(0)
    for title, _, reading in _EACH:
        panel = figure.add_panel(title, Scale(low=0))
        for number in range(SLOTS):
            dash = _DASHES[number // len(COLOURS) % len(_DASHES)]
            entry = Entry(f"{number}", COLOURS[number % len(COLOURS)], dash)
            panel.add_line(nothing, nothing, entry, reading)
    return figure


_Column = tuple[str, str, int, Callable[[FlowFigures], Floats]]
"""A column of the table of flows: its head, its meaning, digits after the point, its values."""

_COLUMNS: tuple[_Column, ...] = (
    ("goodput\nMbit/s", "payload that the receiver got", 3, lambda f: f.goodput / 1e6),
    ("mean\nms", "mean queue delay", 2, lambda f: f.mean / 1e6),
    ("max\nms", "longest queue delay", 2, lambda f: f.largest / 1e6),
    ("drops\n%", "share of its packets dropped at the queue", 2, lambda f: 100 * f.drop_share),
    ("CE\nmarks", "packets marked at the queue", 0, lambda f: f.marks),
    ("RTT\nms", "mean of the smoothed round-trip time", 2, lambda f: f.round_trip / 1e6),
    ("sent\nagain", "segments sent again", 0, lambda f: f.retransmitted),
)


def each_flow(result: Result, series: Mapping[str, FlowSeries]) -> dict[str, Any]:
    """All flows of each AQM, as data of the page: names, figures, curves of the panels of `single`.

    A number has four significant digits; `null` stands for none.
    """
    groups = groups_of(result.scenario.flows)
    count = min(groups[-1].end, LISTED)
    names = [group.name for group in groups for _ in range(group.first, group.end)][:count]
    columns = [
        {"head": head, "meaning": meaning, "decimals": decimals}
        for head, meaning, decimals, _ in _COLUMNS
    ]
    aqms = {}
    for label, one in series.items():
        figures = flow_figures(result, result.aqms[label], one, count)
        table = np.stack([values(figures) for *_, values in _COLUMNS], axis=1)
        aqms[label] = {
            "sampled": list(one.flows),
            "time": _numbers(one.time / 1e9),
            "table": [_numbers(row) for row in table],
            "curves": [[_numbers(row) for row in values(one)] for _, values, _ in _EACH],
        }
    return {"columns": columns, "groups": names, "aqms": aqms}


def _numbers(values: Floats) -> list[float | None]:
    """Four significant digits of each value; `None` for NaN."""
    return [float(f"{value:.4g}") if np.isfinite(value) else None for value in values.tolist()]


def _time(series: Mapping[str, FlowSeries]) -> Scale:
    low, high = extent(np.concatenate([one.time for one in series.values()]) / 1e9)
    return Scale(low, high, "time, s")
