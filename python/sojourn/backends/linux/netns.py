"""A run's network inside the guest, as lines for `ip -batch` and `tc -batch`.

    senders ══ p1 [switch] p2 ══ receivers       a host ══ p1 [r1] p2 ══ [wire-2] ══ p1 [s2] ...
                           │ shaper (HTB), below it the AQM

Every host, group of hosts and switch is a network namespace. A shaped port has HTB with the AQM
below it. netem cannot share that interface, so a link that is shaped and delayed leads through a
namespace of its own, a wire that forwards and delays. Between groups the whole round-trip time lies
on the way to the senders (`delays`), so that only the bottleneck stands between a packet and the
host behind it. Neighbours are permanent: no address resolution passes a bottleneck. Depends on the
graph and on the lines of a port and of a group; runs nothing.
"""

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sojourn.backends.linux.addresses import Block
from sojourn.backends.linux.delays import delay_changes, delays
from sojourn.backends.linux.graph import Direction, Network
from sojourn.backends.linux.groups import SERVERS, group_links, route_to_group
from sojourn.backends.linux.guest.system import FIRST
from sojourn.backends.linux.host_qdiscs import at_hosts, host_shaper, leaving_delays
from sojourn.backends.linux.single_hosts import (
    address_lines,
    addresses_of,
    asks_for_ecn,
    route_to_host,
)
from sojourn.backends.linux.topology import (
    Managed,
    bottleneck,
    burst_of,
    over_netlink,
    reshape,
)

_NETEM_LIMIT = 1_000_000
_AWAY, _BACK = "w1", "w2"
"""A wire's interfaces: towards the link's first end, and towards its second."""


@dataclass(frozen=True)
class Spot(Managed):
    """A shaped port."""

    way: Direction


Lines = dict[str, list[str]]


@dataclass(frozen=True)
class NetworkNamespaces:
    """A network with its shapers and AQMs, and the flows through it."""

    network: Network
    spots: list[Spot]
    """Of all shaped ports, those of hosts included."""
    flows: list[dict[str, Any]]
    crowds: dict[int, Block]
    """The short transfers of each source of them between groups."""
    switch: dict[str, Any] | None
    """The one switch between groups, if there are groups."""
    netem: dict[str, Any]
    """The place of the flows' round-trip times."""

    @cached_property
    def versions(self) -> set[int]:
        """Of IP, that the flows have."""
        return {flow["ip_version"] for flow in self.flows}

    @property
    def measured(self) -> list[Spot]:
        """Those of the bottlenecks that are measured, in their order."""
        return [spot for way in self.network.measured for spot in self.spots if spot.way is way]

    def wire_of(self, way: Direction) -> str | None:
        """The namespace that delays a link of which an end is shaped, if it needs one."""
        shaped = any(spot.way.place == way.place for spot in self.spots)
        delayed = any(other.place == way.place for other in self.network.delayed)
        return f"wire-{way.place + 1}" if shaped and delayed else None

    @property
    def wires(self) -> list[str]:
        """All of them."""
        there = (way for way in self.network.directions if not way.back)
        return [wire for way in there if (wire := self.wire_of(way))]

    def links(self) -> list[str]:
        """Namespaces and links, from outside."""
        lines = [f"netns attach {FIRST} {{pid}}"]
        names = [*self.network.hosts, *self.network.switches, *self.wires]
        lines += [f"netns add {name}" for name in names]
        for way in self.network.directions:
            if way.back:
                continue
            ends = (way.near, way.port), (way.far, way.peer)
            wire = self.wire_of(way)
            if wire is None:
                lines.append(_pair(*ends))
            else:
                lines += [_pair(ends[0], (wire, _AWAY)), _pair((wire, _BACK), ends[1])]
        return lines

    def nodes(self) -> Lines:
        """Addresses, routes and neighbours of each namespace."""
        lines: Lines = defaultdict(list)
        for name, ports in self.interfaces().items():
            lines[name].append("link set lo up")
            if name in self.network.hosts:
                segments = burst_of([f for f in self.flows if f["from"] == name])
                lines[name].append(f"link set {ports[0]} gso_max_segs {segments}")
            if self.network.is_group(name):
                (way,) = (way for way in self.network.directions if way.near == name)
                behind = self.network.hosts[name] == SERVERS
                beyond = mac(way.far, way.peer)
                lines[name] += group_links(self.flows, self.crowds, way.port, beyond, behind=behind)
                continue
            if name in self.network.hosts:
                lines[name] += address_lines(self.network, name, self.versions, ports[0])
            lines[name] += [f"link set {port} up" for port in ports]
        for host, ways in self.network.ways.items():
            for way in ways.values():
                self._route(lines, host, way)
        return lines

    def _route(self, lines: Lines, host: str, way: Direction) -> None:
        """The routes of the near end, and of the wire if there is one, to a host."""
        if self.network.is_group(host):
            if not self.network.is_group(way.near):
                behind = self.network.hosts[host] == SERVERS
                beyond = mac(way.far, way.peer)
                lines[way.near] += route_to_group(self.flows, way.port, beyond, behind=behind)
            return
        hops = [(way.near, way.port, (way.far, way.peer))]
        if wire := self.wire_of(way):
            here, there = (_BACK, _AWAY) if way.back else (_AWAY, _BACK)
            hops = [(way.near, way.port, (wire, here)), (wire, there, (way.far, way.peer))]
        addresses = addresses_of(self.network, host, self.versions)
        ecn = asks_for_ecn(self.flows, way.near, host)
        for node, port, beyond_port in hops:
            lines[node] += route_to_host(addresses, port, mac(*beyond_port), ecn=ecn)

    def queues(self) -> Lines:
        """Shapers, AQMs and delays of each namespace."""
        lines: Lines = defaultdict(list)
        for spot in self.spots:
            lines[spot.way.near] += bottleneck(spot.shaper, spot.aqm, self.versions, spot.way.port)
        for way in self.network.delayed:
            node, port = self._delayed_at(way)
            lines[node].append(f"qdisc add dev {port} root {_netem(way, way.delays[0][1])}")
        if self.switch is not None:
            for name, kind in self.network.hosts.items():
                lines[name] += self._delays_of(kind, self.switch)
        for way in self.network.directions:
            if shaper := self.network.shapers.get(way.near):
                lines[way.near] += host_shaper(way.near, shaper, way.port, lines[way.near])
        return lines

    def options(self) -> dict[str, list[dict[str, Any]]]:
        """AQMs of each namespace that are made over netlink."""
        made: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for spot in self.spots:
            made[spot.way.near] += over_netlink(spot.aqm, spot.way.port)
        return {node: of for node, of in made.items() if of}

    def _delays_of(self, kind: str, switch: dict[str, Any]) -> list[str]:
        """The round-trip times that are met on the way out of a group."""
        behind = kind == SERVERS
        if at_hosts(self.netem):
            return leaving_delays(self.flows, self.crowds, switch, self.netem, behind=behind)
        return delays(self.flows, self.crowds, switch) if behind else []

    def changes(self) -> list[tuple[int, str, str]]:
        """The schedules' changes: time, namespace and line of each."""
        found = [
            (at, spot.way.near, line)
            for spot in self.spots
            for at, then in spot.steps
            for line in reshape(then, spot.way.port)
        ]
        for way in self.network.delayed:
            node, port = self._delayed_at(way)
            found += [
                (at, node, f"qdisc change dev {port} root {_netem(way, delay)}")
                for at, delay in way.delays[1:]
            ]
        if self.switch is not None and not at_hosts(self.netem):
            of_paths = delay_changes(self.flows, self.crowds, self.switch)
            found += [(at, self._servers, line) for at, line in of_paths]
        return found

    @property
    def _servers(self) -> str:
        """The group on whose way out the round-trip times lie."""
        return next(name for name, kind in self.network.hosts.items() if kind == SERVERS)

    def _delayed_at(self, way: Direction) -> tuple[str, str]:
        """The interface whose netem delays a direction."""
        wire = self.wire_of(way)
        return (way.near, way.port) if wire is None else (wire, _AWAY if way.back else _BACK)

    def interfaces(self) -> dict[str, list[str]]:
        """Those of each namespace."""
        found: dict[str, list[str]] = defaultdict(list)
        for way in self.network.directions:
            found[way.near].append(way.port)
        return found | {wire: [_AWAY, _BACK] for wire in self.wires}


