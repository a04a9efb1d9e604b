"""The run's network inside the guest, as lines for `ip -batch` and `tc -batch`.

    senders ══ in0 [router] out0 ══ receivers
                            │ shaper (HTB), below it the AQM      receivers' own way out: netem
    one address a flow      one address a flow

Senders, router and receivers are network namespaces; a flow that runs backwards sends from among
the receivers. The whole round-trip time lies on the way to the senders (`delays`), so that nothing
but the bottleneck stands between a packet and the host behind it. Neighbours are permanent: no
address resolution passes the bottleneck. Short transfers have addresses by the block, with one
neighbour for all. Knows no scenario, only the engine's configuration of a run; runs nothing.
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any

from sojourn.errors import ScenarioError
from sojourn.linux.addresses import (
    Hosts,
    crowd,
    gateway,
    hosts,
    prefixes,
    sends_from_behind,
)
from sojourn.linux.delays import FAR, Block
from sojourn.linux.tc import Qdisc

ENTRANCE, EXIT, NEAR = "in0", "out0", "s0"
_MAC = {name: f"02:00:00:00:00:{i:02x}" for i, name in enumerate((ENTRANCE, EXIT, NEAR, FAR), 1)}
_PREFIX = {4: 9, 6: 64}
_LONGEST_BURST = 65_535
"""Segments; the kernel's own default, below which it sizes bursts by the flow's rate."""

_LARGEST = 64 << 20
"""Bytes; socket buffers may become large enough for windows that no path here needs. They begin as
the kernel has it by default."""
_MEMORY = {"tcp_rmem": f"4096 131072 {_LARGEST}", "tcp_wmem": f"4096 16384 {_LARGEST}"}


@dataclass(frozen=True)
class Shaper:
    """The bottleneck's shaper as the kernel is told it."""

    rate: int
    """bit/s"""
    burst: int
    """bytes"""
    overhead: int
    """Bytes that each packet counts more than its frame has: FCS, preamble and gap."""


@dataclass(frozen=True)
class Managed:
    """A measured queue: its shaper, what the schedule makes of that and when, ns, and its AQM."""

    shaper: Shaper
    steps: list[tuple[int, Shaper]]
    aqm: Qdisc


def router_links(flows: list[dict[str, Any]], crowds: dict[int, Block]) -> list[str]:
    """Namespaces, links and neighbours, from the router's side."""
    lines = [
        "netns add senders",
        "netns add receivers",
        "netns attach router {pid}",
        _pair(ENTRANCE, NEAR, "senders", _burst(flows, behind=False)),
        _pair(EXIT, FAR, "receivers", _burst(flows, behind=True)),
    ]
    sides = ((ENTRANCE, NEAR, False), (EXIT, FAR, True))
    for version in _versions(flows):
        for name, _, behind in sides:
            address = gateway(version, behind=behind)
            lines.append(f"addr add {address}/{_PREFIX[version]} dev {name}{_nodad(version)}")
    lines += [f"link set {ENTRANCE} up", f"link set {EXIT} up", "link set lo up"]
    for _, ends in _ends(flows, crowds):
        lines.append(f"neigh replace {ends.front} lladdr {_MAC[NEAR]} dev {ENTRANCE}")
        lines.append(f"neigh replace {ends.behind} lladdr {_MAC[FAR]} dev {EXIT}")
    for version, block in _blocks(flows, crowds):
        for name, peer, behind in sides:
            one = crowd(version, behind=behind)
            lines.append(f"neigh replace {one} lladdr {_MAC[peer]} dev {name}")
            lines += [
                f"route add {prefix} via {one} dev {name} onlink"
                for prefix in prefixes(*block, version, behind=behind)
            ]
    return lines


def host_links(flows: list[dict[str, Any]], crowds: dict[int, Block], *, behind: bool) -> list[str]:
    """Addresses and routes of all hosts of one side."""
    name, peer = (FAR, EXIT) if behind else (NEAR, ENTRANCE)
    lines = ["link set lo up"]
    for number, ends in _ends(flows, crowds):
        version = flows[number]["ip_version"]
        own, length = (ends.behind if behind else ends.front), 32 if version == 4 else 128
        lines.append(f"addr add {own}/{length} dev {name}{_nodad(version)}")
    for version, block in _blocks(flows, crowds):
        lines += [
            f"route add local {prefix} dev lo"
            for prefix in prefixes(*block, version, behind=behind)
        ]
    lines.append(f"link set {name} up")
    for version in _versions(flows):
        router = gateway(version, behind=behind)
        lines.append(f"neigh replace {router} lladdr {_MAC[peer]} dev {name}")
        everywhere = "0.0.0.0/0" if version == 4 else "::/0"
        lines.append(f"route add {everywhere} via {router} dev {name} onlink")
    return lines + _routes_with_ecn(flows, crowds, name, behind=behind)


