"""What the guest is told of a run on a network, and what the Linux ground cannot do of one.

Stands on the network's topology and on what all jobs share. Runs nothing.
"""

from typing import Any

from sojourn.errors import ScenarioError
from sojourn.linux.addresses import PORTS
from sojourn.linux.job import common_job, grouped, shaper_for, tap
from sojourn.linux.kernel import Kernel
from sojourn.linux.network.graph import Direction, Network
from sojourn.linux.network.topology import Plan, Spot
from sojourn.linux.tc import Qdisc, qdisc
from sojourn.linux.topology import end_parameters, router_parameters
from sojourn.linux.traffic import Traffic

MOST_HOSTS = 32
"""A process each."""
_ROOM_OF_A_HOST = 100_000_000
"""Bytes that wait at a host whose own link is the slower one: it drops nothing of its own."""


def check_network(config: dict[str, Any], names: list[str]) -> None:
    """`ScenarioError` says what this ground has not; `names` are the flows'."""
    network = config["network"]
    if len(network["hosts"]) > MOST_HOSTS:
        raise ScenarioError(
            f"{len(network['hosts'])} hosts: on this ground a network has at most {MOST_HOSTS}"
        )
    for link in network["links"]:
        if link["packets_per_second"] is not None:
            raise ScenarioError(
                "links: packets_per_second: the Linux ground shapes in bit/s; give a rate, "
                "or --on sim"
            )
    for name, flow in zip(names, config["flows"], strict=True):
        if flow["rtt"]:
            raise ScenarioError(
                f"{name}: rtt: in a network this ground has the links' delays alone; "
                "give the links a delay, or --on sim"
            )


def plan_of(config: dict[str, Any], kernel: Kernel) -> Plan:
    """The network of a run with its shapers and AQMs, as the kernel makes them."""
    network = Network(config["network"])
    spots = [
        _spot(way, network, config, kernel) for way in network.directions if way.rate is not None
    ]
    return Plan(network, spots, config["flows"])


def measured_spots(plan: Plan) -> list[Spot]:
    """Those of the bottlenecks that are measured, in their order."""
    return [spot for way in plan.network.measured for spot in plan.spots if spot.way is way]


def _spot(way: Direction, network: Network, config: dict[str, Any], kernel: Kernel) -> Spot:
    switch = network.switches.get(way.near) or network.switches[way.far]
    speed = switch["port_speed"]

    def shaper(rate: int) -> Any:
        return shaper_for(rate, way.link["burst"], speed, virtual_time=kernel.virtual_time)

    assert way.rate is not None
    rates = [(step["at"], way.rate_after(step)) for step in way.link["schedule"]]
    steps = [(at, shaper(rate)) for at, rate in rates if rate is not None]
    if way.near in network.hosts:
        aqm = Qdisc("bfifo", "sch_fifo", ("limit", f"{_ROOM_OF_A_HOST}"), None, "enqueue")
    else:
        aqm = qdisc(switch["aqm"] or config["aqm"], way.link["queue_limit"], kernel.tick)
    return Spot(shaper(way.rate), steps, aqm, way)


def network_job(
    config: dict[str, Any], plan: Plan, drawn: Traffic, *, virtual_time: bool, traffic: str
) -> dict[str, Any]:
    """The job of one run."""
    if len(drawn.numbers) > PORTS:
        raise ScenarioError(
            f"{len(drawn.numbers)} flows and transfers: in a network this ground tells them apart "
            f"by their ports, so at most {PORTS} are allowed"
        )
    network, lines = plan.network, plan.nodes()
    between = [*network.switches, *plan.wires]
    waiting = sum(
        spot.way.link["queue_limit"]
        * 8
        * 10**9
        // min([spot.shaper.rate, *(then.rate for _, then in spot.steps)])
        for spot in plan.spots
    )
    delays = sum(max(delay for _, delay in way.delays) for way in network.directions)
    job = common_job(config, drawn, [spot.aqm for spot in plan.spots], virtual_time=virtual_time)
    return job | {
        "ip": {"router": plan.links(), **lines},
        "tc": plan.queues(),
        "sysctl": {"router": {}}
        | {name: router_parameters({4, 6}) for name in between}
        | {name: end_parameters({4, 6}) for name in network.hosts},
        "interfaces": {"router": [], **plan.interfaces()},
        "hosts": list(network.hosts),
        "taps": _taps(plan),
        "shown": [[spot.way.near, spot.way.port] for spot in measured_spots(plan)],
        "near": "",
        "traffic": traffic,
        "drain": 500_000_000 + delays + waiting,
        "changes": grouped(plan.changes(), config["duration"]),
    }


def _taps(plan: Plan) -> list[dict[str, Any]]:
    """Every port of a switch that is measured, inwards; its bottlenecks, outwards; and the hosts
    that datagrams are for."""
    network = plan.network
    measured = {way.near for way in network.measured}
    taps = [
        tap(way.near, way.port, came_in(way), outgoing=False)
        for way in network.directions
        if way.near in measured
    ]
    taps += [tap(way.near, way.port, went_out(way), outgoing=True) for way in network.measured]
    receiving = {flow["to"] for flow in plan.flows if flow["kind"] in ("udp", "voip")}
    return taps + [
        tap(way.near, way.port, arrived_at(way.near), outgoing=False, only_udp=True)
        for way in network.directions
        if way.near in receiving
    ]


def came_in(way: Direction) -> str:
    """The file of what comes in at the near end of a direction."""
    return f"in-{way.near}-{way.port}.ring"


def went_out(way: Direction) -> str:
    """The file of what goes out there."""
    return f"out-{way.near}-{way.port}.ring"


def arrived_at(host: str) -> str:
    """The file of a host's datagrams."""
    return f"arrived-{host}.ring"
