"""The keys of a control-plane file: a JSON schema, and the validation of a file.

The engine reads the file (`crates/control/src/lib.rs`); a test holds every shipped file
against the schema. Messages name file, line and key. Must not depend on a program: the engine says
whether a table or an action exists.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sojourn import _core
from sojourn.common.suggest import did_you_mean
from sojourn.model.toml_location import line_of

Schema = dict[str, Any]
Keys = tuple[int | str, ...]

_NUMBER: Schema = {
    "type": ["integer", "string"],
    "minimum": 0,
    "pattern": "^(0[xX][0-9a-fA-F_]+|[0-9_]+)$",
    "description": 'A whole number, or one as text: "0x0a000000", "10".',
}
_MATCH: Schema = {
    "anyOf": [
        _NUMBER,
        {
            "type": "object",
            "properties": dict.fromkeys(
                ("value", "mask", "prefix", "low", "high", "valid"), _NUMBER
            ),
            "additionalProperties": False,
        },
    ],
    "description": "A value; or { value, mask }, { value, prefix }, { low, high }.",
}
_ARGS: Schema = {
    "type": "object",
    "additionalProperties": _NUMBER,
    "description": "Arguments of the action by name.",
}


def _object(description: str, required: tuple[str, ...] = (), **keys: Schema) -> Schema:
    return {
        "type": "object",
        "description": description,
        "properties": keys,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _whole(description: str, least: int = 0, most: int | None = None) -> Schema:
    schema: Schema = {"type": "integer", "minimum": least, "description": description}
    return schema if most is None else schema | {"maximum": most}


def _list(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


_NAMED = {"name": _text("Its name, or as much of its end as is unique.")}


def control_keys() -> Schema:
    """The schema of a program's control-plane file."""
    keys = {
        "tables": _list(_table(), "Tables and their entries."),
        "mirror_sessions": _list(_mirror_session(), "Mirror sessions of the switch."),
    }
    keys |= _profile_keys() | _state_keys() | _program_keys() | _switch_keys()
    keys |= _generator_keys() | _queue_keys()
    return _object("What a P4 program is given before the first packet.", (), **keys)


def _table() -> Schema:
    call = _object(
        "What a miss runs.",
        (),
        action=_text("The action."),
        args=_ARGS,
        member=_whole("In place of an action: a member of the table's action profile."),
        group=_whole("In place of an action: a group of the table's selector."),
    )
    entry = _object(
        "One entry.",
        (),
        **{
            "match": {
                "type": "object",
                "additionalProperties": _MATCH,
                "description": "Key element to match; what is left out matches anything.",
            },
            "action": _text("The action to run."),
            "args": _ARGS,
            "member": _whole("In place of an action: a member of the table's action profile."),
            "group": _whole("In place of an action: a group of the table's selector."),
            "priority": _whole("The lowest number wins, where keys overlap."),
            "rank": {
                "type": "integer",
                "description": "In place of priority: the highest wins, before any priority.",
            },
        },
    )
    return _object(
        "Entries of one table.",
        ("name",),
        name=_text("Its name, or as much of its end as is unique."),
        entries=_list(entry, "In the order of installation."),
        entries_from={
            "type": "object",
            "description": "Computed: control_law or queue_delay (p4/README.md), or "
            "routes (docs/datacentre.md).",
        },
        default=call,
    )


def _mirror_session() -> Schema:
    return _object(
        "A mirror session.",
        ("session",),
        session=_whole("The number that the program names."),
        direction={
            "enum": ["ingress", "egress", "both"],
            "description": "Which pass may use it (Tofino; bmv2's sessions serve both).",
        },
        port=_whole("Where the copies go."),
        group=_whole("A multicast group that copies go to (bmv2)."),
        queue=_whole("At that port."),
        max_length=_whole("Copies are cut to so many bytes, mirror header included."),
    )


