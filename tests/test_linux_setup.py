"""The job of a guest: arguments of tc, topology, schedules, traffic; no guest is needed."""

import gzip
import json
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linux_fixtures import BACK, MS, THERE, UML_TICK, config_of, job_of, native, scenario
from sojourn import _core
from sojourn.backends.linux.addresses import base, hosts, prefixes
from sojourn.backends.linux.backend import Linux
from sojourn.backends.linux.delays import delays
from sojourn.backends.linux.guest.datagrams import departure, departures
from sojourn.backends.linux.guest.tick_alignment import turn_from
from sojourn.backends.linux.kernel import Kernel, read_kernel
from sojourn.backends.linux.path import Path as Path_
from sojourn.backends.linux.path import path_of
from sojourn.backends.linux.tc import full_frames, kernel_disciplines
from sojourn.backends.linux.traffic import workload_of
from sojourn.errors import ScenarioError
from sojourn.model.parameters import disciplines
from sojourn.runner import plan_scenario


def test_every_native_discipline_but_pi2_has_a_qdisc() -> None:
    ours = {discipline.name for discipline in disciplines()}
    others = {"pi2", "codel_2021", "pifo", "sp_pifo", "aifo", "packs"}
    assert ours - set(kernel_disciplines()) == others


def test_limits_equal_those_of_the_switch() -> None:
    # A full frame takes 19 cells of 80 bytes.
    assert full_frames(1_940_000) == 1_940_000 // 1520
    assert native("fifo").text == f"bfifo limit {1276 * 1514}"
    assert native("fifo", limit_packets=100).text == "pfifo limit 100"
    assert native("fifo", limit_packets=5000).text == f"bfifo limit {1276 * 1514}"


def test_codel_takes_its_times_and_ecn() -> None:
    text = native("codel", target=1_000_000, interval=20_000_000, ecn=1).text
    assert text == "codel limit 1276 target 1000.000us interval 20000.000us ecn"


def test_cake_has_a_word_for_each_flow_mode_and_cobalt_is_cake_with_one_queue() -> None:
    assert native("cake").text == (
        "cake unlimited besteffort triple-isolate no-split-gso rtt 100000.000us "
        f"memlimit {1276 * 1514}"
    )
    words = {native("cake", srchost=s, dsthost=d, flows=f).arguments[2]
             for s in (0, 1) for d in (0, 1) for f in (0, 1)}  # fmt: skip
    assert len(words) == 8
    assert native("cake", dsthost=0).arguments[2] == "dual-srchost"
    cobalt = native("cobalt")
    assert "flowblind" in cobalt.arguments
    assert not any("target" in difference for difference in cobalt.differences)
    assert any("target" in line for line in native("cobalt", target=7_000_000).differences)


def test_pie_has_sixteenths_for_gains_and_ticks_for_its_update() -> None:
    pie = native("pie")
    # The timer wheel lets a timer of n ticks expire after n + 1.
    assert "tupdate 10000.000us alpha 2 beta 20 noecn" in pie.text
    assert "tupdate 40000.000us" in native("pie", t_update=50_000_000).text
    assert any("15 ms" in difference for difference in pie.differences)
    assert not native("pie", t_update=20_000_000, derandomize=1).differences
    finer = native("pie", tick=1_000_000)
    assert "tupdate 14000.000us" in finer.text
    assert not any("t_update" in difference for difference in finer.differences)
    as_linux = native("pie_linux", t_update=20_000_000)
    assert as_linux.text == native("pie", t_update=20_000_000, limit_packets=1000).text
    assert not as_linux.differences


def test_the_clock_and_tick_of_a_kernel_are_read_from_its_file(tmp_path: Path) -> None:
    def kernel(content: bytes) -> Kernel:
        file = tmp_path / "linux"
        file.write_bytes(b"\x7fELF..." + content)
        file.chmod(0o755)
        return read_kernel(file)

    built_in = b"IKCFG_ST" + gzip.compress(b"CONFIG_HZ=1000\nCONFIG_X=y\n") + b"IKCFG_ED"
    plain = kernel(b"...")
    assert (plain.virtual_time, plain.tick) == (False, UML_TICK)
    finer = kernel(b"time-travel=..." + built_in)
    assert (finer.virtual_time, finer.tick) == (True, 1_000_000)


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


