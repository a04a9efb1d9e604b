"""Programs for bmv2 on the command line: checked, run with a queue of packets, tested."""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.control.declarations import read_declarations

PROGRAM = """// Forwards between two ports; egress drops what has waited for more than LIMIT us.
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
struct headers_t { ethernet_t ethernet; }
struct metadata_t {}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); transition accept; }
}
control Nothing(inout headers_t h, inout metadata_t m) { apply {} }
control Forward(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    action send(bit<9> port) { s.egress_spec = port; }
    action discard() { mark_to_drop(s); }
    table forward {
        key = { s.ingress_port: exact; }
        actions = { send; discard; }
        default_action = discard;
    }
    apply { forward.apply(); }
}
control Limit(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply { if (s.deq_timedelta > LIMIT) { mark_to_drop(s); } }
}
control Write(packet_out p, in headers_t h) { apply { p.emit(h.ethernet); } }
V1Switch(P(), Nothing(), Forward(), Limit(), Nothing(), Write()) main;
"""

CONTROL = """
[[tables]]
name = "Forward.forward"
entries = [
  { match = { "s.ingress_port" = 1 }, action = "send", args = { port = 2 } },
  { match = { "s.ingress_port" = 2 }, action = "send", args = { port = 1 } },
]

[[queues]]
port = 2
packets_per_second = 2000
depth = 50
"""

SCENARIO = """
duration = "2 s"
aqms = [{ use = "limit.p4", defines = { LIMIT = 10000 } }]

[switch]
rate = "100 Mbit/s"

[[flows]]
count = 2
rtt = "4 ms"
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "limit.p4"
    path.write_text(PROGRAM)
    path.with_suffix(".toml").write_text(CONTROL)
    return path


def test_declarations_are_read_with_the_macro_of_the_target(tmp_path: Path) -> None:
    tables = """
#if defined(__TARGET_BMV2__) && !defined(__TARGET_TOFINO__)
#define forward bmv2
#elif defined(__TARGET_TOFINO__)
#define forward tofino
#endif
"""
    path = tmp_path / "program.p4"
    path.write_text(PROGRAM.replace("header ethernet_t", f"{tables}header ethernet_t", 1))
    declared = read_declarations(
        path,
        include_paths=[str(programs_folder() / "include")],
        defines={"LIMIT": "5"},
    )
    assert [found.name for found in declared.tables] == ["Forward.bmv2"]


def test_a_v1model_program_is_checked_without_stages(sojourn: Sojourn, program: Path) -> None:
    done = sojourn("check", program, "-D", "LIMIT=5000")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{program}: no errors; it can be run\n"
    data = json.loads(sojourn("check", program, "-D", "LIMIT=5000", "--json").stdout)
    assert (data["architecture"], data["stages"]) == ("v1model", None)


def test_a_program_for_another_target_than_the_wanted_one_is_refused(
    sojourn: Sojourn, program: Path
) -> None:
    done = sojourn("check", program, "-D", "LIMIT=1", "--target", "tofino1")
    assert done.returncode == 2
    assert "this program is for v1model, not for tofino1" in " ".join(done.stderr.split())
    done = sojourn("check", program, "-D", "LIMIT=1", "--svg", "stages.svg")
    assert done.returncode == 2
    assert "v1model has no stages" in " ".join(done.stderr.split())


def test_a_run_paces_and_limits_its_queue_in_packets(
    sojourn: Sojourn, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "paced.toml").write_text(SCENARIO)
    done = sojourn("run", "paced.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    rows = pq.read_table(tmp_path / "out" / "limit" / "packets.parquet")
    verdicts = np.asarray(rows["verdict"].to_pylist())
    enqueued = rows["enqueued"].to_numpy()
    dequeued = rows["dequeued"].to_numpy()
    # 2,000 packets a second leave the queue, evenly spaced, whether egress drops them or not.
    served = np.sort(dequeued[verdicts != "tail"])
    assert np.diff(served).min() >= 499_999
    assert np.median(np.diff(served[len(served) // 2 :])) == pytest.approx(500_000, abs=1)
    # Fifty packets wait for at most 25 ms; what has waited for more than 10 ms is dropped.
    delay = dequeued - enqueued
    assert delay[verdicts != "tail"].max() <= 25_500_000
    assert set(verdicts[delay > 10_001_000]) == {"aqm"}
    assert delay[verdicts == "sent"].max() <= 10_001_000


def test_an_entry_that_does_not_fit_the_program_is_named(
    sojourn: Sojourn, program: Path, tmp_path: Path
) -> None:
    (tmp_path / "paced.toml").write_text(SCENARIO)
    program.with_suffix(".toml").write_text(CONTROL.replace("Forward.forward", "Forward.forwards"))
    done = sojourn("run", "paced.toml", "--out", "out")
    assert done.returncode == 2
    assert "there is no table `Forward.forwards` (did you mean `Forward.forward`?)" in " ".join(
        done.stderr.split()
    )
