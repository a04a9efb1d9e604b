"""The report's plots of flows: each one's course under an AQM, and all AQMs' goodput and fairness.

Stands on the series that `flow_series` derived and on plain data for plotly.js. Knows no page.
"""

from collections.abc import Callable, Mapping

import numpy as np

from sojourn.flow_series import Floats, FlowSeries, read_flow_series
from sojourn.report.panels import add_panel, hang, legend_below, panels
from sojourn.report.plain import Figure
from sojourn.report.style import text
from sojourn.result import Result
from sojourn.style import COLOURS, looks

_SHOWN = 12
"""Flows that a plot of single ones has room for."""


_Row = tuple[str, Callable[[FlowSeries], Floats], str]
"""A panel: its title, its values, how one of them is told."""


def series_of(result: Result) -> dict[str, FlowSeries]:
    """The series of every AQM that has some."""
    duration = result.compared or result.scenario.duration
    read = {name: read_flow_series(aqm.folder, duration) for name, aqm in result.aqms.items()}
    return {name: series for name, series in read.items() if series is not None}


def shares(result: Result, series: Mapping[str, FlowSeries]) -> Figure:
    """Goodput of all flows together and Jain's index, a curve an AQM."""
    look = looks(result.folder.runs)
    figure = Figure()
    rows: tuple[_Row, ...] = (
        ("goodput of all flows, Mbit/s", lambda s: s.total / 1e6, "%{y:.1f} Mbit/s"),
        ("Jain's fairness index", lambda s: s.fairness, "%{y:.3f}"),
    )
    for panel, (place, (title, values, unit)) in enumerate(
        zip(panels(len(rows)), rows, strict=True), start=1
    ):
        for label, one in series.items():
            figure.add_scatter(
                x=one.time / 1e9,
                y=np.round(values(one), 4),
                mode="lines",
                name=text(label),
                legendgroup=label,
                showlegend=panel == 1,
                line={"color": look[label].colour, "dash": look[label].dash, "width": 1.4},
                hovertemplate=unit,
                xaxis="x",
                yaxis=f"y{panel}",
            )
        add_panel(figure, panel, place, title, rangemode="tozero")
    return _finished(figure, len(rows), 240)


def single(series: Mapping[str, FlowSeries]) -> Figure:
    """Each flow's goodput, window, round trip and retransmissions; a button an AQM."""
    figure = Figure()
    rows: tuple[_Row, ...] = (
        ("goodput, Mbit/s", lambda s: s.goodput / 1e6, "%{y:.2f} Mbit/s"),
        ("congestion window, kB", lambda s: s.window / 1e3, "%{y:.1f} kB"),
        ("smoothed round-trip time, ms", lambda s: s.round_trip / 1e6, "%{y:.2f} ms"),
        ("segments sent again so far", lambda s: s.retransmitted, "%{y:.0f}"),
    )
    owners = []
    for place, (label, one) in enumerate(series.items()):
        for panel, (_, values, unit) in enumerate(rows, start=1):
            table = np.round(values(one), 3)
            for number, flow in enumerate(one.flows[:_SHOWN]):
                owners.append(label)
                figure.add_scatter(
                    x=one.time / 1e9,
                    y=table[number],
                    mode="lines",
                    name=f"flow {flow}",
                    visible=not place,
                    showlegend=False,
                    line={"color": COLOURS[number % len(COLOURS)], "width": 1},
                    hovertemplate=unit,
                    xaxis="x",
                    yaxis=f"y{panel}",
                )
    for panel, (where, row) in enumerate(zip(panels(len(rows)), rows, strict=True), start=1):
        add_panel(figure, panel, where, row[0], rangemode="tozero")
    buttons = [
        {
            "label": text(label),
            "method": "restyle",
            "args": ["visible", [owner == label for owner in owners]],
        }
        for label in series
    ]
    if len(buttons) > 1:
        figure.update_layout(
            updatemenus=[
                {
                    "buttons": buttons,
                    **{"x": 0, "xanchor": "left", "y": 1.03, "yanchor": "bottom"},
                }
            ]
        )
    finished = _finished(figure, len(rows), 150)
    return finished.update_layout(margin={"t": 80})


def _finished(figure: Figure, rows: int, height: int) -> Figure:
    hang(figure, rows, height=100 + height * rows, hover=".2f")
    return legend_below(figure, -0.12)
