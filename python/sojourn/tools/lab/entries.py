"""The runtime file of a tutorial's switch (`sX-runtime.json`) as operations of our control plane.

Names are those of the program; P4Runtime's greater priority goes first, ours is the lesser number.
Carries nothing out on a switch that runs: `check` tries the operations on one of its own.
"""

import json
from collections.abc import Callable
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

from sojourn import _core
from sojourn.common.textfile import parse_json, read_text
from sojourn.control import ControlError, ProgramDescription, Table
from sojourn.errors import ConfigError

_MOST_PRIORITY = 1 << 24
_LAST_PORT = 511
_LAST_GROUP = 0x7FFF
_OF_CLONES = 0x8000
"""Added to a clone session's number: its multicast group, if it makes several copies."""
_ENTRIES, _GROUPS, _CLONES = "table_entries", "multicast_group_entries", "clone_session_entries"


class Operation(NamedTuple):
    """One operation of a runtime file."""

    place: str
    """The file and the entry."""
    what: dict[str, Any]
    """The operation as the engine takes it."""


def read_runtime(path: Path, program: ProgramDescription) -> list[Operation]:
    """The operations of the file; `ControlError` names the entry that does not fit."""
    return [
        *_each(path, _ENTRIES, lambda entry: [_entry(entry, program)]),
        *_each(path, _GROUPS, _group),
        *_each(path, _CLONES, _clone),
    ]


def ports_of(path: Path) -> set[int]:
    """The ports of the file's multicast groups and clone sessions."""
    operations = [*_each(path, _GROUPS, _group), *_each(path, _CLONES, _clone)]
    nodes = [node for one in operations for node in one.what.get("nodes", [])]
    ports = [port for node in nodes for port in node["ports"]]
    return {*ports, *(one.what["port"] for one in operations if "port" in one.what)}


def check(operations: list[Operation], program: _core.Program) -> None:
    """`ControlError`, with the entry, if the program does not take one of the operations."""
    switch = _core.PacketSwitch(program)
    for place, what in operations:
        try:
            switch.apply(json.dumps([what]))
        except ConfigError as error:
            raise ControlError(f"{place}: {error}") from None


def _each(
    path: Path, what: str, made: Callable[[dict[str, Any]], list[dict[str, Any]]]
) -> list[Operation]:
    """The operations of the entries of one kind."""
    operations = []
    for number, entry in enumerate(_listed(path, what)):
        place = f"{path}: {what}[{number}]"
        if not isinstance(entry, dict):
            raise ControlError(f"{place}: {_shown(entry)} is no entry, which is an object")
        try:
            operations += [Operation(place, one) for one in made(entry)]
        except ControlError as error:
            raise ControlError(f"{place}: {error}") from None
    return operations


def _listed(path: Path, what: str) -> list[Any]:
    try:
        document = parse_json(read_text(path, str(path), ControlError))
    except ValueError as error:
        raise ControlError(f"{path}: not JSON: {error}") from error
    if not isinstance(document, dict):
        raise ControlError(f"{path}: no runtime file, which is an object with {_ENTRIES}")
    listed = document.get(what)
    if listed is not None and not isinstance(listed, list):
        raise ControlError(f"{path}: {what}: {_shown(listed)} is no list")
    return listed or []


def _shown(value: Any) -> str:
    return json.dumps(value)[:60]


def _text(described: dict[str, Any], key: str) -> str:
    value = described.get(key)
    if not isinstance(value, str):
        raise ControlError(f"{key}: {_missing(value)}; write a name")
    return value


def _table_of(described: dict[str, Any], key: str) -> dict[str, Any]:
    """An object of names and values; absent or null, an empty one."""
    value = described.get(key)
    if value is not None and not isinstance(value, dict):
        raise ControlError(f"{key}: {_shown(value)}; write names and values in braces")
    return value or {}


def _whole(described: dict[str, Any], key: str, least: int, most: int, default: int | None) -> int:
    """A whole number in bounds; without a default it has to be there."""
    value = described.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ControlError(f"{key}: {_missing(value)}; write a whole number from {least} to {most}")
    return value