def _profile_keys() -> dict[str, Schema]:
    return {
        "action_profiles": _list(
            _object(
                "Members and groups of a profile or selector.",
                ("name",),
                **_NAMED,
                members=_list(
                    _object(
                        "A member.",
                        ("id", "action"),
                        id=_whole("Its number."),
                        action=_text("What it runs."),
                        args=_ARGS,
                    ),
                    "Its members.",
                ),
                groups={"type": "array", "description": "Number, and members with up or down."},
            ),
            "Action profiles and selectors.",
        ),
    }


def _state_keys() -> dict[str, Schema]:
    """Cells of meters and filters, and metadata of ports."""
    return {
        "meters": _list(
            _object(
                "A cell of a meter.",
                ("name", "index", "spec"),
                **_NAMED,
                index=_whole("Which cell."),
                spec={"type": "object", "description": "Its rates and bursts."},
            ),
            "Meter cells.",
        ),
        "filters": _list(
            _object(
                "A cell of an `Lpf` or a `Wred` (Tofino).",
                ("name", "index", "spec"),
                **_NAMED,
                index=_whole("Which cell."),
                spec={
                    "type": "object",
                    "description": "`filtering` (`rate`, `sample`), `gain` and `decay` in "
                    "nanoseconds, `scale` in bits; or `time_constant` in ns, `min`, `max`, "
                    "`probability`.",
                },
            ),
            "Cells of low-pass filters and of random early detection.",
        ),
        "port_metadata": _list(
            _object(
                "What parsers find in front of a port's packets (Tofino).",
                ("port", "value"),
                port=_whole("The port."),
                value=_whole("64 bits, the program's fields first."),
            ),
            "Metadata of ports.",
        ),
    }


def _program_keys() -> dict[str, Schema]:
    """Values of a program's objects."""
    return {
        "value_sets": _list(
            _object(
                "A parser value set.",
                ("name", "members"),
                **_NAMED,
                members={"type": "array", "description": "Its values."},
            ),
            "Members of parser value sets.",
        ),
        "register_params": _list(
            _object("A RegisterParam.", ("name", "value"), **_NAMED, value=_NUMBER),
            "Values of RegisterParams.",
        ),
        "registers": _list(
            _object(
                "A register's cell.",
                ("name", "value"),
                **_NAMED,
                index=_whole("Which cell; all if absent."),
                value=_NUMBER,
            ),
            "Values that registers start with.",
        ),
    }


def _switch_keys() -> dict[str, Schema]:
    """Settings of the switch around the program."""
    node = _object(
        "Copies that share a replication id.",
        ("ports",),
        rid=_whole("The replication id."),
        ports=_list(_whole("A port."), "A copy for each."),
    )
    return {
        "multicast_groups": _list(
            _object(
                "A group.",
                ("id", "nodes"),
                id=_whole("Its number."),
                nodes=_list(node, "The copies: `{ rid, ports }` each."),
            ),
            "Multicast groups of the switch.",
        ),
    }


def _generator_keys() -> dict[str, Schema]:
    return {"pktgen": _list(_generator(), "Tofino: applications of packet generators.")}


def _generator() -> Schema:
    pattern = _object(
        "First bytes of a recirculated packet: 4 on Tofino 1, 16 on Tofino 2.",
        ("value", "mask"),
        value=_NUMBER,
        mask=_NUMBER,
    )
    trigger = _object(
        "One of these.",
        one_shot=_whole("So many ns after the start.", 0, _REGISTER),
        periodic=_whole("Every so many ns.", 1, _REGISTER),
        port_down=_list(
            _whole("A port.", 0, 127),
            "Ports of the pipe that go down, each once; [] for every one.",
        ),
        pattern=pattern,
    )
    return _object(
        "An application of the packet generator of a pipe.",
        ("app", "trigger", "packet"),
        pipe=_whole("The pipe. [default: 0]", 0, 255),
        app=_whole("Its number: 0 to 7 on Tofino 1, 0 to 15 on Tofino 2.", 0, 255),
        trigger=trigger | {"minProperties": 1, "maxProperties": 1},
        packet={
            "type": ["string", "array"],
            "pattern": "^\\s*(0x)?([0-9a-fA-F]{2}[ :\\n\\t]*)+$",
            "expected": 'pairs of hexadecimal digits, as "ff:ff 08 00"',
            "items": _whole("A byte.", 0, 255),
            "description": "What follows the generator's header of 6 bytes, as digits or bytes.",
        },
        batches=_whole("Batches of a trigger. [default: 1]", 1, 65_536),
        packets=_whole("Packets of a batch. [default: 1]", 1, 65_536),
        batch_gap=_whole("ns from the start of a batch to the next.", 0, _REGISTER),
        packet_gap=_whole("ns from the start of a packet to the next.", 0, _REGISTER),
        port=_whole("The generator's port in the pipe. [default: 68; Tofino 2: 6]", 0, 127),
        source_port=_whole("Where the packets come in, in the pipe. [default: port]", 0, 127),
        increment_source_port={
            "type": "boolean",
            "description": "Each packet of a batch comes in by the next port.",
        },
    )


