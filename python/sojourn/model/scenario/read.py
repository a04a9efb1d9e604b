"""From a TOML file to a scenario, or to a message that names file, line, key, value and cure.

Depends on `tomllib` and the model. Must not depend on an AQM: `plan` says whether a name can run.
"""

import json
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sojourn.common.resources import scenarios_folder, shown
from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.model.scenario import flow_endpoints
from sojourn.model.scenario.flows import FLOW_KINDS
from sojourn.model.scenario.model import Scenario, choice_keys
from sojourn.model.scenario.network import ControlStep, Host, Link, LinkStep, NetworkSwitch
from sojourn.model.scenario.plan_checks import problems
from sojourn.model.scenario.shorthand import LONG_FORM, OneSwitch, Switch, SwitchStep
from sojourn.model.scenario.topology import SHAPES, Fabric, Failure, Topology
from sojourn.model.toml_location import line_of

_SHOWN_ERRORS = 8
_DEEP_KEY = re.compile(r"^[ \t]*+\[*+[ \t]*+(?:[\w\"'-]++[ \t]*+\.[ \t]*+){64}", re.MULTILINE)
"""A key of so many parts that reading it takes minutes."""
_LARGEST = 16 << 20
"""Bytes of a scenario's file."""


def shipped_scenarios() -> list[str]:
    """Names that `find_scenario` knows without a path."""
    return sorted(path.stem for path in scenarios_folder().glob("*.toml"))


def find_scenario(name: str) -> Path:
    """The file that `name` means: a path, or the name of a shipped scenario."""
    path = Path(name)
    if path.is_file():
        return path
    shipped = scenarios_folder() / f"{name}.toml"
    if "/" not in name and shipped.is_file():
        return shipped
    if path.is_dir():
        raise ScenarioError(f"{name}: this is a folder; give a scenario file (.toml)")
    known = shipped_scenarios()
    raise ScenarioError(
        f"{name}: no such scenario file{did_you_mean(path.stem, known)}\n"
        f"Shipped scenarios: {', '.join(known) or 'none'}."
    )


def read_scenario(path: Path) -> Scenario:
    """The scenario in the file at `path`; `ScenarioError` says all that is wrong with it."""
    document, text = read_document(path)
    return scenario_from_dict(document, shown(path), text)


def read_document(path: Path) -> tuple[dict[str, Any], str]:
    """The TOML document in the file at `path`, and its text; whether it is a scenario is not
    looked at."""
    name = shown(path)
    try:
        if (size := path.stat().st_size) > _LARGEST:
            raise ScenarioError(f"{name}: {size} bytes; a scenario has {_LARGEST} at most")
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioError(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{name}: not a text file in UTF-8") from error
    if _DEEP_KEY.search(text):
        raise ScenarioError(f"{name}: nested too deep for a scenario")
    try:
        return tomllib.loads(text), text
    except (tomllib.TOMLDecodeError, ValueError) as error:
        raise ScenarioError(f"{name}: not valid TOML: {error}") from error
    except RecursionError:
        raise ScenarioError(f"{name}: nested too deep for a scenario") from None


def scenario_from_dict(
    document: dict[str, Any], name: str = "scenario", text: str | None = None
) -> Scenario:
    """The scenario that `document` describes; `name` and `text` make messages point into a file."""
    form = _form(document)
    try:
        written = form.model_validate(document)
    except ValidationError as error:
        lines = messages(error, document, name, text)
    else:
        wrong = problems(written) if isinstance(written, Scenario) else written.problems()
        if not wrong:
            return _counted(written if isinstance(written, Scenario) else written.expanded())
        lines = _lines(wrong, name, text, len(wrong))
    raise ScenarioError("\n".join(lines)) from None


def _form(document: dict[str, Any]) -> type[OneSwitch] | type[Fabric] | type[Scenario]:
    """The model of a document: of a short form if it has the key of one."""
    if "switch" in document:
        return OneSwitch
    return Fabric if "topology" in document else Scenario


def _counted(scenario: Scenario) -> Scenario:
    """The same with the number of flows of groups that name several hosts."""
    hosts = [host.name for host in scenario.hosts]
    flows = [flow_endpoints.counted(group, hosts) for group in scenario.flows]
    return scenario.model_copy(update={"flows": flows})


def messages(
    error: ValidationError,
    document: dict[str, Any],
    name: str,
    text: str | None = None,
    within: tuple[int | str, ...] = (),
) -> list[str]:
    """Faults of `document`, one line each; `within` is the position in it of the model that `error`
    is about."""
    problems = error.errors(include_url=False)
    wrong = [
        (
            keys := _plain_keys((*within, *problem["loc"]), document),
            _reason(problem, keys, document),
        )
        for problem in problems[:_SHOWN_ERRORS]
    ]
    return _lines(wrong, name, text, len(problems))


def _lines(
    wrong: list[tuple[tuple[int | str, ...], str]], name: str, text: str | None, count: int
) -> list[str]:
    """The first messages, of `count` in all."""
    lines = [_message(keys, reason, name, text) for keys, reason in wrong[:_SHOWN_ERRORS]]
    if count > _SHOWN_ERRORS:
        lines.append(f"... and {count - _SHOWN_ERRORS} more")
    return lines


def _message(keys: tuple[int | str, ...], reason: str, name: str, text: str | None) -> str:
    line = line_of(text, keys) if text is not None else None
    place = f"{name}:{line}" if line else name
    return f"{place}: {_dotted(keys)}: {reason}"


def _plain_keys(location: tuple[int | str, ...], document: dict[str, Any]) -> tuple[int | str, ...]:
    """`location` without the flow kinds that pydantic puts between an index and a key."""
    return tuple(
        part
        for index, part in enumerate(location)
        if not (index == 2 and location[0] == "flows" and part in FLOW_KINDS and len(location) > 2)
    )


def _dotted(keys: Iterable[int | str]) -> str:
    dotted = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys)
    return dotted.removeprefix(".") or "scenario"


