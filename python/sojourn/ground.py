"""Where a plan runs: the small interface that every ground has, and the simulator behind it.

Stands on the engine. A ground checks a plan before anything is written, runs it into a folder in
which every AQM gets the same files, and says what it was. What the files say is not known here.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sojourn import _core
from sojourn.control.file import in_its_file
from sojourn.engine import Progress, simulate
from sojourn.errors import (
    ConfigError,
    ControlPlaneError,
    Interrupted,
    ScenarioError,
    output_error,
)
from sojourn.layout import shown
from sojourn.scenario import Plan, PlannedRun
from sojourn.scenario.short import as_written

A = TypeVar("A")

ATTEMPTS = 3
"""How often a run is made before it is given up as disturbed."""


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


def refuse_script(plan: Plan, name: str) -> None:
    """`ScenarioError` if a controller's script is to act in virtual time, where there is none."""
    if plan.scenario.control is not None:
        raise ScenarioError(
            f"{plan.name}: control: a script acts in virtual time; on {name} let a controller "
            "connect (docs/control.md), or run it without --on"
        )


def one_by_one(
    name: str,
    plan: Plan,
    folder: Path,
    progress: Progress,
    refresh: Callable[[], None],
    run_one: Callable[[PlannedRun, Path, Callable[[int], None]], dict[str, Any]],
) -> dict[str, Any]:
    """Runs one AQM after the other, where two at once would disturb each other: what `run.json`
    says of the ground `name` and of each run on it. `run_one` is told the AQM's folder, and tells
    how far it is, ns."""
    progress.now |= {run.label: 0 for run in plan.runs}
    reports = {}
    for run in plan.runs:

        def on_progress(now: int, label: str = run.label) -> None:
            progress.now[label] = now
            refresh()

        try:
            reports[run.label] = run_one(run, folder / run.folder, on_progress)
        except KeyboardInterrupt:
            raise Interrupted(f"stopped while {run.label} ran; see {shown(folder)}") from None
        except OSError as error:
            raise output_error(error, shown(folder)) from error
        on_progress(run.config["duration"])
    first = next(iter(reports.values()))
    return {"name": name, "kernel": first["kernel"], "clock": first["clock"], "runs": reports}


def until_undisturbed(
    attempt: Callable[[], A], complaint_of: Callable[[A], str], *, attempts: int
) -> tuple[A, list[str]]:
    """The first of so many attempts without a complaint, or the last one; the complaints."""
    complaints: list[str] = []
    while True:
        made = attempt()
        complaint = complaint_of(made)
        if complaint:
            complaints.append(complaint)
        if not complaint or len(complaints) >= attempts:
            return made, complaints


class Simulator:
    """Virtual time; each run on up to `threads` threads, or on the cores that other runs leave."""

    name = "sim"
    own_disciplines: Mapping[str, str] = {}

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


SIMULATOR: Ground = Simulator()
