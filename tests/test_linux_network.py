"""Networks on the Linux kernel: the paths of packets, and the configuration of each namespace.

A run of one is in `test_network_backends.py`.
"""

from pathlib import Path
from typing import Any

import pytest

from sojourn.backends.linux.backend import Linux
from sojourn.backends.linux.graph import Network
from sojourn.backends.linux.job import make_job, spaces_of
from sojourn.backends.linux.kernel import Kernel
from sojourn.backends.linux.netns import NetworkNamespaces
from sojourn.backends.linux.traffic import workload_of
from sojourn.errors import ScenarioError
from sojourn.runner import plan_scenario

MS = 1_000_000
VIRTUAL = Kernel(Path("/nowhere"), virtual_time=True, tick=1_000_000)


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


def spaces(config: dict[str, Any]) -> NetworkNamespaces:
    return spaces_of(config, workload_of(config), VIRTUAL)


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
    job = make_job(config, plan, workload_of(config), virtual_time=True, traffic="sockets")
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
    job = make_job(config, plan, workload_of(config), virtual_time=True, traffic="sockets")
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
            "packets_per_second: the Linux backend shapes",
        ),
        (
            {"switches": [{"name": "x", "aqm": "pi2"}, {"name": "y"}, {"name": "z"}]},
            "x: the kernel has no pi2; it has cake",
        ),
        ({"hosts": [f"h{i}" for i in range(33)]}, "33 hosts: .* at most 32"),
        (
            {"hosts": ["a", {"name": "b", "group": "servers"}]},
            "hosts: on this backend groups of hosts are senders and receivers with one switch",
        ),
    ],
)
def test_network_features_that_the_linux_backend_lacks_are_named(
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
