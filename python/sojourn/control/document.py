"""Operations as what they leave behind: the control plane of a run, in the engine's JSON.

The same structure is written by hand in a program's TOML file. Entries are followed by their
handles, so that a file may change and delete what it has added. Carries nothing out.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sojourn.control.apply import (
    group_to_json,
    profile_to_json,
    queue_to_json,
    session_to_json,
)
from sojourn.control.description import ControlError, Table
from sojourn.control.operations import (
    AddEntry,
    AddToValueSet,
    ClearTable,
    DeleteEntry,
    ModifyEntry,
    Operation,
    RemoveMirrorSession,
    SetDefault,
    SetMeter,
    SetMirrorSession,
    SetMulticastGroup,
    SetProfile,
    SetQueue,
    Target,
    WriteCounter,
    WriteRegister,
    entry_to_json,
    target_to_json,
)


@dataclass
class _TableState:
    """One table: entries by handle, beginning behind the program's own."""

    table: Table
    entries: dict[int, AddEntry] = field(default_factory=dict)
    default: Target | None = None

    def add(self, entry: AddEntry) -> None:
        handle = self.table.entries
        while handle in self.entries:
            handle += 1
        self.entries[handle] = entry

    def own(self, handle: int) -> AddEntry:
        if handle not in self.entries:
            known = ", ".join(map(str, sorted(self.entries))) or "none"
            raise ControlError(
                f"table {self.table.name} has no entry {handle} that a command added "
                f"(their handles: {known})"
            )
        return self.entries[handle]


@dataclass
class ControlPlane:
    """What operations have left behind so far."""

    tables: dict[str, _TableState] = field(default_factory=dict)
    sessions: dict[int, SetMirrorSession] = field(default_factory=dict)
    groups: dict[int, SetMulticastGroup] = field(default_factory=dict)
    profiles: dict[str, SetProfile] = field(default_factory=dict)
    registers: list[WriteRegister] = field(default_factory=list)
    meters: dict[tuple[str, int], SetMeter] = field(default_factory=dict)
    value_sets: dict[str, list[int]] = field(default_factory=dict)
    queues: list[SetQueue] = field(default_factory=list)

    def take(self, operation: Operation) -> None:
        """Does what `operation` asks."""
        match operation:
            case AddEntry() | ModifyEntry() | DeleteEntry() | ClearTable() | SetDefault():
                self._take_table(operation)
            case WriteRegister(name, None):
                self.registers = [known for known in self.registers if known.name != name]
                self.registers += [operation] if operation.value else []
            case WriteRegister():
                self.registers.append(operation)
            case WriteCounter(_, _, 0, 0):
                pass  # where every run begins
            case WriteCounter(name):
                raise ControlError(f"counter {name}: a run begins with all counters at 0")
            case SetMeter(name, index):
                self.meters[name, index] = operation
            case SetMirrorSession(session):
                self.sessions[session] = operation
            case RemoveMirrorSession(session):
                if self.sessions.pop(session, None) is None:
                    raise ControlError(f"there is no mirror session {session}")
            case SetMulticastGroup(group):
                self.groups[group] = operation
            case SetProfile(name):
                self.profiles[name] = operation
            case AddToValueSet(name, value):
                self.value_sets.setdefault(name, []).append(value)
            case SetQueue():
                self.queues.append(operation)

    def _take_table(
        self, operation: AddEntry | ModifyEntry | DeleteEntry | ClearTable | SetDefault
    ) -> None:
        table = operation.table
        state = self.tables.setdefault(table.name, _TableState(table))
        match operation:
            case AddEntry():
                state.add(operation)
            case ModifyEntry(_, handle, target):
                old = state.own(handle)
                state.entries[handle] = AddEntry(table, old.matches, target, old.priority)
            case DeleteEntry(_, handle):
                state.own(handle)
                del state.entries[handle]
            case ClearTable():
                state.entries.clear()
            case SetDefault(_, call):
                state.default = call

    def to_json(self) -> dict[str, Any]:
        """As the engine takes it."""
        parts: dict[str, list[Any]] = {
            "action_profiles": [profile_to_json(profile) for profile in self.profiles.values()],
            "registers": [_register(register) for register in self.registers],
            "meters": [_meter(meter) for meter in self.meters.values()],
            "multicast_groups": [group_to_json(group) for group in self.groups.values()],
            "value_sets": [
                {"name": name, "members": [[str(value)] for value in values]}
                for name, values in self.value_sets.items()
            ],
            "queues": [queue_to_json(queue) for queue in self.queues],
        }
        return {
            "tables": [_table(state) for state in self.tables.values()],
            "mirror_sessions": [session_to_json(session) for session in self.sessions.values()],
        } | {name: part for name, part in parts.items() if part}


def control_plane(operations: Iterable[Operation]) -> dict[str, Any]:
    """What `operations` leave behind, as the engine takes it."""
    plane = ControlPlane()
    for operation in operations:
        plane.take(operation)
    return plane.to_json()


def _table(state: _TableState) -> dict[str, Any]:
    entries = [entry_to_json(entry) for _, entry in sorted(state.entries.items())]
    table: dict[str, Any] = {"name": state.table.name, "entries": entries}
    return table | ({} if state.default is None else {"default": target_to_json(state.default)})


def _register(register: WriteRegister) -> dict[str, Any]:
    value = {"name": register.name, "value": str(register.value)}
    return value | ({} if register.index is None else {"index": register.index})


def _meter(meter: SetMeter) -> dict[str, Any]:
    spec = {"cir": meter.cir, "cbs": meter.cbs, "pir": meter.pir, "pbs": meter.pbs}
    return {"name": meter.name, "index": meter.index, "spec": spec}
