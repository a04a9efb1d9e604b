"""Summary of a sweep for readers: rows of means with their intervals.

Depends on the table and the intervals. The terminal and the page show the same rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from sojourn.results.intervals import Interval, over_seeds
from sojourn.results.metrics import SHOWN, Metric
from sojourn.studies.sweeps.plan import SweepPlan


@dataclass(frozen=True)
class Rows:
    """A table of text."""

    heads: tuple[str, ...]
    keys: int
    """The number of leading columns that identify a row."""
    rows: tuple[tuple[str, ...], ...]


def summary(plan: SweepPlan, table: pa.Table) -> Rows:
    """A row for each cell, AQM and bottleneck: the mean over seeds and half its 95 % interval."""
    several = len(set(table.column("bottleneck").to_pylist())) > 1
    by = [*(axis.name for axis in plan.axes), "aqm", "bottleneck"]
    found = {metric.name: over_seeds(table, by, metric.name) for metric in SHOWN}
    points = dict.fromkeys(zip(*(table.column(name).to_pylist() for name in by), strict=True))
    keys = by if several else by[:-1]
    heads = [*keys, "runs", *(f"{metric.name} {metric.unit}" for metric in SHOWN)]
    rows = tuple(
        (
            *_names(plan, point[: len(keys)]),
            str(max((one[point].count for one in found.values() if point in one), default=0)),
            *(_cell(metric, found[metric.name].get(point)) for metric in SHOWN),
        )
        for point in points
    )
    return Rows(tuple(heads), len(keys), rows)


def _names(plan: SweepPlan, point: tuple[object, ...]) -> Iterator[str]:
    axes = plan.axes
    yield from (axis.shown(value) for axis, value in zip(axes, point, strict=False))
    yield from (str(value) for value in point[len(axes) :])


def _cell(metric: Metric, found: Interval | None) -> str:
    if found is None:
        return "-"
    return metric.show(found.mean, found.half)
