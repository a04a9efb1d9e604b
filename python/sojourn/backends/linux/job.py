"""The guest's job: one run's network, hosts and times, as plain data.

Depends on the engine's configuration of the run, on `netns`, `traffic` and `tc`. Runs nothing.
"""

from functools import cache
from itertools import groupby
from typing import Any

from sojourn import _core
from sojourn.backends.linux.addresses import SERVER_PORT
from sojourn.backends.linux.graph import Direction, Network
from sojourn.backends.linux.groups import SERVERS, has_groups, switch_of
from sojourn.backends.linux.guest.system import FIRST
from sojourn.backends.linux.kernel import Kernel
from sojourn.backends.linux.netns import NetworkNamespaces, Spot
from sojourn.backends.linux.requirements import MODULES
from sojourn.backends.linux.tc import FULL_FRAME, Qdisc, qdisc
from sojourn.backends.linux.topology import Shaper, end_parameters, router_parameters
from sojourn.backends.linux.traffic import Workload, check_ports, family, guest_flows, lead

_MODULES = (
    "veth",
    "sch_htb",
    "sch_netem",
    "sch_prio",
    "cls_u32",
    "tcp_bbr",
    "tcp_dctcp",
    "tcp_diag",
)
_SAMPLE = {"virtual": 10_000_000, "real": 20_000_000}
"""ns between two samples of the sockets; in real time each costs the guest a quarter of a ms."""
_PIECE = {"virtual": 1, "real": 16 * 1024}
"""Bytes that wait before the host that reads them is woken. In real time a system call in the guest
costs what several packets do; in virtual time it costs nothing, and data are read as they come, as
iperf3 does. Acknowledgements do not wait for it (tcp_input.c, `__tcp_ack_snd_check`), but the
receive window grows with what is read."""
_WIRE = 24
"""FCS, preamble and inter-frame gap: bytes that the switch's shaper counts in addition to the
frame."""
_LATENESS = 1_000_000
"""ns; how late a shaper's timer may be in real time without losing bandwidth."""
_ROOM_OF_A_HOST = 100_000_000
"""Bytes that wait at a host whose own link is the slower one: it drops nothing of its own."""


