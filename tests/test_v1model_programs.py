"""The programs of `p4/v1model/`: each compared with the native discipline that it implements.

What decides behind the queue is asked about the same packets (`ask`), what decides before it gets
the same arrivals: constant-rate senders that react to nothing.
"""

import json
import struct
from dataclasses import dataclass
from html import unescape
from math import isqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sojourn as package
from conftest import Sojourn
from sojourn.common.resources import programs_folder, scenarios_folder
from sojourn.model.aqms import find_aqm
from sojourn.model.scenario.model import choose
from sojourn.results.remarks import remarks
from sojourn.runtime.plan import aqm_config
from sojourn.tools.check.checker import check
from sojourn.tools.delays.payload_delays import read_delays
from sojourn.tools.replay import RecordedTrace, SyntheticTrace
from sojourn.tools.replay.decisions import decide
from sojourn.tools.replay.trace import Rows

MS = 1_000_000
FULL = 1514
PROGRAMS = sorted(path.stem for path in (programs_folder() / "v1model").glob("*.p4"))
EXACT = {"CONTROL_LAW_EXACT": "1"}


def decided(use: str, rows: Rows, **defines: str) -> npt.NDArray[np.bool_]:
    """Which of `rows` the AQM drops."""
    choice = choose({"use": use, "defines": defines} if defines else use)
    config = aqm_config(choice, find_aqm(use), None).config
    decisions = decide(config, rows, label=use, latency=1_000)
    assert decisions is not None
    return decisions.dropped


def as_bmv2_sees(rows: Rows) -> Rows:
    """The packets by bmv2's clock, in microseconds, and of one size, as it counts only packets."""
    time = rows.time // 1000 * 1000
    arrived = (rows.time - rows.sojourn) // 1000 * 1000
    full = np.full_like(rows.size, FULL)
    return Rows(time, time - arrived, rows.packets * FULL, rows.cells, rows.packets, full)


def test_all_programs_are_there_and_have_names_of_their_own() -> None:
    shared = (
        "codel", "codel_act", "codel_act_slides", "dualpi2", "fq_codel", "int", "pi2", "pie", "red",
    )  # fmt: skip
    for name in shared:
        assert f"v1model/{name}" == find_aqm(f"v1model/{name}").name
        assert find_aqm(name).architecture != "v1model", "the plain name is the first one's"
    for name in ("router", "queue_measurement"):
        assert find_aqm(name) == find_aqm(f"v1model/{name}")
    assert find_aqm("tna/codel_act") == find_aqm("codel_act")
    assert len(PROGRAMS) == 12


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize(
    "defines",
    [
        {},
        {"QUEUE_MEASUREMENT": "1", "CONTROL_LAW_EXACT": "1", "V1MODEL_VERSION": "20200408"},
        {"CONTROL_LAW_RANGE": "1"},
    ],
    ids=["plain", "with everything", "with ranges"],
)
def test_the_programs_have_no_errors_and_no_warnings(name: str, defines: dict[str, str]) -> None:
    # A macro that no file reads is a warning: only the CoDels have a control law, and INT and HPCC
    # have a parser of their own.
    given = {k: v for k, v in defines.items() if "CONTROL_LAW" not in k or "codel" in name}
    if name in ("int", "hpcc"):
        given.pop("QUEUE_MEASUREMENT", None)
    done = check(programs_folder() / "v1model" / f"{name}.p4", defines=given)
    assert (done.ok, done.diagnostics, done.architecture) == (True, [], "v1model")


def test_codel_needs_an_include_and_a_line_in_egress() -> None:
    folder = programs_folder() / "v1model"
    plain = (folder / "router.p4").read_text().splitlines()
    codel = (folder / "codel.p4").read_text().splitlines()
    added = [line for line in codel if line not in plain and not line.startswith("//")]
    assert added == ['#include "aqm/codel.p4"', "        Codel.apply(standard_metadata);"]


# ---- CoDel


@pytest.mark.parametrize("profile", ["wander", "bursts", "gaps", "rates", "flicker"])
def test_codel_with_the_exact_table_drops_the_same_packets_as_rfc_8289(profile: str) -> None:
    # 5 s at 100 Mbit/s: long enough for hundreds of drops, short enough for counts below 1023.
    rows = as_bmv2_sees(SyntheticTrace(profile, 10**8, 5_000 * MS, packet_size=1500).read())
    reference = decided("codel", rows)
    assert np.array_equal(decided("v1model/codel", rows, **EXACT), reference)
    assert reference.sum() >= {"wander": 40, "bursts": 200, "gaps": 10, "rates": 10}.get(profile, 0)


