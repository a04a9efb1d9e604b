"""Sojourn: what a P4 queue-management program does to real traffic, from its source text.

`run` takes a scenario through all its AQMs and returns figures and Arrow tables; `sweep` does so
with many seeds and values; `check` says what the engine thinks of a P4 program.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn.checker import CheckResult, check
    from sojourn.errors import ProgramError, ScenarioError, SojournError
    from sojourn.result import AqmResult, Result
    from sojourn.runner import run
    from sojourn.scenario import Scenario
    from sojourn.sweeps.sweep import sweep

__all__ = [
    "AqmResult",
    "CheckResult",
    "ProgramError",
    "Result",
    "Scenario",
    "ScenarioError",
    "SojournError",
    "check",
    "run",
    "sweep",
]

_PLACES = {
    "AqmResult": "result",
    "CheckResult": "checker",
    "ProgramError": "errors",
    "Result": "result",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "SojournError": "errors",
    "check": "checker",
    "run": "runner",
    "sweep": "sweeps.sweep",
}
"""The module of each name: imported when the name is first asked for, as some take long to load."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("sojourn")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})
