"""Routes of a network: the ports of each switch that lead to each host by the fewest links.

A P4 program forwards by its own tables, so a network with several switches needs entries for each.
Of several ports of equal cost a table for destinations takes one for each host, drawn by the name
of the switch, so that hosts spread evenly and differently at each switch. Depends on the
scenario alone; the engine computes the same ways for its own routers.
"""

from collections import deque
from collections.abc import Iterator
from random import Random

from sojourn.model.scenario.model import Scenario
from sojourn.model.scenario.network import addresses

_GROUPS = {
    ("clients", 4): ("10.0.0.0", 9),
    ("servers", 4): ("10.128.0.0", 9),
    ("clients", 6): ("fd00::", 64),
    ("servers", 6): ("fd00:0:0:1::", 64),
}
"""Addresses of groups of hosts, by kind and version of IP."""


class Routes:
    """The ways from all switches to all hosts."""

    def __init__(self, scenario: Scenario) -> None:
        self._near = _neighbours(scenario)
        switches = {node.name for node in scenario.switches}
        self._links = {
            host.name: _links_to(self._near, host.name, switches) for host in scenario.hosts
        }
        self._rates = _rates(scenario)
        self._addresses = {host["name"]: host["addresses"] for host in addresses(scenario.hosts)}

    def rate(self, switch: str, port: int) -> int:
        """bit/s at which a port of a switch sends, at the start of the run."""
        return self._rates[switch, port]

    def of(self, switch: str, version: int) -> Iterator[tuple[str, int, int]]:
        """Address, length of its prefix and port, for each host that the switch has a way to."""
        ports = {host: self._ports(switch, links) for host, links in self._links.items()}
        chosen = _one_each(switch, {host: found for host, found in ports.items() if found})
        for host, own in self._addresses.items():
            if host not in chosen:
                continue
            if isinstance(own, str):
                address, bits = _GROUPS[own, version]
            else:
                address, bits = own["own"][f"ipv{version}"], 32 if version == 4 else 128
            yield address, bits, chosen[host]

    def _ports(self, switch: str, links: dict[str, int]) -> list[int]:
        """The ports of the switch behind which a host is nearest."""
        if switch not in links:
            return []
        nearest = links[switch] - 1
        return [port for port, there in self._near[switch] if links.get(there) == nearest]


def _one_each(switch: str, ports: dict[str, list[int]]) -> dict[str, int]:
    """A port for each host; those with the same ports take them in turn, in a drawn order."""
    hosts = list(ports)
    Random(switch).shuffle(hosts)
    turns: dict[tuple[int, ...], int] = {}
    chosen = {}
    for host in hosts:
        among = tuple(ports[host])
        turn = turns[among] = turns.get(among, -1) + 1
        chosen[host] = among[turn % len(among)]
    return chosen


def _links_to(
    near: dict[str, list[tuple[int, str]]], host: str, switches: set[str]
) -> dict[str, int]:
    """The number of links from each switch to a host; hosts pass nothing on."""
    links = {host: 0}
    waiting = deque([host])
    while waiting:
        here = waiting.popleft()
        for _, there in near.get(here, []):
            if there in switches and there not in links:
                links[there] = links[here] + 1
                waiting.append(there)
    return links


def _rates(scenario: Scenario) -> dict[tuple[str, int], int]:
    """The rate of each port of a switch, by its number."""
    speeds = {node.name: node.port_speed for node in scenario.switches}
    rates, ports = {}, dict.fromkeys(speeds, 0)
    for link in scenario.links:
        back = link.rate if link.rate_back is None else link.rate_back
        given = [link.port, link.port_back]
        for here, rate in zip(link.between, (link.rate, back), strict=True):
            if here in speeds:
                ports[here] += 1
                own = given.pop(0)
                rates[here, ports[here] if own is None else own] = rate or speeds[here]
    return rates


def _neighbours(scenario: Scenario) -> dict[str, list[tuple[int, str]]]:
    """Of each node its ports in the order of the links, and the node behind each; 0 of hosts."""
    switches = {node.name for node in scenario.switches}
    near: dict[str, list[tuple[int, str]]] = {}
    for link in scenario.links:
        given: list[int | None] = [link.port, link.port_back]
        for here, there in (link.between, link.between[::-1]):
            behind = near.setdefault(here, [])
            own = given.pop(0) if here in switches else None
            port = 0 if here not in switches else len(behind) + 1 if own is None else own
            behind.append((port, there))
    return near
