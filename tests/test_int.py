"""In-band Network Telemetry: what switches measure of a packet is what the simulator measured.

The layout of headers is that of the INT 2.1 and Telemetry Report 2.0 specifications.
"""

import json
import struct
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import call_sojourn
from sojourn.common.resources import scenarios_folder
from sojourn.runner import plan_scenario, record
from sojourn.runtime.pcapng import CaptureWriter
from sojourn.tools.delays.captures import read_frames
from sojourn.tools.telemetry.collector import Collected, collect
from sojourn.tools.telemetry.headers import BrokenTelemetry, read_packet, read_reports

HOPS = {1: "packets.parquet", 2: "packets-s2-s3.parquet", 3: "packets-s3-h2.parquet"}
"""The rows of the queue of each hop."""
COLLECTOR, LAST_LINK = "bottleneck-s3-collector.pcapng", "bottleneck-s2-s3.pcapng"
INGRESS_LATENCY = 600
"""ns, of each switch before its traffic manager."""
CELL = 80
IN_FRONT = 4 + 14
"""Bytes in a Tofino's buffer beside the frame: check sequence, bridge header."""


def chain() -> dict[str, Any]:
    """The shipped scenario, over half a second."""
    text = (scenarios_folder() / "int_chain.toml").read_text()
    return tomllib.loads(text) | {"duration": "500 ms"}


def run(folder: Path, scenario: dict[str, Any], **options: Any) -> Path:
    record(plan_scenario(scenario, beside=scenarios_folder(), **options), folder / "run")
    return folder / "run"


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """bmv2 at each hop, and a Tofino between two of them."""
    return run(tmp_path_factory.mktemp("int"), chain())


