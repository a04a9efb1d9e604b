"""Networks on the Linux kernel: the ways that packets take, and a short run from end to end.

The run needs Debian's user-mode-linux; root installs it, others skip with one line. It has the real
clock, so what is asserted of it is what no pause changes.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import call_sojourn
from sojourn.captures import read_frames
from sojourn.errors import ScenarioError
from sojourn.folder import RunFolder
from sojourn.linux.graph import Network
from sojourn.linux.ground import Linux
from sojourn.linux.job import make_job, spaces_of
from sojourn.linux.kernel import Kernel
from sojourn.linux.spaces import Spaces
from sojourn.linux.traffic import draw
from sojourn.result import Result, read_result
from sojourn.runner import plan_scenario

MS = 1_000_000
VIRTUAL = Kernel(Path("/nowhere"), virtual_time=True, tick=1_000_000)

SCENARIO = """
duration = "2 s"
hosts = ["a", "b", "c"]
aqms = ["codel_linux"]

[[switches]]
name = "r"

[[switches]]
name = "s"
aqm = "fifo"

[[links]]
between = ["a", "r"]
delay = "4 ms"

[[links]]
between = ["r", "s"]
rate = "8 Mbit/s"
delay = "3 ms"
queue_limit = "100 kB"

[[links]]
between = ["s", "b"]
rate = "4 Mbit/s"
queue_limit = "100 kB"
schedule = [{ at = "1 s", rate = "3 Mbit/s" }]

[[links]]
between = ["s", "c"]

[[flows]]
from = "a"
to = "b"
count = 2

[[flows]]
from = "c"
to = "a"
rate_cap = "1 Mbit/s"
ip_version = 6

[[flows]]
kind = "voip"
from = "a"
to = "b"

[[flows]]
kind = "requests"
from = "a"
to = "c"
think = "50 ms"

