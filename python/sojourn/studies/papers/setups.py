"""Runs a set-up: a sweep in the paper's folder, and runs on Linux if requested.

Depends on sweeps and, for the kernel, on the runner. Draws and judges nothing.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sojourn.backends.backend import Backend
from sojourn.errors import UnknownAqmError
from sojourn.model.aqms import find_aqm
from sojourn.model.hardware.verilator import VerilatorError, library
from sojourn.studies.papers.measure import Measured, rows_of
from sojourn.studies.papers.model import OptionalAqm, Setup
from sojourn.studies.papers.traces import trace_figures
from sojourn.studies.sweeps.file import parse_seeds, sweep_from_dict
from sojourn.studies.sweeps.plan import SweepPlan
from sojourn.studies.sweeps.run_job import figures_of
from sojourn.studies.sweeps.scheduler import State, Workers
from sojourn.studies.sweeps.sweep import plan_file, run_sweep

LINUX = "Linux kernel"
"""The label of its rows."""

Tell = Callable[[str, State], None]


def plan_setup(setup: Setup, *, quick: bool) -> tuple[SweepPlan, tuple[str, ...]]:
    """The set-up's sweep, and which of its AQMs this version does not have."""
    aqms: list[Any] = list(setup.aqms)
    missing = [*setup.absent]
    for one in setup.optional:
        why = _why_not(one)
        if why is None:
            aqms.append({"use": one.use, "label": one.label})
        else:
            missing.append(f"{one.label}: {why}")
    document = {
        "scenario": setup.scenario,
        "seeds": setup.quick_seeds if quick else setup.seeds,
        "aqms": aqms,
        "set": setup.set | (setup.quick if quick else {}),
        "grid": setup.grid,
        "zip": setup.zip,
        "names": setup.names,
        "keep": ["rows"] if setup.rows else [],
    }
    return plan_file(sweep_from_dict(document)), tuple(missing)


def _why_not(one: OptionalAqm) -> str | None:
    """The reason that an optional AQM cannot run here; none if it can."""
    try:
        module = find_aqm(one.use).module
        if module is not None:
            library(module)
    except UnknownAqmError:
        return f"{one.what} is not in this version"
    except VerilatorError as error:
        return str(error).splitlines()[0]
    return None


def run_setup(
    setup: Setup,
    folder: Path,
    *,
    quick: bool,
    workers: Callable[[], Workers],
    tell: Tell,
    linux: Backend | None = None,
) -> Measured:
    """Runs what is missing of `setup` in `folder`."""
    plan, missing = plan_setup(setup, quick=quick)
    result = run_sweep(
        plan, folder, workers=workers, tell=lambda state: tell(setup.name, state), pictures=False
    )
    tables = {"runs": [_derived(row) for row in rows_of(result.table)]}
    for name in ("times", "voices", "phases", "groups"):
        path = folder / f"{name}.parquet"
        tables[name] = rows_of(pq.read_table(path)) if path.is_file() else []
    tables["groups"] = [_marked(row) for row in tables["groups"]]
    traces: dict[str, Path] = {}
    if setup.rows:
        tables["rows"] = trace_figures(plan, tables["runs"], folder)
        traces = {row["run"]: folder / "runs" / row["run"] for row in tables["runs"]}
    if linux is not None and setup.linux is not None:
        _add_linux(setup, plan, tables, traces, folder, linux, quick=quick)
    failures = tuple(f"{run}: {failure.message}" for run, failure in result.state.failures)
    return Measured(setup, plan.axes, tables, plan.target, folder, missing, failures, traces)


def _add_linux(
    setup: Setup,
    plan: SweepPlan,
    tables: dict[str, list[dict[str, Any]]],
    traces: dict[str, Path],
    folder: Path,
    backend: Backend,
    *,
    quick: bool,
) -> None:
    """Adds rows of runs on the kernel, one for each cell and seed, to the tables of a set-up."""
    from sojourn.results.result import read_result
    from sojourn.runner import plan_scenario, record
    from sojourn.runtime.folder import RunFolder
    from sojourn.studies.papers.traces import figures_in

    seeds = parse_seeds(setup.quick_seeds if quick else setup.seeds)
    cells = {json.dumps(dict(run.cell.values)): run for run in plan.runs}
    for number, run in enumerate(cells.values()):
        for seed in seeds:
            scenario = dict(run.job.scenario) | {
                "aqms": [{"use": setup.linux, "label": LINUX}],
                "seed": seed,
            }
            place = folder / "linux" / f"{number}-{seed}"
            if not (place / "run.json").is_file():
                record(plan_scenario(scenario), place, backend=backend)
            result = read_result(RunFolder.open(place))
            (aqm,) = result.aqms.values()
            figures = figures_of(result, aqm)
            axes = {a.name: a.stored(run.cell.values[a.name]) for a in plan.axes}
            digest = f"linux-{number}-{seed}"
            identity = axes | {"aqm": LINUX, "seed": seed, "run": digest}
            for found in figures["bottlenecks"]:
                offered = found["packets"]
                dropped = found["aqm_drops"] + found["tail_drops"]
                share = dropped / offered if offered else None
                tables["runs"].append(
                    identity | found | {"drop_share": share, "fairness": figures["fairness"]}
                )
            if setup.rows:
                tables["rows"].append(identity | asdict(figures_in(place, plan.target)))
                traces[digest] = place


def _marked(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a group with its marks as a share of the packets offered."""
    return row | {"mark_share": row["marks"] / row["packets"] if row["packets"] else None}


def _derived(row: dict[str, Any]) -> dict[str, Any]:
    """Figures that papers state as a rate: recirculated packets in a second, unknown behind a
    warm-up."""
    times = row["recirculated"]
    rate = None if times is None else times / max(row["simulated"], 1) * 1e9
    return row | {"recirculations": rate}