def _reason(problem: ErrorDetails, keys: tuple[int | str, ...], document: dict[str, Any]) -> str:
    kind, value, context = problem["type"], problem["input"], problem.get("ctx", {})
    match kind:
        case "missing":
            return "missing, and it has no default"
        case "extra_forbidden":
            if len(keys) == 1 and keys[0] in (*LONG_FORM, "topology"):
                short = "[switch]" if "switch" in document else "topology"
                return f"not beside {short}: give either that, or a network without it"
            known = _known_keys(keys, document)
            hint = did_you_mean(str(keys[-1]), known)
            return f"unknown key{hint} (known here: {', '.join(known)})"
        case "literal_error":
            allowed = context["expected"].replace("'", '"')
            hint = did_you_mean(
                str(value), allowed.replace('"', "").replace(" or ", ", ").split(", ")
            )
            return f"{_written(value)}: must be {allowed}{hint}"
        case "union_tag_invalid":
            hint = did_you_mean(str(value.get("kind")), list(FLOW_KINDS))
            *others, last = (f'"{kind}"' for kind in FLOW_KINDS)
            allowed = f"{', '.join(others)} or {last}"
            return f"kind {_written(value.get('kind'))}: must be {allowed}{hint}"
        case "value_error":
            reason = str(context["error"])
            return reason if isinstance(value, dict) else f"{_written(value)}: {reason}"
        case "too_short" if not value:
            return "must not be empty"
        case "string_pattern_mismatch":
            return f"{_written(value)}: a name is a letter, then letters, digits and _"
        case _:
            return f"{_written(value)}: {_lower_first(problem['msg'])}"


def _known_keys(keys: tuple[int | str, ...], document: dict[str, Any]) -> list[str]:
    match keys[:-1]:
        case ():
            long = list(Scenario.model_fields)
            short = [*OneSwitch.model_fields, *Fabric.model_fields]
            return list(dict.fromkeys([*long, *short]))
        case ("topology",):
            model: Any = Topology
        case ("topology", "failures", _):
            model = Failure
        case ("topology", shape) if shape in SHAPES:
            model = SHAPES[str(shape)]
        case ("switch",):
            model = Switch
        case ("switch", "control", _) | ("switches", _, "control", _):
            model = ControlStep
        case ("switch", "schedule", _):
            model = SwitchStep
        case ("hosts", _):
            model = Host
        case ("switches", _):
            model = NetworkSwitch
        case ("links", _):
            model = Link
        case ("links", _, "schedule", _):
            model = LinkStep
        case ("switches", int(index), "aqm"):
            return choice_keys(str(document["switches"][index]["aqm"].get("use")))
        case ("aqms", int(index), *_):
            return choice_keys(str(document["aqms"][index].get("use")))
        case ("flows", int(index), *_):
            model = FLOW_KINDS[document["flows"][index].get("kind", "tcp")]
        case _:
            return []
    return [field.alias or name for name, field in model.model_fields.items()]


def _written(value: object) -> str:
    """`value` as TOML writes it, cut to a line."""
    try:
        written = json.dumps(value, default=str, ensure_ascii=False)
    except (RecursionError, ValueError):
        return "a value nested too deep"
    return written if len(written) <= 60 else written[:57] + "..."


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]