def mac(node: str, port: str) -> str:
    """An interface's Ethernet address, a function of its names."""
    number = hash_of(f"{node}.{port}")
    return ":".join(["02", *(f"{number >> shift & 255:02x}" for shift in (32, 24, 16, 8, 0))])


def hash_of(text: str) -> int:
    """FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % (1 << 64)
    return value


def _pair(one: tuple[str, str], other: tuple[str, str]) -> str:
    (here, port), (there, peer) = one, other
    return (
        f"link add {port} netns {here} address {mac(here, port)} gso_max_segs 1 type veth "
        f"peer name {peer} netns {there} address {mac(there, peer)} gso_max_segs 1"
    )


def _netem(way: Direction, delay: int) -> str:
    """With a rate, packets keep their order when the delay becomes shorter."""
    random = way.netem
    overtakes = random.get("jitter") or random.get("reorder")
    keeps_order = " rate 100gbit" if len(way.delays) > 1 and not overtakes else ""
    return (
        f"netem delay {delay / 1000:.3f}us{_jitter(random)} limit {_NETEM_LIMIT}{keeps_order}"
        f"{_random(random)}"
    )


def _jitter(random: dict[str, Any]) -> str:
    """What follows a delay."""
    if not random.get("jitter"):
        return ""
    normal = " distribution normal" if random["distribution"] == "normal" else ""
    return f" {random['jitter'] / 1000:.3f}us {_percent(random['jitter_correlation'])}{normal}"


def _random(random: dict[str, Any]) -> str:
    """Loss, duplication and reordering as `tc` takes them."""
    words = [
        f" {kind} {_percent(random[kind])} {_percent(random[f'{kind}_correlation'])}"
        for kind in ("loss", "duplicate", "reorder")
        if random.get(kind)
    ]
    return "".join(words) + (f" gap {random['gap']}" if random.get("reorder") else "")


def _percent(share: int) -> str:
    """A share in parts of 10^9."""
    return f"{share / 10**7:.7f}%"
