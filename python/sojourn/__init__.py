"""Sojourn: a packet-level simulator and live switch for queue management written in P4.

`run` runs a scenario with all its AQMs and returns figures and Arrow tables. `sweep` repeats it
over seeds and values. `check` returns the diagnostics of a P4 program, `run_test` runs its packet
tests. `compare_runs` compares runs, `replay_trace` the decisions of several programs about the same
packets. `connect` and `open_switch` return switches to control, `open_run` an earlier run.
`load_program` and `load_scenario` return programs and scenarios, `list_aqms` and `list_scenarios`
the available ones. `register_aqm` names an AQM, `register_discipline` a discipline in Python, which
is a `Discipline`. `QueueEnv` is a queue as a Gymnasium environment. The examples in their
docstrings run as they stand.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sojourn._core import QueuedPacket, QueueState
    from sojourn.api import (
        compare_runs,
        list_aqms,
        list_scenarios,
        load_program,
        load_scenario,
        register_aqm,
        register_discipline,
        replay_trace,
        run_test,
    )
    from sojourn.backends.connections import VirtualSwitch, connect, open_switch
    from sojourn.control import ControlError
    from sojourn.control.switch import Switch
    from sojourn.errors import ProgramError, ScenarioError, SojournError
    from sojourn.model.python_discipline import Decision, Discipline, Rate, Size, Time
    from sojourn.model.scenario import Scenario
    from sojourn.results.notebook import RunResult, open_run
    from sojourn.results.result import AqmResult, Result
    from sojourn.runner import run
    from sojourn.studies.environment import QueueEnv, QueueInterval
    from sojourn.studies.sweeps.sweep import sweep
    from sojourn.tools.check.checker import CheckResult, check

    __all__ = [
        "AqmResult",
        "CheckResult",
        "ControlError",
        "Decision",
        "Discipline",
        "ProgramError",
        "QueueEnv",
        "QueueInterval",
        "QueueState",
        "QueuedPacket",
        "Rate",
        "Result",
        "RunResult",
        "Scenario",
        "ScenarioError",
        "Size",
        "SojournError",
        "Switch",
        "Time",
        "VirtualSwitch",
        "check",
        "compare_runs",
        "connect",
        "list_aqms",
        "list_scenarios",
        "load_program",
        "load_scenario",
        "open_run",
        "open_switch",
        "register_aqm",
        "register_discipline",
        "replay_trace",
        "run",
        "run_test",
        "sweep",
    ]

_PLACES = {
    "AqmResult": "results.result",
    "Decision": "model.python_discipline",
    "Discipline": "model.python_discipline",
    "QueueEnv": "studies.environment",
    "QueueInterval": "studies.environment",
    "QueueState": "_core",
    "QueuedPacket": "_core",
    "Rate": "model.python_discipline",
    "Size": "model.python_discipline",
    "Time": "model.python_discipline",
    "CheckResult": "tools.check.checker",
    "ProgramError": "errors",
    "Result": "results.result",
    "RunResult": "results.notebook",
    "Scenario": "model.scenario",
    "ScenarioError": "errors",
    "SojournError": "errors",
    "ControlError": "control",
    "Switch": "control.switch",
    "VirtualSwitch": "backends.connections",
    "check": "tools.check.checker",
    "compare_runs": "api",
    "connect": "backends.connections",
    "open_switch": "backends.connections",
    "list_aqms": "api",
    "list_scenarios": "api",
    "load_program": "api",
    "load_scenario": "api",
    "open_run": "results.notebook",
    "register_aqm": "api",
    "register_discipline": "api",
    "replay_trace": "api",
    "run_test": "api",
    "run": "runner",
    "sweep": "studies.sweeps.sweep",
}
"""The module of each name: imported when the name is first asked for, as some take long to load."""


_OPTIONAL = {"QueueEnv": "gymnasium", "QueueInterval": "gymnasium"}
"""The package that a name needs; without it `from sojourn import *` leaves the name out."""


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(one for one in _PLACES if _is_there(_OPTIONAL.get(one)))
    if name == "__version__":
        from importlib.metadata import version

        return version("sojourn")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def _is_there(package: str | None) -> bool:
    """Whether a package can be imported."""
    return package is None or find_spec(package) is not None


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__"), "__version__"})
