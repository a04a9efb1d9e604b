"""A switch under control: tables, registers, counters and meters by name, as Python objects.

Depends on `Transport`, which hides whether the switch is simulated, a live one of another process
or reached by P4Runtime. Names may be given by their ends. Must not depend on a protocol.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from sojourn import _core
from sojourn.common.closing import Closing
from sojourn.control.apply import Operation
from sojourn.control.description import ControlError, Object, ProgramDescription, read_description
from sojourn.control.description import Table as Described

Match = int | str | Mapping[str, int | str]
"""The value of a key element, as in a control-plane file: a number, `{"value", "prefix"}`,
`{"value", "mask"}` or `{"low", "high"}`. A missing element matches anything."""


class Transport(Protocol):
    """Connection to a switch. Requests are the engine's JSON; `str` converts gathered ones."""

    def describe(self) -> str:
        """The program's description."""

    def apply(self, operations: str | _core.Operations) -> list[int | None]:
        """All of them or none; the handle of each entry that was added, if it has one."""

    def read(self, query: dict[str, Any]) -> Any:
        """The answer to a question."""

    def close(self) -> None:
        """Ends the connection."""


@dataclass(frozen=True)
class Entry:
    """A table entry, read. Numbers are ints."""

    match: dict[str, Any]
    action: str | None
    args: dict[str, int] = field(default_factory=dict)
    priority: int = 0
    """Among entries that match, the lowest wins."""
    member: int | None = None
    group: int | None = None
    is_const: bool = False
    """It is part of the program."""


class Switch(Closing):
    """A switch that runs a program. What it refuses is a `ControlError`."""

    def __init__(self, door: Transport) -> None:
        self._door = door
        self._batch: _core.Operations | None = None
        self._program: ProgramDescription | None = None

    @property
    def program(self) -> ProgramDescription:
        """The program's description: tables, keys, actions, objects."""
        if self._program is None:
            self._program = read_description(self._door.describe())
        return self._program

    @property
    def tables(self) -> list[str]:
        """The full names of all tables."""
        return [table.name for table in self.program.tables]

    def table(self, name: str) -> "Table":
        """The table that `name`, or the end of a name, means."""
        return Table(self, self.program.table(name))

    def register(self, name: str) -> "Register":
        """The register that `name` means."""
        return Register(self, self.program.object("register", name))

    def counter(self, name: str) -> "Counter":
        """The counter that `name` means."""
        return Counter(self, self.program.object("counter", name))

    def meter(self, name: str) -> "Meter":
        """The meter that `name` means."""
        return Meter(self, self.program.object("meter", name))

    @contextmanager
    def batch(self) -> Iterator[None]:
        """Writes in the block are executed together when the block ends, between two packets: all
        of them or, if any of them is refused or the block is left by an exception, none."""
        if self._batch is not None:
            raise ControlError("a batch in a batch: leave the first before")
        self._batch = _core.Operations()
        try:
            yield
            operations, self._batch = self._batch, None
        finally:
            self._batch = None
        if operations:
            self._door.apply(operations)

    def apply(self, operation: Operation) -> int | None:
        """Carries out one operation, now or with the batch; the handle of an entry that it adds, if
        it has one."""
        if self._batch is not None:
            self._batch.add(json.dumps(operation))
            return None
        return self._door.apply(json.dumps([operation]))[0]

    def read(self, query: dict[str, Any]) -> Any:
        """The answer to a question in the engine's words. What a batch has not done yet is not
        in it."""
        return self._door.read(query)

    def close(self) -> None:
        """Ends the connection, if there is one."""
        self._door.close()


