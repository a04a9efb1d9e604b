"""Faults that do not end a run: reported on the terminal, in JSON and in the report."""

import json
import re
from pathlib import Path

import pytest

from conftest import Sojourn
from sojourn.results.faults import faults

PROGRAM = """// Forwards between ports 1 and 2, claims that nobody waits long, loses some.
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
header long_t { bit<480> data; }
struct headers_t { ethernet_t ethernet; long_t data; }
struct metadata_t {}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); p.extract(h.data); transition accept; }
}
control Nothing(inout headers_t h, inout metadata_t m) { apply {} }
control Forward(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply {
        if (s.ingress_port == 1) { s.egress_spec = 2; } else { s.egress_spec = 1; }
        if (s.ingress_global_timestamp > 500000 && s.ingress_global_timestamp < 520000) {
            s.egress_spec = 99;
        }
    }
}
control Claim(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply {
        assert(s.deq_timedelta < 3000);
        if (s.egress_port == 2 && s.enq_qdepth == 0) { log_msg("{} B alone", {s.packet_length}); }
    }
}
control Write(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), Nothing(), Forward(), Claim(), Nothing(), Write()) main;
"""

SCENARIO = """
duration = "1 s"
aqms = ["claims.p4", "fifo"]

[switch]
rate = "20 Mbit/s"

[[flows]]
count = 1
rtt = "2 ms"
"""

ASSERT_LINE = 1 + PROGRAM.splitlines().index("        assert(s.deq_timedelta < 3000);")


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    (tmp_path / "claims.p4").write_text(PROGRAM)
    path = tmp_path / "claimed.toml"
    path.write_text(SCENARIO)
    return path


def test_a_failed_claim_of_a_program_is_reported_with_its_place(
    sojourn: Sojourn, claims: Path, tmp_path: Path
) -> None:
    done = sojourn("run", claims, "--out", "out")
    assert done.returncode == 0, done.stderr
    warned = [line for line in done.stdout.splitlines() if line.startswith("warning ")]
    assert warned, done.stdout
    assert all(line.startswith("warning claims: ") for line in warned), warned
    counters = json.loads((tmp_path / "out" / "claims" / "counters.json").read_text())
    (claim,) = (fault for fault in counters["faults"] if fault["kind"] == "failed_claim")
    assert claim["count"] > 0
    assert claim["place"].endswith(f"claims.p4:{ASSERT_LINE}:9")
    text = " ".join(done.stdout.split())
    said = f"a claim of the program did not hold: {claim['count']}; the first: assert failed at "
    assert said in text
    assert f"claims.p4:{ASSERT_LINE}:9" in text.replace(" ", "")
    report = (tmp_path / "out" / "report.html").read_text()
    assert said in report
    printed = json.loads(sojourn("run", claims, "--out", "again", "--json").stdout)
    assert set(printed["warnings"]) == {"claims", "fifo"}
    assert printed["warnings"]["fifo"] == []
    assert any("a claim of the program" in text for text in printed["warnings"]["claims"])


def test_packets_that_get_lost_on_their_way_are_reported(
    sojourn: Sojourn, claims: Path, tmp_path: Path
) -> None:
    # Acknowledgements without data are shorter than the two headers together.
    assert sojourn("run", claims, "--out", "out").returncode == 0
    counters = json.loads((tmp_path / "out" / "claims" / "counters.json").read_text())
    short, lost = counters["parser_errors"], counters["unroutable_packets"]
    assert short > 0 < lost
    printed = faults(counters)
    assert f"packets that ended a parser in an error: {short}" in printed
    first = counters["unroutable_first"]
    said = f"packets for a port or queue that does not exist: {lost}; the first: {first}"
    assert said in printed


def test_log_lines_of_a_program_are_in_a_file_of_the_run_folder(
    sojourn: Sojourn, claims: Path, tmp_path: Path
) -> None:
    assert sojourn("run", claims, "--out", "out").returncode == 0
    lines = (tmp_path / "out" / "claims" / "program.log").read_text().splitlines()
    counters = json.loads((tmp_path / "out" / "claims" / "counters.json").read_text())
    assert len(lines) == counters["log_lines"] > 0
    assert all(re.fullmatch(r"\d\.\d{9} \d+ B alone", line) for line in lines), lines[:3]
    times = [float(line.split()[0]) for line in lines]
    assert times == sorted(times)
    assert not (tmp_path / "out" / "fifo" / "program.log").exists()


def test_a_second_access_to_a_register_names_the_rule() -> None:
    fault = {"kind": "second_access", "count": 3, "first": "the register `r`", "place": "a.p4:7:5"}
    (said,) = faults({"faults": [fault]})
    assert said.startswith("accesses to a register that did nothing")
    assert said.endswith("(T0705): 3; the first: the register `r` at a.p4:7:5")


UNASKED = """// Looks at the tag of packets that have none, without asking.
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
header tag_t { bit<16> id; }
struct headers_t { ethernet_t ethernet; tag_t tag; }
struct metadata_t {}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); transition accept; }
}
control Nothing(inout headers_t h, inout metadata_t m) { apply {} }
control Forward(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply { s.egress_spec = s.ingress_port ^ 3; }
}
control Look(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply {
        if (h.tag.id == 7) { mark_to_drop(s); }
    }
}
control Write(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), Nothing(), Forward(), Look(), Nothing(), Write()) main;
"""
UNASKED_LINE = 1 + UNASKED.splitlines().index("        if (h.tag.id == 7) { mark_to_drop(s); }")


def test_reads_of_fields_of_invalid_headers_are_reported_in_run_test_and_replay(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    (tmp_path / "unasked.p4").write_text(UNASKED)
    (tmp_path / "unasked.stf").write_text(f"packet 1 {'01' * 12} 0800\nexpect 2\n")
    (tmp_path / "looks.toml").write_text(SCENARIO.replace('"claims.p4", "fifo"', '"unasked.p4"'))
    place = f"unasked.p4:{UNASKED_LINE}:13"
    said = (
        "reads of fields of headers that were not valid: {}; the first: "
        "`h.tag.id` is read while its header is invalid at "
    )

    run = json.loads(sojourn("run", "looks.toml", "--out", "out", "--json").stdout)
    counters = json.loads((tmp_path / "out" / "unasked" / "counters.json").read_text())
    (fault,) = counters["faults"]
    (warning,) = (text for text in run["warnings"]["unasked"] if "not valid" in text)
    assert warning.startswith(said.format(fault["count"])) and warning.endswith(place)
    assert (
        said.format(fault["count"]).replace("`", "")
        in (tmp_path / "out" / "report.html").read_text()
    )

    tested = sojourn("test", "unasked.p4")
    assert tested.returncode == 0, tested.stdout
    assert f"  warning: {said.format(1)}" in tested.stdout and place in tested.stdout
    outcome = json.loads(sojourn("test", "unasked.p4", "--json").stdout)["tests"][0]
    assert outcome["warnings"][0].startswith(said.format(1))

    asked = ("replay", "wander", "--duration", "50 ms", "--aqm", "unasked.p4")
    replayed = sojourn(*asked, "--out", "traces")
    assert replayed.returncode == 0, replayed.stderr
    assert "warning unasked on wander" in replayed.stdout and place in replayed.stdout


def test_the_first_packet_for_a_port_that_is_not_there_is_named(
    sojourn: Sojourn, claims: Path, tmp_path: Path
) -> None:
    done = sojourn("run", claims, "--out", "out")
    text = " ".join(done.stdout.split())
    assert "port or queue that does not exist: " in text
    assert "the first: switch: there is no port 99 (queue 0); set by the program's ingress" in text
