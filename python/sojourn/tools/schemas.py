"""JSON schemas of the files that a person writes, and a page of all their keys made from them.

Depends on the models that read scenarios and sweeps, whose descriptions these are, and on the keys
of control planes.
"""

import json
from collections.abc import Callable, Container, Iterator
from typing import Any

from sojourn.control.schema import Schema, control_keys
from sojourn.model.parameters import Parameter, disciplines
from sojourn.model.scenario import Scenario
from sojourn.model.scenario.aqm_spec import AqmChoice
from sojourn.model.scenario.json_schema import json_schema
from sojourn.model.scenario.shorthand import OneSwitch
from sojourn.model.scenario.topology import Fabric
from sojourn.model.units import FREQUENCY, RATE, SIZE, TIME
from sojourn.studies.sweeps.file import SweepFile

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def scenario_schema() -> Schema:
    """Of a scenario file: with one `[switch]`, a `topology`, or hosts, switches and links."""
    definitions: dict[str, Any] = {}
    forms = []
    titles = ((OneSwitch, "one switch"), (Fabric, "topology"), (Scenario, "network"))
    for model, title in titles:
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
    forms[2]["properties"]["hosts"]["items"] = host
    definitions["Topology"]["properties"]["aqm_of"]["additionalProperties"] = {
        "$ref": "#/$defs/Aqm"
    }
    # The form is decided by the key, so that an editor tells of the mistake in that form alone.
    fabric = {"if": {"required": ["topology"]}, "then": forms[1], "else": forms[2]}
    short = {"required": ["switch"]}
    whole = {"if": short, "then": forms[0], "else": fabric, "$defs": definitions}
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
    text = "Name in tables and figures."
    label = {"type": "string", "minLength": 1, "maxLength": 100, "description": text}
    keys["title"] = "P4 program, or a discipline with no parameter"
    native = [
        {
            "title": discipline.name,
            "description": discipline.summary,
            "type": "object",
            "properties": {
                "use": {"const": discipline.name, "description": "The discipline."},
                "label": label,
                **{parameter.name: _parameter(parameter) for parameter in discipline.parameters},
            },
            "required": ["use"],
            "additionalProperties": False,
        }
        for discipline in disciplines()
    ]
    name = {"type": "string", "minLength": 1, "examples": [*names, "codel_act", "my_codel.p4"]}
    own = {
        "title": "discipline in Python",
        "description": "A class; further keys are keywords of its constructor.",
        "type": "object",
        "properties": {
            "use": {
                "type": "string",
                "pattern": r"\.py:\w+$",
                "description": "Its file and its name, as in `delay_limit.py:DelayLimit`.",
            },
            "label": label,
        },
        "required": ["use"],
    }
    return {"anyOf": [name, *native, own, keys]}


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
    described = schema["properties"]["seeds"]["description"]
    schema["properties"]["seeds"] = {**seeds, "default": 1, "description": described}
    return _described(schema, "A Sojourn sweep")


def _described(schema: Schema, title: str) -> Schema:
    return {"$schema": _DIALECT} | schema | {"title": title}


def control_schema() -> Schema:
    """The schema of a program's control-plane file."""
    return _described(control_keys(), "A Sojourn control plane")


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
        "`sojourn schema reference` makes this page from the schemas that `sojourn schema` prints.",
        'A time, rate or size is text with a unit: `"5 ms"`, `"100 Mbit/s"`, `"1600 B"`.',
        "A key of more than one table with one meaning stands once, in a table before them.",
    ]
    for kind, schema in SCHEMAS.items():
        lines += ["", f"## A {kind} file", *_page(schema())]
    return "\n".join(lines) + "\n"


_OF_NETWORKS = ("Switch", "NetworkSwitch", "Link", "Topology")
"""Models with keys in common."""


