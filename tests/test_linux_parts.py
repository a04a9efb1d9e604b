"""The Linux ground's parts without a guest: arguments of tc, topology, captures into rows."""

import json
import struct
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sojourn import _core
from sojourn.errors import ScenarioError
from sojourn.linux import topology
from sojourn.linux.addresses import base, hosts, prefixes
from sojourn.linux.delays import delays
from sojourn.linux.disturbance import timing
from sojourn.linux.exchanges import read_datagrams, read_exchanges
from sojourn.linux.frames import Frames, read_frames
from sojourn.linux.ground import Linux
from sojourn.linux.guest.datagrams import departure, departures
from sojourn.linux.job import make_job, shaper_of
from sojourn.linux.matching import Rows, match
from sojourn.linux.path import Path as Path_
from sojourn.linux.tc import Qdisc, full_frames, kernel_disciplines, qdisc
from sojourn.linux.topology import Shaper
from sojourn.linux.traffic import draw
from sojourn.parameters import disciplines
from sojourn.record import VERDICTS
from sojourn.runner import plan_scenario

SENT, AQM, TAIL, MARK = range(len(VERDICTS))


def native(name: str, **parameters: int) -> Qdisc:
    return qdisc({"kind": "native", "name": name} | parameters, 1_940_000)


def test_every_native_discipline_but_pi2_has_a_qdisc() -> None:
    ours = {discipline.name for discipline in disciplines()}
    assert ours - set(kernel_disciplines()) == {"pi2", "dualpi2"}


def test_limits_are_what_the_switch_would_hold() -> None:
    # A full frame takes 19 cells of 80 bytes.
    assert full_frames(1_940_000) == 1_940_000 // 1520
    assert native("fifo").text == f"bfifo limit {1276 * 1514}"
    assert native("fifo", limit_packets=100).text == "pfifo limit 100"
    assert native("fifo", limit_packets=5000).text == f"bfifo limit {1276 * 1514}"


def test_codel_takes_its_times_and_ecn() -> None:
    text = native("codel", target=1_000_000, interval=20_000_000, ecn=1).text
    assert text == "codel limit 1276 target 1000.000us interval 20000.000us ecn"


def test_pie_has_sixteenths_for_gains_and_ticks_for_its_update() -> None:
    pie = native("pie")
    # The timer wheel lets a timer of n ticks expire after n + 1.
    assert "tupdate 10000.000us alpha 2 beta 20 noecn" in pie.text
    assert "tupdate 40000.000us" in native("pie", t_update=50_000_000).text
    assert any("15 ms" in difference for difference in pie.differences)
    assert not native("pie", t_update=20_000_000, derandomize=1).differences
    as_linux = native("pie_linux", t_update=20_000_000)
    assert as_linux.text == native("pie", t_update=20_000_000, limit_packets=1000).text
    assert not as_linux.differences


@pytest.mark.parametrize(("min_th", "weight"), [(5, 9), (41, 9), (5, 6), (41, 11)])
def test_red_gets_the_burst_from_which_tc_derives_the_weight(min_th: int, weight: int) -> None:
    thresholds = {"min_th": min_th, "max_th": 3 * min_th}
    red = native("red", **thresholds, w_q=round(1e6 / 2**weight), gentle=0, idle=0)
    assert not red.differences
    words = red.arguments
    burst = int(words[words.index("burst") + 1])
    # Floyd and Jacobson 1993, section 4: the largest weight with which a burst of so many packets
    # on an empty queue does not bring the average above min_th.
    queue_weight = next(
        log for log in range(1, 32) if burst + 1 - min_th <= (1 - (1 - 2.0**-log) ** burst) * 2**log
    )
    assert queue_weight == weight


def test_red_says_what_the_kernel_does_otherwise() -> None:
    assert any("gentle" in difference for difference in native("red").differences)


def flows(*rtts: int) -> list[dict[str, int]]:
    return [{"rtt": rtt, "ip_version": 4} for rtt in rtts]


