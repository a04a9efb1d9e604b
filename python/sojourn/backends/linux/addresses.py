"""Addresses and ports of a flow's two hosts, and the flow of a captured address.

The scheme is the engine's, so that a P4 program, a capture and a row mean the same flow on every
backend. Hosts in front of the bottleneck are in 10.0.0.0/9 and fd00::/64, those behind it in
10.128.0.0/9 and fd00:0:0:1::/64; the low bits are the flow's number plus one. The opener's port is
derived from the flow's number, the acceptor has iperf3's port. Depends on `ipaddress`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import Any

SERVER_PORT = 5201
"""iperf3's port."""
FIRST_PORT, PORTS = 32_768, 28_232
"""Linux's range of ephemeral ports."""
FRONT, BEHIND = "senders", "receivers"
"""The two sides of the bottleneck by the names of their namespaces."""
_CLIENTS, _SERVERS = IPv4Address("10.0.0.0"), IPv4Address("10.128.0.0")
_CLIENTS_V6, _SERVERS_V6 = IPv6Address("fd00::"), IPv6Address("fd00:0:0:1::")
_BITS = {4: 32, 6: 128}
_LENGTH = {4: 9, 6: 64}

Block = tuple[int, int]
"""Number of the first flow, and how many follow each other."""


@dataclass(frozen=True)
class Hosts:
    """The two ends of a flow."""

    front: str
    behind: str
    opener: str
    """The side of the one that opens the connection."""
    port: int
    """Of that one."""

    @property
    def client(self) -> tuple[str, int]:
        """Address and port of the host that opens the connection."""
        return (self.front if self.opener == FRONT else self.behind), self.port

    @property
    def server(self) -> tuple[str, int]:
        """Address and port of the host that accepts the connection."""
        return (self.behind if self.opener == FRONT else self.front), SERVER_PORT

    @property
    def front_end(self) -> tuple[str, int]:
        """Address and port of the end in front of the bottleneck."""
        return self.client if self.opener == FRONT else self.server


def host_names(config: dict[str, Any]) -> list[str]:
    """The namespaces in which a run has hosts, in the order in which they are sampled."""
    return [host["name"] for host in config["network"]["hosts"]]


def sends_from_behind(flow: dict[str, Any]) -> bool:
    """True if the bulk of a flow's data comes from behind the bottleneck."""
    return bool(flow["from"] == BEHIND)


def opener(flow: dict[str, Any]) -> str:
    """The side that opens a flow's connection: the sender, or the client of requests."""
    asks = flow.get("kind") == "requests"
    return BEHIND if sends_from_behind(flow) != asks else FRONT


def hosts(number: int, flow: dict[str, Any]) -> Hosts:
    """The ends of flow number `number`."""
    version = flow["ip_version"]
    port = FIRST_PORT + number % PORTS
    front, behind = (
        address(base(version, behind=side) + number, version) for side in (False, True)
    )
    return Hosts(front, behind, opener(flow), port)


def base(version: int, *, behind: bool) -> int:
    """The address of flow 0, as a number."""
    if version == 6:
        return int(_SERVERS_V6 if behind else _CLIENTS_V6) + 1
    return int(_SERVERS if behind else _CLIENTS) + 1


def address(number: int, version: int) -> str:
    """An address as it is written."""
    return str(IPv6Address(number) if version == 6 else IPv4Address(number))


def gateway(version: int, *, behind: bool) -> str:
    """The router's own address on either side: the last but one that a flow could have."""
    return _at_the_end(version, 2, behind=behind)


def crowd(version: int, *, behind: bool) -> str:
    """The neighbour that stands for all hosts of short transfers on one side."""
    return _at_the_end(version, 3, behind=behind)


def block_of(version: int, *, behind: bool) -> str:
    """The network that all addresses of one side are in."""
    return f"{address(base(version, behind=behind) - 1, version)}/{_LENGTH[version]}"


def _at_the_end(version: int, place: int, *, behind: bool) -> str:
    size = 2**32 if version == 6 else 2**23
    return address(base(version, behind=behind) - 1 + size - place, version)


def prefixes(first: int, count: int, version: int, *, behind: bool) -> Iterator[str]:
    """The fewest prefixes that hold the addresses of flows `first` up to `first + count`."""
    low = base(version, behind=behind) + first
    high = low + count
    while low < high:
        size = low & -low
        while size > high - low:
            size //= 2
        yield f"{address(low, version)}/{_BITS[version] - size.bit_length() + 1}"
        low += size