def _queue_keys() -> dict[str, Schema]:
    queue = _object(
        "A setting of queues.",
        port=_whole("At this port; at every port if absent."),
        priority=_whole("The queue of this priority; every one if absent."),
        packets_per_second=_whole("Exactly spaced; 0 takes the limit away."),
        bits_per_second=_whole("On the wire; 0 takes the limit away."),
        depth=_whole("Packets that it holds at most."),
        paused={"type": "boolean", "description": "It takes packets and sends none."},
        weight=_whole("Share of the turns among queues of equal level.", 1, 1023),
        level=_whole("Strict priority in the scheduler; a higher one goes first.", 0, 7),
        limit_cells=_whole("Cells at most."),
        alpha={
            "type": "number",
            "minimum": 0,
            "maximum": 1024,
            "description": "At most this multiple of its pool's free cells; 0: any.",
        },
        base_cells=_whole("Cells that `alpha` leaves it."),
        pool=_whole("Its pool.", 0, 3),
        guaranteed_cells=_whole("Its own cells."),
        headroom_cells=_whole("Cells beyond its limit."),
        yellow_eighths=_whole("Eighths of its limit for yellow packets.", 1, 8),
        red_eighths=_whole("Eighths of its limit for red packets.", 1, 8),
        node=_whole("Tofino 2: its scheduler node. [default: its port's own]", 0, 31),
        reports={"type": "boolean", "description": "It reports its depth. [default: true]"},
    )
    return {
        "priority_queues": _whole(
            "Priority queues at each port, 1 to 32; a higher one goes first. The queue of a packet "
            "is its `priority` (v1model) or its `qid` (Tofino, where queues above 7 share the "
            "highest of 8 priorities).",
            1,
            32,
        ),
        "fair_queues": _whole(
            "Queues of equal weight at each port, served in turns, 1 to 32.", 1, 32
        ),
        "buffer_pools": _list(
            _object(
                "Cells of a pool.",
                ("pool",),
                pool=_whole("Its number.", 0, 3),
                cells=_whole("Without: the rest (pool 0), none (others)."),
            ),
            "Pools of the packet buffer.",
        ),
        "queues": _list(queue, "Settings of queues; a later one wins."),
        "scheduler_nodes": _list(_node(), "Tofino 2: nodes between queues and ports."),
        "deflection": _list(
            _object(
                "The queue for packets of its port's pipe that have no room in their own and set "
                "`deflect_on_drop`.",
                ("port",),
                port=_whole("Its port."),
                queue=_whole("Its number at the port. [default: 0]"),
            ),
            "Tofino: queues for packets that are deflected on drop, one for a pipe.",
        ),
    }