def test_each_round_trip_time_has_a_netem_of_its_own() -> None:
    lines = delays(flows(*(range(1_000_000, 41_000_000, 1_000_000))))
    netems = [line for line in lines if "netem" in line]
    assert len(netems) == 40
    assert len({line.split()[5] for line in netems}) == 40
    assert all("parent 1:" not in line for line in netems)


def test_one_round_trip_time_needs_no_classes_and_none_no_netem() -> None:
    assert delays(flows(10_000_000, 10_000_000)) == [
        "qdisc add dev r0 root netem delay 10000.000us limit 1000000"
    ]
    assert delays(flows(0)) == []


def test_too_many_round_trip_times_are_refused() -> None:
    with pytest.raises(ScenarioError, match="257 different round-trip times"):
        delays(flows(*range(1, 258)))


def test_segmentation_offload_is_the_senders_interface() -> None:
    def segments(*values: bool | int) -> str:
        listed = [
            flow | {"kind": "tcp", "segmentation_offload": value}
            for flow, value in zip(flows(*(1,) * len(values)), values, strict=True)
        ]
        link = next(line for line in topology.router_links(listed, {}) if "netns senders" in line)
        return link.split()[link.split().index("gso_max_segs") + 1]

    assert (segments(False), segments(True), segments(16)) == ("1", "65535", "16")
    with pytest.raises(ScenarioError, match="all flows share one interface"):
        segments(False, 16)


def frame(flow: int, number: int, *, ecn: int = 0, length: int = 1514) -> bytes:
    """The first 96 bytes of a TCP segment towards flow's server."""
    ethernet = bytes(12) + b"\x08\x00"
    ip = struct.pack(
        ">BBHHHBBHII", 0x45, ecn, length - 14, number, 0x4000, 63, 6, 0, 10 << 24 | flow + 1,
        10 << 24 | 1 << 23 | flow + 1,
    )  # fmt: skip
    tcp = struct.pack(">HHIIBBHHH", 40_000, 5201, number * 1448, 1, 0x80, 0x10, 500, 0, 0)
    return (ethernet + ip + tcp).ljust(96, b"\0")


def ring(frames: list[tuple[int, bytes]], per_block: int = 3) -> bytes:
    """A ring's file: blocks of frames with their times, as <linux/if_packet.h> has them."""
    data = b""
    for start in range(0, len(frames), per_block):
        block = frames[start : start + per_block]
        body = b""
        for time, bytes_ in block:
            head = struct.pack(
                "6IHH", 48 + 32 + 96, time // 10**9, time % 10**9, 96, 1514, 0, 80, 94
            )
            body += head.ljust(80, b"\0") + bytes_
        data += struct.pack("6I", 1, 48, 1, len(block), 48, 48 + len(body)).ljust(48, b"\0") + body
    return data


def frames_of(path: Path, listed: list[tuple[int, bytes]]) -> Frames:
    path.write_bytes(ring(listed))
    return read_frames(path).of_flows()


def test_a_ring_is_read_back_frame_by_frame(tmp_path: Path) -> None:
    listed = [(5 * 10**9 + i, frame(i % 3, i, ecn=i % 4)) for i in range(10)]
    listed.append((6 * 10**9, bytes(96)))
    frames = frames_of(tmp_path / "ring", listed)
    assert frames.time.tolist() == [5 * 10**9 + i for i in range(10)]
    assert frames.flow.tolist() == [i % 3 for i in range(10)]
    assert frames.ecn.tolist() == [i % 4 for i in range(10)]
    assert set(frames.size.tolist()) == {1514}


def rows(tmp_path: Path, came: list[bytes], went: dict[int, int], aqm: Qdisc, **more: bool) -> Rows:
    """Packets that come 10 ns apart; `went` has the times at which some of them leave."""
    entered = frames_of(tmp_path / "in", [(10 * i, bytes_) for i, bytes_ in enumerate(came)])
    order = sorted(went, key=lambda i: went[i])
    left = frames_of(tmp_path / "out", [(went[i], came[i]) for i in order])
    return match(entered, left, aqm, full=more.get("full", False))


