"""The sweep's tables: a row for each run and bottleneck, and further tables of its traffic.

Reads the stored results one by one in the sweep's order; the same results give the same bytes. Must
not depend on intervals or plots.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, get_type_hints

import pyarrow as pa
import pyarrow.parquet as pq

from sojourn.results.statistics import Summary
from sojourn.studies.sweeps.axes import Axis
from sojourn.studies.sweeps.plan import SweepPlan, SweepRun
from sojourn.studies.sweeps.store import Store

TABLE = "table.parquet"
_PART = 1000
"""Rows that are in memory at a time."""
_LISTS = ("times", "voices", "phases")
"""Tables of some kinds of traffic: `times.parquet` and so on."""

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
            known = pa.schema(_identity(plan.axes))
            found = pa.Table.from_pylist(rows)
            columns = [known.field(f.name) if f.name in known.names else f for f in found.schema]
            pq.write_table(found.cast(pa.schema(columns)), path)
    return pq.read_table(store.path / TABLE)


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
            yield identity | found
