"""Hosts that have an address each: their addresses, and how they reach each other.

Depends on the graph. Knows neither what forwards between them nor which Ethernet addresses there
are. Runs nothing.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from sojourn.backends.linux.graph import Network
from sojourn.errors import ScenarioError

_LENGTHS = {4: ("ipv4", 32), 6: ("ipv6", 128)}


def addresses_of(network: Network, host: str, versions: Iterable[int]) -> list[tuple[str, int]]:
    """The addresses of a host of these versions of IP, each with its length in bits."""
    own = network.own_addresses(host)
    return [(own[key], bits) for key, bits in (_LENGTHS[version] for version in sorted(versions))]


def address_lines(network: Network, host: str, versions: Iterable[int], port: str) -> list[str]:
    """Lines that give a host's interface its addresses."""
    return [
        f"addr add {address}/{length} dev {port}{' nodad' if length == 128 else ''}"
        for address, length in addresses_of(network, host, versions)
    ]


def route_to_host(
    addresses: Iterable[tuple[str, int]], port: str, beyond: str, *, ecn: bool
) -> list[str]:
    """Lines for a namespace's route to a host through `port`, to the Ethernet address `beyond`."""
    features = " features ecn" if ecn else ""
    lines = []
    for address, length in addresses:
        lines.append(f"neigh replace {address} lladdr {beyond} dev {port}")
        lines.append(f"route add {address}/{length} dev {port}{features}")
    return lines


def asks_for_ecn(flows: Sequence[dict[str, Any]], near: str, far: str) -> bool:
    """True if a host requests ECN on its route to the other one, for all flows between the two."""
    ends = {near, far}
    wanted = {f["ecn"] for f in flows if {f["from"], f["to"]} == ends and "ecn" in f}
    if len(wanted) > 1:
        raise ScenarioError(
            f"ecn: between {' and '.join(sorted(ends))} some flows want it and some do "
            "not; on this backend all flows between two hosts of a network have the same"
        )
    return wanted == {True}