class Table:
    """A table of a switch."""

    def __init__(self, switch: Switch, described: Described) -> None:
        self._switch, self._described = switch, described
        # Entries come by the thousand, with the same few names.
        self._key, self._action = cache(described.key), cache(described.action)
        self._ordered = described.ordered
        self.name = described.name
        """The full name."""

    @property
    def keys(self) -> list[str]:
        """The names of its key elements."""
        return [key.name for key in self._described.keys]

    @property
    def actions(self) -> dict[str, list[str]]:
        """Its actions, each with the names of its parameters."""
        return {
            action.name: [parameter.name for parameter in action.parameters]
            for action in self._described.actions
        }

    def add(
        self,
        match: Mapping[str, Match],
        action: str,
        args: Mapping[str, int | str] | None = None,
        *,
        priority: int = 0,
    ) -> None:
        """Adds an entry; of several that match, the lowest `priority` wins."""
        batch = self._switch._batch
        if batch is not None and batch.another(
            self.name, match, action, args, priority if self._ordered else 0
        ):
            return
        entry = self._matched(match, priority) | self._called(action, args)
        self._switch.apply({"op": "add_entry", "table": self.name, "entry": entry})
        if batch is not None:
            batch.written_as(match, action, args, [self._key(name).name for name in match])

    def modify(
        self,
        match: Mapping[str, Match],
        action: str,
        args: Mapping[str, int | str] | None = None,
        *,
        priority: int = 0,
    ) -> None:
        """Gives the entry with this match another action."""
        at, to = self._matched(match, priority), self._called(action, args)
        self._switch.apply({"op": "modify_entry", "table": self.name, "at": at, "to": to})

    def delete(self, match: Mapping[str, Match], *, priority: int = 0) -> None:
        """Takes the entry with this match out."""
        at = self._matched(match, priority)
        self._switch.apply({"op": "delete_entry", "table": self.name, "at": at})

    def clear(self) -> None:
        """Takes all entries out but those of the program."""
        self._switch.apply({"op": "clear_table", "table": self.name})

    def set_default(self, action: str, args: Mapping[str, int | str] | None = None) -> None:
        """Says what runs on a miss."""
        call = self._called(action, args)
        self._switch.apply({"op": "set_default", "table": self.name, "call": call})

    def reset_default(self) -> None:
        """A miss runs again what the program says."""
        self._switch.apply({"op": "reset_default", "table": self.name})

    @property
    def default(self) -> tuple[str, dict[str, int]] | None:
        """The default action, if there is one."""
        call = self._switch.read({"read": "default", "table": self.name})
        if call is None:
            return None
        if call.get("action") is None:
            to = ", ".join(f"{kind} {call[kind]}" for kind in ("member", "group") if kind in call)
            raise ControlError(f"table {self.name}: a miss leads to {to} of its action profile")
        return call["action"], _numbers(call.get("args", {}))

    @property
    def entries(self) -> list[Entry]:
        """All entries, in the order in which they were added."""
        return [_entry(one) for one in self._switch.read({"read": "entries", "table": self.name})]

    def __len__(self) -> int:
        return len(self.entries)

    def _matched(self, match: Mapping[str, Match], priority: int) -> dict[str, Any]:
        found = {self._key(name).name: value for name, value in match.items()}
        return {"match": found} | ({"priority": priority} if self._ordered else {})

    def _called(self, action: str, args: Mapping[str, int | str] | None) -> dict[str, Any]:
        known = self._action(action)
        given = {known.parameter(name).name: value for name, value in (args or {}).items()}
        if missing := [p.name for p in known.parameters if p.name not in given]:
            raise ControlError(f"action {known.name} wants {', '.join(missing)}, too")
        return {"action": known.name, "args": {name: str(_int(n)) for name, n in given.items()}}


class _Cells:
    def __init__(self, switch: Switch, described: Object) -> None:
        self._switch, self.name, self.size = switch, described.name, described.size

    def __len__(self) -> int:
        if self.size is None:
            raise ControlError(f"{self.name} has a cell for each entry of its table")
        return self.size


class Register(_Cells):
    """A register: `register[3]` is a number, or a tuple where a cell has several."""

    def __getitem__(self, index: int) -> int | tuple[int, ...]:
        words = self._switch.read({"read": "register", "name": self.name, "index": index})
        return int(words[0]) if len(words) == 1 else tuple(int(word) for word in words)

    def __setitem__(self, index: int, value: int | tuple[int, ...]) -> None:
        self._write(value, {"index": index})

    def fill(self, value: int | tuple[int, ...]) -> None:
        """Sets all cells."""
        self._write(value, {})

    def _write(self, value: int | tuple[int, ...], where: dict[str, int]) -> None:
        words = [str(word) for word in (value if isinstance(value, tuple) else (value,))]
        write = {"op": "write_register", "name": self.name, "value": words}
        self._switch.apply(write | where)


class Counter(_Cells):
    """A counter: `counter[3]` is packets and bytes."""

    def __getitem__(self, index: int) -> tuple[int, int]:
        read = self._switch.read({"read": "counter", "name": self.name, "index": index})
        return read["packets"], read["bytes"]

    def __setitem__(self, index: int, count: tuple[int, int]) -> None:
        packets, octets = count
        write = {"op": "write_counter", "name": self.name, "index": index}
        self._switch.apply(write | {"packets": packets, "bytes": octets})


class Meter(_Cells):
    """A meter of two rates: bytes (packets) a second and bytes (packets)."""

    def set(self, index: int, *, cir: int, cbs: int, pir: int, pbs: int) -> None:
        """Gives a cell its committed rate and burst, and its peak ones."""
        spec = {"cir": cir, "cbs": cbs, "pir": pir, "pbs": pbs}
        self._switch.apply({"op": "set_meter", "name": self.name, "index": index, "spec": spec})

    def reset(self, index: int) -> None:
        """Removes the cell's configuration; all its packets are green."""
        self._switch.apply({"op": "reset_meter", "name": self.name, "index": index})


def _int(value: int | str) -> int:
    try:
        return value if isinstance(value, int) else int(value, 0)
    except ValueError:
        raise ControlError(f"{value!r} is no number") from None


def _numbers(values: Mapping[str, Any]) -> dict[str, int]:
    return {name: int(value) for name, value in values.items()}


def _entry(read: dict[str, Any]) -> Entry:
    entry = read["entry"]
    match = {
        key: _numbers(value) if isinstance(value, dict) else int(value)
        for key, value in entry["match"].items()
    }
    return Entry(
        match,
        entry.get("action"),
        _numbers(entry.get("args", {})),
        entry.get("priority", 0),
        entry.get("member"),
        entry.get("group"),
        read.get("is_const", False),
    )