def _missing(value: Any) -> str:
    return "missing" if value is None else _shown(value)


def _entry(described: dict[str, Any], program: ProgramDescription) -> dict[str, Any]:
    name = _text(described, "table")
    table = program.table(name)
    action = table.action(_text(described, "action_name"))
    arguments = {
        action.parameter(name).name: str(_number(name, value))
        for name, value in _table_of(described, "action_params").items()
    }
    call = {"action": action.name, "args": arguments}
    matches = _table_of(described, "match")
    if described.get("default_action"):
        return {"op": "set_default", "table": table.name, "call": call}
    found = {table.key(name).name: _match(table, name, value) for name, value in matches.items()}
    for key in table.keys:
        if key.match_kind == "exact" and key.name not in found:
            raise ControlError(f"match: the exact key {key.name} is missing; only others may be")
    entry: dict[str, Any] = {**call, "match": found}
    priority = _whole(described, "priority", 0, _MOST_PRIORITY - 1, 0)
    if priority:
        entry["priority"] = _MOST_PRIORITY - priority
    return {"op": "add_entry", "table": table.name, "entry": entry}


def _match(table: Table, name: str, value: Any) -> Any:
    key = table.key(name)
    match key.match_kind, value:
        case "lpm", [start, length]:
            length = _whole({"prefix length": length}, "prefix length", 0, 4096, None)
            return {"value": str(_number(name, start)), "prefix": length}
        case "ternary", [bits, mask]:
            return {"value": str(_number(name, bits)), "mask": str(_number(name, mask))}
        case "range", [low, high]:
            return {"low": str(_number(name, low)), "high": str(_number(name, high))}
        case _, [one]:
            return str(_number(name, one))
        case "exact" | "optional", one:
            return str(_number(name, one))
    raise ControlError(f"{name}: {_shown(value)} is no {key.match_kind} match")


def _number(name: str, value: Any) -> int:
    try:
        return number(value)
    except ValueError:
        raise ControlError(
            f"{name}: {_shown(value)} is no number, IP address or Ethernet address"
        ) from None


def number(value: Any) -> int:
    """A number, an IP address or an Ethernet address; `ValueError` for anything else."""
    if isinstance(value, int):
        if value < 0:
            raise ValueError
        return int(value)
    if not isinstance(value, str):
        raise ValueError
    if value.count(":") == 5 and "::" not in value:
        return int(value.replace(":", ""), 16)
    if "." in value or ":" in value:
        return int(ip_address(value))
    return int(value, 0)


def _replicas(described: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes of a multicast group that makes the copies of an entry's `replicas`."""
    replicas = described.get("replicas")
    if not isinstance(replicas, list) or not all(isinstance(one, dict) for one in replicas):
        raise ControlError(f'replicas: {_missing(replicas)}; write a list of {{"egress_port": N}}')
    return [
        {
            "rid": _whole(replica, "instance", 0, 0xFFFF, 0),
            "ports": [_whole(replica, "egress_port", 0, _LAST_PORT, None)],
        }
        for replica in replicas
    ]


def _group(described: dict[str, Any]) -> list[dict[str, Any]]:
    group = _whole(described, "multicast_group_id", 1, _LAST_GROUP, None)
    return [{"op": "set_multicast_group", "id": group, "nodes": _replicas(described)}]


def _clone(described: dict[str, Any]) -> list[dict[str, Any]]:
    """A session to one port, or by way of a multicast group to several or with instances."""
    session = _whole(described, "clone_session_id", 1, _LAST_GROUP, None)
    length = _whole(described, "packet_length_bytes", 0, 0xFFFF, 0)
    made: dict[str, Any] = {"op": "set_mirror_session", "session": session}
    if length:
        made["max_length"] = length
    nodes = _replicas(described)
    if len(nodes) == 1 and nodes[0]["rid"] == 0:
        return [made | {"port": nodes[0]["ports"][0]}]
    group = _OF_CLONES | session
    return [{"op": "set_multicast_group", "id": group, "nodes": nodes}, made | {"group": group}]
