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
        decimals."""
        shown = value / self.scale
        magnitude = math.floor(math.log10(abs(shown))) if shown else 0
        decimals = min(max(2 - magnitude, 0), 4)
        error = "" if half is None else f" ± {half / self.scale:.{decimals}f}"
        return f"{shown:.{decimals}f}{error}"


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

METRICS = {metric.name: metric for metric in _ALL}
"""By name."""

SHOWN = tuple(METRICS[name] for name in ("mean", "p99", "goodput", "utilisation", "drop_share"))
"""Those that tables for people have."""

DRAWN = tuple(METRICS[name] for name in ("mean", "p99", "utilisation", "drop_share"))
"""Those that are drawn unless a sweep says which."""


def find_metric(name: str) -> Metric:
    """The metric called `name`."""
    if name in METRICS:
        return METRICS[name]
    hint = did_you_mean(name, METRICS)
    raise ScenarioError(f"plots: no metric {name!r}{hint}\nKnown: {', '.join(METRICS)}.")
