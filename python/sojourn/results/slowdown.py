"""Slowdown of exchanges: completion time over the least that an empty network would take.

The least time of a transfer is one and a half round trips, for handshake and first byte, and its
payload at the rate of the slowest link; that of a request is one round trip and its response. The
window's growth and headers are not counted, so a lone flow has a slowdown above 1. Slowdown is
undefined where a link on the way changes its rate or delay, or sends by a trace. Depends on the
scenario alone.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sojourn.model.scenario import Scenario
from sojourn.model.scenario.flows import TransferFlows
from sojourn.model.scenario.groups import Group
from sojourn.results.traffic.transfers import Exchanges
from sojourn.runtime.engine_flows import spread

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Path:
    """The way of a group's data."""

    delay: int
    """Of all links there and back, ns."""
    rate: int
    """Of the slowest link there, bit/s."""


def slowdowns(scenario: Scenario, group: Group, exchanges: Exchanges) -> Floats | None:
    """The slowdown of each complete exchange; nothing where it is undefined."""
    path = _path(scenario, group)
    if path is None:
        return None
    spans = exchanges.spans()
    done = spans >= 0
    flows = group.flows
    round_trips = path.delay + np.array(
        [spread(flows.rtt or (0, 0), place, flows.count) for place in range(flows.count)]
    )
    trips = 1.5 if isinstance(flows, TransferFlows) else 1.0
    least = trips * round_trips[exchanges.source - group.first] + exchanges.size * 8e9 / path.rate
    with np.errstate(divide="ignore"):
        return np.asarray(spans[done] / least[done], np.float64)


def _path(scenario: Scenario, group: Group) -> _Path | None:
    """The way with the fewest links; nothing if it changes over time or there is none."""
    start, end = group.flows.from_, group.flows.to
    if start is None or end is None:
        return None
    ways: dict[str, list[tuple[int, bool]]] = {start: []}
    waiting = deque([start])
    while waiting and end not in ways:
        here = waiting.popleft()
        for number, back, there in _steps(scenario, here):
            if there not in ways:
                ways[there] = [*ways[here], (number, back)]
                waiting.append(there)
    if end not in ways:
        return None
    links = [(scenario.links[number], back) for number, back in ways[end]]
    if any(link.schedule or link.traces for link, _ in links):
        return None
    speeds = [node.port_speed for node in scenario.switches]
    speeds += [h.access_rate for h in scenario.hosts if h.name in (start, end) and h.access_rate]
    for link, back in links:
        rate = (link.rate_back if back else None) or link.rate
        if link.packets_per_second and not back:
            return None
        speeds += [rate] if rate else []
    delay = sum(
        link.delay + (link.delay if link.delay_back is None else link.delay_back)
        for link, _ in links
    )
    return _Path(delay, min(speeds))


def _steps(scenario: Scenario, here: str) -> Iterator[tuple[int, bool, str]]:
    """The links at a node: number, whether against its direction, other end."""
    for number, link in enumerate(scenario.links):
        near, far = link.between
        if near == here:
            yield number, False, far
        elif far == here:
            yield number, True, near
