"""The simulator as a backend: every AQM in virtual time, on threads of this process.

Depends on the engine of `runtime`. Must not depend on results or on another backend.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.backends.backend import Backend
from sojourn.control.file import in_its_file
from sojourn.errors import ConfigError, ControlPlaneError, ScenarioError
from sojourn.model.scenario.shorthand import as_written
from sojourn.runtime.engine import Progress, simulate
from sojourn.runtime.plan import Plan


class Simulator:
    """Virtual time; each run on up to `threads` threads, or on the cores that other runs leave."""

    name = "sim"

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads

    def check(self, plan: Plan) -> None:
        """The engine reads each configuration and loads each program."""
        for run in plan.runs:
            try:
                _core.check_config(run.configuration, list(run.programs))
            except ConfigError as error:
                if located := in_its_file(str(error), run.control_file):
                    raise ControlPlaneError(located) from error
                said = as_written(str(error), plan.scenario)
                raise ScenarioError(f"{plan.name}: {run.label}: {said}") from error

    def run(
        self, plan: Plan, folder: Path, progress: Progress, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        """All AQMs at once, as many as there are cores."""
        simulate(plan, folder, progress, refresh, self.threads)
        return {"name": self.name}


SIMULATOR: Backend = Simulator()
