"""The statements of an STF test, as read and not yet understood: names and numbers are text."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Call:
    """An action with its arguments."""

    action: str
    args: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Add:
    """`add TABLE [PRIORITY] KEY:VALUE... ACTION(ARG:VALUE, ...) [= ID]`"""

    table: str
    priority: int | None
    matches: tuple[tuple[str, str], ...]
    call: Call
    name: str | None


@dataclass(frozen=True)
class SetDefault:
    """`setdefault TABLE ACTION(ARG:VALUE, ...)`"""

    table: str
    call: Call


@dataclass(frozen=True)
class RemoveAll:
    """`remove all`: takes out what the test has added."""


@dataclass(frozen=True)
class Packet:
    """`packet PORT DATA`"""

    port: int
    data: bytes


@dataclass(frozen=True)
class Expect:
    """`expect PORT [DATA[$]]`"""

    port: int
    pattern: str | None
    """Hexadecimal digits and `*`; None accepts any packet."""
    exact: bool
    """Whether nothing may follow the pattern (`$`)."""


@dataclass(frozen=True)
class NoPacket:
    """`no_packet`: the packet before it makes nothing leave."""


@dataclass(frozen=True)
class Check:
    """`check_counter NAME(INDEX) [packets|bytes OP NUMBER]`

    or `check_register NAME(INDEX) [lo|hi] OP NUMBER`
    """

    what: str
    name: str
    index: str
    unit: str | None
    operator: str
    number: int
    half: str | None = None
    """The half of a register's entry, `lo` (the default) or `hi`."""


@dataclass(frozen=True)
class Wait:
    """`wait [TIME]`: so long nothing arrives."""

    span: int
    """In ns."""


@dataclass(frozen=True)
class Command:
    """A line of `simple_switch_CLI`, such as `mirroring_add 5 2`."""

    text: str


Statement = Add | SetDefault | RemoveAll | Packet | Expect | NoPacket | Check | Wait | Command
