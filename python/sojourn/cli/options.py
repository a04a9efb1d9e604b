"""Option groups: options of a command as fields of a dataclass.

Typer makes one option of each parameter. `grouped` lets a command with many options take a few
dataclasses instead. Must not depend on a particular command.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints

Command = Callable[..., None]


def grouped(command: Command) -> Command:
    """`command` with one parameter for each field of its dataclasses."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, type[Any]] = {}
    for name, parameter in signature.parameters.items():
        group = parameter.annotation
        if isinstance(group, type) and is_dataclass(group):
            groups[name] = group
            hints = get_type_hints(group, include_extras=True)
            parameters += [_parameter(field, hints[field.name]) for field in fields(group)]
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def expanded(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    expanded.__annotations__ = {each.name: each.annotation for each in parameters}
    vars(expanded)["__signature__"] = signature.replace(parameters=parameters)
    return expanded


def _parameter(field: "Field[Any]", annotation: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if field.default is MISSING else field.default
    return inspect.Parameter(
        field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )
