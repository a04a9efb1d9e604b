"""Run folders, topologies and names from untrusted sources: a user error within seconds."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Finished, Sojourn
from sojourn.backends.live.control_socket import _answer
from sojourn.control import ControlError
from sojourn.errors import OutputError, SojournError
from sojourn.results.result import read_result
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.row_writer import Ballast
from sojourn.tools.lab.entries import read_runtime
from sojourn.tools.lab.topology import TopologyError, read_topology

HOSTS = {
    "h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11"},
    "h2": {"ip": "10.0.2.2/24", "mac": "08:00:00:00:02:22"},
}
LINKS = [["h1", "s1-p1"], ["h2", "s1-p2"]]


def written(folder: Path, **changes: Any) -> Path:
    topology = {"hosts": HOSTS, "switches": {"s1": {}}, "links": LINKS} | changes
    path = folder / "topology.json"
    path.write_text(json.dumps(topology))
    return path


def with_address(address: Any) -> dict[str, Any]:
    return {"hosts": HOSTS | {"h1": HOSTS["h1"] | {"ip": address}}}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"links": [["h1"]]}, r"links\[0\]: a link has two ends"),
        ({"links": [[]]}, r"links\[0\]: a link has two ends"),
        ({"links": [LINKS[0], "s1-p2"]}, r"links\[1\]: a link has two ends"),
        ({"links": [[["h1"], "s1-p1"]]}, "of another form"),
        ({"links": 5}, "of another form"),
        (with_address(5), "no address"),
        (with_address("10.0.1.1/24\nlink del lo"), "host h1"),
        (with_address('fe80::1%x\nnetns exec h1 sh -c "id"'), "no address"),
        (with_address("fe80::1%eth0/64"), "no address"),
    ],
)
def test_a_topology_of_another_form_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(TopologyError, match=message):
        read_topology(written(tmp_path, **changes))


@pytest.mark.parametrize("text", ["[" * 200_000, '{"hosts":' * 100_000, "9" * 10_000, "nul"])
def test_json_that_is_nested_too_deep_or_none_is_refused_wherever_it_is_read(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "deep.json"
    path.write_text(text)
    with pytest.raises(TopologyError, match=str(path)):
        read_topology(path)

    with pytest.raises(ControlError, match=str(path)):
        read_runtime(path, None)  # type: ignore[arg-type]
    answer = _answer(None, text.encode() + b"\n")  # type: ignore[arg-type]
    assert list(answer) == ["error"]


@pytest.mark.parametrize(
    "document",
    [
        {"table_entries": 5},
        {"table_entries": [5]},
        {"table_entries": [{"table": []}]},
        {"multicast_group_entries": [{"multicast_group_id": 1, "replicas": 5}]},
        {"clone_session_entries": [{"clone_session_id": 1, "replicas": [5]}]},
    ],
)
def test_a_runtime_file_of_another_form_is_refused(tmp_path: Path, document: Any) -> None:
    path = tmp_path / "s1-runtime.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ControlError, match=r"runtime\.json: .*_entries"):
        read_runtime(path, None)  # type: ignore[arg-type]


@pytest.fixture
def copied(finished: Finished, tmp_path: Path) -> Path:
    out = tmp_path / "copy"
    shutil.copytree(finished.folder, out)
    return out


def of_first(out: Path, name: str) -> Path:
    return out / RunFolder.open(out).runs[0].folder / name


@pytest.mark.parametrize("name", ["packets.parquet", "counters.json"])
def test_a_pipe_in_place_of_a_runs_file_is_no_file(copied: Path, name: str) -> None:
    path = of_first(copied, name)
    path.unlink()
    os.mkfifo(path)
    if name == "counters.json":
        # A run that has come nowhere is not compared with the others.
        assert len(read_result(RunFolder.open(copied)).aqms) == len(RunFolder.open(copied).runs) - 1
    else:
        with pytest.raises(SojournError, match="not a file"):
            read_result(RunFolder.open(copied))


@pytest.mark.parametrize(
    "changes",
    [
        {"bottlenecks": []},
        {"flows": [{}]},
        {"faults": [{"kind": "<img>", "count": 5, "first": "x", "place": None}]},
        {"faults": [{"kind": "rounds"}]},
        {"unsynchronised": None},
    ],
)
def test_counters_that_no_run_has_are_refused(copied: Path, changes: dict[str, Any]) -> None:
    path = of_first(copied, "counters.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(SojournError, match="the rows of this run cannot be read"):
        read_result(RunFolder.open(copied))


def test_a_packet_that_left_after_the_end_of_its_run_is_not_traced(
    copied: Path, sojourn: Sojourn
) -> None:
    rows = of_first(copied, "packets.parquet")
    table = pq.read_table(rows)
    place = table.schema.get_field_index("dequeued")
    late = pa.array([2**62] * table.num_rows, table.schema.field("dequeued").type)
    pq.write_table(table.set_column(place, table.schema.field(place), late), rows)
    said = sojourn("trace", str(copied), "1")
    assert said.returncode == 2, said.stderr


def test_names_that_are_not_utf8_are_refused_before_anything_is_done(tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"n\xff.toml")
    odd.write_text('duration = "10 ms"\n')
    for arguments, here in (
        (["run", str(odd)], tmp_path),
        (["run", "bufferbloat", "--aqm", os.fsdecode(b"n\xff.p4")], tmp_path),
        (["run", "bufferbloat", "--out", os.fsdecode(b"n\xff")], tmp_path),
        (["replay", os.fsdecode(b"n\xff.d")], tmp_path),
    ):
        done = subprocess.run(
            (sys.executable, "-m", "sojourn", *arguments),
            cwd=here,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        assert "not UTF-8" in " ".join(done.stderr.split()), done.stderr


def test_a_disk_without_room_for_the_first_row_is_not_told_of_as_one_with_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full)
    with pytest.raises(OutputError, match="no row was written") as told:
        Ballast(tmp_path)
    assert "readable" not in str(told.value)
    assert not list(tmp_path.iterdir())


ODD = """
#include <core.p4>
#include <v1model.p4>
header eth_t { bit<48> d; bit<48> s; bit<16> t; }
struct hdrs { eth_t e; }
struct meta_t { }
parser P(packet_in b, out hdrs h, inout meta_t m, inout standard_metadata_t s) {
  state start { b.extract(h.e); transition accept; } }