def _routes_with_ecn(
    flows: list[dict[str, Any]], crowds: dict[int, Block], name: str, *, behind: bool
) -> list[str]:
    """ECN is asked for, and granted, by the route to the other end."""
    lines = []
    for number, flow in enumerate(flows):
        if flow.get("ecn"):
            version = flow["ip_version"]
            block = crowds.get(number, (number, 1))
            router = gateway(version, behind=behind)
            lines += [
                f"route add {prefix} via {router} dev {name} onlink features ecn"
                for prefix in prefixes(*block, version, behind=not behind)
            ]
    return lines


def bottleneck(shaper: Shaper, aqm: Qdisc, versions: Set[int], device: str = EXIT) -> list[str]:
    """Shaper and AQM at a router's way out. What the router itself says does not pass them."""
    lines = [
        f"qdisc add dev {device} root handle 1: htb default 1",
        f"class add dev {device} parent 1: classid 1:1 {_htb(shaper)}",
        f"qdisc add dev {device} parent 1:1 handle 10: {aqm.text}",
    ]
    return lines + (_past_the_shaper(device) if 6 in versions else [])


def _past_the_shaper(device: str) -> list[str]:
    """Neighbour discovery and group reports (ICMPv6, the latter behind a hop-by-hop header).

    Nobody's packets: an AQM that dropped one would count a drop that no flow has.
    """
    return [
        f"filter add dev {device} parent 1: protocol ipv6 prio 1 "
        f"u32 match ip6 protocol {header} 0xff flowid 1:0"
        for header in (58, 0)
    ]


def reshape(shaper: Shaper, device: str = EXIT) -> list[str]:
    """Another shaper in place of the bottleneck's; what is queued stays."""
    return [f"class change dev {device} parent 1: classid 1:1 {_htb(shaper)}"]


def _htb(shaper: Shaper) -> str:
    return (
        f"htb rate {shaper.rate}bit ceil {shaper.rate}bit burst {shaper.burst} "
        f"cburst {shaper.burst} overhead {shaper.overhead} quantum 60000"
    )


def parameters(flows: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Kernel parameters by namespace."""
    versions = set(_versions(flows))
    ends = end_parameters(versions)
    return {"router": router_parameters(versions), "senders": ends, "receivers": ends}


def end_parameters(versions: Set[int]) -> dict[str, str]:
    """Kernel parameters of hosts."""
    return _quiet(versions) | {
        **{f"net/ipv4/{name}": sizes for name, sizes in _MEMORY.items()},
        "net/ipv4/tcp_no_metrics_save": "1",
        # Transfers do not come again from the same port: nobody waits for their last segments.
        "net/ipv4/tcp_max_tw_buckets": "64",
        # Addresses by the block are nobody's in particular.
        "net/ipv6/ip_nonlocal_bind": "1",
    }


def router_parameters(versions: Set[int]) -> dict[str, str]:
    """Kernel parameters of who forwards."""
    forwarding = {4: "net/ipv4/ip_forward", 6: "net/ipv6/conf/all/forwarding"}
    return _quiet(versions) | {forwarding[version]: "1" for version in sorted(versions)}


def _quiet(versions: Set[int]) -> dict[str, str]:
    """A kernel that has IPv6 built in would send its own packets through the bottleneck."""
    return {} if 6 in versions else {"net/ipv6/conf/default/disable_ipv6": "1"}


def interfaces() -> dict[str, list[str]]:
    """The interfaces of each namespace."""
    return {"router": [ENTRANCE, EXIT], "senders": [NEAR], "receivers": [FAR]}


def _pair(here: str, there: str, namespace: str, segments: int) -> str:
    """A link; the far end's hosts hand it at most so many segments as one."""
    return (
        f"link add {here} address {_MAC[here]} type veth "
        f"peer name {there} address {_MAC[there]} gso_max_segs {segments} netns {namespace}"
    )


def _burst(flows: list[dict[str, Any]], *, behind: bool) -> int:
    """That of the senders of one side, who share an interface."""
    return burst_of([flow for flow in flows if sends_from_behind(flow) == behind])


def burst_of(flows: list[dict[str, Any]]) -> int:
    """Segments that leave the flows' senders back to back: a property of the one interface."""
    wanted = {flow["segmentation_offload"] for flow in flows if "segmentation_offload" in flow}
    if len(wanted) > 1:
        raise ScenarioError(
            "segmentation_offload: on this ground all flows share one interface and have the same"
        )
    offload = next(iter(wanted), False)
    if offload is False:
        return 1
    return _LONGEST_BURST if offload is True else int(offload)


def _ends(flows: list[dict[str, Any]], crowds: dict[int, Block]) -> Iterator[tuple[int, Hosts]]:
    """The hosts of the flows that have addresses of their own."""
    for number, flow in enumerate(flows):
        if number not in crowds:
            yield number, hosts(number, flow)


def _blocks(flows: list[dict[str, Any]], crowds: dict[int, Block]) -> list[tuple[int, Block]]:
    """Version and numbers of the short transfers of each source."""
    return [(flows[number]["ip_version"], block) for number, block in crowds.items()]


def _versions(flows: list[dict[str, Any]]) -> list[int]:
    return sorted({flow["ip_version"] for flow in flows})


def _nodad(version: int) -> str:
    return " nodad" if version == 6 else ""