def test_a_packet_that_never_left_was_dropped_when_the_next_one_left(tmp_path: Path) -> None:
    came = [frame(0, i) for i in range(4)]
    matched = rows(tmp_path, came, {0: 100, 1: 200, 3: 300}, native("codel"))
    assert matched.packet.tolist() == [0, 1, 2, 3]
    assert matched.verdict.tolist() == [SENT, SENT, AQM, SENT]
    assert matched.dequeued.tolist() == [100, 200, 300, 300]


def test_where_flows_have_queues_the_next_packet_is_one_of_the_flow(tmp_path: Path) -> None:
    came = [frame(0, 0), frame(1, 0), frame(0, 1), frame(1, 1)]
    matched = rows(tmp_path, came, {1: 100, 2: 200, 3: 300}, native("fq_codel"))
    dropped = matched.verdict.tolist().index(AQM)
    assert matched.packet[dropped] == 0
    assert matched.dequeued[dropped] == 200


def test_what_decides_on_arrival_drops_on_arrival(tmp_path: Path) -> None:
    came = [frame(0, i) for i in range(3)]
    matched = rows(tmp_path, came, {0: 100, 2: 200}, native("pie"))
    dropped = matched.verdict.tolist().index(AQM)
    assert matched.enqueued[dropped] == matched.dequeued[dropped] == 10


def test_a_full_queue_drops_by_its_tail_and_one_with_room_by_its_aqm(tmp_path: Path) -> None:
    # Room for two. The third finds both there; the fourth comes when one has left.
    came = [frame(0, i) for i in range(5)]
    codel = native("codel_linux", limit=2)
    matched = rows(tmp_path, came, {0: 25, 1: 60, 4: 80}, codel, full=True)
    verdict = dict(zip(matched.packet.tolist(), matched.verdict.tolist(), strict=True))
    assert verdict == {0: SENT, 1: SENT, 2: TAIL, 3: AQM, 4: SENT}


def test_the_same_segment_sent_again_is_another_packet(tmp_path: Path) -> None:
    first, again = frame(0, 7), frame(0, 7)
    again = again[:18] + struct.pack(">H", 99) + again[20:]
    matched = rows(tmp_path, [first, again], {1: 50}, native("codel"))
    verdict = dict(zip(matched.packet.tolist(), matched.verdict.tolist(), strict=True))
    assert verdict == {0: AQM, 1: SENT}


def test_a_mark_is_one_that_the_packet_did_not_bring(tmp_path: Path) -> None:
    came = [frame(0, 0, ecn=2), frame(0, 1, ecn=3)]
    entered = frames_of(tmp_path / "in", [(0, came[0]), (10, came[1])])
    left = frames_of(tmp_path / "out", [(50, frame(0, 0, ecn=3)), (60, came[1])])
    assert match(entered, left, native("codel"), full=False).verdict.tolist() == [MARK, SENT]


def test_rows_are_those_of_the_run_with_times_from_its_beginning(tmp_path: Path) -> None:
    came = [frame(0, i) for i in range(3)]
    matched = rows(tmp_path, came, {0: 100, 1: 200, 2: 300}, native("fifo")).within(50, 250)
    assert matched.dequeued.tolist() == [50, 150]
    assert matched.enqueued.tolist() == [0, 0]


def served(gaps: list[int]) -> Rows:
    """Packets that all came at 0 and left one after the other."""
    count = len(gaps)
    zeros = np.zeros(count, np.int64)
    return Rows(np.arange(count), zeros, np.full(count, 1226), zeros, np.cumsum(gaps), zeros)


def test_a_shaper_that_keeps_its_rate_is_not_disturbed() -> None:
    # 1250 bytes at 10 Mbit/s are 1 ms.
    shaper = Shaper(10_000_000, 1536, 24)
    kept = timing(served([1_000_000] * 100), shaper, [5, 10])
    assert kept.shaper_share == pytest.approx(1)
    assert kept.complaint == ""


