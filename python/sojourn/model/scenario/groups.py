"""Groups of flows: the name of each and the places of its flows among those of the scenario.

A group without a name of its own has its kind and congestion control as name, and a number where
that is ambiguous. Depends on the model of the traffic alone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.model.scenario.flows import FlowGroup


@dataclass(frozen=True)
class Group:
    """Equal flows with consecutive places."""

    name: str
    flows: FlowGroup
    first: int
    """Place of its first flow in the scenario, from 0."""

    @property
    def end(self) -> int:
        """Place after its last flow."""
        return self.first + self.flows.count

    @property
    def kind(self) -> str:
        """Its kind of traffic."""
        return self.flows.kind


def groups_of(flows: Sequence[FlowGroup]) -> tuple[Group, ...]:
    """The groups of a scenario, in its order, each with a name of its own."""
    found = []
    first = 0
    for name, group in zip(group_names(flows), flows, strict=True):
        found.append(Group(name, group, first))
        first += group.count
    return tuple(found)


def group_names(flows: Sequence[FlowGroup]) -> list[str]:
    """A name for each group, no two the same."""
    usual = [_usual(group) for group in flows]
    given = {group.name.casefold() for group in flows if group.name is not None}
    times = Counter(name for name, group in zip(usual, flows, strict=True) if group.name is None)
    numbers = Counter[str]()
    names = []
    for group, name in zip(flows, usual, strict=True):
        if group.name is not None:
            names.append(group.name)
            continue
        if times[name] == 1 and name not in given:
            names.append(name)
            continue
        numbers[name] += 1
        while f"{name} {numbers[name]}" in given:
            numbers[name] += 1
        names.append(f"{name} {numbers[name]}")
    return names


def _usual(group: FlowGroup) -> str:
    control = getattr(group, "congestion_control", None)
    return group.kind if control is None else f"{group.kind} {control}"
