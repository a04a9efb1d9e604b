"""The report's plot of a queue's course: delay percentiles, backlog, utilisation; all AQMs in each.

Stands on the figures that `statistics` derived and on plain data for plotly.js. Knows no page.
"""

from collections.abc import Callable

import numpy as np

from sojourn.queues import Queue
from sojourn.report.panels import (
    LOGARITHMIC,
    add_panel,
    add_target,
    hang,
    legend_below,
    panels,
)
from sojourn.report.plain import Figure
from sojourn.report.style import text
from sojourn.result import Result
from sojourn.statistics import Floats, QueueOverTime
from sojourn.style import DELAY_FLOOR, looks

_Row = tuple[str, Callable[[QueueOverTime], Floats], str, bool]
"""A panel: its title, its values, how one of them is told, whether its scale is logarithmic."""

_ROWS: tuple[_Row, ...] = (
    ("median queue delay, ms (log scale)", lambda q: _ms(q.median), "%{y:.2f} ms", True),
    ("99th percentile of it, ms (log scale)", lambda q: _ms(q.p99), "%{y:.2f} ms", True),
    ("in the queue, kB", lambda q: q.backlog / 1e3, "%{y:.1f} kB", False),
    ("utilisation, %", lambda q: 100 * q.utilisation, "%{y:.1f} %", False),
)


def over_queue(result: Result, queue: Queue) -> Figure:
    """Four panels on one time axis, a curve an AQM in each."""
    look, figure = looks(result.folder.runs), Figure()
    target = result.scenario.target / 1e6
    for panel, (place, (title, values, unit, is_log)) in enumerate(
        zip(panels(len(_ROWS)), _ROWS, strict=True), start=1
    ):
        for run in queue.runs:
            course = run.findings.queue
            figure.add_scatter(
                x=np.round(course.time / 1e9, 4),
                y=np.round(values(course), 3),
                mode="lines",
                name=text(run.label),
                legendgroup=run.label,
                showlegend=panel == 1,
                line={
                    "color": look[run.label].colour,
                    "dash": look[run.label].dash,
                    "width": 1.4,
                },
                hovertemplate=unit,
                xaxis="x",
                yaxis=f"y{panel}",
            )
        scale = LOGARITHMIC if is_log else {"rangemode": "tozero"}
        add_panel(figure, panel, place, title, **scale)
        if is_log:
            add_target(figure, panel, target)
    until, height = result.scenario.duration / 1e9, 100 + 150 * len(_ROWS)
    hang(figure, len(_ROWS), height=height, hover=".2f", until=until)
    return legend_below(figure, -0.1)


def _ms(delay: Floats) -> Floats:
    return np.maximum(delay / 1e6, DELAY_FLOOR)
