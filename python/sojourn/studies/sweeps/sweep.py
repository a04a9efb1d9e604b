"""The whole way of a sweep: plan, runs, table, plots and page. The command line and Python come
through here."""

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sojourn.backends.backend import Backend
from sojourn.backends.sim import SIMULATOR
from sojourn.model.scenario_code import refused
from sojourn.studies.sweeps.file import SweepFile, base_of, read_sweep, sweep_from_dict
from sojourn.studies.sweeps.local import LocalWorkers
from sojourn.studies.sweeps.plan import Macros, SweepPlan, described, plan_sweep
from sojourn.studies.sweeps.scheduler import State, Workers, coordinate
from sojourn.studies.sweeps.store import Store
from sojourn.studies.sweeps.table import Tables, read_tables, write_tables


@dataclass(frozen=True)
class SweepResult:
    """A sweep that has ended."""

    plan: SweepPlan
    state: State
    table: pa.Table
    """A row per run and bottleneck; times in ns, rates in bit/s."""
    folder: Path

    @property
    def tables(self) -> Tables:
        """What plots are of."""
        return read_tables(self.folder, self.table)

    @property
    def groups(self) -> pa.Table | None:
        """A row per run, bottleneck and group of flows."""
        return self.tables.groups


def plan_file(
    given: str | Path | SweepFile,
    *,
    repeats: bool = False,
    macros: Macros | None = None,
    backend: Backend = SIMULATOR,
) -> SweepPlan:
    """The plan of a sweep file, or of a sweep, whose programs all get `macros` and whose runs are
    for `backend`; with `repeats` two cells may be the same run."""
    if isinstance(given, SweepFile):
        base = base_of(given.scenario, Path())
        return plan_sweep(given, base, repeats=repeats, macros=macros, backend=backend)
    path = Path(given)
    sweep = read_sweep(path)
    base = base_of(sweep.scenario, path.parent)
    return plan_sweep(sweep, base, repeats=repeats, macros=macros, backend=backend)


def run_sweep(
    plan: SweepPlan,
    out: Path,
    *,
    workers: Callable[[], Workers] = LocalWorkers,
    tell: Callable[[State], None] = lambda _: None,
    pictures: bool = True,
) -> SweepResult:
    """Runs what of `plan` is not in the folder `out` yet, and makes tables, plots and page."""
    with Store.open(out, described(plan)) as store:
        state = coordinate(plan, store, workers, tell)
        result = SweepResult(plan, state, write_tables(plan, store), out)
        if pictures:
            draw(result)
    return result


def draw(result: SweepResult) -> None:
    """Makes plots and page of the tables."""
    # Imported here because the plotting library takes longer to load than many a sweep to run.
    from sojourn.studies.sweeps.page import write_page
    from sojourn.studies.sweeps.plots import write_plots
    from sojourn.studies.sweeps.summary import group_summaries, summary

    plots = write_plots(result.plan, result.tables, result.folder) if len(result.table) else []
    rows = [summary(result.plan, result.table), *group_summaries(result.plan, result.groups)]
    write_page(result.plan, result.state, rows, plots, result.folder)


def sweep(
    scenario: str | Path | Mapping[str, Any],
    *,
    seeds: Sequence[int] | str = (1,),
    grid: Mapping[str, Sequence[Any]] | None = None,
    zip: Sequence[Mapping[str, Sequence[Any]]] = (),
    set: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    out: str | Path | None = None,
    cluster: str | None = None,
    processes: int | None = None,
    scripts: bool = True,
) -> pa.Table:
    """Runs `scenario` with every seed and every value of the axes, on all cores.

    `scenario` is a sweep file (`.toml` with a key `scenario`), and then nothing else of what is to
    be run may be given, or what `sojourn.run` takes: a path, a shipped scenario's name or a
    dictionary. `grid` and `zip` have lists of values by dotted keys such as `"switch.rate"`; `set`
    has keys that all runs have otherwise. Without `out` the folder is a temporary one. With
    `cluster`, the address of a Dask scheduler, the runs are its workers'. Without `scripts` code
    that the scenario brings along is refused.

    Returns a row per run and bottleneck: axes, AQM, seed and the figures of a run; times in ns,
    rates in bit/s. Runs that fail are missing in it and listed in `failures.json` of the folder.
    Raises `ScenarioError` for a scenario, an axis or a seed that makes no sense.

    >>> table = sojourn.sweep("bufferbloat", seeds="1..2", processes=1,
    ...                       set={"duration": "0.2 s", "aqms": ["codel"]},
    ...                       grid={"switch.rate": ["50 Mbit/s", "100 Mbit/s"]})
    >>> table.num_rows
    4
    """
    with refused(not scripts):
        plan = _plan(scenario, seeds, grid or {}, zip, set or {}, names or {})
    folder = Path(out) if out is not None else Path(tempfile.mkdtemp(prefix="sweep-"))
    return run_sweep(plan, folder, workers=workers_for(cluster, processes), pictures=False).table


def workers_for(cluster: str | None, processes: int | None) -> Callable[[], Workers]:
    """The workers of a cluster, or processes on this machine."""
    if cluster is None:
        return lambda: LocalWorkers(processes)
    from sojourn.studies.sweeps.cluster import ClusterWorkers

    return lambda: ClusterWorkers(cluster)


def _plan(
    scenario: str | Path | Mapping[str, Any],
    seeds: Sequence[int] | str,
    grid: Mapping[str, Sequence[Any]],
    zipped: Sequence[Mapping[str, Sequence[Any]]],
    changed: Mapping[str, Any],
    names: Mapping[str, str],
) -> SweepPlan:
    document: dict[str, Any] = {
        "scenario": dict(scenario) if isinstance(scenario, Mapping) else os.fspath(scenario),
        "seeds": seeds if isinstance(seeds, str) else list(seeds),
        "set": dict(changed),
        "grid": {key: list(values) for key, values in grid.items()},
        "zip": [{key: list(values) for key, values in group.items()} for group in zipped],
        "names": dict(names),
    }
    asked = any(document[key] for key in ("set", "grid", "zip", "names")) or seeds != (1,)
    if not asked and isinstance(scenario, str | Path) and _is_sweep(Path(scenario)):
        return plan_file(scenario)
    return plan_file(sweep_from_dict(document))


def _is_sweep(path: Path) -> bool:
    """True if the file at `path` is a sweep's and not a scenario's."""
    from sojourn.model.scenario.read import read_document

    return path.is_file() and "scenario" in read_document(path)[0]
