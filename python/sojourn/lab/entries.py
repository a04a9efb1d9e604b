"""What a switch of the tutorials is told (`sX-runtime.json`) as operations of our control plane.

Names are those of the program; P4Runtime's greater priority goes first, ours is the lesser number.
Carries nothing out.
"""

from ipaddress import ip_address
from pathlib import Path
from typing import Any

from sojourn.control import ControlError, ProgramDescription, Table
from sojourn.textfile import parse_json, read_text

_MOST_PRIORITY = 1 << 24


def read_runtime(path: Path, program: ProgramDescription) -> list[dict[str, Any]]:
    """The operations that the file asks for; `ControlError` names the entry that does not fit."""
    try:
        data = parse_json(read_text(path, str(path), ControlError))
        entries = data.get("table_entries", [])
        groups = data.get("multicast_group_entries", [])
        clones = data.get("clone_session_entries", [])
    except (ValueError, AttributeError) as error:
        raise ControlError(f"{path}: {error}") from error
    operations = []
    for what, listed, made in (
        ("table_entries", entries, lambda entry: _entry(entry, program)),
        ("multicast_group_entries", groups, _group),
        ("clone_session_entries", clones, _clone),
    ):
        if not isinstance(listed, list):
            raise ControlError(f"{path}: {what}: not a list")
        for place, entry in enumerate(listed):
            try:
                operations.append(made(entry))
            except ControlError as error:
                raise ControlError(f"{path}: {what}[{place}]: {error}") from None
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                raise ControlError(f"{path}: {what}[{place}]: {error!r}") from error
    return operations


def _entry(described: dict[str, Any], program: ProgramDescription) -> dict[str, Any]:
    table = program.table(described["table"])
    action = table.action(described["action_name"])
    given = described.get("action_params", {})
    arguments = {action.parameter(name).name: str(number(value)) for name, value in given.items()}
    call = {"action": action.name, "args": arguments}
    if described.get("default_action"):
        return {"op": "set_default", "table": table.name, "call": call}
    matches = {
        table.key(name).name: _match(table, name, value)
        for name, value in described["match"].items()
    }
    entry: dict[str, Any] = {**call, "match": matches}
    if described.get("priority"):
        entry["priority"] = _MOST_PRIORITY - int(described["priority"])
    return {"op": "add_entry", "table": table.name, "entry": entry}


def _match(table: Table, name: str, value: Any) -> Any:
    key = table.key(name)
    match key.match_kind, value:
        case "lpm", [start, length]:
            return {"value": str(number(start)), "prefix": int(length)}
        case "ternary", [bits, mask]:
            return {"value": str(number(bits)), "mask": str(number(mask))}
        case "range", [low, high]:
            return {"low": str(number(low)), "high": str(number(high))}
        case _, [one]:
            return str(number(one))
        case "exact", one:
            return str(number(one))
    raise ControlError(f"{name}: {value!r} is no {key.match_kind} match")


def number(value: Any) -> int:
    """A number, an IP address or an Ethernet address."""
    if isinstance(value, int):
        return value
    text = str(value)
    if text.count(":") == 5 and "::" not in text:
        return int(text.replace(":", ""), 16)
    if "." in text or ":" in text:
        return int(ip_address(text))
    return int(text, 0)


def _group(group: dict[str, Any]) -> dict[str, Any]:
    nodes = [
        {"rid": replica.get("instance", 0), "ports": [replica["egress_port"]]}
        for replica in group["replicas"]
    ]
    return {"op": "set_multicast_group", "id": group["multicast_group_id"], "nodes": nodes}


def _clone(described: dict[str, Any]) -> dict[str, Any]:
    replicas = described["replicas"]
    if len(replicas) != 1:
        raise ControlError("a clone session has one replica here")
    session = {"op": "set_mirror_session", "session": described["clone_session_id"]}
    length = described.get("packet_length_bytes")
    return (
        session | {"port": replicas[0]["egress_port"]} | ({"max_length": length} if length else {})
    )
