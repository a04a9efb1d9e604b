"""JSON schemas of the files that a person writes, and a page of all their keys made from them.

Stands on the models that read scenarios and sweeps, whose descriptions these are. A control plane
is read by the engine (`crates/control/src/lib.rs`), so its schema is written here, and a
test holds every shipped file against it.
"""

from collections.abc import Callable, Iterator
from typing import Any

from sojourn.parameters import Parameter, disciplines
from sojourn.scenario import Scenario
from sojourn.scenario.choice import AqmChoice
from sojourn.scenario.described import json_schema
from sojourn.scenario.short import OneSwitch
from sojourn.sweeps.file import SweepFile
from sojourn.units import FREQUENCY, RATE, SIZE, TIME

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
Schema = dict[str, Any]


def scenario_schema() -> Schema:
    """Of a scenario file: with one `[switch]`, or a network of hosts, switches and links."""
    definitions: dict[str, Any] = {}
    forms = []
    for model, title in ((OneSwitch, "one switch"), (Scenario, "network")):
        form = json_schema(model)
        definitions |= form.pop("$defs", {})
        form["properties"]["aqms"]["items"] = {"$ref": "#/$defs/Aqm"}
        forms.append(form | {"title": f"Scenario, {title}"})
    definitions["Aqm"] = _aqm(definitions)
    own = definitions["NetworkSwitch"]["properties"]["aqm"]
    own.pop("anyOf", None)
    own["$ref"] = "#/$defs/Aqm"
    # Whoever gives packets_per_second needs no rate.
    definitions["Switch"]["required"].remove("rate")
    # A host of which nothing is to be said is its name.
    host = {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/Host"}]}
    forms[1]["properties"]["hosts"]["items"] = host
    # The form is decided by the key, so that an editor tells of the mistake in that form alone.
    short = {"required": ["switch"]}
    whole = {"if": short, "then": forms[0], "else": forms[1], "$defs": definitions}
    return _described(whole, "A Sojourn scenario")


def _aqm(definitions: dict[str, Any]) -> Schema:
    """A name, a table of a discipline with its parameters, or a table of a P4 program."""
    program = json_schema(AqmChoice, ref_template="#/$defs/{model}")
    definitions.update(program.pop("$defs", {}))
    program.pop("$ref", None)
    keys = definitions.pop("AqmChoice", program)
    keys["properties"]["discipline"] = {
        "$ref": "#/$defs/Aqm",
        "description": keys["properties"]["discipline"].get("description", ""),
    }
    names = [discipline.name for discipline in disciplines()]
    keys["title"] = "P4 program, or a discipline with no parameter"
    native = [
        {
            "title": discipline.name,
            "description": discipline.summary,
            "type": "object",
            "properties": {
                "use": {"const": discipline.name},
                "label": {"type": "string", "minLength": 1, "maxLength": 100},
                **{parameter.name: _parameter(parameter) for parameter in discipline.parameters},
            },
            "required": ["use"],
            "additionalProperties": False,
        }
        for discipline in disciplines()
    ]
    name = {"type": "string", "minLength": 1, "examples": [*names, "codel_act", "my_codel.p4"]}
    return {"anyOf": [name, *native, keys]}


def _parameter(parameter: Parameter) -> Schema:
    schema: Schema = {"description": parameter.summary}
    units = {dimension.name: dimension for dimension in (TIME, RATE, SIZE, FREQUENCY)}
    if parameter.kind.name in units:
        schema |= {"type": "string", "examples": [units[parameter.kind.name].example]}
    else:
        schema |= {"type": ["number", "boolean"]}
    if parameter.default is not None:
        schema["default"] = parameter.written
    return schema


def sweep_schema() -> Schema:
    """Of a sweep file."""
    schema = json_schema(SweepFile)
    seeds = {"type": ["integer", "string", "array"], "examples": ["1..20"]}
    schema["properties"]["seeds"] = {**seeds, "default": 1}
    return _described(schema, "A Sojourn sweep")


def _described(schema: Schema, title: str) -> Schema:
    return {"$schema": _DIALECT} | schema | {"title": title}


_NUMBER: Schema = {
    "type": ["integer", "string", "boolean"],
    "description": 'A whole number, or one as text: "0x0a000000", "0b1".',
}
_PARTS = ("value", "mask", "prefix", "low", "high", "valid")
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


def _whole(description: str, least: int = 0) -> Schema:
    return {"type": "integer", "minimum": least, "description": description}


def _list(items: Schema, description: str) -> Schema:
    return {"type": "array", "items": items, "description": description}


def control_schema() -> Schema:
    """Of a control-plane file beside a program."""
    call = _object(
        "An action with its arguments.", ("action",), action=_text("Its name."), args=_ARGS
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
            "priority": _whole("The highest wins, where keys overlap."),
        },
    )
    table = _object(
        "Entries of one table.",
        ("name",),
        name=_text("Its name, or as much of its end as is unique."),
        entries=_list(entry, "In the order of installation."),
        entries_from={
            "type": "object",
            "description": "Computed: control_law with interval and counts (p4/README.md).",
        },
        default={**call, "description": "What a miss runs."},
    )
    session = _object(
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
    named = {"name": _text("Its name, or as much of its end as is unique.")}
    node = _object(
        "Copies that share a replication id.",
        ("ports",),
        rid=_whole("The replication id."),
        ports=_list(_whole("A port."), "A copy for each."),
    )
    queue = _object(
        "A setting of queues.",
        port=_whole("At this port; at every port if absent."),
        priority=_whole("The queue of this priority; every one if absent."),
        packets_per_second=_whole("Exactly spaced; 0 takes the limit away."),
        bits_per_second=_whole("On the wire; 0 takes the limit away."),
        depth=_whole("Packets that it holds at most."),
    )
    keys = {
        "tables": _list(table, "Tables and their entries."),
        "mirror_sessions": _list(session, "Mirror sessions of the switch."),
        "action_profiles": _list(
            _object(
                "Members and groups of a profile or selector.",
                ("name",),
                **named,
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
        "meters": _list(
            _object(
                "A cell of a meter.",
                ("name", "index", "spec"),
                **named,
                index=_whole("Which cell."),
                spec={"type": "object", "description": "Its rates and bursts."},
            ),
            "Meter cells.",
        ),
        "filters": _list(
            _object(
                "A cell of an `Lpf` or a `Wred` (Tofino).",
                ("name", "index", "spec"),
                **named,
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
        "value_sets": _list(
            _object("A parser value set.", ("name", "members"), **named, members={"type": "array"}),
            "Members of parser value sets.",
        ),
        "register_params": _list(
            _object("A RegisterParam.", ("name", "value"), **named, value=_NUMBER),
            "Values of RegisterParams.",
        ),
        "registers": _list(
            _object(
                "A register's cell.",
                ("name", "value"),
                **named,
                index=_whole("Which cell; all if absent."),
                value=_NUMBER,
            ),
            "Values that registers start with.",
        ),
        "multicast_groups": _list(
            _object(
                "A group.",
                ("id", "nodes"),
                id=_whole("Its number."),
                nodes=_list(node, "The copies."),
            ),
            "Multicast groups of the switch.",
        ),
        "priority_queues": _whole("v1model: priority queues at each port, 1 to 32.", 1),
        "fair_queues": _whole("Queues of equal weight at each port, served in turns.", 1),
        "queues": _list(queue, "v1model: settings of queues; a later one wins."),
    }
    whole = _object("What a P4 program is given before the first packet.", (), **keys)
    return _described(whole, "A Sojourn control plane")


SCHEMAS: dict[str, Callable[[], Schema]] = {
    "scenario": scenario_schema,
    "sweep": sweep_schema,
    "control": control_schema,
}
"""By the kind of file."""


def reference() -> str:
    """All keys of all files as a Markdown page."""
    lines = [
        "# Keys of scenarios, sweeps and control planes",
        "",
        "Made by `sojourn schema reference` from the schemas that `sojourn schema` prints.",
        'Times, rates and sizes are text with a unit: `"5 ms"`, `"100 Mbit/s"`, `"1600 B"`.',
    ]
    for kind, schema in SCHEMAS.items():
        lines += ["", f"## A {kind} file", *_page(schema())]
    return "\n".join(lines) + "\n"


def _page(schema: Schema) -> Iterator[str]:
    for form in [schema[way] for way in ("then", "else") if way in schema]:
        yield from ("", f"### {form['title']}")
        yield from _table(form)
    if "properties" in schema:
        yield from _table(schema)
    for name, part in schema.get("$defs", {}).items():
        for each in part.get("anyOf", [part]):
            if "properties" in each:
                yield from ("", f"### {each.get('title', name)}")
                yield from _table(each)
    for key, value in schema.get("properties", {}).items():
        inner = value.get("items", {})
        if "properties" in inner:
            yield from ("", f"### {key}")
            yield from _table(inner)


def _table(schema: Schema) -> Iterator[str]:
    if text := schema.get("description"):
        yield from ("", _plain(text))
    yield from ("", "| key | value | default | meaning |", "|---|---|---|---|")
    needed = schema.get("required", [])
    for key, value in schema["properties"].items():
        default = "needed" if key in needed else _default(value)
        meaning = _plain(value.get("description", ""))
        yield f"| `{key}` | {_kind(value)} | {default} | {meaning} |"


def _default(value: Schema) -> str:
    if value.get("default") in (None, "", []):
        return ""
    default = value["default"]
    shown = value.get("examples", [""])[0]
    for dimension in (TIME, RATE, SIZE):
        if shown == dimension.example and isinstance(default, int):
            return f'`"{dimension.format(default)}"`'
    return f"`{default}`"


def _kind(value: Schema) -> str:
    if "const" in value:
        return f'`"{value["const"]}"`'
    if "enum" in value:
        return " or ".join(f"`{each}`" for each in value["enum"])
    if "$ref" in value:
        return str(value["$ref"]).rpartition("/")[2]
    if "anyOf" in value or "oneOf" in value:
        kinds = [_kind(each) for each in (*value.get("anyOf", ()), *value.get("oneOf", ()))]
        return " or ".join(dict.fromkeys(kind for kind in kinds if kind != "null"))
    if value.get("type") == "array":
        return f"list of {_kind(value.get('items', {}))}".removesuffix(" of ")
    if "examples" in value:
        return f"text, like `{value['examples'][0]}`"
    types = value.get("type", "")
    return " or ".join(types) if isinstance(types, list) else str(types)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
