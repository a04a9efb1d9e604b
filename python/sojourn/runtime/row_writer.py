"""Writes rows during a run: Parquet files that grow in bounded row groups.

pyarrow takes longer to load than a short run, so a file's thread loads it while the run goes on.
The same rows in the same order give the same bytes, whatever pieces they arrive in. A Parquet file
can be read only once its end is written. Until then its rows are also written to a journal, an
Arrow stream that stays readable however the process ends, when the run requests it or they are
many. Depends on the engine's columns.
"""

import contextlib
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from sojourn.common.closing import Closing
from sojourn.common.resources import shown
from sojourn.errors import OutputError, is_full
from sojourn.runtime.run_files import BALLAST, journal_of

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROW_GROUP = 1 << 15
"""Rows of a row group, of which at most two are in memory."""

_FIRST_GROUPS = ROW_GROUP // 4
"""Rows of each of the first groups: the end of a run waits for its last group, which is then no
large part of a short run."""

_FIRST_ROWS = 4 * ROW_GROUP
"""Rows in such groups; from here on the last group is no large part of the file."""

_FEW_VALUES = {"flow", "source", "size", "queue", "verdict", "register"}
"""Columns that are written as numbers into a dictionary; others as differences from row to row."""

_NOT_NOTED = 4 * ROW_GROUP
"""Rows that come into the journal at last, whether that is wanted or not."""

_SOUGHT = {"enqueued", "dequeued", "time"}
"""Columns in which readers look for a range."""

ROWS_AT_ONCE = 1 << 13
"""Rows that a core hands over at a time: what is larger leaves its cache before it is read."""

_MAGIC = b"PAR1"
"""First and last bytes of a Parquet file."""

_BALLAST = 8 << 20
"""Bytes kept free on the disk, so that a file can be finished properly after the disk is full."""


class Columns(Protocol):
    """Rows as the engine hands them over: a column's bytes, little-endian, by its name."""

    @property
    def count(self) -> int:
        """The number of rows."""

    def __getitem__(self, name: str, /) -> bytes:
        """A column."""


class Ballast:
    """Disk space reserved for a run's last bytes and given back when they are to be written."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / BALLAST
        try:
            with self._path.open("wb") as file:
                os.posix_fallocate(file.fileno(), 0, _BALLAST)
        except OSError as error:
            self.release()
            if not is_full(error):
                raise
            raise OutputError(
                f"{shown(folder)}: the disk is full: a run needs at least {_BALLAST >> 20} MB; "
                "no row was written\nFree some space, or choose another disk with --out."
            ) from error

    def release(self) -> None:
        """Gives the space back; harmless when repeated."""
        with contextlib.suppress(OSError):
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
    the run: the room is then worth more. Nothing is compressed: that would take as long as writing
    the Parquet file, for what is removed at its end.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = path.open("wb", buffering=0)
        self._stream: pa.RecordBatchStreamWriter | None = None

    def write(self, table: "pa.Table") -> None:
        """Appends rows."""
        if self._file is None or not table.num_rows:
            return
        import pyarrow as pa

        try:
            if self._stream is None:
                self._stream = pa.ipc.new_stream(self._file, table.schema)
            self._stream.write_table(table)
        except OSError:
            self.drop()

    def drop(self) -> None:
        """Removes the journal: its rows are elsewhere, or have no room."""
        file, self._file = self._file, None
        if file is not None:
            file.close()
            self._path.unlink(missing_ok=True)


def _has_its_end(path: Path) -> bool:
    """True if a Parquet file's metadata, which are written last, are there: in front of the length
    of them and the letters that end it."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        if size < 3 * len(_MAGIC):
            return False
        file.seek(-2 * len(_MAGIC), os.SEEK_END)
        length = int.from_bytes(file.read(len(_MAGIC)), "little")
        return file.read() == _MAGIC and length <= size - 3 * len(_MAGIC)


def writing_thread() -> ThreadPoolExecutor:
    """A thread for files of rows, which begins here, with nothing to hold the interpreter for."""
    thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="rows")
    thread.submit(int)
    return thread


def group_at(row: int) -> int:
    """Rows of the row group that begins with a row, unless the file ends in it."""
    return _FIRST_GROUPS if row < _FIRST_ROWS else ROW_GROUP


