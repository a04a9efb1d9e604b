"""The rows of a run as tables: their schemas, tables over the engine's columns, files read again.

Depends on pyarrow. The engine says which columns there are. A file that was never finished is read
from its journal; `row_writer` writes both.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sojourn import _core
from sojourn.common.textfile import check_file
from sojourn.runtime.run_files import journal_of

VERDICTS = tuple(_core.verdicts())
"""The fate of a packet: sent; dropped at the queue by the AQM, or for want of room; sent with a CE
mark; dropped by a program's ingress, before any queue."""
SENT, AQM, TAIL, MARK, INGRESS = range(len(VERDICTS))
DROPS = (VERDICTS[AQM], VERDICTS[TAIL], VERDICTS[INGRESS])
NEVER_QUEUED = (VERDICTS[TAIL], VERDICTS[INGRESS])
"""Verdicts about packets that were in no queue."""

_AT_ONCE = 1 << 16
"""Rows read at a time: a few row groups of them."""


@cache
def schema_of(rows: str) -> pa.Schema:
    """The schema of a kind of rows, whose columns the engine declares (crates/net/src/records)."""
    return pa.schema([_field(*column) for column in _core.row_columns(rows)])


def _field(name: str, bits: int, shown: str, unit: str, meaning: str) -> pa.Field:
    # Times are signed, so that a difference of two is one, too.
    kind = pa.int64() if shown == "time" else pa.type_for_alias(f"uint{bits}")
    if shown == "name":
        kind = pa.dictionary(kind, pa.string())
    said = {"unit": unit, "meaning": meaning}
    return pa.field(name, kind, False, {key: word for key, word in said.items() if word} or None)


PACKET_SCHEMA = schema_of("packets")
FLOW_SCHEMA = schema_of("flows")
EXCHANGE_SCHEMA = schema_of("exchanges")
DATAGRAM_SCHEMA = schema_of("datagrams")
REGISTER_SCHEMA = schema_of("registers")


def table_from_columns(
    schema: pa.Schema,
    columns: _core.Columns | Mapping[str, bytes],
    names: Sequence[str] = VERDICTS,
) -> pa.Table:
    """A table over the engine's little-endian columns, without copying them. `names` are what a
    column of names counts."""
    arrays = [_array(field, columns[field.name], names) for field in schema]
    return pa.Table.from_arrays(arrays, schema=schema)


def _array(field: pa.Field, column: bytes, names: Sequence[str]) -> pa.Array:
    buffer = pa.py_buffer(column)
    named = pa.types.is_dictionary(field.type)
    kind = field.type.index_type if named else field.type
    values = pa.Array.from_buffers(kind, len(buffer) * 8 // kind.bit_width, [None, buffer])
    if not named:
        return values
    return pa.DictionaryArray.from_arrays(values, pa.array(names, pa.string()))


def was_queued(
    delay: npt.NDArray[np.int64], verdict: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Mask of the packets that entered the queue: all but those dropped on arrival."""
    early = (verdict == TAIL) | (verdict == INGRESS) | ((verdict == AQM) & (delay == 0))
    waited: npt.NDArray[np.bool_] = ~early
    return waited


def iter_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of the file at `path`, a bounded number at a time: those of its journal if the file
    was never finished.

    `OSError` or `pa.ArrowException` if there are no such rows.
    """
    journal = path.with_name(journal_of(path.name))
    if journal.is_file():
        yield from _journal_rows(journal, columns)
        return
    check_file(path)
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(_AT_ONCE, columns=columns)


def rows_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows that `iter_rows` goes through, as a table."""
    journal = path.with_name(journal_of(path.name))
    if not journal.is_file():
        check_file(path)
        return pq.ParquetFile(path).read(columns=columns)
    with pa.OSFile(str(journal)) as file:
        schema = pa.ipc.open_stream(file).schema
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    return pa.Table.from_batches(list(_journal_rows(journal, columns)), schema)


def _journal_rows(path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """The rows of a journal up to the point where its writer ended."""
    with pa.OSFile(str(path)) as file:
        stream = pa.ipc.open_stream(file)
        while True:
            try:
                batch = stream.read_next_batch()
            except (StopIteration, OSError, pa.ArrowInvalid):
                return
            yield batch if columns is None else batch.select(columns)
