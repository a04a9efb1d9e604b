"""The run's network inside the guest, as lines for `ip -batch` and `tc -batch`.

    senders ══ in0 [router] out0 ══ receivers
                            │ shaper (HTB), below it the AQM      receivers' own way out: netem
    one address a flow      one address a flow

Senders, router and receivers are network namespaces. The whole round-trip time lies on the way of
the acknowledgements, so that nothing but the bottleneck stands between a sender's packet and its
receiver. Neighbours are permanent: no address resolution passes the bottleneck. Knows no scenario,
only the engine's configuration of a run; runs nothing.
"""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sojourn.errors import ScenarioError
from sojourn.linux.addresses import Hosts, gateway, hosts
from sojourn.linux.tc import Qdisc

ENTRANCE, EXIT, NEAR, FAR = "in0", "out0", "s0", "r0"
_MAC = {name: f"02:00:00:00:00:{i:02x}" for i, name in enumerate((ENTRANCE, EXIT, NEAR, FAR), 1)}
_PREFIX = {4: 9, 6: 64}
_BANDS = 16
_NETEM_LIMIT = 1_000_000
"""Packets; acknowledgements in flight are never dropped for want of room."""

_LONGEST_BURST = 65_535
"""Segments; the kernel's own default, below which it sizes bursts by the flow's rate."""

_MEMORY = "4096 131072 67108864"
"""Socket buffers: large enough for windows that no path here needs."""


@dataclass(frozen=True)
class Shaper:
    """The bottleneck's shaper as the kernel is told it."""

    rate: int
    """bit/s"""
    burst: int
    """bytes"""
    overhead: int
    """Bytes that each packet counts more than its frame has: FCS, preamble and gap."""


def router_links(flows: list[dict[str, Any]]) -> list[str]:
    """Namespaces, links and neighbours, from the router's side."""
    lines = [
        "netns add senders",
        "netns add receivers",
        "netns attach router {pid}",
        _pair(ENTRANCE, NEAR, "senders", _burst(flows)),
        _pair(EXIT, FAR, "receivers", 1),
    ]
    for version in _versions(flows):
        for name, servers in ((ENTRANCE, False), (EXIT, True)):
            address = gateway(version, servers=servers)
            lines.append(f"addr add {address}/{_PREFIX[version]} dev {name}{_nodad(version)}")
    lines += [f"link set {ENTRANCE} up", f"link set {EXIT} up", "link set lo up"]
    for ends, _ in _ends(flows):
        lines.append(f"neigh replace {ends.client} lladdr {_MAC[NEAR]} dev {ENTRANCE}")
        lines.append(f"neigh replace {ends.server} lladdr {_MAC[FAR]} dev {EXIT}")
    return lines


def host_links(flows: list[dict[str, Any]], *, servers: bool) -> list[str]:
    """Addresses and routes of all senders, or of all receivers."""
    name, peer = (FAR, EXIT) if servers else (NEAR, ENTRANCE)
    lines = ["link set lo up"]
    for ends, version in _ends(flows):
        own = ends.server if servers else ends.client
        length = 32 if version == 4 else 128
        lines.append(f"addr add {own}/{length} dev {name}{_nodad(version)}")
    lines.append(f"link set {name} up")
    for version in _versions(flows):
        router = gateway(version, servers=servers)
        lines.append(f"neigh replace {router} lladdr {_MAC[peer]} dev {name}")
        everywhere = "0.0.0.0/0" if version == 4 else "::/0"
        lines.append(f"route add {everywhere} via {router} dev {name} onlink")
    for flow, (ends, version) in zip(flows, _ends(flows), strict=True):
        if flow.get("ecn"):
            far = ends.client if servers else ends.server
            router = gateway(version, servers=servers)
            lines.append(f"route add {far} via {router} dev {name} onlink features ecn")
    return lines


def bottleneck(shaper: Shaper, aqm: Qdisc, flows: list[dict[str, Any]]) -> list[str]:
    """Shaper and AQM at the router's way out. What the router itself says does not pass them."""
    lines = [
        f"qdisc add dev {EXIT} root handle 1: htb default 1",
        f"class add dev {EXIT} parent 1: classid 1:1 {_htb(shaper)}",
        f"qdisc add dev {EXIT} parent 1:1 handle 10: {aqm.text}",
    ]
    return lines + (_past_the_shaper() if 6 in _versions(flows) else [])


def _past_the_shaper() -> list[str]:
    """Neighbour discovery and group reports (ICMPv6, the latter behind a hop-by-hop header).

    Nobody's packets: an AQM that dropped one would count a drop that no flow has.
    """
    return [
        f"filter add dev {EXIT} parent 1: protocol ipv6 prio 1 "
        f"u32 match ip6 protocol {header} 0xff flowid 1:0"
        for header in (58, 0)
    ]


