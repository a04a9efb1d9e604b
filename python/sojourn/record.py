"""The rows of a run on disk: Parquet files that grow in bounded row groups as the run goes.

Stands on pyarrow. The same rows in the same order give the same bytes, whatever pieces they arrive
in. A Parquet file can be read only once its end is written, so until then its rows are also in a
journal beside it, an Arrow stream, which can be read whatever has ended the process. The engine
says which columns there are.
"""

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

from sojourn import _core
from sojourn.run_files import BALLAST, journal_of

VERDICTS = tuple(_core.verdicts())
"""What became of a packet: sent; dropped at the queue by the AQM, or for want of room; sent with a
CE mark; dropped by a program's ingress, before any queue."""
SENT, AQM, TAIL, MARK, INGRESS = range(len(VERDICTS))
DROPS = (VERDICTS[AQM], VERDICTS[TAIL], VERDICTS[INGRESS])
NEVER_QUEUED = (VERDICTS[TAIL], VERDICTS[INGRESS])
"""Verdicts about packets that were in no queue."""

ROW_GROUP = 1 << 16
"""Rows held in memory before they are written."""

_BALLAST = 8 << 20
"""Bytes kept free on the disk, so that a file can be finished properly after the disk is full."""


def _schema(rows: str) -> pa.Schema:
    """The schema of rows whose columns the engine declares (crates/net/src/records)."""
    return pa.schema([_field(*column) for column in _core.row_columns(rows)])


def _field(name: str, bits: int, shown: str, unit: str, meaning: str) -> pa.Field:
    # Times are signed, so that a difference of two is one, too.
    kind = pa.int64() if shown == "time" else pa.type_for_alias(f"uint{bits}")
    if shown == "name":
        kind = pa.dictionary(kind, pa.string())
    said = {"unit": unit, "meaning": meaning}
    return pa.field(name, kind, False, {key: word for key, word in said.items() if word} or None)


PACKET_SCHEMA = _schema("packets")
FLOW_SCHEMA = _schema("flows")
EXCHANGE_SCHEMA = _schema("exchanges")
DATAGRAM_SCHEMA = _schema("datagrams")
REGISTER_SCHEMA = _schema("registers")


def table_from_columns(
    schema: pa.Schema, columns: Mapping[str, bytes], names: Sequence[str] = VERDICTS
) -> pa.Table:
    """A table over the engine's little-endian columns, without copying them. `names` are what a
    column of names counts."""
    return pa.Table.from_arrays([_array(field, columns, names) for field in schema], schema=schema)