def test_red_has_an_option_to_drop_above_its_upper_threshold_with_ecn() -> None:
    assert native("red", ecn=1).arguments[-2:] == ("ecn", "harddrop")
    assert native("red", ecn=1, harddrop=0).arguments[-1] == "ecn"
    assert "harddrop" not in native("red").arguments


def test_red_names_its_differences_from_the_kernel() -> None:
    assert any("gentle" in difference for difference in native("red").differences)


def flows(*rtts: int) -> list[dict[str, Any]]:
    return [{"rtt": rtt, "ip_version": 4, "from": "senders"} for rtt in rtts]


def test_each_round_trip_time_has_a_netem_of_its_own() -> None:
    lines = delays(flows(*(range(1_000_000, 41_000_000, 1_000_000))))
    netems = [line for line in lines if "netem" in line]
    assert len(netems) == 40
    assert len({line.split()[5] for line in netems}) == 40
    assert all("parent 1:" not in line for line in netems)


def test_one_round_trip_time_needs_no_classes_and_none_no_netem() -> None:
    assert delays(flows(10_000_000, 10_000_000)) == [
        "qdisc add dev p1 root netem delay 10000.000us limit 1000000"
    ]
    assert delays(flows(0)) == []


def leaving(*rtts: str, shaper: dict[str, Any] | None = None, **netem: Any) -> dict[str, list[str]]:
    """What stands on the hosts' way out, by their group."""
    written = scenario(*({"rtt": rtt} for rtt in rtts)) | {"netem": netem}
    written |= {"sender_shaper": shaper} if shaper else {}
    tc = job_of(plan_scenario(written).runs[0].config)["tc"]
    return {name: tc.get(name, []) for name in ("senders", "receivers")}


def test_netem_stands_at_the_hosts_that_the_scenario_says() -> None:
    whole = "qdisc add dev p1 root netem delay 10000.000us limit 1000"
    half = "qdisc add dev p1 root netem delay 5000.000us limit 1000000"
    shared = {"limit": 1000, "shared": True}
    assert leaving("10 ms", at="senders", **shared) == {"senders": [whole], "receivers": []}
    assert leaving("10 ms", at="receivers", **shared) == {"senders": [], "receivers": [whole]}
    assert leaving("10 ms", at="both") == {"senders": [half], "receivers": [half]}
    # Told apart by who is at the other end.
    several = leaving("10 ms", "20 ms", at="senders", limit=50)["senders"]
    assert sum("netem" in line and line.endswith("limit 50") for line in several) == 2
    assert any("match ip dst 10.128.0.1/32" in line for line in several)


def test_a_senders_shaper_is_a_token_bucket_on_its_interface() -> None:
    shaper = {"rate": "90 Mbit/s", "burst": "3 kB", "limit": 77}
    root, token_bucket, queue = leaving("0 ms", shaper=shaper)["senders"]
    assert "htb" in root
    assert "rate 90000000bit" in token_bucket and "burst 3000" in token_bucket
    assert queue.endswith("pfifo limit 77")