[[flows]]
kind = "transfers"
from = "c"
to = "b"
load = "500 kbit/s"
max_size = "20 kB"
"""
DOWN, UP, VOICE, ASKS, TRANSFERS = 0, 2, 3, 4, 5


def document(**more: Any) -> dict[str, Any]:
    """Two hosts behind each other, over a long way and a short one."""
    shaped = {"rate": "2 Mbit/s", "delay": "5 ms"}
    return {
        "duration": "1 s",
        "aqms": ["fifo"],
        "hosts": ["a", "b"],
        "switches": [{"name": "x"}, {"name": "y"}, {"name": "z"}],
        "links": [
            {"between": ["a", "x"], "delay": "1 ms"},
            {"between": ["x", "y"]},
            {"between": ["y", "z"]},
            {"between": ["z", "b"]},
            {"between": ["x", "z"]} | shaped,
        ],
        "flows": [{"from": "a", "to": "b"}],
    } | more


def config_of(**more: Any) -> dict[str, Any]:
    return plan_scenario(document(**more)).runs[0].config


def spaces(config: dict[str, Any]) -> Spaces:
    return spaces_of(config, draw(config), VIRTUAL)


def test_packets_take_the_way_with_the_fewest_links_as_in_the_simulator() -> None:
    network = Network(config_of()["network"])
    # Ports are numbered in the order of the links: x has its short cut to z behind the third one.
    to_b = {node: way.port for node, way in network.ways["b"].items()}
    assert to_b == {"a": "p1", "x": "p3", "y": "p2", "z": "p2"}
    to_a = {node: way.port for node, way in network.ways["a"].items()}
    assert to_a == {"b": "p1", "x": "p1", "y": "p1", "z": "p3"}
    assert [(way.near, way.far) for way in network.measured] == [("x", "z"), ("z", "x")]


def test_a_link_that_is_shaped_and_delayed_has_its_delay_in_a_namespace_of_its_own() -> None:
    plan = spaces(config_of())
    assert plan.wires == ["wire-5"]
    queues = plan.queues()
    delay = "root netem delay 5000.000us limit 1000000"
    assert queues["wire-5"] == [f"qdisc add dev w2 {delay}", f"qdisc add dev w1 {delay}"]
    # A link without a rate is delayed where it begins.
    assert queues["a"] == ["qdisc add dev p1 root netem delay 1000.000us limit 1000000"]
    assert queues["x"][0] == "qdisc add dev p3 root handle 1: htb default 1"
    routes = [line for line in plan.nodes()["wire-5"] if line.startswith("route")]
    assert "route add 10.0.2.1/32 dev w2" in routes
    assert "route add 10.0.1.1/32 dev w1" in routes


def test_one_switch_between_groups_is_a_network_like_any_other() -> None:
    one = {"duration": "1 s", "aqms": ["codel"], "switch": {"rate": "2 Mbit/s", "delay": "3 ms"}}
    flows = [{"rtt": "8 ms", "count": 300}, {"kind": "voip", "rtt": "4 ms", "reverse": True}]
    config = plan_scenario(one | {"flows": flows}).runs[0].config
    plan = spaces(config)
    assert list(plan.nodes()) == ["senders", "switch", "receivers"]
    # However many flows there are, the switch knows each group by one route.
    routes = [line for line in plan.nodes()["switch"] if line.startswith("route")]
    assert routes == [
        "route add 10.0.0.0/9 via 10.127.255.253 dev p1 onlink",
        "route add 10.128.0.0/9 via 10.255.255.253 dev p2 onlink",
    ]
    # The round-trip times and the link's own delay lie on the receivers' way out, none elsewhere.
    assert [node for node, lines in plan.queues().items() if "netem" in " ".join(lines)] == [
        "receivers"
    ]
    assert not plan.wires
    job = make_job(config, plan, draw(config), virtual_time=True, traffic="sockets")
    taps = [(tap["namespace"], tap["interface"], tap["outgoing"]) for tap in job["taps"]]
    assert taps == [("switch", "p1", False), ("switch", "p2", True), ("senders", "p1", False)]


def test_a_switch_has_its_own_aqm_and_each_direction_its_own_rate() -> None:
    links = document()["links"]
    links[4] |= {"rate_back": "1 Mbit/s", "schedule": [{"at": "500 ms", "rate": "4 Mbit/s"}]}
    switches = [{"name": "x"}, {"name": "y"}, {"name": "z", "aqm": "codel"}]
    config = config_of(links=links, switches=switches)
    plan = spaces(config)
    there, back = plan.measured
    assert (there.aqm.kind, back.aqm.kind) == ("bfifo", "codel")
    assert there.shaper.rate == pytest.approx(2e6, rel=0.01)
    assert back.shaper.rate == pytest.approx(1e6, rel=0.01)
    assert [at for at, _ in there.steps] == [500 * MS]
    assert not back.steps
    job = make_job(config, plan, draw(config), virtual_time=True, traffic="sockets")
    (change,) = job["changes"]
    assert (change["at"], change["where"]) == (500 * MS, "x")
    assert change["tc"][0].startswith("class change dev p3")
    (flow,) = job["flows"]
    assert flow["client"] == ["10.0.1.1", 32_768]
    assert (flow["opener"], flow["acceptor"]) == ("a", "b")


class AnyKernel:
    """Has everything; is never run."""

    is_host = False
    virtual_time = False
    tick = 10_000_000


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"flows": [{"from": "a", "to": "b", "rtt": "1 ms"}]}, r"flows\[0\]: rtt: in a network"),
        (
            {
                "links": [
                    {"between": ["a", "x"]},
                    {"between": ["x", "b"], "packets_per_second": 1000},
                ],
                "switches": [{"name": "x"}],
            },
            "packets_per_second: the Linux ground shapes",
        ),
        (
            {"switches": [{"name": "x", "aqm": "dualpi2"}, {"name": "y"}, {"name": "z"}]},
            "x: the kernel has no dualpi2; it has cake",
        ),
        ({"hosts": [f"h{i}" for i in range(33)]}, "33 hosts: .* at most 32"),
        (
            {"hosts": ["a", {"name": "b", "group": "servers"}]},
            "hosts: on this ground groups of hosts are senders and receivers with one switch",
        ),
    ],
)
def test_what_the_linux_ground_has_not_of_networks_is_named(
    more: dict[str, Any], complaint: str
) -> None:
    if len(more.get("hosts", ())) > 2:
        links = [{"between": [host, "x"], "rate": "1 Mbit/s"} for host in more["hosts"]]
        more |= {"links": links, "switches": [{"name": "x"}], "flows": [{"from": "h0", "to": "h1"}]}
    with pytest.raises(ScenarioError, match=complaint):
        Linux(AnyKernel()).check(plan_scenario(document(**more)))  # type: ignore[arg-type]


def test_flows_between_two_hosts_have_ecn_together_or_not_at_all() -> None:
    flows = [{"from": "a", "to": "b", "ecn": True}, {"from": "b", "to": "a"}]
    with pytest.raises(ScenarioError, match="ecn: between a and b"):
        spaces(config_of(flows=flows)).nodes()
    both = [flow | {"ecn": True} for flow in flows]
    lines = spaces(config_of(flows=both)).nodes()
    assert "route add 10.0.2.1/32 dev p1 features ecn" in lines["a"]


@pytest.fixture(scope="module")
def network(uml: None, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The run."""
    folder = tmp_path_factory.mktemp("network")
    (folder / "net.toml").write_text(SCENARIO)
    done = call_sojourn(
        folder, "run", "net.toml", "--on", "linux", "--accept-disturbed", "--attempts", "1",
        "--out", "out", "--pcap",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "every bottleneck" in done.stdout
    return read_result(RunFolder.open(folder / "out"))


def rows_of(path: Path) -> dict[str, Any]:
    table = pq.read_table(path)
    names = ("packet", "flow", "enqueued", "dequeued")
    return {name: table[name].to_numpy().astype(np.int64) for name in names} | {
        "verdict": table["verdict"].to_numpy()
    }


def test_a_packet_has_one_number_in_the_rows_of_all_queues_that_it_passes(
    network: Result,
) -> None:
    folder = network.path / "codel_linux"
    first, second = rows_of(folder / "packets.parquet"), rows_of(folder / "packets-s-b.parquet")
    place = {number: row for row, number in enumerate(first["packet"].tolist())}
    assert len(place) == len(first["packet"])
    met = [place[n] for n in second["packet"].tolist() if n in place]
    ours = np.isin(second["packet"], first["packet"])
    # What comes from c does not pass the first one; what comes from a does.
    assert set(second["flow"][ours].tolist()) == {DOWN, DOWN + 1, VOICE}
    assert not set(second["flow"][~ours].tolist()) & {DOWN, DOWN + 1, VOICE}
    assert (first["flow"][met] == second["flow"][ours]).all()
    assert (first["verdict"][met] == "sent").all()
    # The link between the two is 3 ms long.
    assert (second["enqueued"][ours] >= first["dequeued"][met] + 3 * MS).all()
    assert len(met) > 100


def test_what_crosses_a_network_takes_at_least_the_delays_of_its_links(network: Result) -> None:
    folder = network.path / "codel_linux"
    flows = network.aqms["codel_linux"].flows
    for flow in (DOWN, UP):
        rows = flows.filter(pc.and_(pc.equal(flows["flow"], flow), pc.greater(flows["srtt"], 0)))
        assert pc.min(rows["srtt"]).as_py() >= 14 * MS
    voice = pq.read_table(folder / "datagrams.parquet")
    delay = voice["received"].to_numpy() - voice["sent"].to_numpy()
    assert len(delay) > 50
    assert (delay >= 7 * MS).all()
    exchanges = pq.read_table(folder / "exchanges.parquet")
    asked = exchanges.filter(
        pc.and_(pc.equal(exchanges["source"], ASKS), pc.greater(exchanges["finished"], 0))
    )
    assert asked.num_rows > 2
    assert (asked["finished"].to_numpy() - asked["started"].to_numpy() >= 14 * MS).all()
    moved = exchanges.filter(pc.equal(exchanges["source"], TRANSFERS))
    assert moved.num_rows > 5
    assert set(moved["flow"].to_pylist()) & set(range(TRANSFERS + 1, TRANSFERS + 500))


def test_each_bottleneck_of_a_network_has_its_rows_capture_and_plots(network: Result) -> None:
    endings = [bottleneck.ending for bottleneck in network.scenario.bottlenecks]
    assert endings == ["", "-s-r", "-s-b"]
    for ending in endings:
        folder = network.path / "codel_linux"
        rows = rows_of(folder / f"packets{ending}.parquet")
        frames = list(read_frames(folder / f"bottleneck{ending}.pcapng"))
        left = [frame.time for frame in frames if frame.interface == "left"]
        sent = rows["dequeued"][rows["verdict"] == "sent"]
        # What left after the end of the run was in the queue then.
        assert set(sent.tolist()) <= set(left), ending
    assert (network.path / "queue_delay-s-b.png").is_file()


def test_counters_of_a_network_hold_together(network: Result) -> None:
    aqm = network.aqms["codel_linux"]
    counters = aqm.findings.counters
    assert [flow["delivered"] > 0 for flow in counters["flows"]] == [True] * 6
    # Three bottlenecks and the ways back of two of them.
    assert list(aqm.bottlenecks) == ["r>s", "s>r", "s>b"]
    assert [f"{b['switch']}>{b['towards']}" for b in counters["bottlenecks"]] == list(
        aqm.bottlenecks
    )
    assert [b["qdisc"].split()[0] for b in counters["bottlenecks"]] == ["codel", "bfifo", "bfifo"]
    for findings in aqm.bottlenecks.values():
        assert 0 < findings.summary.utilisation <= 1.01