def test_codel_on_a_finer_clock_than_bmv2s_is_hardly_ever_different() -> None:
    rows = SyntheticTrace("bursts", 10**8, 10_000 * MS, packet_size=1500).read()
    reference, program = decided("codel", rows), decided("v1model/codel", rows, **EXACT)
    assert reference.sum() > 500
    assert (reference & program).sum() >= 0.99 * reference.sum()


def test_codel_by_longest_prefix_is_slower_between_powers_of_two() -> None:
    rows = as_bmv2_sees(SyntheticTrace("bursts", 10**8, 10_000 * MS, packet_size=1500).read())
    drops = decided("v1model/codel", rows).sum()
    reference = decided("codel", rows).sum()
    assert 0.5 * reference < drops < 0.9 * reference


def spacing(interval: int, count: int) -> int:
    """INTERVAL / sqrt(count), rounded to the nearest, halves up."""
    return (isqrt(4 * interval * interval // count) + 1) // 2


@pytest.mark.parametrize("interval", [100 * MS, 10 * MS, 30 * MS])
def test_the_exact_control_law_is_right_to_a_nanosecond(
    sojourn: Sojourn, tmp_path: Path, interval: int
) -> None:
    (tmp_path / "law.p4").write_text(LAW)
    drawn = np.random.default_rng(1).integers(1024, 1 << 32, 200, dtype=np.int64).tolist()
    lines = []
    for count in [*range(1, 1024), *drawn, (1 << 32) - 1]:
        lines.append(f"packet 0 {count:08x} 0000000000000000")
        lines.append(f"expect 0 {count:08x} {spacing(interval, count):016x} $")
    (tmp_path / "law.stf").write_text("\n".join(lines) + "\n")
    law = ("-D", "CONTROL_LAW_EXACT", "-D", f"INTERVAL={interval}")
    done = sojourn("test", "law.p4", "law.stf", "-I", programs_folder() / "v1model", *law)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_by_longest_prefix_is_the_papers(sojourn: Sojourn, tmp_path: Path) -> None:
    # Listing 2 of the paper, in whole microseconds: 0/31, 0/30 and so on.
    listing = [100_000, 70_710, 50_000, 35_355, 25_000, 17_677]
    (tmp_path / "law.p4").write_text(LAW)
    lines = []
    for power, microseconds in enumerate(listing):
        nanoseconds = spacing(100 * MS, 1 << power)
        assert nanoseconds // 1000 == microseconds
        for count in sorted({1 << power, (2 << power) - 1}):
            lines.append(f"packet 0 {count:08x} 0000000000000000")
            lines.append(f"expect 0 {count:08x} {nanoseconds:016x} $")
    (tmp_path / "law.stf").write_text("\n".join(lines) + "\n")
    done = sojourn("test", "law.p4", "law.stf", "-I", programs_folder() / "v1model")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("exact", [False, True])
def test_the_table_by_ranges_is_right_to_3_per_cent_for_every_count(
    sojourn: Sojourn, tmp_path: Path, exact: bool
) -> None:
    (tmp_path / "law.p4").write_text(LAW)
    drawn = np.random.default_rng(1).integers(1024, 1 << 32, 200, dtype=np.int64).tolist()
    edges = [(8 + eighth) << (octave - 3) for octave in range(4, 32) for eighth in range(8)]
    counts = {*range(1, 64), *drawn, *edges, *(edge - 1 for edge in edges), (1 << 32) - 1}
    lines = []
    for count in sorted(counts):
        start = count >> max(count.bit_length() - 4, 0)
        middle = count if count < 16 or exact else (2 * start + 1) << (count.bit_length() - 5)
        assert abs((middle / count) ** -0.5 - 1) < 0.0305
        if isqrt(4 * (100 * MS) ** 2 // middle) ** 2 * middle == 4 * (100 * MS) ** 2:
            # A whole number of half nanoseconds: it may be rounded either way.
            continue
        lines.append(f"packet 0 {count:08x} 0000000000000000")
        lines.append(f"expect 0 {count:08x} {spacing(100 * MS, middle):016x} $")
    (tmp_path / "law.stf").write_text("\n".join(lines) + "\n")
    law = ("-D", "CONTROL_LAW_RANGE", *(("-D", "CONTROL_LAW_EXACT") if exact else ()))
    done = sojourn("test", "law.p4", "law.stf", "-I", programs_folder() / "v1model", *law)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_late_drop_delays_those_behind_it_in_the_published_form_only() -> None:
    # Traces in which packets leave all the time cannot tell: a drop is late by a packet at most.
    rows = as_bmv2_sees(SyntheticTrace("bursts", 10**8, 5_000 * MS, packet_size=1500).read())
    own = decided("v1model/codel", rows, **EXACT)
    published = decided("v1model/codel", rows, CODEL_DROP_NEXT_FROM_NOW="1", **EXACT)
    assert not np.array_equal(own, published)
    assert 0.9 * own.sum() < published.sum() <= own.sum()


LAW = """// Puts INTERVAL / sqrt(count) into the packet.
#include <core.p4>
#include <v1model.p4>
#include "common/control_law.p4"
header law_h { bit<32> count; bit<64> spacing; }
struct headers_t { law_h law; }
struct metadata_t {}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { p.extract(h.law); transition accept; }
}
control Nothing(inout headers_t h, inout metadata_t m) { apply {} }
control Answer(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply { ControlLaw.apply(h.law.count, h.law.spacing); }
}
control Idle(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply {} }
control Write(packet_out p, in headers_t h) { apply { p.emit(h.law); } }
V1Switch(P(), Nothing(), Answer(), Idle(), Nothing(), Write()) main;
"""


# ---- What decides before the queue, given the same arrivals

LOADS = """
duration = "12 s"
aqms = [
    "pie", "v1model/pie", "pi2", "v1model/pi2",
    # The program's w_q and s are powers of two.
    { use = "red", w_q = 0.001953, s = "128 us" }, "v1model/red",
]

[switch]
packets_per_second = 2000
queue_limit = "608 kB"

# 91 % of what the port can send; then 107 % for 4 s, and 124 % for 2 s.
[[flows]]
kind = "udp"
rate = "22 Mbit/s"
rtt = "4 ms"

[[flows]]
kind = "udp"
rate = "4 Mbit/s"
rtt = "4 ms"
start = "2 s"
stop = "6 s"

[[flows]]
kind = "udp"
rate = "8 Mbit/s"
rtt = "4 ms"
start = "8 s"
stop = "10 s"
"""


@pytest.fixture(scope="module")
def loads(tmp_path_factory: pytest.TempPathFactory) -> package.Result:
    folder = tmp_path_factory.mktemp("loads")
    (folder / "loads.toml").write_text(LOADS)
    return package.run(folder / "loads.toml", out=folder / "out")


@dataclass(frozen=True)
class Outcome:
    packets: int
    drops: int
    mean: float


def outcome(result: package.Result, label: str) -> Outcome:
    rows = pq.read_table(result.aqms[label].folder / "packets.parquet")
    verdict = np.array(rows["verdict"].cast("string").to_pylist())
    delay = (rows["dequeued"].to_numpy() - rows["enqueued"].to_numpy())[verdict == "sent"]
    drops = int(np.isin(verdict, ["aqm", "ingress"]).sum())
    return Outcome(rows.num_rows, drops, float(delay.mean()))


@pytest.mark.parametrize("name", ["pie", "pi2", "red"])
def test_drops_of_a_program_s_ingress_are_counted_as_that(loads: package.Result, name: str) -> None:
    found = loads.aqms[f"v1model/{name}"]
    rows = pq.read_table(found.folder / "packets.parquet")
    dropped = rows.filter(pc.equal(rows["verdict"].cast("string"), "ingress"))
    assert found.summary.aqm_drops == 0
    assert found.summary.ingress_drops == dropped.num_rows > 1000
    assert dropped["enqueued"].equals(dropped["dequeued"]), "they were in no queue"
    assert loads.aqms[name].summary.ingress_drops == 0, "a discipline has no ingress"
    page = (loads.path / "report.html").read_text()
    assert "<br>drops" in page and "ingress<br>drops" in page
    note = f"{dropped.num_rows} packets were dropped by the program's ingress"
    assert note in unescape(page)


@pytest.mark.parametrize("name", ["pie", "pi2", "red"])
def test_programs_that_drop_before_the_queue_agree_with_the_native_discipline(
    loads: package.Result, name: str
) -> None:
    native, program = outcome(loads, name), outcome(loads, f"v1model/{name}")
    assert program.packets == native.packets, "the same arrivals"
    assert native.drops > 1000
    assert program.drops == pytest.approx(native.drops, rel=0.1)
    assert program.mean == pytest.approx(native.mean, rel=0.1)


def test_a_report_comes_back_each_period_and_is_no_packet_of_a_flow(loads: package.Result) -> None:
    # 12 s by 15 and 32 ms; nothing is reported before the first packet and behind the last.
    for name, period in (("pie", 15), ("pi2", 32)):
        summary = loads.aqms[f"v1model/{name}"].summary
        assert summary.mirrored == summary.recirculated
        assert summary.recirculated == pytest.approx(12_000 / period, rel=0.02)


# ---- Flows in queues of their own

TWO_FLOWS = """
duration = "8 s"
aqms = [
    "fq_codel",
    { use = "v1model/fq_codel", defines = { CONTROL_LAW_EXACT = 1 } },
    "codel_act",
    { use = "v1model/codel_act", defines = { CONTROL_LAW_EXACT = 1 } },
]

[switch]
packets_per_second = 2000
queue_limit = "608 kB"

[[flows]]
count = 2
rtt = "20 ms"
"""


@pytest.fixture(scope="module")
def two_flows(tmp_path_factory: pytest.TempPathFactory) -> package.Result:
    folder = tmp_path_factory.mktemp("two")
    (folder / "two.toml").write_text(TWO_FLOWS)
    return package.run(folder / "two.toml", out=folder / "out")


def test_fq_codel_drops_in_each_queue_the_same_packets_as_rfc_8289(
    two_flows: package.Result,
) -> None:
    path = two_flows.aqms["v1model/fq_codel"].folder / "packets.parquet"
    recorded = pq.read_table(path)
    verdict = np.array(recorded["verdict"].cast("string").to_pylist())
    queue = recorded["queue"].to_numpy()
    assert len(np.unique(queue)) == 2, "a queue for each of these flows"
    for number in np.unique(queue):
        rows = as_bmv2_sees(RecordedTrace(path, int(number)).read())
        dropped = (verdict == "aqm")[(queue == number) & (verdict != "tail")][: len(rows)]
        assert dropped.sum() > 10
        assert np.array_equal(dropped, decided("codel", rows))


def test_fq_codel_serves_its_queues_in_turns(two_flows: package.Result) -> None:
    counters = two_flows.aqms["v1model/fq_codel"].folder / "counters.json"
    one, other = (flow["delivered"] for flow in json.loads(counters.read_text())["flows"])
    assert one == pytest.approx(other, rel=0.02)


@pytest.mark.parametrize(("program", "reference"), [("fq_codel",) * 2, ("codel_act",) * 2])
def test_programs_that_drop_behind_the_queue_delay_tcp_as_their_reference_does(
    two_flows: package.Result, program: str, reference: str
) -> None:
    ours, theirs = outcome(two_flows, f"v1model/{program}"), outcome(two_flows, reference)
    assert theirs.drops > 20
    assert ours.drops == pytest.approx(theirs.drops, rel=0.1, abs=4)
    assert ours.mean == pytest.approx(theirs.mean, rel=0.1)


# ---- CoDel-ACT: the two architectures


@pytest.mark.parametrize("profile", ["wander", "bursts"])
def test_codel_act_on_bmv2_drops_as_often_as_on_tofino(profile: str) -> None:
    # A table is right where the math unit is up to 12 % too long: a few drops more.
    rows = as_bmv2_sees(SyntheticTrace(profile, 10**8, 5_000 * MS, packet_size=1500).read())
    tofino, bmv2 = decided("codel_act", rows), decided("v1model/codel_act", rows, **EXACT)
    assert tofino.sum() > 50
    assert bmv2.sum() == pytest.approx(tofino.sum(), rel=0.1)


def test_codel_act_that_counts_by_one_has_rfc_8289s_rate_of_drops() -> None:
    rows = as_bmv2_sees(SyntheticTrace("wander", 10**8, 5_000 * MS, packet_size=1500).read())
    drops = decided("v1model/codel_act", rows, COUNT_STEP="1", **EXACT).sum()
    assert drops == pytest.approx(decided("codel", rows).sum(), rel=0.1)


# ---- The 2018 paper


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> package.Result:
    folder = tmp_path_factory.mktemp("paper")
    text = (scenarios_folder() / "p4-codel-2018.toml").read_text()
    assert 'duration = "20 s"' in text
    (folder / "short.toml").write_text(text.replace('duration = "20 s"', 'duration = "6 s"'))
    routes = (scenarios_folder() / "p4-codel-2018.txt").read_text()
    (folder / "p4-codel-2018.txt").write_text(routes)
    return package.run(folder / "short.toml", out=folder / "out", pcap=True)


def test_the_paper_of_2018_burst_saw_teeth_and_a_busy_link(paper: package.Result) -> None:
    rows = pq.read_table(paper.aqms["codel.p4"].folder / "packets.parquet")
    verdict = np.array(rows["verdict"].cast("string").to_pylist())
    time, entered = rows["dequeued"].to_numpy(), rows["enqueued"].to_numpy()
    delay = time - entered
    # The first burst is let through: an INTERVAL above TARGET passes before the first drop.
    first_above = time[delay >= 5 * MS].min()
    assert time[verdict == "aqm"].min() >= first_above + 100 * MS
    assert delay.max() > 40 * MS
    # From then on the delay is below TARGET again and again: in each second.
    for second in range(2, 6):
        now = (time >= second * 1000 * MS) & (time < (second + 1) * 1000 * MS)
        assert delay[now].min() < 5 * MS
        assert delay[now].max() < 25 * MS
    # 2,000 packets leave the queue in each second, dropped or not.
    served = np.histogram(time, np.arange(1, 7) * 1000 * MS)[0]
    assert served == pytest.approx(2000, rel=0.01)
    assert paper.aqms["fifo (router.p4)"].summary.mean > 50 * MS
    assert "math unit" not in "".join(remarks(paper)), "bmv2 has none"


def test_codel_in_a_run_drops_the_same_packets_as_rfc_8289(
    paper: package.Result,
) -> None:
    path = paper.aqms["codel.p4 (exact)"].folder / "packets.parquet"
    rows = as_bmv2_sees(RecordedTrace(path).read())
    verdict = np.array(pq.read_table(path)["verdict"].cast("string").to_pylist())
    dropped = (verdict == "aqm")[verdict != "tail"][: len(rows)]
    assert dropped.sum() > 100
    assert np.array_equal(dropped, decided("codel", rows))


def test_the_delay_in_the_payload_is_the_queues_and_the_receiver_does_not_mind(
    paper: package.Result, sojourn: Sojourn, tmp_path: Path
) -> None:
    folder = paper.aqms["codel.p4"].folder
    (tmp_path / "earlier.csv").write_text("earlier")
    (tmp_path / "delays.csv").hardlink_to(tmp_path / "earlier.csv")
    done = sojourn("delays", folder / "bottleneck.pcapng", "--csv", "delays.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "earlier.csv").read_text() == "earlier", "replaced as a whole"
    figures = json.loads(done.stdout)["flows"]
    rows = pq.read_table(folder / "packets.parquet")
    verdict = np.array(rows["verdict"].cast("string").to_pylist())
    # Data segments: all but the handshakes and the small UDP packets.
    data = (verdict == "sent") & (rows["size"].to_numpy() == FULL)
    delay = (rows["dequeued"].to_numpy() - rows["enqueued"].to_numpy())[data]
    assert len(figures) == 5, "four flows, and all of them"
    written = np.loadtxt(tmp_path / "delays.csv", delimiter=",", skiprows=1, usecols=2)
    assert figures["all"]["packets"] == len(delay)
    assert np.abs(written - delay).max() <= 1000, "the same to a microsecond, packet by packet"
    assert figures["all"]["mean"] == pytest.approx(delay.mean(), abs=1000)
    # A wrong checksum would have made these frames malformed.
    counters = json.loads((folder / "counters.json").read_text())
    assert (counters["malformed_frames"], counters["stray_frames"]) == (0, 0)


def test_a_capture_without_tcp_is_refused(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "text.pcap").write_text("this is text")
    (tmp_path / "empty.pcapng").write_bytes(b"")
    for name, reason in [
        ("missing.pcap", "no such capture"),
        ("text.pcap", "neither a pcapng nor a pcap file"),
        ("empty.pcapng", "neither a pcapng nor a pcap file"),
    ]:
        done = sojourn("delays", name)
        assert done.returncode == 2
        assert reason in done.stderr


# ---- The router

OWN, NEXT_HOP, STATION = "02ff00000002", "020000000002", "02ff00000001"


def ipv4(
    ttl: int, *, options: bytes = b"", protocol: int = 17, payload: bytes = bytes(8), error: int = 0
) -> str:
    """An IPv4 packet to 10.128.0.1 in hexadecimal; `error` is added to its header checksum."""
    words = 5 + len(options) // 4
    length = 4 * words + len(payload)
    head = struct.pack("!BBHHHBBH", 0x40 | words, 0, length, 1, 0, ttl, protocol, 0)
    head += bytes([10, 0, 0, 1, 10, 128, 0, 1]) + options
    total = sum(struct.unpack(f"!{len(head) // 2}H", head))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    checksum = (~total + error) & 0xFFFF
    return (head[:10] + struct.pack("!H", checksum) + head[12:] + payload).hex()


def test_the_router_forwards_to_the_next_hop_and_drops_invalid_packets(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    arrived, leaving = f"{STATION}020000000001 0800", f"{NEXT_HOP}{OWN} 0800"
    four = bytes([1, 1, 1, 0])
    lines = [
        f"add routes dst:0x0a800000/9 send(port:2, own:0x{OWN}, next_hop:0x{NEXT_HOP})",
    ]
    for options, protocol, payload in [
        (b"", 17, bytes(8)),
        (b"", 6, bytes(range(20))),
        (four, 17, bytes(8)),
        (10 * four, 6, bytes(range(20))),
        (b"", 1, b"ping"),
        (b"", 6, b"short"),
    ]:
        packet = {"options": options, "protocol": protocol, "payload": payload}
        lines.append(f"packet 1 {arrived} {ipv4(64, **packet)}")  # type: ignore[arg-type]
        if payload != b"short":
            lines.append(f"expect 2 {leaving} {ipv4(63, **packet)} $")  # type: ignore[arg-type]
        else:
            lines.append("no_packet")
    for wrong in [
        f"{arrived} {ipv4(1)}",
        f"{arrived} {ipv4(0)}",
        f"{arrived} {ipv4(64, error=1)}",
        f"{arrived} {ipv4(64).replace('45', '44', 1)}",
        f"{arrived} {ipv4(64).replace('45', '65', 1)}",
        f"{arrived} {ipv4(64)[:30]}",
        f"{STATION}020000000001 86dd {ipv4(64)}",
        f"{arrived} {ipv4(64).replace('0a800001', '0b000001')}",
        "0102",
    ]:
        lines += [f"packet 1 {wrong}", "no_packet"]
    text = "\n".join(lines).replace("dst:", "hdr.ipv4.destination:")
    (tmp_path / "router.stf").write_text(text + "\n")
    done = sojourn("test", programs_folder() / "v1model" / "router.p4", "router.stf")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_capture_by_tcpdump_is_read_too(tmp_path: Path) -> None:
    tcp = struct.pack("!HHIIBBHHH", 5201, 40_000, 1, 1, 0x50, 0x10, 100, 0, 0)
    measured = (
        bytes(12)
        + b"\x08\x00"
        + bytes.fromhex(ipv4(64, protocol=6, payload=tcp + struct.pack("!I", 4321) + bytes(6)))
    )
    bare = bytes(12) + b"\x08\x00" + bytes.fromhex(ipv4(64, protocol=6, payload=tcp)) + bytes(6)
    for order, magic, unit in ((">", 0xA1B2C3D4, 1000), ("<", 0xA1B23C4D, 1)):
        data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
        for frame in (measured, bare):
            data += struct.pack(order + "IIII", 7, 500, len(frame), len(frame)) + frame
        (tmp_path / "dump.pcap").write_bytes(data + b"cut")
        [found] = read_delays(tmp_path / "dump.pcap")
        assert found.delay == 4_321_000
        assert found.time == 7 * 10**9 + 500 * unit
        assert found.flow == "10.0.0.1:5201 > 10.128.0.1:40000"


def test_flows_have_32_queues_where_the_priority_is_wider(tmp_path: Path) -> None:
    flows = [{"kind": "udp", "count": 60, "rate": "1 Mbit/s", "rtt": "1 ms"}]
    used = {}
    for label, defines in (("8", {}), ("32", {"FQ_QUEUES": 32})):
        scenario = {
            "duration": "300 ms",
            "aqms": [{"use": "v1model/fq_codel", "label": label, "defines": defines}],
            "switch": {"rate": "100 Mbit/s"},
            "flows": flows,
        }
        package.run(scenario, out=tmp_path / label, report=False)
        rows = pq.read_table(tmp_path / label / label / "packets.parquet")
        used[label] = set(rows.column("queue").to_pylist())
    assert used["8"] <= set(range(8)) and len(used["8"]) > 5
    assert used["32"] <= set(range(32)) and len(used["32"]) > 20
