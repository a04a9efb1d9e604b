"""Groups of hosts: senders, one switch, receivers.

Flows of a group differ in addresses and have round-trip times of their own; hosts with one address
each cannot. This module lists a group's members and writes its namespace's lines for `ip -batch`.
Short transfers get addresses by the block. Depends on the engine's configuration of a run and on
the address scheme.
"""

from collections.abc import Iterator
from typing import Any

from sojourn.backends.linux.addresses import (
    BEHIND,
    FRONT,
    Block,
    block_of,
    crowd,
    gateway,
    hosts,
    prefixes,
)
from sojourn.errors import ScenarioError

CLIENTS, SERVERS = "clients", "servers"
Flow = dict[str, Any]


def has_groups(config: dict[str, Any]) -> bool:
    """True if flows are between groups of hosts."""
    return any(isinstance(host["addresses"], str) for host in config["network"]["hosts"])


def switch_of(config: dict[str, Any]) -> dict[str, Any]:
    """The one switch between the groups, with the link that it sends into and the rates of the
    links that its hosts share, if they do."""
    network = config["network"]
    (switch,), link = network["switches"], network["links"][-1]
    access = [host.get("access_rate") for host in network["hosts"]]
    return {**switch, **link, "access": access}


def check_groups(config: dict[str, Any]) -> None:
    """`ScenarioError` for groups that this backend cannot build."""
    network = config["network"]
    between = [tuple(link["between"]) for link in network["links"]]
    names = [switch["name"] for switch in network["switches"]]
    usual = len(names) == 1 and between == [(FRONT, names[0]), (names[0], BEHIND)]
    if not usual or network["links"][0]["rate"] is not None or not network["links"][1]["rate"]:
        raise ScenarioError(
            f"hosts: on this backend groups of hosts are {FRONT} and {BEHIND} with one switch and "
            "one bottleneck between them; give [switch], or --on sim"
        )


def group_links(
    flows: list[Flow], crowds: dict[int, Block], port: str, beyond: str, *, behind: bool
) -> list[str]:
    """Addresses and routes of all hosts of a group, whose interface is `port`; at the other end of
    its link is the Ethernet address `beyond`."""
    lines = []
    for number, flow in enumerate(flows):
        if number not in crowds:
            ends, version = hosts(number, flow), flow["ip_version"]
            own, length = (ends.behind if behind else ends.front), 32 if version == 4 else 128
            nodad = " nodad" if version == 6 else ""
            lines.append(f"addr add {own}/{length} dev {port}{nodad}")
    for number, block in crowds.items():
        version = flows[number]["ip_version"]
        lines += [
            f"route add local {prefix} dev lo"
            for prefix in prefixes(*block, version, behind=behind)
        ]
    lines.append(f"link set {port} up")
    for version in _versions(flows):
        router = gateway(version, behind=behind)
        lines.append(f"neigh replace {router} lladdr {beyond} dev {port}")
        everywhere = "0.0.0.0/0" if version == 4 else "::/0"
        lines.append(f"route add {everywhere} via {router} dev {port} onlink")
    return lines + list(_routes_with_ecn(flows, crowds, port, behind=behind))


def route_to_group(flows: list[Flow], port: str, beyond: str, *, behind: bool) -> list[str]:
    """Lines for a switch's route to a group through `port`, with one neighbour for all hosts."""
    lines = []
    for version in _versions(flows):
        one = crowd(version, behind=behind)
        lines.append(f"neigh replace {one} lladdr {beyond} dev {port}")
        everybody = block_of(version, behind=behind)
        lines.append(f"route add {everybody} via {one} dev {port} onlink")
    return lines


def _routes_with_ecn(
    flows: list[Flow], crowds: dict[int, Block], port: str, *, behind: bool
) -> Iterator[str]:
    """Routes to the other end that request and grant ECN."""
    for number, flow in enumerate(flows):
        if flow.get("ecn"):
            version = flow["ip_version"]
            block = crowds.get(number, (number, 1))
            router = gateway(version, behind=behind)
            for prefix in prefixes(*block, version, behind=not behind):
                yield f"route add {prefix} via {router} dev {port} onlink features ecn"


def _versions(flows: list[Flow]) -> list[int]:
    return sorted({flow["ip_version"] for flow in flows})
