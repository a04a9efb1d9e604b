"""Paths through a network: the links between two hosts, and the rates of links.

A path is one with the fewest links, as the engine takes it; those of equal cost are not
distinguished. Depends on the scenario alone.
"""

from collections import deque
from collections.abc import Sequence
from functools import cached_property

from sojourn.model.scenario.model import Scenario
from sojourn.model.scenario.network import Link

Hop = tuple[Link, bool]
"""A link, and whether it is passed from its second end to its first."""


class Paths:
    """The links of a scenario by the nodes that they join."""

    def __init__(self, scenario: Scenario) -> None:
        self._hosts = {host.name: host for host in scenario.hosts}
        self._switches = {node.name: node for node in scenario.switches}
        self._ways: dict[str, dict[str, tuple[Hop, ...]]] = {}
        self._links = scenario.links

    @cached_property
    def _steps(self) -> dict[str, list[tuple[Hop, str]]]:
        steps: dict[str, list[tuple[Hop, str]]] = {}
        for link in self._links:
            near, far = link.between
            steps.setdefault(near, []).append(((link, False), far))
            steps.setdefault(far, []).append(((link, True), near))
        return steps

    def between(self, start: str, end: str) -> tuple[Hop, ...] | None:
        """The links from one host to another, if there is a way."""
        if start not in self._ways:
            self._ways[start] = self._from(start)
        return self._ways[start].get(end)

    def _from(self, start: str) -> dict[str, tuple[Hop, ...]]:
        ways: dict[str, tuple[Hop, ...]] = {start: ()}
        waiting = deque([start])
        while waiting:
            here = waiting.popleft()
            if here in self._hosts and here != start:
                continue
            for hop, there in self._steps.get(here, []):
                if there not in ways:
                    ways[there] = (*ways[here], hop)
                    waiting.append(there)
        return ways

    def access(self, host: str) -> tuple[Hop, str] | None:
        """The link of a host towards its switch, and the switch."""
        steps = self._steps.get(host, [])
        return steps[0] if steps else None

    def uplinks(self, switch: str, receivers: Sequence[str]) -> list[Hop]:
        """The links of a switch to other switches; where there are none, to these hosts."""
        steps = self._steps.get(switch, [])
        upward = [hop for hop, there in steps if there in self._switches]
        return upward or [hop for hop, there in steps if there in receivers]

    def rate(self, hop: Hop) -> int:
        """Rate of a link in that direction at first, bit/s."""
        link, back = hop
        given = (link.rate_back if back else None) or link.rate
        speeds = [node.port_speed for name in link.between if (node := self._switches.get(name))]
        own = [host.access_rate for name in link.between if (host := self._hosts.get(name))]
        return min([*speeds, *(rate for rate in (given, *own) if rate)])
