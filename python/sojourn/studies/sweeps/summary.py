"""Summary of a sweep for readers: rows of means over seeds with their intervals.

Depends on the tables and the intervals. Terminal, page and JSON have the same rows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from sojourn.model.scenario.quantities import ALL_FLOWS
from sojourn.results.intervals import Interval, over_seeds
from sojourn.results.metrics import GROUP_METRICS, SHOWN, SHOWN_OF_GROUPS, Metric
from sojourn.studies.sweeps.plan import SweepPlan
from sojourn.studies.sweeps.table import end_to_end


@dataclass(frozen=True)
class Row:
    """Means over the seeds of one combination."""

    names: tuple[str, ...]
    figures: tuple[Interval | None, ...]

    @property
    def runs(self) -> int:
        """The number of seeds of the figures."""
        return max((one.count for one in self.figures if one is not None), default=0)


@dataclass(frozen=True)
class Rows:
    """A table of means."""

    names: tuple[str, ...]
    """Heads of the columns that identify a row."""
    metrics: tuple[Metric, ...]
    found: tuple[Row, ...]
    title: str = ""

    @property
    def keys(self) -> int:
        """The number of leading columns that identify a row."""
        return len(self.names)

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads of all columns."""
        return (*self.names, "runs", *map(_head, self.metrics))

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Cells as text."""
        return tuple(
            (*row.names, str(row.runs), *map(_cell, self.metrics, row.figures))
            for row in self.found
        )

    def as_dicts(self) -> list[dict[str, Any]]:
        """For JSON: each mean in the unit of its head, and as `figures` mean, half interval and
        number of seeds in ns, bit/s and shares of 1."""
        return [
            {
                **dict(zip(self.names, row.names, strict=True)),
                "runs": row.runs,
                **{
                    _head(metric): None if one is None else one.mean / metric.scale
                    for metric, one in zip(self.metrics, row.figures, strict=True)
                },
                "figures": {
                    metric.name: None if one is None else asdict(one)
                    for metric, one in zip(self.metrics, row.figures, strict=True)
                },
            }
            for row in self.found
        ]


def summary(plan: SweepPlan, table: pa.Table) -> Rows:
    """A row for each cell, AQM and bottleneck: the mean over seeds and half its 95 % interval."""
    return _rows(plan, table, ["aqm"], SHOWN)


def group_summaries(plan: SweepPlan, groups: pa.Table | None) -> list[Rows]:
    """The same for each group of flows: what it got at the queue, completion times, voice."""
    if groups is None:
        return []
    named = set(groups.column("group").to_pylist()) - {ALL_FLOWS}
    found = []
    for title, metrics in SHOWN_OF_GROUPS.items():
        if title == next(iter(SHOWN_OF_GROUPS)) and len(named) < 2:
            continue
        own = end_to_end(groups) if all(one.name in GROUP_METRICS for one in metrics) else groups
        rows = _rows(plan, own, ["group", "aqm"], metrics, title)
        if rows.found:
            found.append(rows)
    return found


def _rows(
    plan: SweepPlan, table: pa.Table, of: list[str], metrics: Sequence[Metric], title: str = ""
) -> Rows:
    at = "bottleneck"
    several = at in table.column_names and len(set(table.column(at).to_pylist())) > 1
    by = [*(axis.name for axis in plan.axes), *of, *([at] if several else [])]
    found = {metric.name: over_seeds(table, by, metric.name) for metric in metrics}
    points = dict.fromkeys(zip(*(table.column(name).to_pylist() for name in by), strict=True))
    if title:
        # A group has all AQMs below each other.
        columns = [list(dict.fromkeys(column)) for column in zip(*points, strict=True)]
        points = dict.fromkeys(
            sorted(points, key=lambda p: [c.index(v) for c, v in zip(columns, p, strict=True)])
        )
    rows = (
        Row(
            tuple(_names(plan, point)),
            tuple(found[metric.name].get(point) for metric in metrics),
        )
        for point in points
    )
    # Of a table of its own a row has something to say; a cell without packets stays in the first.
    shown = tuple(row for row in rows if not title or row.runs)
    return Rows(tuple(by), tuple(metrics), shown, title)


def _names(plan: SweepPlan, point: tuple[object, ...]) -> Iterator[str]:
    axes = plan.axes
    yield from (axis.shown(value) for axis, value in zip(axes, point, strict=False))
    yield from (str(value) for value in point[len(axes) :])


def _head(metric: Metric) -> str:
    return f"{metric.name} {metric.unit}".strip()


def _cell(metric: Metric, found: Interval | None) -> str:
    if found is None:
        return "-"
    return metric.show(found.mean, found.half)
