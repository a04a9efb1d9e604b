"""The jobs of a sweep file: every cell, every AQM, every seed.

Makes the base scenario's own plan, so that any mistake is reported before the first run begins.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

from sojourn.backends.backend import Backend
from sojourn.backends.sim import SIMULATOR
from sojourn.common.resources import shown
from sojourn.common.suggest import did_you_mean
from sojourn.common.textfile import read_json
from sojourn.control.process_files import absolute_command
from sojourn.errors import ScenarioError
from sojourn.model.aqms import is_path
from sojourn.model.programs import unread_macros
from sojourn.model.scenario import Scenario, scenario_from_dict
from sojourn.model.scenario.aqm_spec import AqmChoice
from sojourn.model.scenario.groups import group_names
from sojourn.model.scenario.keys import chosen_aqms, set_key
from sojourn.model.scenario.quantities import ALL_FLOWS
from sojourn.results.statistics import Summary
from sojourn.runtime.plan import Plan, PlannedRun, make_plan
from sojourn.studies.sweeps.axes import Axis, Cell, axes_of, cells, count_cells
from sojourn.studies.sweeps.drawings import Drawing, drawings
from sojourn.studies.sweeps.file import MOST_RUNS, Base, SweepFile
from sojourn.studies.sweeps.inputs import (
    InputFiles,
    choices_in,
    command_in,
    input_files,
    paths_in,
    with_portable_paths,
)
from sojourn.studies.sweeps.job import Job, digest_of, engine_identity

RUN_COLUMNS = ("run", "aqm", "seed", "bottleneck", "aqm_there", "group", "fairness", "drop_share")
"""Columns of the table other than the axes and the figures of `Summary`."""

_TAKEN = frozenset({*RUN_COLUMNS, *(one.name for one in fields(Summary))})
_TEXTS = ("title", "description", "look_at", "notes")
"""Keys of a scenario that change no result."""


@dataclass(frozen=True)
class SweepRun:
    """A job with what it is within the sweep."""

    cell: Cell
    seed: int
    job: Job

    def __str__(self) -> str:
        axes = [f"{name} = {value}" for name, value in self.cell.values.items()]
        return ", ".join([*axes, self.job.label, f"seed {self.seed}"])


@dataclass(frozen=True)
class SweepPlan:
    """A sweep, ready to run."""

    name: str
    """The base scenario's."""
    title: str
    scenario: str
    """The base scenario's document as its file has it, in JSON."""
    sweep: SweepFile
    axes: tuple[Axis, ...]
    runs: tuple[SweepRun, ...]
    engine: str
    drawings: tuple[Drawing, ...]
    target: int
    """The delay against which the first cell's results are judged, ns."""


@dataclass(frozen=True)
class Macros:
    """What all P4 programs of a sweep get in addition: `-I` and `-D`."""

    include_paths: tuple[str, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)


def plan_sweep(
    sweep: SweepFile,
    base: Base,
    *,
    repeats: bool = False,
    macros: Macros | None = None,
    backend: Backend = SIMULATOR,
) -> SweepPlan:
    """The jobs of `sweep`; `ScenarioError` names the cell and what is wrong in it, or what
    `backend` cannot run.

    With `repeats` two cells may be the same run, which is then run once.
    """
    axes = axes_of(sweep, _TAKEN)
    drawn = drawings(sweep, axes)
    if (count := count_cells(sweep) * len(sweep.seeds)) > MOST_RUNS:
        raise ScenarioError(f"{count:,} runs for each AQM; a sweep has at most {MOST_RUNS:,}")
    planner = _Planner(sweep, base, macros or Macros(), backend)
    runs = tuple(run for cell in cells(sweep, axes) for run in planner.runs(cell))
    for drawing in drawn:
        if drawing.group is not None and drawing.group not in planner.groups:
            hint = did_you_mean(drawing.group, planner.groups)
            known = ", ".join(planner.groups)
            raise ScenarioError(f"plots: no group {drawing.group!r}{hint} (groups: {known})")
    if not repeats:
        _refuse_repeats(runs)
    document = base.document()
    title = sweep.title or f"{document.get('title') or base.name}, {len(runs)} runs"
    scenario = json.dumps(document, indent=2, default=str)
    return SweepPlan(
        base.name, title, scenario, sweep, axes, runs, planner.engine, drawn, planner.target
    )


def described(plan: SweepPlan) -> dict[str, Any]:
    """What the folder of a sweep says of it: enough to make tables and plots again."""
    return {
        "title": plan.title,
        "name": plan.name,
        "scenario": plan.scenario,
        "sweep": plan.sweep.model_dump(mode="json"),
        "engine": plan.engine,
        "runs": len(plan.runs),
        "target": plan.target,
    }


