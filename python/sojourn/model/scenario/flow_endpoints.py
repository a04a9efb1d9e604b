"""The hosts at the two ends of each flow of a group, where a group names several.

Depends on the flows' model and on the names of hosts alone.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from itertools import islice

from sojourn.model.scenario.flows import FlowGroup, TransferFlows


def named(names: str | list[str] | None, hosts: Sequence[str]) -> list[str]:
    """The hosts that `names` means, in the scenario's order for each pattern, each once."""
    given = [names] if isinstance(names, str) else names or []
    found = [host for name in given for host in _matching(name, hosts)]
    return list(dict.fromkeys(found))


def _matching(name: str, hosts: Sequence[str]) -> list[str]:
    return [host for host in hosts if fnmatchcase(host, name)] if "*" in name else [name]


def several(names: str | list[str] | None) -> bool:
    """Whether `names` may mean more than one host."""
    return isinstance(names, list) or (names is not None and "*" in names)


def senders(group: FlowGroup, hosts: Sequence[str]) -> list[str | None]:
    """The sender of each flow of the group."""
    if not several(group.from_):
        return [group.from_ if isinstance(group.from_, str) else None] * group.count
    found = named(group.from_, hosts)
    return [found[place % len(found)] for place in range(group.count)]


def receivers(group: FlowGroup, hosts: Sequence[str]) -> list[list[str]]:
    """The receivers of each flow of the group; several of a source of transfers."""
    found = named(group.to, hosts)
    pairs = enumerate(senders(group, hosts))
    if isinstance(group, TransferFlows):
        return [[host for host in found if host != sender] for _, sender in pairs]
    chosen = []
    for place, sender in pairs:
        turn = (found[(place + more) % len(found)] for more in range(len(found)))
        chosen.append(list(islice((host for host in turn if host != sender), 1)))
    return chosen


def counted(group: FlowGroup, hosts: Sequence[str]) -> FlowGroup:
    """The group with a flow for each of several hosts, unless it gives their number."""
    if "count" in group.model_fields_set or not (several(group.from_) or several(group.to)):
        return group
    ends = [named(group.from_, hosts)]
    if not isinstance(group, TransferFlows):
        ends.append(named(group.to, hosts))
    return group.model_copy(update={"count": max(1, *map(len, ends))})
