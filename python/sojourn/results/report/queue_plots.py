"""The report's plot of a queue's course: delay percentiles, backlog, utilisation; all AQMs in each.

Depends on the figures that `statistics` derives and on `panels`, not on the page.
"""

from collections.abc import Callable

import numpy as np

from sojourn.results.queues import Queue
from sojourn.results.report.panels import Entry, Figure, Reading, Scale
from sojourn.results.result import Result
from sojourn.results.statistics import Floats, QueueOverTime
from sojourn.results.style import decimals, delay_floor, looks

_Row = tuple[str, Callable[[QueueOverTime], Floats], Reading]
"""A panel: its title, its values, their reading."""

_DELAYS: tuple[tuple[str, Callable[[QueueOverTime], Floats]], ...] = (
    ("median queue delay, ms (log scale)", lambda q: q.median),
    ("99th percentile of it, ms (log scale)", lambda q: q.p99),
)
_ROWS: tuple[_Row, ...] = (
    ("in the queue, kB", lambda q: q.backlog / 1e3, Reading("kB", 1)),
    ("utilisation, %", lambda q: 100 * q.utilisation, Reading("%", 1)),
)


def queue_course(result: Result, queue: Queue) -> Figure:
    """Four panels on one time axis, one curve for each AQM in each."""
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    figure = Figure(Scale(0, result.scenario.duration / 1e9, "time, s"), panel_height=150)
    figure.legend = [
        Entry(run.label, look[run.label].colour, look[run.label].dash) for run in queue.runs
    ]
    floor = delay_floor(result.scenario.target)
    for title, delay in _DELAYS:
        panel = figure.add_panel(title, Scale(logarithmic=True))
        for run, entry in zip(queue.runs, figure.legend, strict=True):
            course = run.findings.queue
            drawn = np.maximum(delay(course) / 1e6, floor).round(decimals(floor) + 1)
            panel.add_line(_seconds(course), drawn, entry, Reading("ms", decimals(floor)))
        panel.add_rule("width", target)
    for title, values, reading in _ROWS:
        panel = figure.add_panel(title, Scale(low=0))
        for run, entry in zip(queue.runs, figure.legend, strict=True):
            course = run.findings.queue
            panel.add_line(_seconds(course), np.round(values(course), 3), entry, reading)
    return figure


def _seconds(course: QueueOverTime) -> Floats:
    return np.round(course.time / 1e9, 4)