def _page(schema: Schema) -> Iterator[str]:
    forms = list(_forms(schema))
    yield from _group("scenario", [(form["title"], form) for form in forms])
    if "properties" in schema:
        yield from _table(schema)
    parts = [
        (_name_of(each) or each.get("title", name), each)
        for name, part in schema.get("$defs", {}).items()
        for each in part.get("anyOf", [part])
        if "properties" in each
    ]
    flows = [part for part in parts if "kind" in part[1]["properties"]]
    disciplines = [part for part in parts if "use" in part[1]["properties"]]
    network = [part for part in parts if part[0] in _OF_NETWORKS]
    grouped = [*flows, *disciplines, *network]
    yield from _group("part of a network", network)
    yield from _group("flow", flows)
    yield from _group("discipline", disciplines)
    for title, part in parts:
        if (title, part) not in grouped:
            yield from ("", f"### {title}")
            yield from _table(part)
    for key, value in schema.get("properties", {}).items():
        yield from _nested(key, value)


def _name_of(part: Schema) -> str:
    """Value of `kind` in a table of one kind, if it is such."""
    return str(part["properties"].get("kind", {}).get("const", "")) if "properties" in part else ""


def _forms(schema: Schema) -> Iterator[Schema]:
    """The forms among which the conditions of a schema choose."""
    for way in ("then", "else"):
        if "if" in schema.get(way, {}):
            yield from _forms(schema[way])
        elif way in schema:
            yield schema[way]


def _group(noun: str, parts: list[tuple[str, Schema]]) -> Iterator[str]:
    """Tables of parts of one kind; a row that two parts have stands in one table before them."""
    if not parts:
        return
    holders: dict[str, list[str]] = {}
    for title, part in parts:
        for row in _rows(part):
            holders.setdefault(row, []).append(title)
    shared = {row: titles for row, titles in holders.items() if len(titles) > 1}
    if shared:
        yield from ("", f"### Keys of more than one {noun}", "")
        yield from ("|key|value|default|meaning|in|", "|---|---|---|---|---|")
        for row, titles in shared.items():
            every = len(titles) == len(parts)
            yield f"{row} {'all' if every else ', '.join(titles)} |"
    for title, part in parts:
        yield from ("", f"### {title}")
        yield from _table(part, besides=shared)


def _nested(key: str, value: Schema) -> Iterator[str]:
    """The tables of a key whose values have keys of their own, and of the keys in those."""
    inner = value.get("items", value)
    if "properties" not in inner:
        return
    yield from ("", f"### {key}")
    yield from _table(inner)
    for below, each in inner["properties"].items():
        yield from _nested(f"{key}.{below}", each)


def _table(schema: Schema, besides: Container[str] = ()) -> Iterator[str]:
    """The keys of a schema, but for the rows that stand elsewhere."""
    if text := schema.get("description"):
        yield from ("", _plain(text))
    rows = [row for row in _rows(schema) if row not in besides]
    if rows:
        yield from ("", "|key|value|default|meaning|", "|---|---|---|---|", *rows)


def _rows(schema: Schema) -> Iterator[str]:
    """A row for each key of a schema."""
    needed = schema.get("required", [])
    for key, value in schema["properties"].items():
        if "const" in value:
            continue
        default = "needed" if key in needed else _default(value)
        meaning = _plain(value.get("description", ""))
        yield f"| `{key}` | {_kind(value)} | {default} | {meaning} |"


def _default(value: Schema) -> str:
    if value.get("default") in (None, "", []):
        return ""
    default = value["default"]
    if isinstance(default, dict):
        return f"`{_inline(default)}`"
    shown = value.get("examples", [""])[0]
    for dimension in (TIME, RATE, SIZE):
        if shown == dimension.example and isinstance(default, int):
            return f'`"{dimension.format(default)}"`'
    return f"`{default}`"


def _inline(table: Schema) -> str:
    """A table as a scenario writes it, without keys that are absent."""
    parts = (f"{key} = {json.dumps(value)}" for key, value in table.items() if value is not None)
    return f"{{ {', '.join(parts)} }}"


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
        example = value["examples"][0]
        dimensions = (TIME, RATE, SIZE, FREQUENCY)
        named = (dimension.name for dimension in dimensions if dimension.example == example)
        return next(named, f"text, like `{example}`")
    types = value.get("type", "")
    if isinstance(types, list) and set(types) == {"number", "boolean"}:
        # A parameter of a discipline: its default says which it is.
        return "boolean" if isinstance(value.get("default"), bool) else "number"
    return " or ".join(types) if isinstance(types, list) else str(types)


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
