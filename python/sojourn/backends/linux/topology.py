"""Settings of every node of a run's network: shapers and AQMs as lines for `tc -batch`, kernel
parameters, the segments that a sender hands over as one.

    ══ port ══▶  HTB, below it the AQM

Must not depend on scenarios or on the topology; runs nothing.
"""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from sojourn.backends.linux.tc import Qdisc
from sojourn.errors import ScenarioError

_LONGEST_BURST = 65_535
"""Segments; the kernel's own default, below which it sizes bursts by the flow's rate."""

_BELOW, _AQM = "1:1", "10:"
"""The shaper's class, and the handle of the AQM below it."""

_LARGEST = 64 << 20
"""Bytes; socket buffers may become large enough for windows that no path here needs. They begin as
the kernel has it by default."""
_MEMORY = {"tcp_rmem": f"4096 131072 {_LARGEST}", "tcp_wmem": f"4096 16384 {_LARGEST}"}


@dataclass(frozen=True)
class Shaper:
    """The bottleneck's shaper in the kernel's units."""

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


def bottleneck(shaper: Shaper, aqm: Qdisc, versions: Set[int], device: str) -> list[str]:
    """Shaper and AQM at a router's way out. What the router itself says does not pass them."""
    lines = [
        f"qdisc add dev {device} root handle 1: htb default 1",
        f"class add dev {device} parent 1: classid 1:1 {_htb(shaper)}",
    ]
    if not aqm.options:
        lines.append(f"qdisc add dev {device} parent {_BELOW} handle {_AQM} {aqm.text}")
    return lines + (_past_the_shaper(device) if 6 in versions else [])


def over_netlink(aqm: Qdisc, device: str) -> list[dict[str, Any]]:
    """The AQM that `bottleneck` leaves out because `tc` does not know its options."""
    if not aqm.options:
        return []
    return [
        {
            "device": device,
            "parent": _BELOW,
            "handle": _AQM,
            "kind": aqm.kind,
            "options": [[option.number, option.size, option.value] for option in aqm.options],
        }
    ]


def _past_the_shaper(device: str) -> list[str]:
    """Neighbour discovery and group reports (ICMPv6, the latter behind a hop-by-hop header).

    Packets of no flow: an AQM that dropped one would count a drop that no flow has.
    """
    return [
        f"filter add dev {device} parent 1: protocol ipv6 prio 1 "
        f"u32 match ip6 protocol {header} 0xff flowid 1:0"
        for header in (58, 0)
    ]


def reshape(shaper: Shaper, device: str) -> list[str]:
    """Another shaper in place of the bottleneck's; what is queued stays."""
    return [f"class change dev {device} parent 1: classid 1:1 {_htb(shaper)}"]


def _htb(shaper: Shaper) -> str:
    return (
        f"htb rate {shaper.rate}bit ceil {shaper.rate}bit burst {shaper.burst} "
        f"cburst {shaper.burst} overhead {shaper.overhead} quantum 60000"
    )


def end_parameters(versions: Set[int]) -> dict[str, str]:
    """Kernel parameters of hosts."""
    return _quiet(versions) | {
        **{f"net/ipv4/{name}": sizes for name, sizes in _MEMORY.items()},
        "net/ipv4/tcp_no_metrics_save": "1",
        # Transfers do not come again from the same port: no socket waits for their last segments.
        "net/ipv4/tcp_max_tw_buckets": "64",
        # Addresses of a block belong to no single host.
        "net/ipv6/ip_nonlocal_bind": "1",
    }


def router_parameters(versions: Set[int]) -> dict[str, str]:
    """Kernel parameters of who forwards."""
    forwarding = {4: "net/ipv4/ip_forward", 6: "net/ipv6/conf/all/forwarding"}
    return _quiet(versions) | {forwarding[version]: "1" for version in sorted(versions)}


def _quiet(versions: Set[int]) -> dict[str, str]:
    """A kernel that has IPv6 built in would send its own packets through the bottleneck."""
    which = () if 6 in versions else ("all", "default")
    return {f"net/ipv6/conf/{name}/disable_ipv6": "1" for name in which}


def burst_of(flows: list[dict[str, Any]]) -> int:
    """Segments that leave the flows' senders back to back: a property of the one interface."""
    wanted = {flow["segmentation_offload"] for flow in flows if "segmentation_offload" in flow}
    if len(wanted) > 1:
        raise ScenarioError(
            "segmentation_offload: on this backend all flows share one interface and have the same"
        )
    offload = next(iter(wanted), False)
    if offload is False:
        return 1
    return _LONGEST_BURST if offload is True else int(offload)
