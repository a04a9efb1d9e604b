"""The sweep's tables: a row for each run and bottleneck, and further tables of its traffic.

Reads the stored results one by one in the sweep's order; the same results give the same bytes. Must
not depend on intervals or plots.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from sojourn.results.group_table import group_fields
from sojourn.results.statistics import Summary
from sojourn.studies.sweeps.axes import Axis
from sojourn.studies.sweeps.plan import SweepPlan, SweepRun
from sojourn.studies.sweeps.store import Store

TABLE = "table.parquet"
_PART = 1000
"""Rows that are in memory at a time."""
GROUPS, DISTRIBUTIONS = "groups", "distributions"
"""The groups of flows of each run, and the queue delay's distribution of each."""
_LISTS = ("times", "voices", "phases", GROUPS, DISTRIBUTIONS)
"""Further tables, `times.parquet` and so on; some belong to some kinds of traffic only."""

_STORED = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}


def schema_of(axes: tuple[Axis, ...]) -> pa.Schema:
    """The columns: identity and axes, then the figures of `Summary` in its units."""
    return pa.schema(
        [
            *_identity(axes),
            pa.field("bottleneck", pa.string(), False),
            pa.field("aqm_there", pa.string(), False, {"meaning": "what manages this queue"}),
            *_summary_fields(),
            pa.field("drop_share", pa.float64(), True, {"meaning": "of the packets offered"}),
            pa.field("fairness", pa.float64(), True, {"meaning": "Jain's index over the flows"}),
        ]
    )


def _identity(axes: tuple[Axis, ...]) -> list[pa.Field]:
    return [
        *(_axis_field(axis) for axis in axes),
        pa.field("aqm", pa.string(), False),
        pa.field("seed", pa.int64(), False),
        pa.field("run", pa.string(), False, {"meaning": "the run's folder in runs/"}),
    ]


def _axis_field(axis: Axis) -> pa.Field:
    kind = type(axis.stored(axis.values[0]))
    about = {"key": axis.key} | ({"unit": axis.dimension.base} if axis.dimension else {})
    return pa.field(axis.name, _STORED[kind], False, about)


def _summary_fields() -> Iterator[pa.Field]:
    hints = get_type_hints(Summary)
    for field in fields(Summary):
        whole = hints[field.name] in (int, int | None)
        yield pa.field(field.name, pa.int64() if whole else pa.float64())


def write_tables(plan: SweepPlan, store: Store) -> pa.Table:
    """Writes all tables of the runs that have ended; returns the first one."""
    schema = schema_of(plan.axes)
    _write(store.path / TABLE, schema, _rows(plan, store))
    for name in _LISTS:
        path = store.path / f"{name}.parquet"
        rows = list(_list_rows(plan, store, name))
        path.unlink(missing_ok=True)
        if rows:
            known = pa.schema([*_identity(plan.axes), *_typed(plan, name)])
            found = pa.Table.from_pylist(rows)
            columns = [known.field(f.name) if f.name in known.names else f for f in found.schema]
            pq.write_table(found.cast(pa.schema(columns)), path)
    return pq.read_table(store.path / TABLE)


@dataclass(frozen=True)
class Tables:
    """The tables from which the plots of a sweep are drawn."""

    runs: pa.Table
    """A row per run and bottleneck."""
    groups: pa.Table | None
    """A row per run, bottleneck and group of flows."""
    distributions: pa.Table | None
    """The same with the distribution of the queue delay."""


def read_tables(folder: Path, runs: pa.Table | None = None) -> Tables:
    """The tables in a sweep's folder; `runs` is the first one if it has been read before."""
    groups, distributions = (read_list(folder, name) for name in (GROUPS, DISTRIBUTIONS))
    table = pq.read_table(folder / TABLE) if runs is None else runs
    return Tables(table, groups, distributions)


def end_to_end(groups: pa.Table) -> pa.Table:
    """A row for each run and group, for end-to-end figures such as completion times, which the
    table repeats for every bottleneck."""
    columns = (groups.column(name).to_pylist() for name in ("run", "group"))
    first: dict[tuple[Any, Any], int] = {}
    for place, key in enumerate(zip(*columns, strict=True)):
        first.setdefault(key, place)
    return groups.take(list(first.values())).drop_columns("bottleneck")


def read_list(folder: Path, name: str) -> pa.Table | None:
    """The table `name` of `_LISTS` in a sweep's folder; nothing if no run has a row of it."""
    path = folder / f"{name}.parquet"
    return pq.read_table(path) if path.is_file() else None


def _typed(plan: SweepPlan, name: str) -> list[pa.Field]:
    """Columns with declared types, as a figure may be absent from every row."""
    taken = {field.name for field in _identity(plan.axes)}
    own = group_fields() if name == GROUPS else []
    return [field.with_name(_free(field.name, taken, name)) for field in own]


def _free(column: str, taken: Collection[str], table: str) -> str:
    """The column's name, prefixed with the table's if an axis has that name."""
    return f"{table}_{column}" if column in taken else column


def _write(path: Path, schema: pa.Schema, rows: Iterable[dict[str, Any]]) -> None:
    unfinished = path.with_name(f".unfinished-{path.name}")
    with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
        part: list[dict[str, Any]] = []
        for row in rows:
            part.append(row)
            if len(part) == _PART:
                writer.write_table(pa.Table.from_pylist(part, schema))
                part = []
        writer.write_table(pa.Table.from_pylist(part, schema))
    unfinished.rename(path)


def _results(plan: SweepPlan, store: Store) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Each run's identity and its result, in the sweep's order."""
    for run in plan.runs:
        result = store.result(run.job)
        if result is not None:
            yield _identity_of(run, plan.axes), result


def _identity_of(run: SweepRun, axes: tuple[Axis, ...]) -> dict[str, Any]:
    values = {axis.name: axis.stored(run.cell.values[axis.name]) for axis in axes}
    return values | {"aqm": run.job.label, "seed": run.seed, "run": run.job.digest}


def _rows(plan: SweepPlan, store: Store) -> Iterator[dict[str, Any]]:
    for identity, result in _results(plan, store):
        for found in result["bottlenecks"]:
            dropped = found["aqm_drops"] + found["tail_drops"] + found["ingress_drops"]
            offered = found["packets"]
            share = dropped / offered if offered else None
            yield identity | found | {"drop_share": share, "fairness": result["fairness"]}


def _list_rows(plan: SweepPlan, store: Store, name: str) -> Iterator[dict[str, Any]]:
    for identity, result in _results(plan, store):
        for found in result[name]:
            yield identity | {_free(key, identity, name): value for key, value in found.items()}