def _array(field: pa.Field, columns: Mapping[str, bytes], names: Sequence[str]) -> pa.Array:
    buffer = pa.py_buffer(columns[field.name])
    named = pa.types.is_dictionary(field.type)
    kind = field.type.index_type if named else field.type
    values = pa.Array.from_buffers(kind, len(buffer) * 8 // kind.bit_width, [None, buffer])
    if not named:
        return values
    return pa.DictionaryArray.from_arrays(values, pa.array(names, pa.string()))


class Ballast:
    """Disk space reserved for a run's last bytes and given back when they are to be written."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / BALLAST
        with self._path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, _BALLAST)

    def release(self) -> None:
        """Gives the space back; harmless when repeated."""
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()


class _SafeSink:
    """A file for pyarrow that never fails in the middle of a row group.

    pyarrow cannot finish a file whose writes have failed. So bytes wait here in memory until
    `drain`, at most one row group of them; when the disk is full, the ballast makes room for them
    and for the end.
    """

    def __init__(self, path: Path, ballast: Ballast) -> None:
        self._file: BinaryIO = path.open("wb", buffering=0)
        self._ballast = ballast
        self._waiting: list[bytes] = []
        self._position = 0
        self.closed = False

    def write(self, data: bytes) -> int:
        waiting = bytes(data)
        self._waiting.append(waiting)
        self._position += len(waiting)
        return len(waiting)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """pyarrow calls this at its own times; what is to be written is written by `drain`."""

    def drain(self) -> None:
        """Writes what waits. After an `OSError` all of it is on the disk nevertheless."""
        data, self._waiting = b"".join(self._waiting), []
        failure = None
        while data:
            try:
                written = self._file.write(data)
            except OSError as error:
                if failure is not None:
                    raise
                failure = error
                self._ballast.release()
            else:
                data = data[written:]
        if failure is not None:
            raise failure

    def close(self) -> None:
        self._file.close()
        self.closed = True


class _Journal:
    """Rows as they come, in a stream that can be read up to wherever it ends.

    It is for the case that the process is ended by force. A disk that is full ends the journal, not
    the run: the room is then worth more.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._path = path
        self._file: BinaryIO | None = path.open("wb", buffering=0)
        self._schema = schema
        self._options = pa.ipc.IpcWriteOptions(compression="lz4")

    @cached_property
    def _stream(self) -> pa.RecordBatchStreamWriter:
        return pa.ipc.new_stream(self._file, self._schema, options=self._options)

    def write(self, table: pa.Table) -> None:
        """Appends rows."""
        if self._file is None or not table.num_rows:
            return
        try:
            self._stream.write_table(table)
        except OSError:
            self.drop()

    def drop(self) -> None:
        """Removes the journal: its rows are elsewhere, or have no room."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
            self._path.unlink(missing_ok=True)


def iter_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of the file at `path`, a bounded number at a time: those of its journal if the file
    was never finished.

    `OSError` or `pa.ArrowException` if there are no such rows.
    """
    journal = path.with_name(journal_of(path.name))
    if journal.is_file():
        yield from _journal_rows(journal, columns)
        return
    with pq.ParquetFile(path) as file:
        yield from file.iter_batches(ROW_GROUP, columns=columns)


def rows_table(path: Path, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows that `iter_rows` goes through, as a table."""
    journal = path.with_name(journal_of(path.name))
    if not journal.is_file():
        return pq.ParquetFile(path).read(columns=columns)
    with pa.OSFile(str(journal)) as file:
        schema = pa.ipc.open_stream(file).schema
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns])
    return pa.Table.from_batches(list(_journal_rows(journal, columns)), schema)


def _journal_rows(path: Path, columns: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
    """What a journal has up to the place where its writer was ended."""
    with pa.OSFile(str(path)) as file:
        stream = pa.ipc.open_stream(file)
        while True:
            try:
                batch = stream.read_next_batch()
            except (StopIteration, OSError, pa.ArrowInvalid):
                return
            yield batch if columns is None else batch.select(columns)


class RowWriter:
    """A Parquet file that takes rows in pieces of any length and writes row groups of one length.

    Journal and row groups are written while more rows come in, by a thread of the file's own.
    """

    def __init__(self, path: Path, schema: pa.Schema, ballast: Ballast) -> None:
        self._schema = schema
        self._path = path
        # The journal is there before the file, so that a file without one is a whole one.
        self._journal = _Journal(path.with_name(journal_of(path.name)), schema)
        self._sink = _SafeSink(path, ballast)
        self._pieces: list[Mapping[str, bytes]] = []
        self._waiting = schema.empty_table()
        self._rows = 0
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rows")
        self._writing: Future[None] | None = None

    @cached_property
    def _writer(self) -> pq.ParquetWriter:
        """Made with the first row group and by the thread that writes it, for pyarrow takes a few
        milliseconds to make its first.
        """
        schema = self._schema
        times = [
            name for name in ("enqueued", "dequeued", "packet", "time") if name in schema.names
        ]
        return pq.ParquetWriter(
            self._sink,
            schema,
            compression="zstd",
            # Of what readers look for a range in; for other columns they cost more than they tell.
            write_statistics=[name for name in times if name != "packet"],
            use_dictionary=[name for name in schema.names if name not in times],
            column_encoding=dict.fromkeys(times, "DELTA_BINARY_PACKED"),
        )

    def write_columns(self, columns: Mapping[str, bytes]) -> None:
        """Takes rows as the engine's little-endian columns, as `write` does."""
        first = self._schema.field(0)
        self._pieces.append(columns)
        self._thread.submit(self._journal.write, table_from_columns(self._schema, columns))
        self._rows += len(columns[first.name]) * 8 // first.type.bit_width
        self._write_full_groups()

    def write(self, table: pa.Table) -> None:
        """Takes rows. An `OSError` may be that of earlier rows; after it the file can still be
        closed, and then read.
        """
        self._gather()
        self._waiting = pa.concat_tables([self._waiting, table])
        self._thread.submit(self._journal.write, table)
        self._rows += table.num_rows
        self._write_full_groups()

    def _gather(self) -> None:
        """Makes the pieces that wait part of the table that waits."""
        if self._pieces:
            names = self._schema.names
            columns = {name: b"".join(piece[name] for piece in self._pieces) for name in names}
            table = table_from_columns(self._schema, columns)
            self._pieces, self._waiting = [], pa.concat_tables([self._waiting, table])

    def _write_full_groups(self) -> None:
        while self._rows >= ROW_GROUP:
            self._begin_group(ROW_GROUP)

    def _begin_group(self, rows: int) -> None:
        """Has a row group written, once the one before it is. At most two are in memory."""
        self._gather()
        group, self._waiting = self._waiting.slice(0, rows), self._waiting.slice(rows)
        self._rows -= rows
        try:
            self._end_group()
        finally:
            self._writing = self._thread.submit(self._write_group, group)

    def _write_group(self, table: pa.Table) -> None:
        self._writer.write_table(table, row_group_size=ROW_GROUP)
        self._sink.drain()

    def _end_group(self) -> None:
        if self._writing is not None:
            writing, self._writing = self._writing, None
            writing.result()

    def finish(self) -> None:
        """Begins to write the rows that wait, the last ones: files that are finished one after the
        other and then closed are written at the same time.
        """
        if self._rows:
            self._begin_group(self._rows)

    def close(self) -> None:
        """Writes the rows that wait and the file's end; then the journal has done its work."""
        with contextlib.ExitStack() as closing:
            closing.callback(self._end_journal)
            closing.callback(self._sink.close)
            closing.callback(self._sink.drain)
            closing.callback(lambda: self._writer.close())
            closing.callback(self._thread.shutdown)
            closing.callback(self._end_group)
            self.finish()

    def _end_journal(self) -> None:
        """Removes the journal of a file that can be read, whatever went wrong at its end."""
        with contextlib.suppress(OSError, pa.ArrowException):
            pq.read_metadata(self._path)
            self._journal.drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
