"""Loads of the links of a network, and the places of its nodes in a picture.

Depends on the scenario and on the counters of a run; reads no rows and draws nothing.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.model.scenario import Scenario
from sojourn.model.scenario.network import Link

_FRAMING = 24
"""Bytes of a frame on the wire that its length lacks: FCS, preamble and least gap."""


@dataclass(frozen=True)
class LinkLoad:
    """One direction of a link during a run."""

    start: str
    end: str
    frames: int
    """Frames that passed it."""
    bytes: int
    """Their bytes without FCS."""
    utilisation: float | None
    """Share of its rate, with FCS, preamble and gaps; `None` if its rate is not constant."""


def link_loads(scenario: Scenario, counters: Mapping[str, Any]) -> list[LinkLoad]:
    """Each direction of each link; none if the run did not count them."""
    simulated = counters["simulated"] / 1e9
    rates = _rates(scenario)
    found = []
    for one in counters.get("link_loads", []):
        ends, frames, size = (one["from"], one["to"]), one["frames"], one["bytes"]
        rate = rates[ends].popleft() if rates[ends] else None
        known = rate is not None and rate > 0 and simulated > 0
        share = 8 * (size + _FRAMING * frames) / (rate * simulated) if known and rate else None
        found.append(LinkLoad(*ends, frames, size, share))
    return found


def _rates(scenario: Scenario) -> defaultdict[tuple[str, str], deque[int | None]]:
    """Rates of the directions between two nodes, in the order of the links."""
    speeds = {node.name: node.port_speed for node in scenario.switches}
    rates: defaultdict[tuple[str, str], deque[int | None]] = defaultdict(deque)
    for link in scenario.links:
        near, far = link.between
        speed = min(speeds[end] for end in link.between if end in speeds)
        forward, back = _both(link, speed)
        rates[near, far].append(forward)
        rates[far, near].append(back)
    return rates


def _both(link: Link, speed: int) -> tuple[int | None, int | None]:
    """The rate of each direction; `None` if it follows a trace or a schedule."""
    if link.traces or link.packets_per_second or any(s.rate or s.rate_back for s in link.schedule):
        return None, None
    forward = link.rate or speed
    return forward, link.rate_back or forward


@dataclass(frozen=True)
class Places:
    """Places of nodes: hosts in the lowest row, each switch a row above those that it serves."""

    rows: Sequence[Sequence[str]]
    """Names, from the lowest row up."""
    at: Mapping[str, tuple[float, float]]
    """Place of each node, in the unit square."""


def places(scenario: Scenario) -> Places:
    """The nodes in rows by their distance from the hosts."""
    linked = defaultdict(list)
    for link in scenario.links:
        near, far = link.between
        linked[near].append(far)
        linked[far].append(near)
    distance = {host.name: 0 for host in scenario.hosts}
    waiting = deque(distance)
    while waiting:
        here = waiting.popleft()
        for other in linked[here]:
            if other not in distance:
                distance[other] = distance[here] + 1
                waiting.append(other)
    every = [*(host.name for host in scenario.hosts), *(node.name for node in scenario.switches)]
    names = [name for name in every if name in distance]
    rows = [
        _along_links([name for name in names if distance[name] == row], linked)
        for row in range(max(distance.values(), default=0) + 1)
    ]
    heights = [number / max(len(rows) - 1, 1) for number in range(len(rows))]
    at = {
        name: spot
        for row, height in zip(rows, heights, strict=True)
        for name, spot in _spread(row, height)
    }
    return Places(rows, _hosts_below(scenario, at, distance))


def _along_links(row: Sequence[str], linked: Mapping[str, Sequence[str]]) -> list[str]:
    """The same names, those of a chain of links within the row in the order of the chain."""
    members = set(row)
    within = {name: [other for other in linked[name] if other in members] for name in row}
    found = dict[str, None]()
    for start in sorted(row, key=lambda name: len(within[name]) > 1):
        here: str | None = start
        while here is not None and here not in found:
            found[here] = None
            here = next((other for other in within[here] if other not in found), None)
    return list(found)


def _spread(row: Sequence[str], height: float) -> Iterator[tuple[str, tuple[float, float]]]:
    for place, name in enumerate(row):
        yield name, ((place + 0.5) / len(row), height)


def _hosts_below(
    scenario: Scenario, at: Mapping[str, tuple[float, float]], distance: Mapping[str, int]
) -> dict[str, tuple[float, float]]:
    """The same with the hosts in the order of their switches."""
    of = {
        end: at[other][0]
        for link in scenario.links
        for end, other in (link.between, link.between[::-1])
        if distance.get(end) == 0 and other in at
    }
    ordered = sorted(of, key=of.__getitem__)
    return {**at, **dict(_spread(ordered, 0.0))}