class RowWriter(Closing):
    """A Parquet file that takes rows in pieces of any length and writes row groups of `group_at`.

    Journal and row groups are written while more rows come in, by a thread of the file's own or one
    that writes others, too.
    """

    def __init__(
        self, path: Path, rows: str, ballast: Ballast, thread: ThreadPoolExecutor | None = None
    ) -> None:
        """`rows` is the kind of rows, as the engine calls it. A `thread` that is given is shut down
        by whoever gives it, once the file is closed."""
        self._kind = rows
        self._path = path
        # The journal is there before the file, so that a file without one is a whole one.
        self._journal = _Journal(path.with_name(journal_of(path.name)))
        self._sink = _SafeSink(path, ballast)
        self._pieces: deque[Columns | pa.Table] = deque()
        self._rows = 0
        self._grouped = 0
        self._rows_not_noted = 0
        self._not_noted: list[pa.Table] = []
        self._noting: Future[None] | None = None
        self._own = contextlib.ExitStack()
        self._thread = thread or self._own.enter_context(writing_thread())
        self._writing: deque[tuple[int, Future[None]]] = deque()
        self._ending: Future[None] | None = None
        self._last: Future[None] | None = None

    # What needs pyarrow: in the file's thread, and behind all that is done there in its closer's.

    @cached_property
    def _schema(self) -> "pa.Schema":
        from sojourn.runtime.arrow_tables import schema_of

        return schema_of(self._kind)

    @cached_property
    def _writer(self) -> "pq.ParquetWriter":
        """Made before there are rows, for pyarrow takes a few milliseconds to make its first."""
        import pyarrow.parquet as pq

        names = self._schema.names
        few = [name for name in names if name in _FEW_VALUES]
        return pq.ParquetWriter(
            self._sink,
            self._schema,
            compression="zstd",
            # Of what readers look for a range in; for other columns they cost more than they tell.
            write_statistics=[name for name in names if name in _SOUGHT],
            use_dictionary=few,
            column_encoding=dict.fromkeys(set(names).difference(few), "DELTA_BINARY_PACKED"),
        )

    @cached_property
    def _waiting(self) -> "pa.Table":
        """Rows that are not in a row group yet."""
        return self._schema.empty_table()

    def _table(self, pieces: "list[Columns]") -> "pa.Table":
        """A table of columns that come one behind the other."""
        from sojourn.runtime.arrow_tables import table_from_columns

        joined = {name: b"".join(one[name] for one in pieces) for name in self._schema.names}
        return table_from_columns(self._schema, joined)

    def _tables(self) -> "Iterator[pa.Table]":
        """The pieces that have come, in order; columns one behind the other are one table."""
        import pyarrow as pa

        columns: list[Columns] = []
        for _ in range(len(self._pieces)):
            piece = self._pieces.popleft()
            if not isinstance(piece, pa.Table):
                columns.append(piece)
                continue
            if columns:
                yield self._table(columns)
                columns = []
            yield piece
        if columns:
            yield self._table(columns)

    def _gather(self) -> None:
        """Takes the pieces that have come; whose columns they were has their room again."""
        import pyarrow as pa

        tables = list(self._tables())
        self._waiting = pa.concat_tables([self._waiting, *tables])
        self._not_noted += tables

    def _note(self) -> None:
        self._gather()
        for table in self._not_noted:
            self._journal.write(table)
        self._not_noted = []

    def _write_group(self, rows: int) -> None:
        self._gather()
        table, self._waiting = self._waiting.slice(0, rows), self._waiting.slice(rows)
        self._writer.write_table(table, row_group_size=ROW_GROUP)
        self._sink.drain()

    def _end(self) -> None:
        """Writes the file's end; then the journal has done its work."""
        with contextlib.ExitStack() as closing:
            closing.callback(self._end_journal)
            closing.callback(self._sink.close)
            closing.callback(self._sink.drain)
            self._writer.close()

    def _end_journal(self) -> None:
        """Removes the journal of a file that can be read, whatever went wrong at its end."""
        with contextlib.suppress(OSError):
            if _has_its_end(self._path):
                self._journal.drop()

    # What the run calls.

    def prepare(self) -> None:
        """Has what is needed for the first rows made on another core, while they are made."""
        self._submit(lambda: self._writer)

    def write_columns(self, columns: Columns, *, journal: bool = True) -> None:
        """Takes rows as `write` does. Unless it is wanted, they come into the journal only with
        later ones, or once they are many: a short run needs none."""
        self._take(columns, columns.count, journal=journal)

    def write(self, table: "pa.Table") -> None:
        """Takes rows. An `OSError` may be that of earlier rows; after it the file can still be
        closed, and then read.
        """
        self._take(table, table.num_rows)

    def await_journal(self) -> None:
        """Returns once the rows for which that was wanted are in the journal."""
        if self._noting is not None:
            self._noting.result()

    def _take(self, piece: "Columns | pa.Table", rows: int, *, journal: bool = True) -> None:
        self._pieces.append(piece)
        self._rows_not_noted += rows
        if journal or self._rows_not_noted >= _NOT_NOTED:
            self._noting = self._submit(self._note)
            self._rows_not_noted = 0
        self._rows += rows
        while self._rows >= group_at(self._grouped):
            self._begin_group(group_at(self._grouped))

    def _begin_group(self, rows: int) -> None:
        """Has a row group written, behind those before it, once there is room for it in memory."""
        self._rows -= rows
        self._grouped += rows
        try:
            self._end_groups(2 * ROW_GROUP - rows)
        finally:
            self._writing.append((rows, self._submit(self._write_group, rows)))

    def _end_groups(self, left: int = 0) -> None:
        """Waits until all groups but so many rows of them are written. An `OSError` is of any."""
        while sum(rows for rows, _ in self._writing) > left or (
            self._writing and self._writing[0][1].done()
        ):
            _, writing = self._writing.popleft()
            writing.result()

    def _submit(self, task: Callable[..., Any], *given: object) -> Future[Any]:
        """Has something done by the file's thread, behind all else that it does for the file."""
        self._last = self._thread.submit(task, *given)
        return self._last

    def finish(self) -> None:
        """Has the rows that wait, the last ones, and the file's end written by the file's thread,
        for which `close` waits: other files can be closed meanwhile."""
        if self._ending is not None:
            return
        try:
            if self._rows:
                self._begin_group(self._rows)
        finally:
            self._ending = self._submit(self._end)

    def close(self) -> None:
        """Writes the rows that wait and the file's end, unless they are being written."""
        with contextlib.ExitStack() as closing:
            closing.callback(self._own.close)
            closing.callback(self._ending.result if self._ending else self._end_here)
            closing.callback(self._end_groups)

    def _end_here(self) -> None:
        if self._last is not None:
            wait([self._last])
        with contextlib.ExitStack() as closing:
            closing.callback(self._end)
            if self._rows:
                self._write_group(self._rows)