@pytest.mark.parametrize(
    ("rtts", "options", "message"),
    [
        (["5 ms", "6 ms"], {"at": "senders", "limit": 9, "shared": True}, "shared goes with one"),
        (["5 ms", "5 ms"], {"at": "senders", "limit": 9}, "a queue for each"),
        (["5 ms"], {"at": "senders", "shaper": {"rate": "9 Mbit/s"}}, "cannot stand beside"),
    ],
)
def test_queues_that_the_kernel_cannot_have_so_are_refused(
    rtts: list[str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScenarioError, match=message):
        leaving(*rtts, **options)


def test_too_many_round_trip_times_are_refused() -> None:
    with pytest.raises(ScenarioError, match="257 different round-trip times"):
        delays(flows(*range(1, 258)))


def test_segmentation_offload_is_the_senders_interface() -> None:
    def segments(*values: bool | int) -> str:
        listed = [{"rtt": "1 ms", "segmentation_offload": value} for value in values]
        lines = job_of(config_of(*listed))["ip"]["senders"]
        (link,) = (line for line in lines if "gso_max_segs" in line)
        return link.split()[-1]

    assert (segments(False), segments(True), segments(16)) == ("1", "65535", "16")
    with pytest.raises(ScenarioError, match="all flows share one interface"):
        segments(False, 16)


def test_a_schedule_reaches_the_guest_as_changes_of_its_shaper() -> None:
    plan = plan_scenario(
        {
            "duration": "3 s",
            "aqms": ["fifo"],
            "switch": {"rate": "10 Mbit/s", "schedule": [{"at": "1 s", "rate": "1 Mbit/s"}]},
            "flows": [{"rtt": "1 ms"}],
        }
    )
    config = plan.runs[0].config
    job = job_of(config)
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
        job = job_of(config)
        simulation = _core.Simulation(json.dumps(config))
        simulation.advance(120_000_000, 1_000_000)
        simulated = [flow["started"] for flow in json.loads(simulation.counters(0))["flows"]]
        assert [flow["start"] - THERE for flow in job["flows"]] == simulated
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
    tick = UML_TICK


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"switch": {"packets_per_second": 1000}}, "packets_per_second: the Linux backend shapes"),
        (
            {"flows": [{"kind": "requests", "rtt": "1 ms", "think": "1 us"}]},
            r"flows\[0\]: think: more than 200000 of them .* at least 5 us is allowed",
        ),
        (
            {"flows": [{"kind": "incast", "rtt": "1 ms", "every": "1 us"}]},
            r"flows\[0\]: every: more than 200000 of them",
        ),
    ],
)
def test_features_of_virtual_time_alone_are_named(change: dict[str, Any], complaint: str) -> None:
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
def test_traffic_that_iperf3_cannot_send_is_named(flow: dict[str, Any], complaint: str) -> None:
    backend = Linux(AnyKernel(), traffic="iperf3")  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match=complaint):
        backend.check(plan_scenario(scenario({"rtt": "1 ms"} | flow)))


def test_a_host_behind_the_bottleneck_is_early_by_half_a_round_trip() -> None:
    path = Path_(40 * MS)
    assert path.delays() == [(0, 40 * MS)]
    assert path.in_guest(100 * MS, behind=True) == 80 * MS
    assert path.in_guest(100 * MS, behind=False) == 100 * MS
    assert path.true(np.array([80 * MS]), behind=True).tolist() == [100 * MS]


def test_delays_of_links_and_switch_equal_the_simulators() -> None:
    # Nothing waits anywhere: a segment sent for an acknowledgement comes to the queue a round trip
    # after the acknowledged one has left it.
    config = config_of({"rtt": "10 ms"}, rate="10 Gbit/s")
    simulation = _core.Simulation(json.dumps(config))
    simulation.advance(30 * MS, 1 << 20)
    rows = simulation.take_packets()
    enqueued, dequeued, size = (
        np.frombuffer(rows[name], kind)
        for name, kind in (("enqueued", "<i8"), ("dequeued", "<i8"), ("size", "<u4"))
    )
    first, window = int(np.argmax(size == 1514)), 10
    assert enqueued[first + window] - dequeued[first] == pytest.approx(
        10 * MS + THERE + BACK, abs=3
    )
    path = path_of(config["flows"][0], config)
    assert path.links == (THERE, BACK)
    assert path.delays() == [(0, 10 * MS + THERE + BACK)]
    # What a packet meets before the queue and behind it has passed when it comes there.
    assert path.in_guest(100 * MS, behind=False) == 100 * MS + THERE
    assert path.true(np.array([100 * MS + THERE]), behind=False).tolist() == [100 * MS]
    assert path.in_guest(100 * MS, behind=True) == 95 * MS


def test_slower_links_take_longer_and_where_hosts_have_the_delays_they_are_left_alone() -> None:
    def of(**keys: Any) -> Path_:
        config = plan_scenario(scenario({"rtt": "2 ms"}) | keys).runs[0].config
        return path_of(config["flows"][0], config)

    slower = of(access_rate="1 Gbit/s")
    assert slower.links == (2 * 12_208 + 1_221 + 1_100, 2 * 624 + 63 + 1_100)
    assert of(netem={"at": "receivers"}) == Path_(0)


