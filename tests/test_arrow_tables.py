"""Parquet files: the bytes depend on the rows alone, and files survive a full disk."""

import errno
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sojourn import _core
from sojourn.runner import plan_scenario
from sojourn.runtime.arrow_tables import PACKET_SCHEMA, VERDICTS
from sojourn.runtime.arrow_tables import table_from_columns as table_of
from sojourn.runtime.row_writer import ROW_GROUP, Ballast, RowWriter, _has_its_end


def columns(first: int, count: int) -> dict[str, bytes]:
    number = np.arange(first, first + count, dtype=np.uint64)
    return {
        "packet": number.tobytes(),
        "flow": (number % 10).astype(np.uint32).tobytes(),
        "size": np.full(count, 1514, np.uint32).tobytes(),
        "queue": bytes(count),
        "enqueued": (number * 121_120).tobytes(),
        "dequeued": (number * 121_120 + 5_000_000).tobytes(),
        "verdict": (number % len(VERDICTS)).astype(np.uint8).tobytes(),
    }


def write(path: Path, pieces: list[int]) -> None:
    first = 0
    with RowWriter(path, "packets", Ballast(path.parent)) as writer:
        for count in pieces:
            writer.write(table_of(PACKET_SCHEMA, columns(first, count)))
            first += count


@dataclass
class Given:
    """Columns as the engine hands them over."""

    count: int
    columns: dict[str, bytes]

    def __getitem__(self, name: str, /) -> bytes:
        return self.columns[name]


def write_columns(path: Path, pieces: list[int]) -> None:
    first = 0
    with RowWriter(path, "packets", Ballast(path.parent)) as writer:
        for count in pieces:
            writer.write_columns(Given(count, columns(first, count)))
            first += count


def test_columns_become_rows_with_named_verdicts(tmp_path: Path) -> None:
    write(tmp_path / "rows", [5])
    table = pq.read_table(tmp_path / "rows")
    assert table.schema.equals(PACKET_SCHEMA)
    assert table["flow"].to_pylist() == [0, 1, 2, 3, 4]
    assert table["verdict"].to_pylist() == list(VERDICTS)
    assert table["dequeued"].to_pylist()[1] == 5_121_120


def test_the_bytes_do_not_depend_on_the_pieces_that_rows_arrive_in(tmp_path: Path) -> None:
    total = 6 * ROW_GROUP + 1000
    write(tmp_path / "one", [total])
    pieces = [1, ROW_GROUP - 2, 0, 12345, total - ROW_GROUP - 12344]
    write(tmp_path / "many", pieces)
    write_columns(tmp_path / "columns", pieces)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "many").read_bytes()
    assert (tmp_path / "one").read_bytes() == (tmp_path / "columns").read_bytes()
    found = pq.ParquetFile(tmp_path / "one").metadata
    groups = [found.row_group(place).num_rows for place in range(found.num_row_groups)]
    assert groups == [ROW_GROUP // 4] * 16 + [ROW_GROUP] * 2 + [1000]


def test_a_run_hands_over_columns_by_their_names() -> None:
    first, second = handed_over()
    for name, bits, *_ in _core.row_columns("packets"):
        assert len(first[name]) == bits // 8 * first.count
    assert len(first["packet"]) == 8 * first.count > 0 == second.count
    with pytest.raises(KeyError, match="packets"):
        first["packets"]


def test_columns_are_equal_that_say_the_same() -> None:
    (first, second), (again, _) = handed_over(), handed_over()
    assert first == again != second


def handed_over() -> tuple[_core.Columns, _core.Columns]:
    """The rows of a run, and what is left then."""
    scenario = {"title": "x", "duration": "50 ms", "aqms": ["fifo"], "flows": [{"rtt": "9 ms"}]}
    run = plan_scenario(scenario | {"switch": {"rate": "9 Mbit/s"}}).runs[0]
    simulation = _core.Simulation(run.configuration, list(run.programs))
    simulation.advance(run.config["duration"], 1 << 20)
    return simulation.take_packets(), simulation.take_packets()


class FullDisk:
    """A file whose disk has `room` bytes left until the ballast is gone."""

    def __init__(self, path: Path, room: int, ballast: Path) -> None:
        self._file, self._room, self._ballast = path.open("wb", buffering=0), room, ballast

    def write(self, data: bytes) -> int:
        if self._ballast.exists():
            data = data[: self._room]
            if not data:
                raise OSError(errno.ENOSPC, "No space left on device")
            self._room -= len(data)
        return self._file.write(data)

    def close(self) -> None:
        self._file.close()


def test_a_file_is_finished_properly_after_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows"
    writer = RowWriter(path, "packets", Ballast(tmp_path))
    monkeypatch.setattr(writer._sink, "_file", FullDisk(path, 5000, tmp_path / ".ballast"))
    given = 0
    with pytest.raises(OSError, match="No space left"), writer:
        for group in range(99):
            given += ROW_GROUP
            writer.write(table_of(PACKET_SCHEMA, columns(group * ROW_GROUP, ROW_GROUP)))
    assert ROW_GROUP < given < 99 * ROW_GROUP
    assert pq.read_table(path)["packet"].to_pylist() == list(range(given))


def test_tables_share_memory_with_the_columns_they_are_made_of() -> None:
    given = columns(0, 1000)
    table = table_of(PACKET_SCHEMA, given)
    buffer = table["enqueued"].chunk(0).buffers()[1]
    assert buffer.address == pa.py_buffer(given["enqueued"]).address


def test_only_a_file_with_its_metadata_is_taken_for_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    with RowWriter(path, "packets", Ballast(tmp_path)) as writer:
        writer.write(table_of(PACKET_SCHEMA, columns(0, 100)))
    whole = path.read_bytes()
    assert _has_its_end(path)
    for kept in (0, 4, 8, 12, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:kept])
        assert not _has_its_end(path), kept
