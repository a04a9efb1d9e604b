"""A network's hosts, switches and links, and which way packets go: by the fewest links, as in the
simulator.

Depends on the engine's configuration of a network. Must not depend on a kernel.
"""

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Direction:
    """One direction of a link."""

    near: str
    far: str
    port: str
    """The interface at the near end."""
    peer: str
    """The interface at the far end."""
    place: int
    """Of the link among all."""
    back: bool
    link: dict[str, Any]

    @property
    def rate(self) -> int | None:
        """bit/s, if it is shaped."""
        rate: int | None = self.link["rate"]
        back: int | None = self.link["rate_back"]
        return back if self.back and back is not None else rate

    @property
    def pace(self) -> int | None:
        """Packets that may leave in a second, if they are held up so."""
        pace: int | None = self.link["packets_per_second"]
        return None if self.back else pace

    def rate_after(self, step: dict[str, Any]) -> int | None:
        """The rate after a step of the schedule, if the step sets it."""
        own = self.back and self.link["rate_back"] is not None
        rate: int | None = step["rate_back"] if own else step["rate"]
        return rate

    @property
    def is_bottleneck(self) -> bool:
        """True if packets wait in front of it."""
        return self.rate is not None or self.pace is not None

    @property
    def delays(self) -> list[tuple[int, int]]:
        """The times of changes of the delay, from 0 on, each with the delay, ns."""
        own = self.back and self.link["delay_back"] is not None
        key = "delay_back" if own else "delay"
        later = [(s["at"], s[key]) for s in self.link["schedule"] if s[key] is not None]
        return [(0, self.link[key]), *later]

    @property
    def netem(self) -> dict[str, Any]:
        """Its random loss, jitter, reordering and duplication; empty if there is none."""
        found: dict[str, Any] = self.link.get("netem_back" if self.back else "netem") or {}
        return found

    @property
    def is_delayed(self) -> bool:
        """True if it ever takes time, or treats packets at random."""
        return any(delay for _, delay in self.delays) or bool(self.netem)


class Network:
    """A network by the names of its nodes."""

    def __init__(self, network: dict[str, Any]) -> None:
        self.hosts: dict[str, Any] = {host["name"]: host["addresses"] for host in network["hosts"]}
        """Addresses by host; of a group the name of its kind."""
        self.shapers: dict[str, dict[str, Any]] = {
            host["name"]: host["shaper"] for host in network["hosts"] if host["shaper"]
        }
        """Of the hosts that have one on their way out."""
        self.switches: dict[str, dict[str, Any]] = {s["name"]: s for s in network["switches"]}
        self.directions: list[Direction] = []
        """Link by link, the way there before the way back."""
        used = dict.fromkeys([*self.hosts, *self.switches], 0)
        for place, link in enumerate(network["links"]):
            one, other = link["between"]
            used[one] += 1
            used[other] += 1
            given = iter((link.get("port"), link.get("port_back")))
            numbers = [next(given) if node in self.switches else None for node in (one, other)]
            here, there = (
                f"p{used[node] if number is None else number}"
                for node, number in zip((one, other), numbers, strict=True)
            )
            self.directions += [
                Direction(one, other, here, there, place, False, link),
                Direction(other, one, there, here, place, True, link),
            ]

    def is_group(self, node: str) -> bool:
        """True if there are many hosts, which have their delays by the flow (`delays`)."""
        return isinstance(self.hosts.get(node), str)

    def own_addresses(self, host: str) -> dict[str, str]:
        """Those of a single host, by the key of their version."""
        found: dict[str, str] = self.hosts[host]["own"]
        return found

    @cached_property
    def delayed(self) -> list[Direction]:
        """The directions in which a link itself delays."""
        return [
            way
            for way in self.directions
            if way.is_delayed and not self.is_group(way.near) and not self.is_group(way.far)
        ]

    def inwards(self, measured: Direction) -> list[Direction]:
        """The ports by which something comes to that queue: all others of its switch."""
        return [way for way in self.directions if way.near == measured.near and way != measured]

    @cached_property
    def measured(self) -> list[Direction]:
        """The bottlenecks that are measured, in the order of the scenario's."""
        return [
            way
            for way in self.directions
            if way.near in self.switches and way.is_bottleneck and way.link["rows"]
        ]

    @cached_property
    def ways(self) -> dict[str, dict[str, Direction]]:
        """For each host the direction in which each other node sends what is for it."""
        return {host: self._ways_to(host) for host in self.hosts}

    def _ways_to(self, host: str) -> dict[str, Direction]:
        found: dict[str, Direction] = {}
        waiting = deque([host])
        while waiting:
            node = waiting.popleft()
            for way in self.directions:
                if way.far == node and way.near in self.switches and way.near not in found:
                    found[way.near] = way
                    waiting.append(way.near)
        # A host has one link; it passes nothing on.
        own = {way.near: way for way in self.directions if way.near in self.hosts}
        return found | {
            name: way
            for name, way in own.items()
            if name != host and (way.far in found or way.far == host)
        }