def test_a_late_shaper_and_a_standstill_are_complained_of() -> None:
    shaper = Shaper(10_000_000, 1536, 24)
    slow = timing(served([1_050_000] * 100), shaper, [])
    assert slow.shaper_share == pytest.approx(1 / 1.05, rel=1e-3)
    assert "95.2 %" in slow.complaint
    stalled = timing(served([1_000_000] * 2000 + [25_000_000]), shaper, [])
    assert "nothing left for 24.0 ms" in stalled.complaint


def test_a_shaper_that_changes_is_judged_by_the_rate_of_the_time() -> None:
    shaper, slow = Shaper(10_000_000, 1536, 24), Shaper(1_000_000, 1536, 24)
    leaving = served([1_000_000] * 1000 + [10_000_000] * 100)
    assert timing(leaving, shaper, []).complaint
    kept = timing(leaving, shaper, [], [(1_000_000_000, slow)])
    assert kept.shaper_share == pytest.approx(1)
    assert kept.complaint == ""


def test_a_schedule_is_told_to_the_guest_as_changes_of_its_shaper() -> None:
    plan = plan_scenario(
        {
            "duration": "3 s",
            "aqms": ["fifo"],
            "switch": {"rate": "10 Mbit/s", "schedule": [{"at": "1 s", "rate": "1 Mbit/s"}]},
            "flows": [{"rtt": "1 ms"}],
        }
    )
    config = plan.runs[0].config
    shaper, aqm = shaper_of(config, virtual_time=True), native("fifo")
    job = make_job(config, shaper, aqm, draw(config), virtual_time=True, traffic="sockets")
    (change,) = job["changes"]
    assert change["at"] == 1_000_000_000
    # The silicon rounds rates up by less than 0.2 %; the link is still the same class.
    words = change["tc"][0].split()
    assert words[:3] == ["class", "change", "dev"]
    rate = int(words[words.index("rate") + 1].removesuffix("bit"))
    assert 1_000_000 <= rate <= 1_002_000


def test_flows_start_on_the_kernel_when_they_do_in_the_simulator() -> None:
    spans = []
    for seed in (1, 2):
        plan = plan_scenario(
            {
                "duration": "1 s",
                "seed": seed,
                "aqms": ["fifo"],
                "switch": {"rate": "10 Mbit/s"},
                "flows": [{"rtt": "1 ms", "count": 3, "start": "100 ms"}],
            }
        )
        config = plan.runs[0].config
        shaper, aqm = shaper_of(config, virtual_time=True), native("fifo")
        job = make_job(config, shaper, aqm, draw(config), virtual_time=True, traffic="sockets")
        simulation = _core.Simulation(json.dumps(config))
        simulation.advance(120_000_000, 1_000_000)
        simulated = [flow["started"] for flow in json.loads(simulation.report())["flows"]]
        assert [flow["start"] for flow in job["flows"]] == simulated
        spans.append(max(simulated) - min(simulated))
    # Not in step, and with another seed otherwise.
    assert spans[0] != spans[1]
    assert min(spans) > 0


