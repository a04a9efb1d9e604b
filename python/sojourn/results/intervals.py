"""Means over seeds, each with its 95 % confidence interval by Student's t.

Depends on the sweep's table. One seed has a mean and no interval.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """A mean over `count` seeds, and how far off it may be either way."""

    mean: float
    half: float | None
    """None for one seed."""
    count: int


def interval(values: Sequence[float]) -> Interval | None:
    """The mean of `values` and half its confidence interval; none of nothing.

    Half the interval is t(0.975, n - 1) times the sample's standard deviation over sqrt(n).
    """
    if not values:
        return None
    found = np.asarray(values, np.float64)
    mean, count = float(found.mean()), len(found)
    if count < 2:
        return Interval(mean, None, count)
    # Half a second to import all of scipy.stats for this one function of it.
    from scipy.special import stdtrit

    t = float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
    return Interval(mean, t * float(found.std(ddof=1)) / math.sqrt(count), count)


Point = tuple[Any, ...]


def over_seeds(table: pa.Table, by: Sequence[str], metric: str) -> dict[Point, Interval]:
    """`metric` for each combination of the columns `by`, in the table's order, over all seeds.

    A combination in which no run has the metric, as a delay where nothing was queued, is missing.
    """
    columns = [table.column(name).to_pylist() for name in by]
    values = table.column(metric).to_pylist()
    groups: dict[Point, list[float]] = {}
    for *point, value in zip(*columns, values, strict=True):
        group = groups.setdefault(tuple(point), [])
        if value is not None:
            group.append(value)
    found = {point: interval(group) for point, group in groups.items()}
    return {point: one for point, one in found.items() if one is not None}
