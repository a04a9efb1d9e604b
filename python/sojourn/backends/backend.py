"""The interface of a backend, and the helpers that real-time backends share.

A backend checks a plan before anything is written, runs it into a folder that has the same files
for every AQM, and returns its own description. Must not depend on a particular backend.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

from sojourn.common.resources import shown
from sojourn.errors import (
    Interrupted,
    ScenarioError,
    output_error,
)
from sojourn.model.python_discipline import ENGINE_PREFIX
from sojourn.runtime.engine import Progress
from sojourn.runtime.plan import Plan, PlannedRun

A = TypeVar("A")

ATTEMPTS = 3
"""Attempts of a run before it counts as disturbed."""


class Backend(Protocol):
    """Something that runs plans."""

    @property
    def name(self) -> str:
        """As `--on` has it."""

    def check(self, plan: Plan) -> None:
        """`SojournError` if `plan` cannot run here, before anything is written."""

    def run(
        self, plan: Plan, folder: Path, progress: Progress, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        """Runs all of `plan`, each AQM into its own folder; returns the backend's part of
        `run.json`."""


def refuse_simulated_only(plan: Plan, name: str) -> None:
    """`ScenarioError` for what only the simulator has: Python code of the user that acts in virtual
    time, a controller's script or a queue discipline, and runs without rows."""
    for run in plan.runs:
        own = [switch.get("aqm") for switch in run.config["network"]["switches"]]
        aqms = [*filter(None, [run.config["aqm"], *own])]
        under_programs = [aqm["discipline"] for aqm in aqms if aqm.get("discipline")]
        for aqm in (*aqms, *under_programs):
            if str(aqm.get("name", "")).startswith(ENGINE_PREFIX):
                raise ScenarioError(
                    f"{run.label}: a discipline in Python runs in the simulator, not on {name}; "
                    "run it without --on"
                )
    if not plan.scenario.rows:
        raise ScenarioError(
            f"{plan.name}: rows = false: runs on {name} have rows; run it without --on, or without "
            "that key"
        )
    if plan.scenario.control is not None:
        raise ScenarioError(
            f"{plan.name}: control: this controller acts in virtual time; on {name} let one "
            "connect (docs/control.md), or run it without --on"
        )


def run_sequentially(
    name: str,
    plan: Plan,
    folder: Path,
    progress: Progress,
    refresh: Callable[[], None],
    run_one: Callable[[PlannedRun, Path, Callable[[int], None]], dict[str, Any]],
) -> dict[str, Any]:
    """Runs one AQM after the other, because two at once would disturb each other. Returns the part
    of `run.json` about the backend `name` and each run on it. `run_one` gets the AQM's folder and a
    function to call with the progress in ns."""
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
