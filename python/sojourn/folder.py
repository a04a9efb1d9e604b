"""A run's folder: making it, describing the run in `run.json`, finding everything in it again.

Stands on files only. `run.json` is enough to repeat the run and to make tables, plots and the
report again from the rows. Knows no engine.
"""

import json
import platform
import shutil
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from sojourn.errors import OutputError, ScenarioError, output_error
from sojourn.layout import shown
from sojourn.scenario import Plan, Scenario, scenario_from_dict

RUN, REPORT, SUMMARY = "run.json", "report.html", "summary.json"
_FORMAT = 1
_LIBRARIES = ("pyarrow", "numpy", "matplotlib", "plotly", "pydantic")


@dataclass(frozen=True)
class RecordedRun:
    """One AQM's run as `run.json` names it."""

    label: str
    folder: str
    family: str
    variant: str
    aqm: dict[str, Any]
    sources: dict[str, str]


@dataclass(frozen=True)
class RunFolder:
    """A folder with the rows of all AQMs of one scenario."""

    path: Path
    name: str
    scenario: Scenario
    runs: tuple[RecordedRun, ...]
    provenance: dict[str, Any]
    ground: dict[str, Any] = field(default_factory=lambda: {"name": "sim"})
    """Where it ran: `sim`, or another ground with what it says of itself."""

    @classmethod
    def create(cls, path: Path, plan: Plan, ground: str = "sim") -> Self:
        """Makes the folder, in place of an earlier run's; `OutputError` if it is something else."""
        runs = tuple(
            RecordedRun(run.label, run.folder, run.family, run.variant, run.described, run.sources)
            for run in plan.runs
        )
        provenance = {
            "sojourn": version("sojourn"),
            "python": platform.python_version(),
            "libraries": {name: version(name) for name in _LIBRARIES},
        }
        folder = cls(path, plan.name, plan.scenario, runs, provenance, {"name": ground})
        try:
            _clear(path)
            path.mkdir(parents=True, exist_ok=True)
            folder._write_description()
        except OSError as error:
            raise output_error(error, shown(path)) from error
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """The folder that an earlier run left at `path`."""
        try:
            described = json.loads((path / RUN).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ScenarioError(f"{shown(path)}: not a run's folder: {RUN}: {error}") from error
        if described.get("format") != _FORMAT:
            raise ScenarioError(f"{shown(path)}: made by another version of Sojourn")
        return cls(
            path,
            described["name"],
            scenario_from_dict(described["scenario"], f"{shown(path)}/{RUN}"),
            tuple(RecordedRun(**run) for run in described["runs"]),
            described["provenance"],
            described.get("ground", {"name": "sim"}),
        )

    def on_ground(self, ground: dict[str, Any]) -> Self:
        """The same folder, now that it is known where it ran; `run.json` says so from here on."""
        folder = replace(self, ground=ground)
        try:
            folder._write_description()
        except OSError as error:
            raise output_error(error, shown(self.path)) from error
        return folder

    def _write_description(self) -> None:
        described = {
            "format": _FORMAT,
            "name": self.name,
            "seed": self.scenario.seed,
            "scenario": self.scenario.model_dump(mode="json", exclude_none=True),
            "runs": [vars(run) for run in self.runs],
            "provenance": self.provenance,
            "ground": self.ground,
        }
        self.write_json(RUN, described)

    def write_json(self, name: str, content: object) -> None:
        """Writes `content` to the file `name` below the folder."""
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        (self.path / name).write_text(text, encoding="utf-8")


def default_folder(name: str) -> Path:
    """Where a run goes that was not told where: `runs/`, by scenario and time of day."""
    return Path("runs") / f"{name}-{datetime.now():%Y%m%d-%H%M%S}"


def _clear(path: Path) -> None:
    """Removes an earlier run at `path`; refuses to touch a folder that holds anything else."""
    if not path.exists():
        return
    if not path.is_dir():
        raise OutputError(f"{shown(path)}: there is a file of that name")
    if not any(path.iterdir()):
        return
    if not (path / RUN).is_file():
        raise OutputError(
            f"{shown(path)}: not empty and not a run's folder; nothing was touched\n"
            "Give another folder with --out."
        )
    runs = json.loads((path / RUN).read_text(encoding="utf-8")).get("runs", [])
    for run in runs:
        shutil.rmtree(path / run["folder"], ignore_errors=True)
    for name in (REPORT, SUMMARY, *(file.name for file in path.glob("*.png")), RUN):
        (path / name).unlink(missing_ok=True)
