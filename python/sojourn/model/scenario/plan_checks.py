"""Checks across the keys of a scenario: names, links, schedules.

Reports every fault with its keys. Depends on the model; reads no file.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain, islice, pairwise
from typing import Any

from sojourn import _core
from sojourn.common.suggest import did_you_mean
from sojourn.errors import ConfigError
from sojourn.model.scenario import flow_endpoints
from sojourn.model.scenario.flows import TransferFlows
from sojourn.model.scenario.model import Common, Scenario
from sojourn.model.scenario.network import ControlStep
from sojourn.model.units import RATE, TIME

_SHOWN = 12
"""Names that a message lists."""
_MOST = 1000
"""Problems that are looked for: each may take a search for a near name."""

_ROUNDED = 1.1
"""A shaper's rate over the one that is asked for, at most."""

_MOST_PAIRS = 2_000_000
"""Pairs of senders and receivers among which transfers are drawn."""

_CHANGES = ("rate", "rate_back", "delay", "delay_back", "up")
"""Keys that a step of a schedule may set."""

Keys = tuple[int | str, ...]
Problem = tuple[Keys, str]


def problems(scenario: Scenario) -> list[Problem]:
    """All that does not fit, as keys and a sentence."""
    return [*islice(chain(_between(scenario), of_the_whole(scenario)), _MOST)]


def _between(scenario: Scenario) -> Iterable[Problem]:
    """Of hosts, switches, links and the flows between them."""
    if not scenario.switches:
        return [(("switch",), "missing; or give hosts, [[switches]] and [[links]] between them")]
    named = [
        *_names(scenario),
        *_pools(scenario),
        *(
            problem
            for index, node in enumerate(scenario.switches)
            for keys in [("switches", index, "control")]
            for problem in (
                *in_order(keys, node.control),
                *operations_read(keys, node.control),
            )
        ),
    ]
    return named or chain(_links(scenario), _flows(scenario))


def _names(scenario: Scenario) -> Iterator[Problem]:
    names = [
        *((("hosts", index), host.name) for index, host in enumerate(scenario.hosts)),
        *((("switches", index), node.name) for index, node in enumerate(scenario.switches)),
    ]
    times = Counter(name for _, name in names)
    seen = set()
    for keys, name in names:
        if times[name] > 1 and name in seen:
            yield (
                (*keys, "name"),
                f'"{name}": this name is taken; each host and switch needs its own',
            )
        seen.add(name)


def _pools(scenario: Scenario) -> Iterator[Problem]:
    """Pools of shared buffers that name no node."""
    hosts, switches = scenario.hosts, scenario.switches
    nodes = [*(host.name for host in hosts), *(node.name for node in switches)]
    for index, node in enumerate(scenario.switches):
        for place, pool in enumerate(node.pools):
            for name in pool.towards:
                if not any(fnmatchcase(one, name) for one in nodes):
                    keys = ("switches", index, "pools", place, "towards")
                    yield keys, f'"{name}": no host or switch has such a name'
                    return


def _links(scenario: Scenario) -> Iterator[Problem]:
    hosts = [host.name for host in scenario.hosts]
    switches = [node.name for node in scenario.switches]
    known = [*hosts, *switches]
    are_known, are_switches = set(known), set(switches)
    for index, link in enumerate(scenario.links):
        keys: Keys = ("links", index)
        for name in link.between:
            if name not in are_known:
                hint = did_you_mean(name, known)
                yield (*keys, "between"), f'"{name}": not a host or switch{hint} ({_list(known)})'
        if link.between[0] == link.between[1] or not set(link.between) & are_switches:
            yield (*keys, "between"), "a link is between two different nodes, one of them a switch"
        if link.traces and (link.rate is not None or link.packets_per_second is not None):
            yield (*keys, "link_trace"), "in place of a rate: give one of them"
        if link.rate is None and (link.rate_back or any(s.rate for s in link.schedule)):
            yield keys, "a rate for the way back or on a schedule needs a rate to begin with"
        if link.rate_back is None and any(step.rate_back for step in link.schedule):
            yield (*keys, "schedule"), "rate_back on a schedule needs a rate_back to begin with"
        if link.delay_back is None and any(s.delay_back is not None for s in link.schedule):
            yield (*keys, "schedule"), "delay_back on a schedule needs a delay_back to begin with"
        if (
            any(step.up is not None for step in link.schedule)
            and not set(link.between) <= are_switches
        ):
            yield (*keys, "schedule"), "up is of a link between two switches"
        yield from steps_forward(keys, link.schedule)
        near = [node for node in scenario.switches if node.name in link.between]
        rates = [((*keys, "rate"), link.rate), ((*keys, "rate_back"), link.rate_back)]
        for place, step in enumerate(link.schedule):
            at: Keys = (*keys, "schedule", place)
            rates += [((*at, "rate"), step.rate), ((*at, "rate_back"), step.rate_back)]
        speed = min((node.port_speed for node in near), default=0)
        yield from shaped(rates, speed, link.burst)
    ends = Counter(name for link in scenario.links for name in link.between)
    for index, host in enumerate(hosts):
        if ends[host] != 1:
            yield ("hosts", index), f'"{host}" has {ends[host]} links; a host has exactly one'
    if scenario.links and not scenario.bottlenecks:
        yield ("links",), "no link that a switch sends into has a rate, so there is no bottleneck"


