"""The rows of a run on disk: Parquet files that grow in bounded row groups as the run goes.

Stands on pyarrow. The same rows in the same order give the same bytes, whatever pieces they arrive
in. Knows the columns, not what they mean to anybody.
"""

import contextlib
import os
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import pyarrow as pa
import pyarrow.parquet as pq

VERDICTS = ("sent", "aqm", "tail", "mark")
"""What became of a packet: sent; dropped by the AQM or for want of room; sent with a CE mark."""

ROW_GROUP = 1 << 16
"""Rows held in memory before they are written."""

_BALLAST = 8 << 20
"""Bytes kept free on the disk, so that a file can be finished properly after the disk is full."""


def _nanoseconds(name: str, meaning: str) -> pa.Field:
    return pa.field(name, pa.int64(), False, {"unit": "ns", "meaning": meaning})


PACKET_SCHEMA = pa.schema(
    [
        pa.field("packet", pa.uint64(), False, {"meaning": "identity within the run"}),
        pa.field("flow", pa.uint32(), False, {"meaning": "index in the scenario, from 0"}),
        pa.field("size", pa.uint32(), False, {"unit": "B", "meaning": "Ethernet frame"}),
        pa.field("queue", pa.uint8(), False),
        _nanoseconds("enqueued", "entered the bottleneck's queue"),
        _nanoseconds("dequeued", "left it; equal to enqueued for a tail drop"),
        pa.field("verdict", pa.dictionary(pa.uint8(), pa.string()), False),
    ]
)

FLOW_SCHEMA = pa.schema(
    [
        _nanoseconds("time", "of the sample"),
        pa.field("flow", pa.uint32(), False),
        pa.field("cwnd", pa.uint32(), False, {"unit": "B"}),
        pa.field("ssthresh", pa.uint64(), False, {"unit": "B"}),
        _nanoseconds("srtt", "smoothed round-trip time, 0 before the first sample"),
        pa.field("delivered", pa.uint64(), False, {"unit": "B", "meaning": "goodput so far"}),
        pa.field("retransmits", pa.uint64(), False, {"unit": "segments"}),
        pa.field("in_flight", pa.uint32(), False, {"unit": "B"}),
    ]
)


EXCHANGE_SCHEMA = pa.schema(
    [
        pa.field("flow", pa.uint32(), False, {"meaning": "as in the packets' rows"}),
        pa.field("source", pa.uint32(), False, {"meaning": "index in the scenario, from 0"}),
        pa.field("number", pa.uint32(), False, {"meaning": "of the request within its flow"}),
        pa.field("size", pa.uint64(), False, {"unit": "B", "meaning": "transfer or response"}),
        _nanoseconds("started", "connection opened, or request written"),
        _nanoseconds("finished", "the last byte was there; 0 if the run ended before"),
    ]
)

DATAGRAM_SCHEMA = pa.schema(
    [
        pa.field("flow", pa.uint32(), False, {"meaning": "index in the scenario, from 0"}),
        pa.field("number", pa.uint32(), False, {"meaning": "those that are missing were lost"}),
        _nanoseconds("sent", "by the voice"),
        _nanoseconds("received", "its last bit"),
    ]
)


def table_from_columns(schema: pa.Schema, columns: Mapping[str, bytes]) -> pa.Table:
    """A table over the engine's little-endian columns, without copying them."""
    arrays = []
    for field in schema:
        buffer = pa.py_buffer(columns[field.name])
        if pa.types.is_dictionary(field.type):
            indices = pa.Array.from_buffers(pa.uint8(), len(buffer), [None, buffer])
            arrays.append(pa.DictionaryArray.from_arrays(indices, pa.array(VERDICTS)))
        else:
            rows = len(buffer) * 8 // field.type.bit_width
            arrays.append(pa.Array.from_buffers(field.type, rows, [None, buffer]))
    return pa.Table.from_arrays(arrays, schema=schema)


class Ballast:
    """Disk space reserved for a run's last bytes and given back when they are to be written."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".ballast"
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


class RowWriter:
    """A Parquet file that takes rows in pieces of any length and writes row groups of one length.

    A row group is written while the next one comes in, by a thread of the file's own.
    """

    def __init__(self, path: Path, schema: pa.Schema, ballast: Ballast) -> None:
        self._schema = schema
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
        self._rows += len(columns[first.name]) * 8 // first.type.bit_width
        self._write_full_groups()

    def write(self, table: pa.Table) -> None:
        """Takes rows. An `OSError` may be that of earlier rows; after it the file can still be
        closed, and then read.
        """
        self._gather()
        self._waiting = pa.concat_tables([self._waiting, table])
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
        """Writes the rows that wait and the file's end."""
        with contextlib.ExitStack() as closing:
            closing.callback(self._sink.close)
            closing.callback(self._sink.drain)
            closing.callback(lambda: self._writer.close())
            closing.callback(self._thread.shutdown)
            closing.callback(self._end_group)
            self.finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
