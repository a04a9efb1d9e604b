"""The report's plot of a queue's course: delay percentiles, backlog, utilisation; all AQMs in each.

Depends on the figures that `statistics` derives and on `panels`, not on the page.
"""

from collections.abc import Callable

import numpy as np

from sojourn.results.queues import Queue
from sojourn.results.report.panels import Entry, Figure, Reading, Scale
from sojourn.results.result import Result
from sojourn.results.statistics import Floats, QueueOverTime
from sojourn.results.style import DELAY_FLOOR, looks

_Row = tuple[str, Callable[[QueueOverTime], Floats], Reading, bool]
"""A panel: its title, its values, their reading, whether its scale is logarithmic."""

_ROWS: tuple[_Row, ...] = (
    ("median queue delay, ms (log scale)", lambda q: _ms(q.median), Reading("ms", 2), True),
    ("99th percentile of it, ms (log scale)", lambda q: _ms(q.p99), Reading("ms", 2), True),
    ("in the queue, kB", lambda q: q.backlog / 1e3, Reading("kB", 1), False),
    ("utilisation, %", lambda q: 100 * q.utilisation, Reading("%", 1), False),
)


def queue_course(result: Result, queue: Queue) -> Figure:
    """Four panels on one time axis, a curve an AQM in each."""
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    figure = Figure(Scale(0, result.scenario.duration / 1e9, "time, s"), panel_height=150)
    figure.legend = [
        Entry(run.label, look[run.label].colour, look[run.label].dash) for run in queue.runs
    ]
    for title, values, reading, is_log in _ROWS:
        scale = Scale(logarithmic=True) if is_log else Scale(low=0)
        panel = figure.add_panel(title, scale)
        for run, entry in zip(queue.runs, figure.legend, strict=True):
            course = run.findings.queue
            time = np.round(course.time / 1e9, 4)
            panel.add_line(time, np.round(values(course), 3), entry, reading)
        if is_log:
            panel.add_rule("width", target)
    return figure


def _ms(delay: Floats) -> Floats:
    return np.maximum(delay / 1e6, DELAY_FLOOR)