def recorded_plan(path: Path) -> SweepPlan:
    """The plan of the sweep that the file at `path` describes, without its jobs."""
    wrong = f"{shown(path)}: not the description of a sweep"
    try:
        found = read_json(path)
        sweep = SweepFile.model_validate(found["sweep"])
        texts = ("title", "name", "scenario", "engine")
        title, name, scenario, engine = (str(found[key]) for key in texts)
        target = int(found["target"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise ScenarioError(f"{wrong} of this version; give the sweep's command again") from error
    axes = axes_of(sweep, _TAKEN)
    drawn = drawings(sweep, axes)
    return SweepPlan(name, title, scenario, sweep, axes, (), engine, drawn, target)


def _refuse_repeats(runs: tuple[SweepRun, ...]) -> None:
    """Two cells that are the same run would share a folder: an axis without effect is a mistake."""
    seen: dict[str, SweepRun] = {}
    for run in runs:
        other = seen.setdefault(run.job.digest, run)
        if other is not run:
            raise ScenarioError(f"two runs of the sweep are the same: {other}; and {run}")


class _Planner:
    """Makes jobs of cells. What AQMs read is found out once for all cells that choose the same."""

    def __init__(self, sweep: SweepFile, base: Base, macros: Macros, backend: Backend) -> None:
        self._sweep, self._base, self._macros = sweep, base, macros
        self._backend = backend
        on = "" if backend is SIMULATOR else f" on {backend!r}"
        self.engine = f"{engine_identity()}{on}"
        """Identity of what computes the results; a real backend is part of it."""
        self._keep = tuple(sorted(set(sweep.keep)))
        self._planned: dict[str, tuple[list[str], list[InputFiles], list[dict[str, Any]]]] = {}
        self.target = 0
        self.groups: dict[str, None] = {ALL_FLOWS: None}
        """Names of the groups of flows in any cell."""

    def runs(self, cell: Cell) -> Iterator[SweepRun]:
        """Every AQM and seed of `cell`."""
        scenario = self._scenario(cell)
        self.target = self.target or scenario.target
        self.groups |= dict.fromkeys(group_names(scenario.flows))
        labels, reads, aqms = self._plan(scenario)
        document = scenario.model_dump(mode="json", exclude_none=True)
        for choice, label, read in zip(aqms, labels, reads, strict=True):
            own = _without_foreign_controller(document, label)
            own |= {"aqms": [choice | {"label": label}]}
            for seed in self._sweep.seeds:
                sent = with_portable_paths(own | {"seed": seed}, read)
                decisive = {key: value for key, value in sent.items() if key not in _TEXTS}
                job = Job(
                    digest_of(decisive, read.digests, self.engine, self._keep),
                    sent,
                    self._base.name,
                    label,
                    self.engine,
                    read.files,
                    self._keep,
                )
                yield SweepRun(cell, seed, job)

    def _scenario(self, cell: Cell) -> Scenario:
        document = self._base.document()
        if self._sweep.aqms:
            document["aqms"] = chosen_aqms(document.get("aqms"), self._sweep.aqms)
        for key, value in (dict(self._sweep.set) | dict(cell.changes)).items():
            set_key(document, key, value)
        _write_out(document)
        _make_absolute(document, self._base.beside)
        where = ", ".join(f"{key} = {value!r}" for key, value in cell.changes.items())
        name = f"{self._base.name} with {where}" if where else self._base.name
        return scenario_from_dict(document, name)

    def _plan(self, scenario: Scenario) -> tuple[list[str], list[InputFiles], list[dict[str, Any]]]:
        """The label of each AQM, what it reads, and its table with the macros of the sweep."""
        own = [switch.aqm for switch in scenario.switches if switch.aqm is not None]
        parts = [*scenario.aqms, *own, *filter(None, [scenario.control])]
        key = json.dumps([part.model_dump(mode="json") for part in parts], sort_keys=True)
        if key not in self._planned:
            plan: Plan = make_plan(
                scenario,
                name=self._base.name,
                beside=self._base.beside,
                include_paths=self._macros.include_paths,
                defines=self._macros.defines,
            )
            if self._backend is not SIMULATOR:
                self._backend.check(plan)
            reads = [input_files(run.inputs, run.executables) for run in plan.runs]
            aqms = [
                self._written(*each) for each in zip(plan.scenario.aqms, plan.runs, strict=True)
            ]
            self._planned[key] = [run.label for run in plan.runs], reads, aqms
        return self._planned[key]

    def _written(self, choice: AqmChoice, run: PlannedRun) -> dict[str, Any]:
        """The table of an AQM, with those macros that its program reads: a run refuses others."""
        table = choice.model_dump(mode="json", exclude_none=True)
        if self._macros.defines and run.config["aqm"]["kind"] == "p4":
            unread = unread_macros(run.programs[-1], self._macros.defines)
            own = {name: value for name, value in choice.defines.items() if name not in unread}
            table["defines"] = own
        return table


def _without_foreign_controller(document: dict[str, Any], label: str) -> dict[str, Any]:
    """The document without a controller of other AQMs, whose files are no inputs of the run."""
    aqms = document.get("control", {}).get("aqms")
    foreign = aqms is not None and label not in aqms
    return {key: value for key, value in document.items() if not (foreign and key == "control")}


def _write_out(document: dict[str, Any]) -> None:
    """Makes a table of every AQM in `document` that is only a name."""
    aqms = document.get("aqms")
    if isinstance(aqms, list):
        document["aqms"] = [{"use": one} if isinstance(one, str) else one for one in aqms]
    switches = document.get("switches")
    own = [one for one in switches if isinstance(one, dict)] if isinstance(switches, list) else []
    keys = [(switch, "aqm") for switch in own]
    keys += [(choice, "discipline") for choice in choices_in(document)]
    for table, key in keys:
        if isinstance(table.get(key), str):
            table[key] = {"use": table[key]}


def _make_absolute(document: dict[str, Any], beside: Path) -> None:
    """Makes paths that start from the scenario's folder absolute."""
    at = partial(_absolute, beside=beside)
    command = command_in(document)
    command[:] = absolute_command(command, beside)
    for table, key, front in paths_in(document):
        if key != "use" or is_path(table[key]):
            table[key] = front + at(table[key].removeprefix(front))
    for choice in choices_in(document):
        folders = choice.get("include_paths")
        if isinstance(folders, list):
            choice["include_paths"] = [at(one) if isinstance(one, str) else one for one in folders]


def _absolute(path: str, beside: Path) -> str:
    return str((beside / Path(path).expanduser()).absolute())
