"""Operations as data for the engine, which carries them out on a switch while packets pass.

Knows no file; an operation that the engine refuses ends in a `ControlError` with the engine's
reason.
"""

import json
from collections.abc import Sequence
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
    return Applied(apply_all([operation], switch)[0])


def apply_all(operations: Sequence[Operation], switch: _core.PacketSwitch) -> list[int | None]:
    """Carries out all of them or none; the handle of each entry that was added."""
    try:
        return switch.apply(json.dumps([operation_to_json(one) for one in operations]))
    except _core.ConfigError as error:
        raise ControlError(str(error.args[0])) from None


def operation_to_json(operation: Operation) -> dict[str, object]:
    """An operation as the engine takes it."""
    match operation:
        case AddEntry(table):
            return {"op": "add_entry", "table": table.name, "entry": entry_to_json(operation)}
        case ModifyEntry(table, handle, target):
            to = target_to_json(target)
            return {"op": "modify_entry", "table": table.name, "at": handle, "to": to}
        case DeleteEntry(table, handle):
            return {"op": "delete_entry", "table": table.name, "at": handle}
        case ClearTable(table):
            return {"op": "clear_table", "table": table.name}
        case SetDefault(table, call):
            return {"op": "set_default", "table": table.name, "call": target_to_json(call)}
        case SetProfile():
            return {"op": "set_profile"} | profile_to_json(operation)
        case _:
            return _of_state(operation)


def _of_state(operation: Operation) -> dict[str, object]:
    """One about what is no table: externs, parsers, the switch."""
    match operation:
        case WriteRegister(name, index, value):
            return {"op": "write_register", "name": name, "index": index, "value": [str(value)]}
        case WriteCounter(name, index, packets, count):
            written: dict[str, object] = {"packets": packets, "bytes": count}
            return {"op": "write_counter", "name": name, "index": index} | written
        case SetMeter(name, index, cir, cbs, pir, pbs):
            spec = {"cir": cir, "cbs": cbs, "pir": pir, "pbs": pbs}
            return {"op": "set_meter", "name": name, "index": index, "spec": spec}
        case AddToValueSet(name, value):
            return {"op": "add_to_value_set", "name": name, "member": [str(value)]}
        case SetMirrorSession():
            return {"op": "set_mirror_session"} | session_to_json(operation)
        case RemoveMirrorSession(session):
            return {"op": "remove_mirror_session", "session": session}
        case SetMulticastGroup():
            return {"op": "set_multicast_group"} | group_to_json(operation)
        case SetQueue():
            return {"op": "set_queue"} | queue_to_json(operation)
        case _:
            raise AssertionError(operation)


def group_to_json(group: SetMulticastGroup) -> dict[str, object]:
    """A multicast group as a control-plane file has it."""
    nodes = [{"rid": rid, "ports": list(ports)} for rid, ports in group.nodes]
    return {"id": group.group, "nodes": nodes}


def queue_to_json(queue: SetQueue) -> dict[str, object]:
    """Rate and depth of queues as a control-plane file has them; what is not set is left out."""
    given = {
        "port": queue.port,
        "priority": queue.priority,
        "packets_per_second": queue.packets_per_second,
        "bits_per_second": queue.bits_per_second,
        "depth": queue.depth,
    }
    return {key: value for key, value in given.items() if value is not None}


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