def test_bursts_of_udp_are_those_of_the_simulator() -> None:
    # 1000 bytes at 8 Mbit/s: one each millisecond, ten in a burst, four bursts a second.
    flow = {"rate": 8_000_000, "packet_size": 1000, "on": 10_000_000, "off": 240_000_000}
    left = [departure(flow, number) // 1_000_000 for number in (0, 9, 10, 19, 40)]
    assert left == [0, 9, 250, 259, 1000]
    assert departure(flow | {"on": None, "off": None}, 40) == 40_000_000


class AnyKernel:
    """Has everything; is never run."""

    is_host = False
    virtual_time = False


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"switch": {"packets_per_second": 1000}}, "packets_per_second: the Linux ground shapes"),
        (
            {"flows": [{"kind": "requests", "rtt": "1 ms", "think": "1 us"}]},
            "flow 0: think: more than 200000 of them .* at least 5 us is allowed",
        ),
        (
            {"flows": [{"kind": "incast", "rtt": "1 ms", "every": "1 us"}]},
            "flow 0: every: more than 200000 of them",
        ),
    ],
)
def test_what_only_virtual_time_has_is_named(change: dict[str, Any], complaint: str) -> None:
    document: dict[str, Any] = {
        "duration": "1 s",
        "aqms": ["fifo"],
        "switch": {"rate": "1 Mbit/s"},
        "flows": [{"rtt": "1 ms"}],
    } | change
    with pytest.raises(ScenarioError, match=complaint):
        Linux(AnyKernel()).check(plan_scenario(document))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("flow", "complaint"),
    [
        ({"kind": "voip"}, "iperf3 has no voip traffic; it has tcp and udp"),
        ({"reverse": True}, "--traffic sockets turns flows round"),
        ({"kind": "udp", "rate": "1 Mbit/s", "on": "1 s", "off": "1 s"}, "without a pause"),
    ],
)
def test_what_iperf3_does_not_send_is_named(flow: dict[str, Any], complaint: str) -> None:
    ground = Linux(AnyKernel(), traffic="iperf3")  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match=complaint):
        ground.check(plan_scenario(scenario({"rtt": "1 ms"} | flow)))


def scenario(*flows: dict[str, Any], **switch: Any) -> dict[str, Any]:
    """Two seconds at 10 Mbit/s."""
    return {
        "duration": "2 s",
        "aqms": ["fifo"],
        "switch": {"rate": "10 Mbit/s"} | switch,
        "flows": list(flows),
    }


def config_of(*flows: dict[str, Any], **switch: Any) -> dict[str, Any]:
    return plan_scenario(scenario(*flows, **switch)).runs[0].config


def job_of(config: dict[str, Any]) -> dict[str, Any]:
    shaper = shaper_of(config, virtual_time=True)
    return make_job(
        config, shaper, native("fifo"), draw(config), virtual_time=True, traffic="sockets"
    )


MS = 1_000_000


def test_a_host_behind_the_bottleneck_is_early_by_half_a_round_trip() -> None:
    path = Path_(40 * MS)
    assert path.delays() == [(0, 40 * MS)]
    assert path.in_guest(100 * MS, behind=True) == 80 * MS
    assert path.in_guest(100 * MS, behind=False) == 100 * MS
    assert path.true(np.array([80 * MS]), behind=True).tolist() == [100 * MS]


def test_a_delay_that_changes_is_met_there_first_and_on_the_way_back_later() -> None:
    path = Path_(20 * MS, ((0, 5 * MS), (1000 * MS, 30 * MS)))
    # What left the queue 15 ms before the change is on the link's way back when it comes.
    assert path.delays() == [(0, 30 * MS), (985 * MS, 55 * MS), (1000 * MS, 80 * MS)]
    for instant in (100 * MS, 1014 * MS, 1041 * MS, 2000 * MS):
        guest = np.array([path.in_guest(instant, behind=True)])
        assert path.true(guest, behind=True).tolist() == [instant]
    # In the jump of the host's clock, from 1015 to 1040 ms, is nothing.
    assert path.in_guest(1020 * MS, behind=True) == 1000 * MS


