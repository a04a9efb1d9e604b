"""Slowdown of exchanges: completion time over the time in an empty network.

There are two definitions of the ideal time. That of groups' figures is one and a half round trips
for a transfer, for handshake and first byte, and its payload at the rate of the slowest link; for a
request one round trip and its response. That of papers on data centres (`ideal_times`) is the base
round-trip time of the pair, and all bytes with headers at the slowest link's rate; a slowdown below
1 counts as 1 (HPCC, SIGCOMM 2019). The window's growth is counted in neither. Slowdown is undefined
where a link on the way changes its rate or delay, or sends by a trace. Depends on the scenario
alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sojourn.model.scenario import Scenario, flow_endpoints
from sojourn.model.scenario.flows import TransferFlows
from sojourn.model.scenario.groups import Group
from sojourn.model.scenario.network import Link
from sojourn.model.scenario.paths import Paths
from sojourn.results.traffic.transfers import Exchanges
from sojourn.runtime.engine_flows import spread

Floats = npt.NDArray[np.float64]

_ON_WIRE = 24
"""Bytes of preamble, FCS and gap of a frame."""
_LINK_HEADER = 14
_HEADERS = {4: 52, 6: 72}
"""Bytes of IP and TCP headers with timestamps, by the version of IP."""
_MTU = 1_500


@dataclass(frozen=True)
class _Path:
    """The way of data from one host to another."""

    delay: int
    """Of all links and switches there and back, ns."""
    of_links: int
    """Of all links there and back, ns."""
    rate: int
    """Of the slowest link there, bit/s."""
    first_frame: float
    """Of a full frame's serialisation on every link there, ns."""


def slowdowns(scenario: Scenario, group: Group, exchanges: Exchanges) -> Floats | None:
    """The slowdown of each complete exchange by its payload; nothing where it is undefined."""
    found = _paths_of(scenario, group, exchanges)
    if found is None:
        return None
    paths, which = found
    done = exchanges.finished > 0
    trips = 1.5 if isinstance(group.flows, TransferFlows) else 1.0
    delays = np.array([path.of_links for path in paths])[which]
    rates = np.array([path.rate for path in paths])[which]
    least = trips * (delays + _round_trips(group, exchanges)) + exchanges.size * 8e9 / rates
    with np.errstate(divide="ignore"):
        return np.asarray(exchanges.spans()[done] / least[done], np.float64)


def normalised(scenario: Scenario, group: Group, exchanges: Exchanges) -> Floats | None:
    """The slowdown of each complete exchange as papers on data centres define it."""
    ideal = ideal_times(scenario, group, exchanges)
    if ideal is None:
        return None
    done = exchanges.finished > 0
    return np.maximum(exchanges.spans()[done] / ideal[done], 1.0)


def ideal_times(scenario: Scenario, group: Group, exchanges: Exchanges) -> Floats | None:
    """The ideal completion time of each exchange, ns, as papers on data centres define it."""
    found = _paths_of(scenario, group, exchanges)
    if found is None:
        return None
    paths, which = found
    headers = _HEADERS[group.flows.ip_version]
    frames = -(-exchanges.size // (_MTU - headers))
    on_wire = exchanges.size + frames * (headers + _LINK_HEADER + _ON_WIRE)
    base = np.array([path.delay + path.first_frame for path in paths])[which]
    rates = np.array([path.rate for path in paths])[which]
    return np.asarray(base + _round_trips(group, exchanges) + on_wire * 8e9 / rates, np.float64)


def _round_trips(group: Group, exchanges: Exchanges) -> npt.NDArray[np.int64]:
    """The round-trip time that each exchange's flow has beside the links' delays, ns."""
    flows = group.flows
    own = [spread(flows.rtt or (0, 0), place, flows.count) for place in range(flows.count)]
    return np.array(own, np.int64)[exchanges.source - group.first]


def _paths_of(
    scenario: Scenario, group: Group, exchanges: Exchanges
) -> tuple[Sequence[_Path], npt.NDArray[np.intp]] | None:
    """The different paths of a group's exchanges, and the place of that of each."""
    hosts = [host.name for host in scenario.hosts]
    senders, receivers = (
        flow_endpoints.senders(group.flows, hosts),
        flow_endpoints.receivers(group.flows, hosts),
    )
    drawn = isinstance(group.flows, TransferFlows) and flow_endpoints.several(group.flows.to)
    place = exchanges.number if drawn else np.zeros_like(exchanges.number)
    keys = (exchanges.source - group.first) * (len(hosts) + 1) + place
    pairs, which = np.unique(keys, return_inverse=True)
    network = Paths(scenario)
    known: dict[tuple[str | None, str], _Path | None] = {}
    paths = []
    for pair in pairs:
        source, number = divmod(int(pair), len(hosts) + 1)
        both = senders[source], receivers[source][number]
        if both not in known:
            known[both] = _path(scenario, network, *both)
        path = known[both]
        if path is None:
            return None
        paths.append(path)
    return paths, which


def _changes(link: Link) -> bool:
    """Whether a link changes its rate or delay, or sends by a trace."""
    steps = (step.model_dump(exclude={"at", "up", "reroute"}) for step in link.schedule)
    return bool(link.traces) or any(value is not None for step in steps for value in step.values())


def _path(scenario: Scenario, network: Paths, start: str | None, end: str) -> _Path | None:
    """The way with the fewest links; nothing if it changes over time or there is none."""
    hops = None if start is None else network.between(start, end)
    if hops is None or any(_changes(link) for link, _ in hops):
        return None
    if any(link.packets_per_second and not back for link, back in hops):
        return None
    switches = {node.name: node for node in scenario.switches}
    passed = {name for link, _ in hops for name in link.between if name in switches}
    within = sum(switches[name].ingress_latency + switches[name].egress_latency for name in passed)
    delay = sum(
        link.delay + (link.delay if link.delay_back is None else link.delay_back)
        for link, _ in hops
    )
    rates = [network.rate(hop) for hop in hops]
    frame = (_MTU + _LINK_HEADER + _ON_WIRE) * 8e9
    return _Path(delay + 2 * within, delay, min(rates), sum(frame / rate for rate in rates))