def reshape(shaper: Shaper) -> list[str]:
    """Another shaper in place of the bottleneck's; what is queued stays."""
    return [f"class change dev {EXIT} parent 1: classid 1:1 {_htb(shaper)}"]


def _htb(shaper: Shaper) -> str:
    return (
        f"htb rate {shaper.rate}bit ceil {shaper.rate}bit burst {shaper.burst} "
        f"cburst {shaper.burst} overhead {shaper.overhead} quantum 60000"
    )


def delays(flows: list[dict[str, Any]]) -> list[str]:
    """The round-trip times, on the way that acknowledgements take; per flow by their receiver."""
    by_delay: dict[int, list[tuple[Hosts, int]]] = defaultdict(list)
    for flow, ends in zip(flows, _ends(flows), strict=True):
        by_delay[flow["rtt"]].append(ends)
    if len(by_delay) > _BANDS**2:
        raise ScenarioError(
            f"{len(by_delay)} different round-trip times: this ground has at most {_BANDS**2}"
        )
    if not any(by_delay):
        return []
    if len(by_delay) == 1:
        return [f"qdisc add dev {FAR} root {_netem(next(iter(by_delay)))}"]
    lines = [f"qdisc add dev {FAR} root handle 1: {_prio()}"]
    for place, (delay, behind) in enumerate(sorted(by_delay.items())):
        group, band = divmod(place, _BANDS)
        below = f"{group + 2:x}:"
        if band == 0:
            lines.append(f"qdisc add dev {FAR} parent 1:{group + 1:x} handle {below} {_prio()}")
        lines.append(f"qdisc add dev {FAR} parent {below}{band + 1:x} {_netem(delay)}")
        for host, version in behind:
            lines.append(_filter("1:", host, version, f"1:{group + 1:x}"))
            lines.append(_filter(below, host, version, f"{below}{band + 1:x}"))
    return lines


def _prio() -> str:
    return f"prio bands {_BANDS} priomap {' '.join('0' * 16)}"


def _netem(delay: int) -> str:
    return f"netem delay {delay / 1000:.3f}us limit {_NETEM_LIMIT}"


def _filter(parent: str, host: Hosts, version: int, target: str) -> str:
    protocol, match = ("ip", "ip dst") if version == 4 else ("ipv6", "ip6 dst")
    length = 32 if version == 4 else 128
    return (
        f"filter add dev {FAR} parent {parent} protocol {protocol} prio {version} "
        f"u32 match {match} {host.client}/{length} flowid {target}"
    )


def parameters(flows: list[dict[str, Any]]) -> dict[str, dict[str, str]]:
    """Kernel parameters by namespace."""
    ends = {
        "net/ipv4/tcp_rmem": _MEMORY,
        "net/ipv4/tcp_wmem": _MEMORY,
        "net/ipv4/tcp_no_metrics_save": "1",
    }
    forwarding = {4: "net/ipv4/ip_forward", 6: "net/ipv6/conf/all/forwarding"}
    router = {forwarding[version]: "1" for version in _versions(flows)}
    if 6 not in _versions(flows):
        # A kernel that has IPv6 built in would send its own packets through the bottleneck.
        quiet = {"net/ipv6/conf/default/disable_ipv6": "1"}
        router, ends = router | quiet, ends | quiet
    return {"router": router, "senders": ends, "receivers": ends}


def interfaces() -> dict[str, list[str]]:
    """The interfaces of each namespace."""
    return {"router": [ENTRANCE, EXIT], "senders": [NEAR], "receivers": [FAR]}


def _pair(here: str, there: str, namespace: str, segments: int) -> str:
    """A link; the far end's hosts hand it at most so many segments as one."""
    return (
        f"link add {here} address {_MAC[here]} type veth "
        f"peer name {there} address {_MAC[there]} gso_max_segs {segments} netns {namespace}"
    )


def _burst(flows: list[dict[str, Any]]) -> int:
    """Segments that leave a sender back to back: a property of the one interface they share."""
    wanted = {flow.get("segmentation_offload", False) for flow in flows if flow["kind"] == "tcp"}
    if len(wanted) > 1:
        raise ScenarioError(
            "segmentation_offload: on this ground all flows share one interface and have the same"
        )
    offload = next(iter(wanted), False)
    if offload is False:
        return 1
    return _LONGEST_BURST if offload is True else int(offload)


def _ends(flows: list[dict[str, Any]]) -> list[tuple[Hosts, int]]:
    return [(hosts(i, flow["ip_version"]), flow["ip_version"]) for i, flow in enumerate(flows)]


def _versions(flows: list[dict[str, Any]]) -> list[int]:
    return sorted({flow["ip_version"] for flow in flows})


def _nodad(version: int) -> str:
    return " nodad" if version == 6 else ""
