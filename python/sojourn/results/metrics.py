"""The figures of a run by name, each with its unit and format.

Depends on the figures of a run. Draws nothing.
"""

import math
from dataclasses import dataclass

from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError


@dataclass(frozen=True)
class Metric:
    """A figure of the table."""

    name: str
    meaning: str
    unit: str
    """As it is shown."""
    scale: float
    """Divisor from the table's number to that unit."""

    def show(self, value: float, half: float | None = None) -> str:
        """`value`, as the table has it, to three digits, with half its interval to as many
        decimals; to fewer if the interval has two digits then."""
        shown = value / self.scale
        decimals = min(max(2 - _magnitude(shown), 0), 4)
        if half:
            decimals = min(decimals, max(1 - _magnitude(half / self.scale), 0))
        error = "" if half is None else f" ± {half / self.scale:.{decimals}f}"
        return f"{shown:.{decimals}f}{error}"


def _magnitude(value: float) -> int:
    """The power of ten of the first digit; 0 of zero."""
    return math.floor(math.log10(abs(value))) if value else 0


def _milliseconds(name: str, meaning: str) -> Metric:
    return Metric(name, meaning, "ms", 1e6)


_ALL = (
    _milliseconds("mean", "mean queue delay"),
    _milliseconds("median", "median queue delay"),
    _milliseconds("p95", "95th percentile of queue delay"),
    _milliseconds("p99", "99th percentile of queue delay"),
    _milliseconds("max", "largest queue delay"),
    Metric("above_target", "packets above the target", "%", 0.01),
    Metric("goodput", "goodput", "Mbit/s", 1e6),
    Metric("utilisation", "utilisation", "%", 0.01),
    Metric("drop_share", "packets dropped", "%", 0.01),
    Metric("aqm_drops", "packets that the AQM dropped", "packets", 1),
    Metric("tail_drops", "packets that found the queue full", "packets", 1),
    Metric("ingress_drops", "packets that a program's ingress dropped", "packets", 1),
    Metric("marks", "packets marked", "packets", 1),
    Metric("packets", "packets offered", "packets", 1),
    Metric("fairness", "Jain's index of the flows' goodput", "", 1),
    Metric("recirculated", "packets recirculated", "packets", 1),
    Metric("recirculated_share", "bytes recirculated", "%", 0.01),
    Metric("mirrored", "packets mirrored", "packets", 1),
)

_OF_GROUPS = (
    Metric("completed", "exchanges that were complete", "exchanges", 1),
    Metric("unfinished", "exchanges that the run's end cut short", "exchanges", 1),
    _milliseconds("completion_mean", "mean completion time"),
    _milliseconds("completion_median", "median completion time"),
    _milliseconds("completion_p95", "95th percentile of completion time"),
    _milliseconds("completion_p99", "99th percentile of completion time"),
    Metric("slowdown_mean", "mean slowdown", "", 1),
    Metric("slowdown_median", "median slowdown", "", 1),
    Metric("slowdown_p99", "99th percentile of slowdown", "", 1),
    _milliseconds("one_way_mean", "mean one-way delay of voice"),
    _milliseconds("one_way_p95", "95th percentile of the one-way delay of voice"),
    _milliseconds("one_way_p99", "99th percentile of the one-way delay of voice"),
    _milliseconds("jitter", "jitter of voice"),
    Metric("lost", "voice datagrams lost", "%", 0.01),
    Metric("late", "voice datagrams too late", "%", 0.01),
    Metric("rating", "R of the E-model", "", 1),
    Metric("mos", "mean opinion score", "", 1),
)

METRICS = {metric.name: metric for metric in _ALL}
"""Of a queue, by name."""

GROUP_METRICS = {metric.name: metric for metric in _OF_GROUPS}
"""Of single groups of flows alone, by name."""

IN_GROUPS = (
    "mean", "median", "p95", "p99", "max", "above_target", "goodput", "drop_share", "aqm_drops",
    "tail_drops", "ingress_drops", "marks", "packets", "fairness",
)  # fmt: skip
"""Metrics of a queue that single groups have, too."""

_SHOWN_OF_GROUPS = {
    "Groups of flows": ("mean", "p99", "goodput", "drop_share", "fairness"),
    "Completion times": (
        "completed", "completion_mean", "completion_median", "completion_p99", "slowdown_median",
    ),
    "Voice": ("one_way_mean", "one_way_p99", "jitter", "lost", "late", "mos"),
}  # fmt: skip

SHOWN = tuple(METRICS[name] for name in ("mean", "p99", "goodput", "utilisation", "drop_share"))
"""Those that tables for people have."""

SHOWN_OF_GROUPS = {
    title: tuple((METRICS | GROUP_METRICS)[name] for name in names)
    for title, names in _SHOWN_OF_GROUPS.items()
}
"""Those that tables of groups have, by the table's title."""

DRAWN = tuple(METRICS[name] for name in ("mean", "p99", "utilisation", "drop_share"))
"""Those that are drawn unless a sweep says which."""


def find_metric(name: str) -> Metric:
    """The metric called `name`."""
    known = METRICS | GROUP_METRICS
    if name in known:
        return known[name]
    hint = did_you_mean(name, known)
    raise ScenarioError(f"plots: no metric {name!r}{hint}\nKnown: {', '.join(known)}.")
