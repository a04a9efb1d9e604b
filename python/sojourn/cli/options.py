"""Option groups: options of a command as fields of a dataclass.

Typer makes one option of each parameter. `grouped` lets a command with many options take a few
dataclasses instead. Must not depend on a particular command.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, Literal, get_type_hints

import typer

from sojourn.backends.backend import ATTEMPTS, Ground
from sojourn.backends.sim import SIMULATOR
from sojourn.cli.shared import AcceptDisturbed, Attempts, Kernel
from sojourn.errors import ScenarioError

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


@dataclass(frozen=True)
class BackendOptions:
    """The options that choose a backend."""

    on: Annotated[
        Literal["sim", "linux", "live"],
        typer.Option(
            help="Where it runs: in virtual time, on a Linux kernel, or as real packets through "
            "the live switch."
        ),
    ] = "sim"
    kernel: Kernel = "uml"
    traffic: Annotated[
        Literal["sockets", "iperf3"],
        typer.Option(help="With --on linux and live: who sends; sockets start exactly on time."),
    ] = "sockets"
    accept_disturbed: AcceptDisturbed = False
    attempts: Attempts = ATTEMPTS

    def backend(self) -> Ground:
        """The chosen backend; `ScenarioError` for options of another one."""
        if self.on != "linux" and self.kernel != "uml":
            raise ScenarioError("--kernel is for --on linux")
        given = (self.traffic, self.accept_disturbed, self.attempts)
        if self.on == "sim":
            if given != ("sockets", False, ATTEMPTS):
                raise ScenarioError(
                    "--traffic, --accept-disturbed and --attempts are for --on linux and --on live"
                )
            return SIMULATOR
        settings: Any = {
            "accept_disturbed": self.accept_disturbed,
            "traffic": self.traffic,
            "attempts": self.attempts,
        }
        if self.on == "live":
            from sojourn.backends.live.backend import live

            return live(**settings)
        from sojourn.backends.linux.backend import linux

        return linux(self.kernel, **settings)
