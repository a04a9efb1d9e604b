"""The report's plots of flows: each one's course under an AQM, and all AQMs' goodput and fairness.

Depends on the series that `flow_series` derives and on `panels`, not on the page.
"""

from collections.abc import Callable, Mapping

import numpy as np

from sojourn.results.flow_series import Floats, FlowSeries, read_flow_series
from sojourn.results.report.panels import Entry, Figure, Reading, Scale, extent
from sojourn.results.result import Result
from sojourn.results.style import COLOURS, looks

_SHOWN = 12
"""Flows that a plot of single ones has room for."""


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
    """Goodput of all flows together and Jain's index, a curve an AQM."""
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
    """Each flow's goodput, window, round trip and retransmissions; the menu chooses the AQM."""
    figure = Figure(_time(series), panel_height=150, menu=list(series))
    for title, values, reading in _EACH:
        panel = figure.add_panel(title, Scale(low=0))
        for place, (label, one) in enumerate(series.items()):
            table = np.round(values(one), 3)
            for number, flow in enumerate(one.flows[:_SHOWN]):
                panel.add_line(
                    one.time / 1e9,
                    table[number],
                    Entry(f"flow {flow}", COLOURS[number % len(COLOURS)]),
                    reading,
                    width=1,
                    group=label,
                    visible=not place,
                )
    return figure


def _time(series: Mapping[str, FlowSeries]) -> Scale:
    low, high = extent(np.concatenate([one.time for one in series.values()]) / 1e9)
    return Scale(low, high, "time, s")
