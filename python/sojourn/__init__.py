"""Sojourn: what a P4 queue-management program does to real traffic, from its source text.

`run` takes a scenario through all its AQMs and returns figures and Arrow tables; `check` says what
the engine thinks of a P4 program.
"""

from importlib.metadata import version

from sojourn.checker import CheckResult, check
from sojourn.errors import ProgramError, ScenarioError, SojournError
from sojourn.result import AqmResult, Result
from sojourn.runner import run
from sojourn.scenario import Scenario

__version__ = version("sojourn")
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
]
