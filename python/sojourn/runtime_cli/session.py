"""What commands share: the program, and what earlier lines have made (nodes, members, handles)."""

from dataclasses import dataclass, field

from sojourn.control import ActionCall, Multicast, Operation, ProgramDescription


class UsageError(Exception):
    """A line whose words do not have the command's form; the usage is added by the caller."""


@dataclass(frozen=True)
class Query:
    """A command that only reads; `index` None means all cells."""

    kind: str
    name: str
    index: int | None = None


Outcome = tuple[Operation | Query, ...]


@dataclass
class Profile:
    """Members and groups of one action profile, by handles counted from 0."""

    members: dict[int, ActionCall] = field(default_factory=dict)
    groups: dict[int, list[int]] = field(default_factory=dict)
    next_member: int = 0
    next_group: int = 0


@dataclass
class Session:
    """One run of commands against one program."""

    program: ProgramDescription
    multicast: Multicast = field(default_factory=Multicast)
    profiles: dict[str, Profile] = field(default_factory=dict)
    sessions: dict[int, str] = field(default_factory=dict)
    """Mirror sessions so far: number and where they lead, in words."""


def take(words: list[str], least: int, most: int | None = None) -> list[str]:
    """`words`, unless there are too few or too many."""
    most = least if most is None else most
    if len(words) < least:
        raise UsageError(f"{least - len(words)} more expected")
    if len(words) > most:
        raise UsageError(f"{' '.join(words[most:])} is left over")
    return words


MANY = 1 << 16
"""No limit to the number of words."""