control V(inout hdrs h, inout meta_t m) { apply { } }
control I(inout hdrs h, inout meta_t m, inout standard_metadata_t s) {
  @name("r\x1b[31m</text>\u202e\x07\x9b.x") register<bit<32>>(4) rg;
  @name("a\x1b]0;title\x07") action act() { log_msg("hello \x1b[41m\x07\u202e"); }
  @name("t\x1b[5m\\nb") table tb { key = { h.e.s: exact @name("k\x1b[7m<i>"); }
    actions = { act; NoAction; } default_action = act(); }
  apply { bit<32> x; rg.read(x, 0); rg.write(0, x + 1); tb.apply(); s.egress_spec = 2; } }
control E(inout hdrs h, inout meta_t m, inout standard_metadata_t s) { apply { } }
control D(packet_out b, in hdrs h) { apply { b.emit(h.e); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"""


@pytest.mark.parametrize(
    "command",
    [
        ("check", "odd.p4", "--dependencies", "--svg", "odd.svg"),
        ("check", "odd.p4", "--dependencies", "--json"),
        ("check", "odd.p4"),
        ("trace", "odd.p4", "001122334455667788990011080000"),
        ("emit", "odd.p4", "--for", "p4runtime", "--out", "emitted"),
    ],
)
def test_names_and_messages_of_a_program_do_nothing_to_a_terminal(
    tmp_path: Path, sojourn: Sojourn, command: tuple[str, ...]
) -> None:
    (tmp_path / "odd.p4").write_text(ODD, encoding="utf-8")
    said = sojourn(*command)
    for text in (said.stdout, said.stderr):
        hidden = [char for char in text if not char.isprintable() and char != "\n"]
        assert not hidden, text
    assert "internal error" not in said.stderr
    if "--svg" in command:
        ElementTree.parse(tmp_path / "odd.svg")