@pytest.fixture(scope="module")
def tofino(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Tofino at each hop; all links are captured."""
    scenario = chain()
    for switch, role in zip(scenario["switches"], ("source", "transit", "sink"), strict=True):
        switch["aqm"] = {"use": "tna/int", "control": f"int_chain/tofino_{role}.toml"}
    scenario["aqms"] = scenario["aqms"][1:]
    return run(tmp_path_factory.mktemp("int"), scenario, capture=True)


def ints(column: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    return column.to_numpy().astype(np.int64)


def agrees(folder: Path, hop: int, found: Collected, *, cells: bool) -> None:
    """Asserts that each packet has times, latency and depth of its row at a hop."""
    clock = 1 if cells else 1_000
    rows = pq.read_table(folder / HOPS[hop])
    rows = rows.filter(pc.is_in(rows["verdict"].cast(pa.string()), pa.array(["sent", "mark"])))
    entered, left, size = (ints(rows[name]) for name in ("enqueued", "dequeued", "size"))
    units = -(-(size + IN_FRONT) // CELL) if cells else np.ones(len(size), np.int64)
    before = np.concatenate([[0], np.cumsum(units)])
    number = np.arange(len(left))
    gone = np.minimum(number, np.searchsorted(left, entered, side="right"))
    depth = before[number] - before[gone]

    seen = found.table.filter(pc.equal(found.table["hop"], hop))
    assert len(seen) == found.packets > 500
    assert seen["node"].unique().to_pylist() == [hop]
    ticks = left // clock * clock
    at = np.searchsorted(ticks, ints(seen["egress_time"]))
    arrived = (entered - INGRESS_LATENCY) // clock * clock
    assert (ints(seen["egress_time"]) == ticks[at]).all()
    assert (ints(seen["ingress_time"]) == arrived[at]).all()
    assert (ints(seen["latency"]) == (ticks - arrived)[at]).all()
    assert (ints(seen["occupancy"]) == depth[at]).all()
    assert depth[at].max() > 20


@pytest.mark.parametrize("label", ["bmv2", "tofino"])
def test_latency_and_depth_of_each_hop_are_those_that_the_simulator_measured(
    shipped: Path, label: str
) -> None:
    found = collect(shipped / label / COLLECTOR)
    assert (found.lost, found.unjoined, found.exceeded, dict(found.broken)) == (0, 0, 0, {})
    assert found.reports == 2 * found.packets
    for hop in HOPS:
        agrees(shipped / label, hop, found, cells=label == "tofino" and hop == 2)


def test_a_chain_of_tofinos_measures_the_same_as_the_simulator(tofino: Path) -> None:
    found = collect(tofino / "tofino" / COLLECTOR)
    assert (found.lost, found.unjoined, dict(found.broken)) == (0, 0, {})
    for hop in (1, 2):
        agrees(tofino / "tofino", hop, found, cells=True)
    assert found.table["hop"].unique().to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("made_by", ["shipped", "tofino"])
def test_hosts_get_the_packets_that_were_sent(made_by: str, request: pytest.FixtureRequest) -> None:
    for path in request.getfixturevalue(made_by).glob("*/counters.json"):
        counters = json.loads(path.read_text())
        # A host would not have read a packet with a wrong checksum or length.
        assert (counters["malformed_frames"], counters["stray_frames"]) == (0, 0)
        assert counters["flows"][0]["delivered"] > 100_000


def test_headers_on_the_wire_are_laid_out_as_the_specification_says(tofino: Path) -> None:
    frames = (each.data for each in read_frames(tofino / "tofino" / LAST_LINK))
    frame = next(each for each in frames if each[26:30] == bytes([10, 0, 1, 1]))
    total, protocol = struct.unpack_from("!2xH5xB", frame, 14)
    assert (protocol, total) == (17, len(frame) - 14)
    port, length, checksum = struct.unpack_from("!HHH", frame, 36)
    assert (port, length, checksum) == (5000, total - 20, 0)
    # Shim: type 1 (INT-MD), NPT 2, 3 words of INT-MD and 8 of each hop, the protocol of the packet.
    hops = (frame[43] - 3) // 8
    assert frame[42:46] == bytes([0x18, 3 + 8 * hops, 0, 6])
    # INT-MD: version 2, no flags, Hop ML 8, hops that remain, bits 0 to 5, no domain.
    assert frame[46:58] == bytes([0x20, 0, 8, 8 - hops, 0xFC, 0, 0, 0, 0, 0, 0, 0])
    # Node, interfaces, latency, queue and occupancy, two times of 64 bits.
    node, near, far, latency, _, arrived, left = struct.unpack_from("!IHHIIQQ", frame, 58)
    assert (node, near, far, latency) == (hops, 1, 2, left - arrived)
    assert struct.unpack_from("!HH", frame, 58 + 32 * hops)[1] == 5201


def test_a_source_limits_the_hops(tmp_path: Path) -> None:
    scenario = chain() | {"duration": "100 ms"}
    scenario["aqms"] = scenario["aqms"][:1]
    folder = scenarios_folder() / "int_chain"
    source = (folder / "source.toml").read_text().replace("hops = 8", "hops = 1")
    (tmp_path / "source.toml").write_text(source)
    scenario["switches"][0]["aqm"]["control"] = str(tmp_path / "source.toml")
    found = collect(run(tmp_path, scenario) / "bmv2" / COLLECTOR)
    assert found.exceeded == found.packets > 50
    # The second switch pushed nothing: node 3, the sink, comes behind node 1.
    assert set(found.table["node"].to_pylist()) == {1, 3}


def test_the_command_prints_a_row_for_each_hop_and_writes_parquet(shipped: Path) -> None:
    ran = call_sojourn(shipped.parent, "int", "run", "--json")
    assert ran.returncode == 0, ran.stderr
    hops = json.loads(ran.stdout)["bmv2"]["hops"]
    assert [(hop["hop"], hop["node"]) for hop in hops] == [(1, 1), (2, 2), (3, 3)]
    table = pq.read_table(shipped / "bmv2" / "int.parquet")
    assert len(table) == sum(hop["packets"] for hop in hops)
    assert (
        hops[0]["latency"]["max"]
        == pc.max(table.filter(pc.equal(table["hop"], 1))["latency"]).as_py()
    )
    assert "latency ms: median" in call_sojourn(shipped.parent, "int", "run").stdout


def test_a_link_within_the_network_shows_the_hops_so_far(tofino: Path) -> None:
    found = collect(tofino / "tofino" / LAST_LINK)
    assert found.reports == 0
    assert found.table["hop"].unique().to_pylist() == [1, 2]


def test_lost_reports_are_counted_by_their_numbers(shipped: Path, tmp_path: Path) -> None:
    frames = read_frames(shipped / "bmv2" / COLLECTOR)
    left = [
        (each.time or 0, 1, each.data, each.length) for each in frames if "left" in each.interface
    ]
    with CaptureWriter(tmp_path / "cut.pcapng") as writer:
        writer.write([*left[:10], *left[13:]])
    found = collect(tmp_path / "cut.pcapng")
    assert found.lost == 3
    assert found.unjoined % 2 == 1


def test_a_run_without_a_capture_says_how_to_get_one(shipped: Path, tmp_path: Path) -> None:
    scenario = chain() | {"duration": "10 ms"}
    for link in scenario["links"]:
        link.pop("capture", None)
    run(tmp_path, scenario)
    ran = call_sojourn(tmp_path, "int", "run")
    assert ran.returncode == 2
    assert "capture = true" in ran.stderr


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        ("", "cut before its first report"),
        ("100000000000000314030220", "version 1; 2 is read"),
        ("200000000000000324000020" + 16 * "0", "a report of type 2 with 0 words"),
        ("2000000000000003140302200800", "of which 2 bytes are there"),
    ],
)
def test_a_broken_report_is_refused_with_the_reason(broken: str, why: str) -> None:
    with pytest.raises(BrokenTelemetry, match=why):
        read_reports(bytes.fromhex(broken))


def test_a_value_of_all_ones_is_none() -> None:
    head = "4500004400004000401100000a0001010a0002018000138800300000"
    shim = "180b000620000806fc00000000000000"
    hop = "00000002ffffffffffffffff00000005" + 16 * "f" + "0000000000000001"
    packet = read_packet(bytes.fromhex(head + shim + hop + "80001451"))
    assert packet is not None
    (only,) = packet.hops
    assert (only.node, only.latency, only.ingress_port, only.ingress_time) == (2, None, None, None)
    assert (only.queue, only.occupancy, only.egress_time) == (0, 5, 1)
    assert packet.flow == "10.0.1.1:32768 > 10.0.2.1:5201"
