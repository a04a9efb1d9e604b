"""Operations carried out on a switch while packets pass.

Stands on the engine's switch on a bench. Knows no file; an operation that the engine refuses ends
in a `ControlError` with the engine's reason.
"""

import json
from dataclasses import dataclass

from sojourn import _core
from sojourn.control.description import ControlError
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
    WriteCounter,
    WriteRegister,
    entry_to_json,
    target_to_json,
)


@dataclass(frozen=True)
class Applied:
    """What an operation gave back: the handle of a new entry."""

    handle: int | None = None


def apply(operation: Operation, switch: _core.PacketSwitch) -> Applied:
    """Carries out one operation."""
    try:
        return Applied(_apply(operation, switch))
    except _core.ConfigError as error:
        raise ControlError(str(error.args[0])) from None


def _apply(operation: Operation, switch: _core.PacketSwitch) -> int | None:
    match operation:
        case AddEntry(table):
            return switch.add_entry(table.name, json.dumps(entry_to_json(operation)))
        case ModifyEntry(table, handle, target):
            switch.modify_entry(table.name, handle, json.dumps(target_to_json(target)))
        case DeleteEntry(table, handle):
            switch.delete_entry(table.name, handle)
        case ClearTable(table):
            switch.clear_table(table.name)
        case SetDefault(table, call):
            switch.set_default(table.name, json.dumps(target_to_json(call)))
        case WriteRegister(name, index, value):
            switch.write_register(name, index, [str(value)])
        case WriteCounter(name, index, packets, count):
            switch.write_counter(name, index, packets, count)
        case _:
            _apply_to_switch(operation, switch)
    return None


def _apply_to_switch(operation: Operation, switch: _core.PacketSwitch) -> None:
    match operation:
        case SetMeter(name, index, cir, cbs, pir, pbs):
            spec = {"cir": cir, "cbs": cbs, "pir": pir, "pbs": pbs}
            switch.configure(json.dumps({"meters": [{"name": name, "index": index, "spec": spec}]}))
        case SetProfile():
            switch.configure(json.dumps({"action_profiles": [profile_to_json(operation)]}))
        case AddToValueSet(name, value):
            member = {"name": name, "members": [[str(value)]]}
            switch.configure(json.dumps({"value_sets": [member]}))
        case SetMirrorSession():
            switch.set_mirror_session(json.dumps(session_to_json(operation)))
        case RemoveMirrorSession(session):
            if not switch.remove_mirror_session(session):
                raise ControlError(f"there is no mirror session {session}")
        case SetMulticastGroup(group, nodes):
            switch.set_multicast_group(group, [(rid, list(ports)) for rid, ports in nodes])
        case SetQueue():
            raise ControlError("rates and depths of queues are set before a run, not in a test")
        case _:
            raise AssertionError(operation)


def session_to_json(session: SetMirrorSession) -> dict[str, object]:
    """A mirror session as a control-plane file has it; what is not set is left out."""
    data: dict[str, object] = {"session": session.session, "direction": "both"}
    given = {"port": session.port, "group": session.group, "max_length": session.max_length}
    data |= {key: value for key, value in given.items() if value is not None}
    return data | ({"queue": session.queue} if session.queue else {})


def profile_to_json(profile: SetProfile) -> dict[str, object]:
    """Members and groups as a control-plane file has them."""
    return {
        "name": profile.name,
        "members": [
            {"id": number} | target_to_json(call) for number, call in profile.members.items()
        ],
        "groups": [
            [group, [[member, True] for member in members]]
            for group, members in profile.groups.items()
        ],
    }
