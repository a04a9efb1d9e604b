"""A run's folder: its creation, its description in `run.json`, and the search for its files.

`run.json` is enough to repeat the run and to make tables, plots and the report again from the rows.
A folder may come from an untrusted source: `run.json` is validated before any of it is used as a
path. Must not depend on the engine.

A rerun is written to `.unfinished/` and replaces the old run only after its rows are complete. The
old run's files are removed by the list in its `run.json`; files that are not in that list stay. An
interrupted rerun can be read in `.unfinished/`.
"""

import json
import platform
import sys
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sojourn.common.atomic_write import write_text
from sojourn.common.filenames import is_plain
from sojourn.common.resources import shown
from sojourn.common.textfile import read_json
from sojourn.errors import OutputError, ScenarioError, output_error
from sojourn.model.scenario import Scenario, scenario_from_dict
from sojourn.runtime.manifest import move_files, remove_files
from sojourn.runtime.plan import Plan
from sojourn.runtime.run_files import RUN, UNFINISHED, files_of, is_ours

_FORMAT = 1
_LIBRARIES = ("pyarrow", "numpy", "matplotlib", "pydantic")


@dataclass(frozen=True)
class RecordedRun:
    """One AQM's run as `run.json` names it."""

    label: str
    folder: str
    family: str
    variant: str
    aqm: dict[str, Any]
    sources: dict[str, str]
    """Every file that it read, by name, with its SHA-256."""


class _Checked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class _Run(_Checked):
    label: str
    folder: str
    family: str
    variant: str
    aqm: dict[str, Any]
    sources: dict[str, str]


class _Provenance(_Checked):
    sojourn: str
    python: str
    libraries: dict[str, str]


class _BackendOfRun(BaseModel):
    """The part of a backend's description that tables and pages show."""

    model_config = ConfigDict(strict=True, extra="allow")
    differences: list[str]
    disturbed: str