def test_a_delay_that_changes_is_met_there_first_and_on_the_way_back_later() -> None:
    path = Path_(20 * MS, ((0, 5 * MS), (1000 * MS, 30 * MS)))
    # What left the queue 15 ms before the change is on the link's way back when it comes.
    assert path.delays() == [(0, 30 * MS), (985 * MS, 55 * MS), (1000 * MS, 80 * MS)]
    for instant in (100 * MS, 1014 * MS, 1041 * MS, 2000 * MS):
        guest = np.array([path.in_guest(instant, behind=True)])
        assert path.true(guest, behind=True).tolist() == [instant]
    # In the jump of the host's clock, from 1015 to 1040 ms, is nothing.
    assert path.in_guest(1020 * MS, behind=True) == 1000 * MS


def test_changes_of_the_delay_and_of_the_rate_are_sorted_by_time() -> None:
    schedule = [{"at": "1 s", "rate": "1 Mbit/s"}, {"at": "1500 ms", "delay": "10 ms"}]
    two = config_of({"rtt": "20 ms"}, {"rtt": "40 ms"}, schedule=schedule)
    job = job_of(two)
    changes = [(change["at"] // MS, change["where"]) for change in job["changes"]]
    assert changes == [
        (1000, "switch"), (1480, "receivers"), (1490, "receivers"), (1500, "receivers"),
    ]  # fmt: skip
    # Links and switch take six microseconds of each round trip.
    assert "netem delay 20006.052us limit 1000000 rate" in job["tc"]["receivers"][2]
    assert job["changes"][1]["tc"] == [
        "qdisc change dev p1 parent 2:2 netem delay 50006.052us limit 1000000 rate 100gbit"
    ]
    assert len(job["changes"][3]["tc"]) == 2


def test_prefixes_match_a_block_of_flows_and_no_other_host() -> None:
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
    flow = {"kind": "tcp", "ip_version": 4, "from": "senders"}
    download = hosts(4, flow)
    assert download.client == ("10.0.0.5", 32_772)
    assert download.server == ("10.128.0.5", 5201)
    upload = hosts(4, flow | {"from": "receivers"})
    assert upload.client == ("10.128.0.5", 32_772)
    assert upload.front_end == upload.server == ("10.0.0.5", 5201)
    # Who asks is behind the bottleneck, so that the answers pass it.
    assert hosts(4, flow | {"kind": "requests"}).client == ("10.128.0.5", 32_772)
    assert hosts(4, flow | {"kind": "requests", "from": "receivers"}).client == ("10.0.0.5", 32_772)


def test_the_guest_gets_the_traffic_that_the_simulator_sends() -> None:
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
    workload = workload_of(config)
    for source in (2, 3):
        first, count = workload.crowds[source]
        mine = rows["source"] == source
        order = np.argsort(rows["started"][mine], kind="stable")
        assert (
            rows["flow"][mine][order].tolist() == workload.numbers[first : first + count].tolist()
        )
        transfers = list(zip(rows["started"][mine][order], rows["size"][mine][order], strict=True))
        assert transfers == [tuple(pair) for pair in workload.flows[source]["transfers"]]
        # One is behind the bottleneck, and early; the other in front of it, and late.
        later = -10 * MS if source == 3 else THERE
        guest = job_of(config)["flows"][source]["transfers"]
        assert [at for at, _ in guest] == [int(at) + later for at, _ in transfers]
    reports = json.loads(simulation.counters(0))["flows"]
    assert [report["started"] + THERE for report in reports[:2]] == [
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


def test_a_run_begins_where_the_kernels_tick_and_its_timer_wheel_begin() -> None:
    # As Linux 6.1 prints it: the tick that has begun, 4294937296 at boot, is 2000 behind 2.0003 s.
    timers = "Timer List Version: v0.9\nnow at 2000300000 nsecs\n\ncpu: 0\n  jiffies: 4294939296\n"
    begin = turn_from(2_600_500_001, timers)
    assert begin >= 2_600_500_001 and begin % MS == 0
    assert (4294939296 + begin // MS - 2000) % 512 == 0
    assert begin - 2_600_500_001 < 513 * MS
    assert turn_from(begin, timers) == begin
    # Where only root may read it, at least a tick begins.
    assert turn_from(2_600_500_001, "") == 2_601 * MS