def _flows(scenario: Scenario) -> Iterator[Problem]:
    hosts = [host.name for host in scenario.hosts]
    are_hosts = set(hosts)
    for index, group in enumerate(scenario.flows):
        keys: Keys = ("flows", index)
        for key, name in (("from", group.from_), ("to", group.to)):
            if name is None:
                yield (*keys, key), f"missing: in a network, one of the hosts {_list(hosts)}"
                continue
            for one in [name] if isinstance(name, str) else name:
                if "*" in one and not flow_endpoints.named(one, hosts):
                    yield (*keys, key), f'"{one}": no host has such a name ({_list(hosts)})'
                elif "*" not in one and one not in are_hosts:
                    hint = did_you_mean(one, hosts)
                    yield (*keys, key), f'"{one}": not a host{hint} (hosts: {_list(hosts)})'
        senders, receivers = (
            flow_endpoints.named(group.from_, hosts),
            flow_endpoints.named(group.to, hosts),
        )
        if len(receivers) == 1 and receivers[0] in senders:
            yield (*keys, "to"), f'"{receivers[0]}": a flow is between two different hosts'
        if isinstance(group, TransferFlows):
            pairs = max(group.count, len(senders)) * len(receivers)
            if pairs > _MOST_PAIRS:
                reason = f"{pairs} pairs of hosts; at most {_MOST_PAIRS} are allowed"
                yield (*keys, "to"), reason
        if group.reverse:
            yield (*keys, "reverse"), "only with one switch; in a network, exchange from and to"


def of_the_whole(scenario: Common) -> Iterator[Problem]:
    """Conflicts that any form of a scenario can have: of its times and of its groups' names."""
    yield from late_flows(scenario)
    if scenario.warm_up >= scenario.duration:
        given, end = TIME.format(scenario.warm_up), TIME.format(scenario.duration)
        yield ("warm_up",), f"{given}: must be shorter than the duration, {end}"
    seen = dict[str, int]()
    for index, group in enumerate(scenario.flows):
        if group.name is not None:
            other = seen.setdefault(group.name.casefold(), index)
            if other != index:
                reason = f'"{group.name}": flows[{other}] has this name; each group needs its own'
                yield ("flows", index, "name"), reason


def shaped(
    rates: Iterable[tuple[Keys, int | None]], port_speed: int, burst: int
) -> Iterator[Problem]:
    """Rates that the switch's shaper makes another rate of: it has steps, and a slowest one."""
    for keys, rate in rates:
        if rate is None or rate >= port_speed:
            continue
        try:
            built, _ = _core.shaper_as_built(rate, burst)
        except ConfigError:
            # The engine says of the run what cannot be.
            continue
        if built > rate * _ROUNDED:
            yield (
                keys,
                f"{RATE.format(rate)}: the switch's shaper would send at {RATE.format(built)}, the "
                "next rate that it has",
            )


def late_flows(scenario: Common) -> Iterator[Problem]:
    """Flows that start when the run is over."""
    for index, group in enumerate(scenario.flows):
        if (late := group.start[1]) >= scenario.duration:
            end = TIME.format(scenario.duration)
            yield ("flows", index, "start"), f"{TIME.format(late)}: the run is over after {end}"


def steps_forward(keys: Keys, steps: Sequence[Any]) -> Iterator[Problem]:
    """Steps of the schedule at `keys` that go back in time or change nothing."""
    yield from in_order((*keys, "schedule"), steps)
    for index, step in enumerate(steps):
        if not any(getattr(step, key, None) is not None for key in _CHANGES):
            yield (
                (*keys, "schedule", index),
                "a step changes a rate or a delay, or up",
            )


def in_order(keys: Keys, steps: Sequence[Any]) -> Iterator[Problem]:
    """Steps of the list at `keys` that go back in time."""
    for index, (before, step) in enumerate(pairwise(steps), start=1):
        if step.at <= before.at:
            now, was = TIME.format(step.at), TIME.format(before.at)
            yield (*keys, index, "at"), f"{now}: must be later than the step before, {was}"


def operations_read(keys: Keys, steps: Sequence[ControlStep]) -> Iterator[Problem]:
    """Operations of the steps at `keys` that the engine cannot read."""
    for index, step in enumerate(steps):
        for place, operation in enumerate(step.operations):
            try:
                _core.Operations().add(json.dumps(operation))
            except ConfigError as error:
                yield (*keys, index, "operations", place), str(error)


def _list(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more or "none"
