"""Where a plan runs: the small interface that every ground has, and the simulator behind it.

Stands on the engine. A ground checks a plan before anything is written, runs it into a folder in
which every AQM gets the same files, and says what it was. What the files say is not known here.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from sojourn import _core
from sojourn.control_plane import in_its_file
from sojourn.engine import Progress, simulate
from sojourn.errors import ConfigError, ControlPlaneError, ScenarioError
from sojourn.scenario import Plan


class Ground(Protocol):
    """Something that runs plans."""

    @property
    def name(self) -> str:
        """As `--on` has it."""

    @property
    def own_disciplines(self) -> Mapping[str, str]:
        """Disciplines that no other ground has, each with one line."""

    def check(self, plan: Plan) -> None:
        """`SojournError` if `plan` cannot run here, before anything is written."""

    def run(
        self, plan: Plan, folder: Path, progress: Progress, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        """Runs all of `plan`, each AQM into its own folder; what `run.json` says of the ground."""


class Simulator:
    """Virtual time."""

    name = "sim"
    own_disciplines: Mapping[str, str] = {}

    def check(self, plan: Plan) -> None:
        """The engine reads each configuration and loads each program."""
        for run in plan.runs:
            try:
                _core.check_config(json.dumps(run.config), list(run.programs))
            except ConfigError as error:
                if located := in_its_file(str(error), run.control_file):
                    raise ControlPlaneError(located) from error
                raise ScenarioError(f"{plan.name}: {run.label}: {error}") from error

    def run(
        self, plan: Plan, folder: Path, progress: Progress, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        """All AQMs at once, as many as there are cores."""
        simulate(plan, folder, progress, refresh)
        return {"name": self.name}


SIMULATOR: Ground = Simulator()
