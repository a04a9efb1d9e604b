"""Programs for the network processor, as a user runs them."""

import json
import re
from pathlib import Path

import pyarrow.parquet as pq

from conftest import Sojourn

SCENARIO = """
duration = "1 s"
aqms = [
    {{ use = "npu/codel", label = "published"{figures} }},
    {{ use = "npu/codel", label = "mutex", defines = {{ CODEL_MUTEX = "1" }} }},
    "codel_cas",
]

[switch]
rate = "100 Mbit/s"

[[flows]]
count = 10
rtt = "5 ms"
"""


def _lost_updates(folder: Path) -> int:
    faults = json.loads((folder / "counters.json").read_text())["faults"]
    return sum(fault["count"] for fault in faults if fault["kind"] == "lost_update")


def test_threads_race_as_published_and_not_where_it_is_promised(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    (tmp_path / "race.toml").write_text(SCENARIO.format(figures=""))
    done = sojourn("run", "race.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "warning published: writes over what another thread had changed" in text
    assert "codel.p4:" in text
    out = tmp_path / "out"
    assert _lost_updates(out / "published") > 0
    assert _lost_updates(out / "mutex") == _lost_updates(out / "codel_cas") == 0
    for label in ("published", "mutex", "codel_cas"):
        rows = pq.read_table(out / label / "packets.parquet", columns=["verdict"])
        verdicts = {str(verdict) for verdict in rows["verdict"].to_pylist()}
        assert {"sent", "ingress"} <= verdicts, label


def test_one_thread_alone_loses_nothing_and_the_same_seed_gives_the_same_rows(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    alone = SCENARIO.format(figures=', defines = { THREADS = "1" }')
    without = re.compile(r',\n    { use = "npu/codel", label = "mutex".*?\n\]', re.DOTALL)
    alone = without.sub(",\n]", alone)
    (tmp_path / "alone.toml").write_text(alone)
    for folder in ("one", "other"):
        done = sojourn("run", "alone.toml", "--out", folder)
        assert done.returncode == 0, done.stderr
    rows = [tmp_path / folder / "published" / "packets.parquet" for folder in ("one", "other")]
    assert rows[0].read_bytes() == rows[1].read_bytes()
    assert _lost_updates(rows[0].parent) == 0


DEADLOCK = """
#include <core.p4>
#include <npu.p4>
struct headers_t {}
struct metadata_t {}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout npu_metadata_t npu) {
    state start { transition accept; }
}
control I(inout headers_t h, inout metadata_t m, inout npu_metadata_t npu) {
    Mutex(1) door;
    apply {
        npu.egress_port = 3 - npu.ingress_port;
        door.lock(0);
        if (npu.packet_length > 1000) {
            door.lock(0);
        }
        door.unlock(0);
    }
}
control D(packet_out p, in headers_t h, in metadata_t m) { apply {} }
NPU(P(), I(), D()) main;
"""


def test_a_deadlock_ends_its_packet_and_not_the_run(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "twice.p4").write_text(DEADLOCK)
    (tmp_path / "scenario.toml").write_text(
        'duration = "200 ms"\naqms = ["twice.p4"]\n[switch]\nrate = "10 Mbit/s"\n'
        '[[flows]]\nrtt = "5 ms"\n'
    )
    done = sojourn("run", "scenario.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "their threads would have waited for themselves" in text
    assert "twice.p4:15" in text


def test_a_replay_of_such_a_program_is_refused(sojourn: Sojourn) -> None:
    done = sojourn("replay", "flood", "--duration", "1 s", "--aqm", "npu/codel")
    assert done.returncode == 2
    assert "a trace is of packets that leave one" in " ".join(done.stderr.split())