@cache
def shaper_for(rate: int, burst: int, port_speed: int, *, virtual_time: bool) -> Shaper:
    """A shaper as the switch's hardware rounds it, which the engine knows.

    In real time the burst is enlarged: a timer that comes late must not cost bandwidth.
    """
    rounded_rate, rounded_burst = port_speed, 2 * FULL_FRAME
    if rate < port_speed:
        rounded_rate, rounded_burst = _core.shaper_as_built(rate, burst)
    if not virtual_time:
        rounded_burst = max(rounded_burst, rounded_rate * _LATENESS // (8 * 10**9))
    return Shaper(rounded_rate, rounded_burst, _WIRE)


def spaces_of(config: dict[str, Any], workload: Workload, kernel: Kernel) -> NetworkNamespaces:
    """The network of a run with its shapers and AQMs, as the kernel makes them."""
    network = Network(config["network"])
    spots = [
        _spot(way, network, config, kernel)
        for way in network.directions
        if way.rate is not None and not network.is_group(way.near)
    ]
    switch = switch_of(config) if has_groups(config) else None
    return NetworkNamespaces(
        network, spots, config["flows"], workload.crowds, switch, config["netem"]
    )


def shapers_of(way: Direction, speed: int, *, virtual_time: bool) -> tuple[Shaper, list[Any]]:
    """The shaper of a direction before a port of that speed, and what its schedule makes of it."""

    def shaper(rate: int) -> Shaper:
        return shaper_for(rate, way.link["burst"], speed, virtual_time=virtual_time)

    rates = [(step["at"], way.rate_after(step)) for step in way.link["schedule"]]
    return shaper(speed if way.rate is None else way.rate), [
        (at, shaper(rate)) for at, rate in rates if rate is not None
    ]


def qdisc_of(config: dict[str, Any], tick: int) -> Qdisc:
    """The qdisc for the discipline of a run at its first bottleneck, of a kernel with that tick in
    ns."""
    first = Network(config["network"]).measured[0]
    return qdisc(config["aqm"], first.link["queue_limit"], tick)


def _spot(way: Direction, network: Network, config: dict[str, Any], kernel: Kernel) -> Spot:
    switch = network.switches.get(way.near) or network.switches[way.far]
    shaper, steps = shapers_of(way, switch["port_speed"], virtual_time=kernel.virtual_time)
    if way.near in network.hosts:
        aqm = Qdisc("bfifo", "sch_fifo", ("limit", f"{_ROOM_OF_A_HOST}"), None, "enqueue")
    else:
        aqm = qdisc(switch["aqm"] or config["aqm"], way.link["queue_limit"], kernel.tick)
    return Spot(shaper, steps, aqm, way)


def make_job(
    config: dict[str, Any],
    spaces: NetworkNamespaces,
    workload: Workload,
    *,
    virtual_time: bool,
    traffic: str,
    sample: int | None = None,
) -> dict[str, Any]:
    """The job of one run, whose traffic is `workload` and sent by `traffic`; ns between two samples
    of its sockets, if not the usual."""
    network, versions = spaces.network, spaces.versions
    check_ports(config, workload)
    piece = _PIECE["virtual" if virtual_time else "real"]
    modules = [*_MODULES, *(["ipv6"] if 6 in versions else [])]
    first = network.measured[0]
    return {
        "modules_folder": str(MODULES),
        "modules": [*modules, *dict.fromkeys(spot.aqm.module for spot in spaces.spots)],
        "families": sorted({int(family(version)) for version in versions}),
        "port": SERVER_PORT,
        "duration": config["duration"],
        "lead": lead(workload, config),
        "sample": sample or _SAMPLE["virtual" if virtual_time else "real"],
        "flows": [flow | {"piece": piece} for flow in guest_flows(workload, config)],
        "ip": {FIRST: spaces.links(), **spaces.nodes()},
        "tc": spaces.queues(),
        "options": spaces.options(),
        "sysctl": {FIRST: {}}
        | {name: router_parameters(versions) for name in (*network.switches, *spaces.wires)}
        | {name: end_parameters(versions) for name in network.hosts},
        "interfaces": {FIRST: [], **spaces.interfaces()},
        "hosts": list(network.hosts),
        "taps": _taps(spaces),
        # The last is the way back to the first bottleneck.
        "shown": [
            *([spot.way.near, spot.way.port] for spot in spaces.measured),
            [first.far, first.peer],
        ],
        "near": "p1",
        "traffic": traffic,
        "drain": 500_000_000 + _on_the_way(spaces),
        "changes": _grouped(spaces.changes(), config["duration"]),
    }


def _on_the_way(spaces: NetworkNamespaces) -> int:
    """Upper bound of the time that the network needs to drain at the end, ns."""
    found = sum(max(delay for _, delay in way.delays) for way in spaces.network.delayed)
    for spot in spaces.spots:
        slowest = min([spot.shaper.rate, *(then.rate for _, then in spot.steps)])
        found += int(spot.way.link["queue_limit"]) * 8 * 10**9 // slowest
    return found


def tap(
    namespace: str, interface: str, file: str, *, outgoing: bool, only_udp: bool = False
) -> dict[str, Any]:
    """A capture: the interface and the file for its frames."""
    return {
        "namespace": namespace,
        "interface": interface,
        "file": file,
        "outgoing": outgoing,
        "only_udp": only_udp,
    }


def _taps(spaces: NetworkNamespaces) -> list[dict[str, Any]]:
    """On both sides of each measured queue, and at the hosts that datagrams are for. What leaves a
    bottleneck for a group has arrived."""
    network = spaces.network
    taps = [
        tap(way.near, way.port, came_in(way), outgoing=False)
        for way in network.directions
        if any(way in network.inwards(measured) for measured in network.measured)
    ]
    taps += [tap(way.near, way.port, went_out(way), outgoing=True) for way in network.measured]
    receiving = {flow["to"] for flow in spaces.flows if flow["kind"] in ("udp", "voip")}
    return taps + [
        tap(way.near, way.port, arrived_at(way.near), outgoing=False, only_udp=True)
        for way in network.directions
        if way.near in receiving and network.hosts[way.near] != SERVERS
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


def _grouped(changes: list[tuple[int, str, str]], duration: int) -> list[dict[str, Any]]:
    """Changes within the run, in the order of time; those of a moment and a place together."""
    within = sorted(
        (change for change in changes if change[0] < duration), key=lambda change: change[:2]
    )
    return [
        {"at": at, "where": where, "tc": [line for _, _, line in lines]}
        for (at, where), lines in groupby(within, key=lambda change: change[:2])
    ]