def test_changes_of_the_delay_and_of_the_rate_are_told_in_the_order_of_time() -> None:
    schedule = [{"at": "1 s", "rate": "1 Mbit/s"}, {"at": "1500 ms", "delay": "10 ms"}]
    two = config_of({"rtt": "20 ms"}, {"rtt": "40 ms"}, schedule=schedule)
    job = job_of(two)
    told = [(change["at"] // MS, change["where"]) for change in job["changes"]]
    assert told == [
        (1000, "router"), (1480, "receivers"), (1490, "receivers"), (1500, "receivers"),
    ]  # fmt: skip
    assert "netem delay 20000.000us limit 1000000 rate" in job["tc"]["receivers"][2]
    assert job["changes"][1]["tc"] == [
        "qdisc change dev r0 parent 2:2 netem delay 50000.000us limit 1000000 rate 100gbit"
    ]
    assert len(job["changes"][3]["tc"]) == 2


def test_prefixes_hold_a_block_of_flows_and_nobody_else() -> None:
    for version in (4, 6):
        for first, count in ((0, 1), (3, 100), (7, 8), (500, 8400)):
            held = [
                int(address)
                for prefix in prefixes(first, count, version, behind=True)
                for address in ip_network(prefix)
            ]
            start = base(version, behind=True) + first
            assert held == list(range(start, start + count))
    assert len(list(prefixes(3, 100_000, 4, behind=False))) < 34


def test_who_opens_a_connection_and_with_which_ports_is_the_simulators() -> None:
    flow = {"kind": "tcp", "ip_version": 4, "reverse": False}
    download = hosts(4, flow)
    assert download.client == ("10.0.0.5", 32_772)
    assert download.server == ("10.128.0.5", 5201)
    upload = hosts(4, flow | {"reverse": True})
    assert upload.client == ("10.128.0.5", 32_772)
    assert upload.front_end == upload.server == ("10.0.0.5", 5201)
    # Who asks is behind the bottleneck, so that the answers pass it.
    assert hosts(4, flow | {"kind": "requests"}).client == ("10.128.0.5", 32_772)
    assert hosts(4, flow | {"kind": "requests", "reverse": True}).client == ("10.0.0.5", 32_772)


def test_the_guest_is_told_the_very_traffic_that_the_simulator_sends() -> None:
    tcp = {"rtt": "20 ms", "count": 2, "start": "300 ms"}
    transfers = {"kind": "transfers", "rtt": "20 ms", "load": "2 Mbit/s"}
    bursts = {"kind": "udp", "rate": "1 Mbit/s", "rtt": "0 ms", "on": "20 ms", "off": "50 ms"}
    config = config_of(
        tcp, transfers, transfers | {"reverse": True}, bursts | {"spans": "exponential"}
    )
    simulation = _core.Simulation(json.dumps(config))
    simulation.advance(config["duration"], 1 << 30)
    exchanges = simulation.take_exchanges()
    rows = {
        name: np.frombuffer(exchanges[name], kind)
        for name, kind in (("flow", "<u4"), ("source", "<u4"), ("size", "<u8"), ("started", "<i8"))
    }
    drawn = draw(config)
    for source in (2, 3):
        first, count = drawn.crowds[source]
        mine = rows["source"] == source
        order = np.argsort(rows["started"][mine], kind="stable")
        assert rows["flow"][mine][order].tolist() == drawn.numbers[first : first + count].tolist()
        told = list(zip(rows["started"][mine][order], rows["size"][mine][order], strict=True))
        assert told == [tuple(pair) for pair in drawn.drawn[source]["transfers"]]
        # One is behind the bottleneck, and early.
        early = 10 * MS if source == 3 else 0
        guest = job_of(config)["flows"][source]["transfers"]
        assert [at for at, _ in guest] == [int(at) - early for at, _ in told]
    reports = json.loads(simulation.report())["flows"]
    assert [report["started"] for report in reports[:2]] == [
        flow["start"] for flow in job_of(config)["flows"][:2]
    ]
    sent = [at for at in departures(job_of(config)["flows"][4]) if at < config["duration"]]
    assert len(sent) == reports[4]["segments"]


def test_a_voice_leaves_at_its_interval_until_it_stops() -> None:
    (flow,) = job_of(config_of({"kind": "voip", "rtt": "1 ms", "stop": "100 ms"}))["flows"]
    sent = list(departures(flow))
    assert {later - sooner for sooner, later in pairwise(sent)} == {20 * MS}
    assert 100 * MS - 20 * MS <= sent[-1] < 100 * MS
    assert (flow["payload"], flow["samples"]) == (172, 160)


def notes(*rows: tuple[int, int, int, int]) -> bytes:
    """What the guest's hosts leave: flow, number, whether done, when."""
    return b"".join(struct.pack("<IIBq", *row) for row in rows)


def test_exchanges_are_joined_from_both_sides_by_the_true_clock(tmp_path: Path) -> None:
    asks = {"kind": "requests", "rtt": "20 ms", "response": "30 kB"}
    transfers = {"kind": "transfers", "rtt": "40 ms", "load": "1 Mbit/s"}
    config = config_of(asks, transfers)
    drawn = draw(config)
    (tmp_path / "exchanges-senders.bin").write_bytes(
        notes((2, 0, 0, 500 * MS), (3, 0, 0, 600 * MS), (4, 0, 0, 1900 * MS))
    )
    (tmp_path / "exchanges-receivers.bin").write_bytes(
        # The request is seen by one host alone; the last transfer is done after the run.
        notes((0, 0, 0, 90 * MS), (0, 0, 1, 140 * MS), (0, 1, 0, 1500 * MS))
        + notes((3, 0, 1, 650 * MS), (4, 0, 1, 1990 * MS))
    )
    columns = read_exchanges(tmp_path, config, drawn)
    rows = list(zip(*columns.values(), strict=True))
    sizes = [size for _, size in drawn.drawn[1]["transfers"]]
    assert rows == [
        (0, 0, 0, 30_000, 100 * MS, 150 * MS),
        (3, 1, 0, sizes[1], 600 * MS, 670 * MS),
        (0, 0, 1, 30_000, 1510 * MS, 0),
        (2, 1, 0, sizes[0], 500 * MS, 0),
        (4, 1, 0, sizes[2], 1900 * MS, 0),
    ]


def voice(number: int, *, back: bool = False) -> bytes:
    """The first bytes of a datagram of flow 0."""
    ends = (10 << 24 | 1, 10 << 24 | 1 << 23 | 1)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 200, 0, 0x4000, 63, 17, 0)
    ip += struct.pack(">II", *(reversed(ends) if back else ends))
    rtp = struct.pack(">BBHII", 128, 0, number & 0xFFFF, number * 160 & 0xFFFFFFFF, 0)
    frame = bytes(12) + b"\x08\x00" + ip + struct.pack(">HHHH", 32_768, 5201, 180, 0) + rtp
    return frame.ljust(96, b"\0")


def test_a_voices_datagrams_are_told_by_their_numbers_beyond_sixteen_bits(tmp_path: Path) -> None:
    config = config_of({"kind": "voip", "rtt": "30 ms", "interval": "1 ms"})
    drawn = draw(config)
    numbers = [0, 1, 2, 65_535, 65_536, 65_540]
    came = frames_of(tmp_path / "in", [(1000 + n, voice(n)) for n in numbers])
    went = frames_of(tmp_path / "out", [(2000 + n, voice(n)) for n in numbers if n != 1])
    columns = read_datagrams(config, drawn, (came, went, None), 1000)
    assert columns["number"] == [0, 2, 65_535, 65_536, 65_540]
    assert columns["sent"] == columns["number"]
    assert columns["received"] == [1000 + n + 15 * MS for n in columns["number"]]


def test_a_voice_from_behind_arrives_at_the_front(tmp_path: Path) -> None:
    config = config_of({"kind": "voip", "rtt": "30 ms", "reverse": True})
    drawn = draw(config)
    start = drawn.drawn[0]["start"]
    # Sent early by half a round trip, it arrives a whole one later.
    at = [start + n * 20 * MS + 15 * MS for n in range(3)]
    path = tmp_path / "back"
    path.write_bytes(ring([(at[n], voice(n, back=True)) for n in range(3)]))
    back = read_frames(path, back=True).numbered(drawn.numbers).of_flows()
    nobody = frames_of(tmp_path / "in", [])
    columns = read_datagrams(config, drawn, (nobody, nobody, back), 0)
    assert columns["received"] == at
    assert [r - s for r, s in zip(columns["received"], columns["sent"], strict=True)] == [
        15 * MS
    ] * 3
    assert [tap["file"] for tap in job_of(config)["taps"]][2:] == ["back.ring"]
    assert job_of(config)["flows"][0]["start"] == start - 15 * MS
