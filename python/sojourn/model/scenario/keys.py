"""A key of a scenario by its dotted name: `switch.rate`, `flows.0.count`, `aqms.codel.interval`.

Depends on plain TOML documents. Whether the key exists is the scenario's model to say; here is only
where it is. A part that follows a list is an index, or the `use`, `label` or `name` of an element.
"""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.model.aqms import is_path
from sojourn.model.python_discipline import is_class
from sojourn.model.scenario.model import Scenario
from sojourn.model.scenario.read import scenario_from_dict

_NAMED_BY = ("label", "use", "name")


def set_key(document: dict[str, Any], key: str, value: object) -> None:
    """Puts `value` at `key`, in place; `ScenarioError` says which part leads nowhere."""
    parts = key.split(".")
    if not all(parts):
        raise ScenarioError(f"{key!r}: not a key; write one like switch.rate or flows.0.count")
    *way, last = parts
    here: Any = document
    for place, part in enumerate(way):
        here = _into(here, part, key, parts[: place + 1])
    if isinstance(here, list):
        here[_index(here, last, key, parts)] = value
    elif isinstance(here, dict):
        here[last] = value
    else:
        raise _leads_nowhere(key, parts[:-1])


def with_changes(
    document: dict[str, Any], changes: Mapping[str, Any], name: str = "scenario"
) -> Scenario:
    """The scenario that `document` describes once `changes`, values by dotted keys, are made."""
    changed = deepcopy(document)
    for key, value in changes.items():
        set_key(changed, key, value)
    where = ", ".join(f"{key} = {value!r}" for key, value in changes.items())
    return scenario_from_dict(changed, f"{name} with {where}" if where else name)


def read_changes(given: Iterable[str]) -> dict[str, Any]:
    """The changes of `--set KEY=VALUE`. A value is TOML's, or text if it is not TOML."""
    changes: dict[str, Any] = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise ScenarioError(f'--set {text}: write KEY=VALUE, like switch.rate="50 Mbit/s"')
        changes[key.strip()] = _value(value.strip())
    return changes


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _into(here: Any, part: str, key: str, sofar: Sequence[str]) -> Any:
    """The value at `part`: a table or a list. A missing table is created, and an element that is
    only a name becomes a table that uses it."""
    if isinstance(here, list):
        index = _index(here, part, key, sofar)
        if isinstance(here[index], str):
            here[index] = {"use": here[index]}
        return here[index]
    if isinstance(here, dict):
        return here.setdefault(part, {})
    raise _leads_nowhere(key, sofar[:-1])


def _index(here: list[Any], part: str, key: str, sofar: Sequence[str]) -> int:
    where = ".".join(sofar[:-1])
    if part.isdecimal():
        if int(part) < len(here):
            return int(part)
        last = len(here) - 1
        allowed = f"it has 0 to {last}" if here else "it is empty"
        raise ScenarioError(f"{key}: {where} has no element {part}; {allowed}")
    names = [_names(element) for element in here]
    found = [index for index, own in enumerate(names) if part in own]
    if len(found) == 1:
        return found[0]
    if found:
        raise ScenarioError(f"{key}: {where} has {len(found)} elements {part!r}; use an index")
    known = [name for own in names for name in own]
    hint = did_you_mean(part, known)
    raise ScenarioError(f"{key}: {where} has no element {part!r}{hint} (an index from 0 will do)")


def _names(element: object) -> list[str]:
    if isinstance(element, str):
        return _called([element])
    if isinstance(element, dict):
        named = [element[by] for by in _NAMED_BY if isinstance(element.get(by), str)][:2]
        return named if "label" in element else _called(named)
    return []


def _called(names: list[str]) -> list[str]:
    """`names`, a file's also without folder and ending, and a class's without its file, as tables
    call it: a key cannot have a dot."""
    stems = [
        name.rpartition(":")[2] if is_class(name) else Path(name).stem
        for name in names
        if is_path(name) or is_class(name)
    ]
    return [*names, *(stem for stem in stems if stem not in names)]


def chosen_aqms(listed: object, wanted: Iterable[Any]) -> list[Any]:
    """The AQMs that are wanted, each name with all that the scenario says of it."""
    known = listed if isinstance(listed, list) else []
    chosen: list[Any] = []
    for one in wanted:
        same = [c for c in known if one == (c.get("use") if isinstance(c, dict) else c)]
        chosen += same if isinstance(one, str) and same else [one]
    return chosen


def _leads_nowhere(key: str, sofar: Sequence[str]) -> ScenarioError:
    return ScenarioError(f"{key}: {'.'.join(sofar)} is a value, with nothing below it")
