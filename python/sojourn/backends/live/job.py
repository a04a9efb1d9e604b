"""A run's network with live switches in it: the first process's job, as plain data.

    senders ══ w1p1 [switch] w1p2 ══ receivers
    a host ══ w1p1 [r1] w1p2 ══ w2p1 [s2] w2p2 ══ another

The Linux backend's hosts, traffic and logs, with a wire's or a program's switches in place of its
routers. No address lies between the hosts; frames go from one Ethernet address to the other. The
interfaces of all switches belong to the first process, each switch is a process. Runs nothing.
"""

import os
import sys
from collections import defaultdict
from typing import Any

from sojourn.backends.linux.addresses import BEHIND, FRONT, SERVER_PORT, sends_from_behind
from sojourn.backends.linux.graph import Direction, Network
from sojourn.backends.linux.groups import SERVERS, group_links, has_groups
from sojourn.backends.linux.guest.system import FIRST
from sojourn.backends.linux.job import arrived_at, shapers_of, tap
from sojourn.backends.linux.single_hosts import (
    address_lines,
    addresses_of,
    asks_for_ecn,
    route_to_host,
)
from sojourn.backends.linux.tc import Qdisc
from sojourn.backends.linux.topology import Managed, end_parameters
from sojourn.backends.linux.traffic import Workload, check_ports, family, guest_flows, lead
from sojourn.backends.live.links import ethernet

HOSTS_PORT = "p1"
"""The interface of a host, or of a group of them."""
_SAMPLE = 20_000_000
_PIECE = 16 * 1024
_BETWEEN_SWITCHES = 9_000
"""MTU of links between switches, whose programs may make packets of hosts longer (INT)."""
_ON_THE_WAY = Qdisc("live", "", (), None, "dequeue")


def interface(network: Network, node: str, port: str) -> str:
    """The name of a port's interface in its namespace; all switches are in one."""
    return f"w{list(network.switches).index(node) + 1}{port}" if node in network.switches else port


def switch_folder(place: int) -> str:
    """The folder, in the job's, of what the switch at that place left."""
    return f"switch-{place}"


def managed_of(config: dict[str, Any]) -> list[Managed]:
    """The run's measured queues."""
    network = Network(config["network"])
    return [_managed(way, network.switches[way.near]) for way in network.measured]


def _managed(way: Direction, switch: dict[str, Any]) -> Managed:
    speed = switch["port_speed"]
    shaper, steps = shapers_of(way, speed, virtual_time=True)
    return Managed(shaper, steps, _ON_THE_WAY)


def make_job(config: dict[str, Any], workload: Workload, traffic: str) -> dict[str, Any]:
    """The job of one run, whose traffic is `workload` and sent by `traffic`."""
    check_ports(config, workload)
    network, flows = Network(config["network"]), config["flows"]
    versions = {flow["ip_version"] for flow in flows}
    ends = end_parameters(versions)
    # What the switches' own interfaces would say would pass the bottleneck.
    silent = {f"net/ipv6/conf/{which}/disable_ipv6": "1" for which in ("all", "default")}
    ours = [
        interface(network, way.near, way.port)
        for way in network.directions
        if way.near in network.switches
    ]
    return {
        "modules_folder": "/nowhere",
        "modules": [],
        "families": sorted({int(family(version)) for version in versions}),
        "port": SERVER_PORT,
        "duration": config["duration"],
        "lead": lead(workload, config),
        "sample": _SAMPLE,
        "flows": [flow | {"piece": _PIECE} for flow in guest_flows(workload, config)],
        "ip": {
            FIRST: _links(network, ours),
            **{host: _host(network, host, flows, workload) for host in network.hosts},
        },
        "tc": {},
        "sysctl": {FIRST: silent, **dict.fromkeys(network.hosts, ends)},
        "interfaces": {FIRST: ours, **{host: [HOSTS_PORT] for host in network.hosts}},
        "also_off": ["tx", "sg"],
        "hosts": list(network.hosts),
        "taps": _group_taps(flows, ours) if has_groups(config) else _taps(flows),
        "shown": [],
        "near": HOSTS_PORT,
        "traffic": traffic,
        "drain": 0,
        "changes": [],
    }


def commands_of(config: dict[str, Any], folder: str) -> list[dict[str, Any]]:
    """The commands of the switches' processes, which read their orders from `folder`."""
    path = os.pathsep.join(filter(None, sys.path))
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": path, "HOME": "/"}
    start = [sys.executable, "-P", "-m", "sojourn.backends.live.switch_process", folder]
    return [
        {"command": [*start, f"{place}"], "environment": environment}
        for place, _ in enumerate(config["network"]["switches"])
    ]


def _links(network: Network, ours: list[str]) -> list[str]:
    """Namespaces and links, from the switches' side."""
    lines = [*(f"netns add {host}" for host in network.hosts), f"netns attach {FIRST} {{pid}}"]
    for way in network.directions:
        if not way.back:
            one, other = _end(network, way.near, way.port), _end(network, way.far, way.peer)
            between = {way.near, way.far} <= set(network.switches)
            room = f" mtu {_BETWEEN_SWITCHES}" if between else ""
            lines.append(f"link add {one}{room} type veth peer name {other}{room}")
    return [*lines, *(f"link set {name} up" for name in (*ours, "lo"))]


def _end(network: Network, node: str, port: str) -> str:
    """An end of a link to be made."""
    if node in network.switches:
        return interface(network, node, port)
    return f"{port} address {ethernet(network, node)} netns {node}"


def _host(
    network: Network, host: str, flows: list[dict[str, Any]], workload: Workload
) -> list[str]:
    """Addresses and routes of a host, or of a group as in the Linux backend, except that the way to
    the others leads to them and not to a router."""
    if network.is_group(host):
        (peer,) = (other for other in network.hosts if other != host)
        behind = network.hosts[host] == SERVERS
        beyond = ethernet(network, peer)
        lines = group_links(flows, workload.crowds, HOSTS_PORT, beyond, behind=behind)
        return ["link set lo up", *lines]
    versions = {flow["ip_version"] for flow in flows}
    lines = ["link set lo up", *address_lines(network, host, versions, HOSTS_PORT)]
    lines.append(f"link set {HOSTS_PORT} up")
    for other, ways in network.ways.items():
        if host in ways:
            addresses = addresses_of(network, other, versions)
            ecn = asks_for_ecn(flows, host, other)
            lines += route_to_host(addresses, HOSTS_PORT, ethernet(network, other), ecn=ecn)
    return lines


def _datagrams(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The flows that no socket reports."""
    return [flow for flow in flows if flow["kind"] in ("udp", "voip")]


def _group_taps(flows: list[dict[str, Any]], ours: list[str]) -> list[dict[str, Any]]:
    """Captures of datagrams between groups: at the switch, and at their destination."""
    datagrams = _datagrams(flows)
    if not datagrams:
        return []
    taps = [
        tap(FIRST, ours[0], "entered.ring", outgoing=False, only_udp=True),
        tap(BEHIND, HOSTS_PORT, "left.ring", outgoing=False, only_udp=True),
    ]
    if any(sends_from_behind(flow) for flow in datagrams):
        taps.append(tap(FRONT, HOSTS_PORT, "back.ring", outgoing=False, only_udp=True))
    return taps


def _taps(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Captures of a network's datagrams at their destinations."""
    by_host: dict[str, list[Any]] = defaultdict(list)
    for flow in _datagrams(flows):
        by_host[flow["to"]].append(flow)
    return [
        tap(host, HOSTS_PORT, arrived_at(host), outgoing=False, only_udp=True) for host in by_host
    ]