def _node() -> Schema:
    return _object(
        "A scheduler node (L1 node); unset it takes turns without rates.",
        ("port", "node"),
        port=_whole("Its port."),
        node=_whole("Its number in the port group.", 0, 31),
        level=_whole("Strict priority among nodes; a higher one goes first.", 0, 7),
        min_level=_whole("The same within `min_rate`.", 0, 7),
        weight=_whole("Share of the turns among nodes of equal level.", 0, 1023),
        priority_propagation={
            "type": "boolean",
            "description": "It has the highest level of its queues.",
        },
        paused={"type": "boolean", "description": "Its queues send nothing."},
        max_rate=_whole("Most, bit/s; 0: any."),
        max_burst=_whole("Its burst, bytes."),
        min_rate=_whole("Guaranteed, bit/s; 0: none."),
        min_burst=_whole("Its burst, bytes."),
        packets={"type": "boolean", "description": "Rates and bursts count packets."},
    )


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}
_REGISTER = (1 << 32) - 1
"""The longest timer and gap, ns: registers of the generator have 32 bits."""
_SHOWN = 8
"""Problems that a message lists."""


def problems(document: Mapping[str, Any], name: str, text: str) -> list[str]:
    """Faults of a control plane's keys, one line each; `name` and `text` are those of its file."""
    found = list(_problems(document, control_keys(), ()))
    lines = [_message(keys, reason, name, text) for keys, reason in found[:_SHOWN]]
    return lines + ([f"... and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else [])


def _message(keys: Keys, reason: str, name: str, text: str) -> str:
    line = line_of(text, keys)
    dotted = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return f"{name}:{line or 1}: {dotted.removeprefix('.')}: {reason}"


def _problems(value: object, schema: Schema, keys: Keys) -> Iterator[tuple[Keys, str]]:
    # Entries that the engine has read already were checked there.
    if isinstance(value, _core.Entries | _core.Text):
        return
    if choices := schema.get("anyOf"):
        yield from _of_choices(value, choices, keys)
    elif "enum" in schema:
        if value not in schema["enum"]:
            yield keys, f"{value!r}: must be {' or '.join(schema['enum'])}"
    elif not _is_of_type(value, schema):
        yield keys, f"{_short(value)}: must be {_type_name(schema)}"
    elif isinstance(value, dict):
        yield from _of_object(value, schema, keys)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _problems(item, schema.get("items", {}), (*keys, index))
    elif isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        expected = schema.get("expected", 'a whole number, as 10 or "0x0a000000"')
        yield keys, f"{_short(value)}: must be {expected}"
    elif isinstance(value, int | float) and value < schema.get("minimum", value):
        yield keys, f"{value}: must be {schema['minimum']} at least"
    elif isinstance(value, int | float) and value > schema.get("maximum", value):
        yield keys, f"{value}: must be {schema['maximum']} at most"


def _of_choices(value: object, choices: list[Schema], keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Faults by the choice whose type the value has."""
    for choice in choices:
        if _is_of_type(value, choice):
            yield from _problems(value, choice, keys)
            return
    kinds = " or ".join(_type_name(choice) for choice in choices)
    yield keys, f"{_short(value)}: must be {kinds}"


def _of_object(value: dict[str, Any], schema: Schema, keys: Keys) -> Iterator[tuple[Keys, str]]:
    known = schema.get("properties", {})
    if len(value) > schema.get("maxProperties", len(value)):
        yield keys, f"{', '.join(value)}: must be one of these"
    elif len(value) < schema.get("minProperties", 0):
        yield keys, f"must have one of {', '.join(known)}"
    others = schema.get("additionalProperties", True)
    for key, item in value.items():
        if key in known:
            yield from _problems(item, known[key], (*keys, key))
        elif isinstance(others, dict):
            yield from _problems(item, others, (*keys, key))
        elif not others:
            hint = did_you_mean(key, list(known))
            yield (*keys, key), f"unknown key{hint} (known here: {', '.join(known)})"
    for key in schema.get("required", ()):
        if key not in value:
            yield (*keys, key), "missing, and it has no default"


def _is_of_type(value: object, schema: Schema) -> bool:
    types = schema.get("type")
    if types is None:
        return True
    names = types if isinstance(types, list) else [types]
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)


def _type_name(schema: Schema) -> str:
    types = schema.get("type", "a value")
    return " or ".join(types) if isinstance(types, list) else str(types)


def _short(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
