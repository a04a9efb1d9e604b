"""What can be asked of a control plane, as plain data with full names.

Whoever makes an operation has resolved its names and checked its widths. Numbers are unsigned. A
lower priority number wins among entries that overlap, as on bmv2 and Tofino.
"""

from dataclasses import dataclass, field
from typing import Any

from sojourn.control.description import Table


@dataclass(frozen=True)
class Exact:
    """This value."""

    value: int


@dataclass(frozen=True)
class Ternary:
    """This value in the bits of the mask."""

    value: int
    mask: int


@dataclass(frozen=True)
class Prefix:
    """This value in its leading bits."""

    value: int
    length: int


@dataclass(frozen=True)
class Range:
    """From `low` to `high`, both included."""

    low: int
    high: int


@dataclass(frozen=True)
class AnyValue:
    """Whatever is there."""


Match = Exact | Ternary | Prefix | Range | AnyValue


@dataclass(frozen=True)
class ActionCall:
    """An action with its arguments by name."""

    action: str
    args: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Member:
    """A member of the table's action profile."""

    id: int


@dataclass(frozen=True)
class Group:
    """A group of the table's action selector."""

    id: int


Target = ActionCall | Member | Group


@dataclass(frozen=True)
class AddEntry:
    """Adds a table entry."""

    table: Table
    matches: dict[str, Match]
    target: Target
    priority: int = 0


@dataclass(frozen=True)
class ModifyEntry:
    """Gives an entry another target."""

    table: Table
    handle: int
    target: Target


@dataclass(frozen=True)
class DeleteEntry:
    """Takes an entry out."""

    table: Table
    handle: int


@dataclass(frozen=True)
class ClearTable:
    """Takes out all entries that are not the program's own."""

    table: Table


@dataclass(frozen=True)
class SetDefault:
    """Sets what runs on a miss."""

    table: Table
    call: ActionCall


@dataclass(frozen=True)
class WriteRegister:
    """Sets one cell of a register, or all (`index` is None)."""

    name: str
    index: int | None
    value: int


@dataclass(frozen=True)
class WriteCounter:
    """Sets one cell of a counter, or all (`index` is None)."""

    name: str
    index: int | None
    packets: int
    bytes: int


@dataclass(frozen=True)
class SetMeter:
    """Rates of one cell of a meter: committed and peak rate per second, their bursts."""

    name: str
    index: int
    cir: int
    cbs: int
    pir: int
    pbs: int


@dataclass(frozen=True)
class SetMirrorSession:
    """Where copies of a session go: to a port, to a multicast group."""

    session: int
    port: int | None = None
    group: int | None = None
    queue: int = 0
    max_length: int | None = None


@dataclass(frozen=True)
class RemoveMirrorSession:
    """Takes a session away."""

    session: int


@dataclass(frozen=True)
class SetMulticastGroup:
    """The copies of a multicast group: replication id and ports of each node."""

    group: int
    nodes: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True)
class SetProfile:
    """Members and groups of an action profile, all of them."""

    name: str
    members: dict[int, ActionCall]
    groups: dict[int, tuple[int, ...]]


@dataclass(frozen=True)
class AddToValueSet:
    """Adds a value to a parser's value set."""

    name: str
    value: int


@dataclass(frozen=True)
class SetQueue:
    """Rate and depth of queues: at a port or all, of a priority or all."""

    port: int | None = None
    priority: int | None = None
    packets_per_second: int | None = None
    bits_per_second: int | None = None
    depth: int | None = None


Operation = (
    AddEntry
    | ModifyEntry
    | DeleteEntry
    | ClearTable
    | SetDefault
    | WriteRegister
    | WriteCounter
    | SetMeter
    | SetMirrorSession
    | RemoveMirrorSession
    | SetMulticastGroup
    | SetProfile
    | AddToValueSet
    | SetQueue
)


def match_to_json(match: Match) -> Any:
    """As a control-plane file has it; numbers as digits, so that no width is too large."""
    match match:
        case Exact(value):
            return str(value)
        case Ternary(value, mask):
            return {"value": str(value), "mask": str(mask)}
        case Prefix(value, length):
            return {"value": str(value), "prefix": length}
        case Range(low, high):
            return {"low": str(low), "high": str(high)}
        case AnyValue():
            return {"value": "0", "mask": "0"}


def target_to_json(target: Target) -> dict[str, Any]:
    """The part of an entry that says where it leads."""
    match target:
        case ActionCall(action, args):
            return {"action": action, "args": {name: str(value) for name, value in args.items()}}
        case Member(number):
            return {"member": number}
        case Group(number):
            return {"group": number}


def entry_to_json(entry: AddEntry) -> dict[str, Any]:
    """A whole entry; keys that match anything are left out."""
    matches = {
        name: match_to_json(match)
        for name, match in entry.matches.items()
        if not isinstance(match, AnyValue)
    }
    return {"match": matches, "priority": entry.priority} | target_to_json(entry.target)