class _Backend(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    name: str
    kernel: str = ""
    clock: str = ""
    runs: dict[str, _BackendOfRun] | None = None


class _Description(_Checked):
    """`run.json`."""

    format: int
    name: str
    seed: int
    scenario: dict[str, Any]
    runs: list[_Run]
    provenance: _Provenance
    backend: _Backend = Field(default=_Backend(name="sim"), alias="ground")
    files: list[str] | None = None
    """All that the run may have written; absent in folders of earlier versions."""
    scenario_folder: str | None = None
    """The folder that relative paths of the scenario start from; absent as `files` may be."""


@dataclass(frozen=True)
class RunFolder:
    """A folder with the rows of all AQMs of one scenario."""

    path: Path
    name: str
    scenario: Scenario
    runs: tuple[RecordedRun, ...]
    provenance: dict[str, Any]
    backend: dict[str, Any] = field(default_factory=lambda: {"name": "sim"})
    """Its name (`sim`, `linux`, `live`) and its description; the key `ground` of `run.json`."""
    place: Path | None = None
    """Its destination once its rows are complete, if it is not there yet."""
    beside: Path | None = None
    """The folder that relative paths of the scenario start from; absent in folders of versions
    whose `sources` are not complete."""

    @classmethod
    def create(
        cls, path: Path, plan: Plan, backend: str = "sim", *, replaces: bool = False
    ) -> Self:
        """Makes the folder for a run into `path`, where an earlier run's stays until `settled`.

        `OutputError` if `path` is something else, or another scenario's run and not `replaces`.
        """
        runs = tuple(
            RecordedRun(run.label, run.folder, run.family, run.variant, run.described, run.sources)
            for run in plan.runs
        )
        provenance = {
            "sojourn": version("sojourn"),
            "python": platform.python_version(),
            "libraries": {name: _version(name) for name in _LIBRARIES},
        }
        folder = cls(
            path, plan.name, plan.scenario, runs, provenance, {"name": backend}, beside=plan.beside
        )
        try:
            if _holds_a_run(path):
                _refuse_another(path, folder, replaces)
                folder = replace(folder, path=path / UNFINISHED, place=path)
                _remove_unfinished(folder.path)
            folder.path.mkdir(parents=True, exist_ok=True)
            folder._write_description()
        except OSError as error:
            raise output_error(error, shown(path)) from error
        return folder

    @classmethod
    def open(cls, path: Path) -> Self:
        """The folder that an earlier run left at `path`; `ScenarioError` if it is not one."""
        described = _read(path)
        labels = [run.label for run in described.runs]
        folders = [run.folder for run in described.runs]
        for names in (labels, folders):
            if len(set(names)) < len(names):
                raise ScenarioError(f"{shown(path)}: not a run's folder: {RUN}: two runs of a name")
        for name in folders:
            _refuse_foreign_place(path, name)
        return cls(
            path,
            described.name,
            scenario_from_dict(described.scenario, f"{shown(path)}/{RUN}"),
            tuple(RecordedRun(**vars(run)) for run in described.runs),
            described.provenance.model_dump(),
            described.backend.model_dump(exclude_unset=True),
            beside=None if described.scenario_folder is None else Path(described.scenario_folder),
        )

    def with_backend(self, backend: dict[str, Any]) -> Self:
        """The same folder with the backend's description, which is added to `run.json`."""
        folder = replace(self, backend=backend)
        try:
            folder._write_description()
        except OSError as error:
            raise output_error(error, shown(self.path)) from error
        return folder

    def settled(self) -> Self:
        """The same run where it belongs, in place of an earlier one, now that it is complete."""
        if self.place is None:
            return self
        folder = replace(self, path=self.place, place=None)
        try:
            earlier = _read(self.place).files or []
            # Whatever happens from here on, the list has all that is ours.
            folder._write_description([*self._files, *earlier])
            remove_files(self.place, [file for file in earlier if file != RUN])
            move_files(self.path, self.place, [file for file in self._files if file != RUN])
            folder._write_description()
            (self.path / RUN).unlink()
            self.path.rmdir()
        except OSError as error:
            raise output_error(error, shown(self.place)) from error
        return folder

    @property
    def _files(self) -> list[str]:
        """All that the run may write."""
        return files_of([run.folder for run in self.runs], self.scenario.bottlenecks)

    def _write_description(self, files: list[str] | None = None) -> None:
        described = {
            "format": _FORMAT,
            "name": self.name,
            "seed": self.scenario.seed,
            "scenario": self.scenario.model_dump(mode="json", exclude_none=True),
            "runs": [vars(run) for run in self.runs],
            "provenance": self.provenance,
            "ground": self.backend,
            "files": self._files if files is None else list(dict.fromkeys(files)),
        }
        if self.beside is not None:
            described["scenario_folder"] = str(self.beside)
        self.write_json(RUN, described)

    def write_json(self, name: str, content: object) -> None:
        """Writes `content` to the file `name` below the folder."""
        write_text(self.path / name, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _version(library: str) -> str:
    """A library's version: from the loaded module, which is faster than from its distribution."""
    said = getattr(sys.modules.get(library), "__version__", None)
    return said if isinstance(said, str) else version(library)


def default_folder(name: str) -> Path:
    """The default folder of a run: `runs/`, by scenario and time of day."""
    stem = f"{name}-{datetime.now():%Y%m%d-%H%M%S}"
    places = (Path("runs") / (f"{stem}-{number}" if number else stem) for number in count())
    return next(place for place in places if not place.exists())


def _read(path: Path) -> _Description:
    """The validated `run.json` in `path`."""
    try:
        document = read_json(path / RUN)
        if isinstance(document, dict) and document.get("format") != _FORMAT:
            raise ScenarioError(f"{shown(path)}: made by another version of Sojourn")
        described = _Description.model_validate(document)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "all of it"
        reason = f"{where[:100]}: {first['msg']}"
        raise ScenarioError(f"{shown(path)}: not a run's folder: {RUN}: {reason}") from None
    except (OSError, ValueError) as error:
        raise ScenarioError(f"{shown(path)}: not a run's folder: {RUN}: {error}") from error
    for listed in described.files or []:
        if not is_ours(listed):
            raise ScenarioError(
                f"{shown(path)}: not a run's folder: {RUN}: files: {listed[:100]!r} is not a file "
                "that a run writes into its folder"
            )
    return described


def _refuse_foreign_place(path: Path, name: str) -> None:
    """`ScenarioError` unless `name` is a folder right in `path`, or nothing yet."""
    reason = ""
    if not is_plain(name) or name.startswith("."):
        reason = "not the name of a folder in it"
    elif (path / name).is_symlink():
        reason = "a link to somewhere else"
    elif (path / name).exists() and not (path / name).is_dir():
        reason = "not a folder"
    if reason:
        raise ScenarioError(f"{shown(path)}: not a run's folder: {name[:100]!r}: {reason}")


def _holds_a_run(path: Path) -> bool:
    """True if an earlier run is at `path`; `OutputError` if there is anything else but room."""
    if not path.exists():
        return False
    if not path.is_dir():
        raise OutputError(f"{shown(path)}: there is a file of that name")
    if not any(path.iterdir()):
        return False
    if not (path / RUN).is_file():
        raise OutputError(
            f"{shown(path)}: not empty and not a run's folder; nothing was touched\n"
            "Give another folder with --out."
        )
    return True


def _refuse_another(path: Path, folder: RunFolder, replaces: bool) -> None:
    """`OutputError` unless the run at `path` is one that `folder` may take the place of."""
    try:
        earlier = RunFolder.open(path)
        listed = _read(path).files is not None
    except ScenarioError as error:
        raise OutputError(f"{error}\nNothing was touched. Give another folder.") from error
    if not listed:
        raise OutputError(
            f"{shown(path)}: made by another version of Sojourn, which does not say what it wrote; "
            "nothing was touched\nGive another folder with --out, or remove this one."
        )
    theirs, ours = (each.scenario.title or each.name for each in (earlier, folder))
    if not replaces and (earlier.name, theirs) != (folder.name, ours):
        raise OutputError(
            f"{shown(path)}: holds a run of another scenario, {earlier.name} ({theirs[:100]}); "
            "nothing was touched\nGive another folder with --out, or --replace to have it replaced."
        )


def _remove_unfinished(path: Path) -> None:
    """Removes a run that never took its place; `OutputError` if `path` is not one."""
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise OutputError(f"{shown(path)}: not a folder; nothing was touched")
    if not path.exists():
        return
    if not any(path.iterdir()):
        return
    try:
        files = _read(path).files or []
    except ScenarioError as error:
        raise OutputError(f"{error}\nNothing was touched.") from error
    remove_files(path, files)
    if any(path.iterdir()):
        raise OutputError(f"{shown(path)}: has files that are not a run's; nothing more was done")
