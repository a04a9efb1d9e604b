"""Numbers from a set-up's tables: a value for each seed that a check selects.

Depends on the sweep's tables. Judges nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from sojourn.errors import ScenarioError
from sojourn.results.intervals import Interval, interval
from sojourn.studies.papers.model import Measure, Setup, Where
from sojourn.studies.sweeps.axes import Axis

Row = Mapping[str, Any]

_TAKE: dict[str, Callable[[Sequence[float]], float]] = {
    "max": max,
    "min": min,
    "mean": lambda values: sum(values) / len(values),
}


@dataclass(frozen=True)
class Measured:
    """A set-up that was run."""

    setup: Setup
    axes: tuple[Axis, ...]
    tables: Mapping[str, list[dict[str, Any]]]
    """Those of `TableName`: a row each, with axes, AQM and seed."""
    target: int
    folder: Path
    """The sweep's."""
    missing: tuple[str, ...] = ()
    """AQMs of targets that this version does not have."""
    failures: tuple[str, ...] = ()
    traces: Mapping[str, Path] = field(default_factory=dict)
    """Folder of each run whose rows are kept, by digest."""

    def stored(self, where: Where) -> dict[str, Any]:
        """`where` with its values as the tables have them."""
        axes = {axis.name: axis for axis in self.axes}
        found = {}
        for name, value in where.items():
            found[name] = axes[name].stored(value) if name in axes else value
        return found

    def select(self, table: str, where: Where) -> list[dict[str, Any]]:
        """The rows of `table` that are as `where` says."""
        wanted = self.stored(where)
        rows = self.tables.get(table, [])
        for name in wanted:
            if rows and name not in rows[0]:
                raise ScenarioError(f"{self.setup.name}: {table} has no column {name!r}")
        self._refuse_unknown_names(table, wanted, rows)
        return [row for row in rows if all(row[name] == value for name, value in wanted.items())]

    def _refuse_unknown_names(self, table: str, wanted: Where, rows: Sequence[Row]) -> None:
        """A name that no row has is a slip; an AQM may have failed, and an axis be cut short."""
        axes = {axis.name for axis in self.axes}
        for name, value in wanted.items():
            if name == "aqm" or name in axes or not isinstance(value, str):
                continue
            known = dict.fromkeys(str(row[name]) for row in rows)
            if rows and value not in known:
                raise ScenarioError(
                    f"{self.setup.name}: no row of {table} has {name} = {value!r}; there are "
                    f"{', '.join(known)}"
                )

    def labels(self) -> list[str]:
        """The AQMs in the order in which they were run."""
        return list(dict.fromkeys(row["aqm"] for row in self.tables["runs"]))


def rows_of(table: pa.Table) -> list[dict[str, Any]]:
    """A table as rows."""
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def by_seed(runs: Sequence[Measured], check: Measure, where: Where) -> dict[int, float]:
    """The metric of each seed that all of `runs` have, in the check's unit; seeds without a value
    are missing."""
    groups: dict[int, list[float]] = {}
    common: set[int] | None = None
    for measured in runs:
        seeds = set()
        for row in measured.select(check.table, where):
            value = row.get(check.metric)
            if value is not None:
                groups.setdefault(row["seed"], []).append(value / check.scale)
                seeds.add(row["seed"])
        common = seeds if common is None else common & seeds
    groups = {seed: values for seed, values in groups.items() if seed in (common or ())}
    if check.take == "only":
        several = [seed for seed, values in groups.items() if len(values) > 1]
        if several:
            raise ScenarioError(f"{check.says}: {where} selects several rows of seed {several[0]}")
        return {seed: values[0] for seed, values in groups.items()}
    return {seed: _TAKE[check.take](values) for seed, values in groups.items()}


def value_of(runs: Measured | Sequence[Measured], check: Measure) -> Interval | None:
    """The check's value in the runs of its set-ups, with its interval over the seeds; compared seed
    by seed."""
    runs = [runs] if isinstance(runs, Measured) else runs
    of = by_seed(runs, check, check.of)
    if check.form == "value":
        return interval(list(of.values()))
    if check.form == "excess":
        assert check.bound is not None
        return interval([100 * (value / check.bound - 1) for value in of.values()])
    to = by_seed(runs, check, check.to or {})
    pairs = [(of[seed], to[seed]) for seed in of if seed in to]
    return interval([_compared(check.form, one, other) for one, other in pairs])


def _compared(form: str, of: float, to: float) -> float:
    if form == "difference":
        return of - to
    ratio = of / to if to else float("inf") if of else 1.0
    return ratio if form == "ratio" else 100 * (1 - ratio)
