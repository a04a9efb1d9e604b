"""The steps of a run in order: plan, folder, runs, figures, plots and report.

The command line and the Python interface both use this module. Modules that a run needs only at its
end are imported there, because they take longer to load than a short run.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sojourn.backends.backend import Backend
from sojourn.backends.sim import SIMULATOR
from sojourn.common.atomic_write import locked
from sojourn.common.resources import shown
from sojourn.errors import output_error
from sojourn.model.aqms import is_path
from sojourn.model.scenario import Scenario, find_scenario, read_scenario
from sojourn.model.scenario.keys import chosen_aqms, with_changes
from sojourn.model.scenario.read import read_document
from sojourn.model.scenario_code import refused
from sojourn.runtime.engine import Progress
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.plan import Plan, make_plan
from sojourn.runtime.run_files import SUMMARY

if TYPE_CHECKING:
    from sojourn.results.groups import Grouped
    from sojourn.results.notebook import RunResult
    from sojourn.results.result import AqmResult, Result


def plan_scenario(
    scenario: str | Path | Scenario | Mapping[str, Any],
    *,
    backend: Backend = SIMULATOR,
    set: Mapping[str, Any] = MappingProxyType({}),
    **changes: Any,
) -> Plan:
    """The plan of `scenario`: a file, a shipped name, a model or its dictionary.

    `set` has new values of the scenario's keys by dotted names. `changes` are `make_plan`'s:
    `aqms`, `seed`, `math_unit`, `executor`, `capture`, `include_paths`, `defines`, and for a
    dictionary `beside`. Raises if `backend` cannot run the plan.
    """
    if isinstance(scenario, str | Path) and any(key.startswith("aqms.") for key in set):
        set = _with_aqms(find_scenario(str(scenario)), changes.pop("aqms", ())) | dict(set)
    if isinstance(scenario, Scenario):
        if set:
            scenario = with_changes(scenario.model_dump(mode="json", exclude_none=True), set)
        plan = make_plan(scenario, **changes)
    elif isinstance(scenario, Mapping):
        plan = make_plan(with_changes(dict(scenario), set), **changes)
    else:
        path = find_scenario(str(scenario))
        read = with_changes(read_document(path)[0], set, path.stem) if set else read_scenario(path)
        plan = make_plan(read, name=path.stem, beside=path.parent, **changes)
    backend.check(plan)
    return plan


def _with_aqms(scenario: Path, wanted: Any) -> dict[str, Any]:
    """The AQMs that the caller chose as a change of the scenario, so that later ones find them."""
    names = [wanted] if isinstance(wanted, str | Mapping) else list(wanted)
    if not names:
        return {}
    listed = read_document(scenario)[0].get("aqms")
    chosen = chosen_aqms(listed, names)
    return {
        "aqms": [
            str(Path(one).absolute()) if isinstance(one, str) and one in names and is_path(one)
            else one
            for one in chosen
        ]
    }  # fmt: skip


def record(
    plan: Plan,
    out: Path,
    progress: Progress | None = None,
    refresh: Callable[[], None] = lambda: None,
    backend: Backend = SIMULATOR,
    *,
    replaces: bool = False,
) -> RunFolder:
    """Runs `plan` and leaves its rows in the folder `out`; `finish` makes the rest from them.

    An earlier run of the same scenario in `out` is replaced once the rows are complete; one of
    another scenario only if `replaces`.
    """
    folder = RunFolder.create(out, plan, backend.name, replaces=replaces)
    progress = progress or Progress(plan.scenario.duration)
    return folder.with_backend(backend.run(plan, folder.path, progress, refresh)).settled()


def finish(folder: RunFolder, *, report: bool = True) -> "Result":
    """Makes figures from the rows in `folder` and, if `report`, plots and the report; of a run with
    `rows = false` the figures alone."""
    from sojourn.results.result import read_result

    result = read_result(folder)
    try:
        for name, aqm in result.aqms.items():
            folder.write_json(f"{aqm.run.folder}/{SUMMARY}", {"aqm": name} | aqm.summary.as_dict())
        folder.write_json(SUMMARY, summaries(result))
        if report and result.scenario.rows:
            from sojourn.results.plots import write_plots
            from sojourn.results.report import write_report
            from sojourn.results.slowdown_plot import write_slowdown_plot
            from sojourn.results.topology_plot import write_topology_plot

            with ThreadPoolExecutor(max_workers=1) as beside:
                page = beside.submit(write_report, result)
                write_plots(result)
                write_slowdown_plot(result)
                write_topology_plot(result)
                page.result()
    except OSError as error:
        raise output_error(error, shown(folder.path), rows=True) from error
    return result


def summaries(result: "Result") -> dict[str, Any]:
    """All figures of the terminal's tables, for JSON."""
    return {
        "scenario": result.folder.name,
        "seed": result.scenario.seed,
        **({"warm_up": result.scenario.warm_up} if result.scenario.warm_up else {}),
        **({} if result.scenario.rows else {"rows": False}),
        **({} if result.compared is None else {"compared_until": result.compared}),
        "aqms": [
            {"aqm": name} | aqm.summary.as_dict() | _optional_figures(aqm)
            for name, aqm in result.aqms.items()
        ],
    }


def _optional_figures(aqm: "AqmResult") -> dict[str, Any]:
    """The groups of flows, and the figures of only some scenarios: several queues, changes of a
    rate, exchanges, voices."""
    summary: dict[str, Any] = {} if aqm.complete else {"interrupted": True, "ran": aqm.ran}
    summary["groups"] = _rows(next(iter(aqm.grouped.values())))
    if len(aqm.bottlenecks) > 1:
        own = {
            name: of.summary.as_dict() | {"groups": _rows(aqm.grouped[name])}
            for name, of in aqm.bottlenecks.items()
        }
        summary["bottlenecks"] = own
    if aqm.phases:
        summary["phases"] = {n: [asdict(one) for one in phases] for n, phases in aqm.phases.items()}
    if aqm.times:
        summary["completion_times"] = [
            asdict(one) | {"what": one.what.strip()} for one in aqm.times
        ]
    if aqm.slowdowns:
        summary["slowdowns"] = [asdict(one) for one in aqm.slowdowns]
    if aqm.pauses:
        summary["pauses"] = [asdict(one) for one in aqm.pauses.links]
    if aqm.voices:
        summary["voices"] = [asdict(one) for one in aqm.voices]
    return summary


def _rows(grouped: "Grouped") -> list[dict[str, Any]]:
    """The groups at one queue."""
    return [row.as_dict() for row in grouped.rows]


def run(
    scenario: str | Path | Scenario | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    aqms: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] = (),
    seed: int | None = None,
    set: Mapping[str, Any] = MappingProxyType({}),
    math_unit: str | None = None,
    executor: str | None = None,
    pcap: bool = False,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] = MappingProxyType({}),
    backend: Backend = SIMULATOR,
    ground: Backend | None = None,
    replaces: bool = False,
    report: bool = True,
    scripts: bool = True,
) -> "RunResult":
    """Runs `scenario` and returns its result, with the rows as Arrow tables.

    `scenario` is a path, the name of a shipped scenario, a `Scenario` or a dictionary of the same
    shape; `set` has keys of it by dotted names, as in `{"switch.rate": "50 Mbit/s"}`. Without
    `out`, the run's folder is a new one in the system's temporary folder. Without `report` neither
    pictures nor the page are made, and a folder without a name of its own goes with the result.
    `backend` runs it; `sojourn.backends.linux.backend.linux()` is the kernel. `ground` is the
    former name of `backend`. An earlier run in `out` is replaced; one of another scenario only if
    `replaces`. Without `scripts`, code of the scenario is refused: a controller's script, hardware
    modules of its own.

    `aqms`, one or a list, takes the place of the scenario's; each is a name that `sojourn aqms`
    lists, a path to a program, or either with its options: `{"use": "codel", "target": "2 ms"}`.
    `include_paths` and `defines` go to all programs, as `-I` and `-D` do.
    `math_unit` is a reading of the stateful ALU's math unit, `vendor` or `paper`; `executor` is
    what runs P4 programs, `native` or `interpreter`, which do the same. With `pcap` the frames at
    the bottleneck are kept too. In tables and results times are in ns, rates in bit/s,
    sizes in bytes; the same scenario and seed give the same rows.

    Raises `ScenarioError` for a scenario that makes no sense, `UnknownAqmError` for a name that is
    neither a discipline nor a program, `ProgramError` for a program that cannot be loaded,
    `ControlPlaneError` for a control plane that does not fit it, `OutputError` if the folder cannot
    be written. All of them are a `SojournError`, with a message that says what would be right.

    >>> result = sojourn.run("bufferbloat", aqms=["fifo", {"use": "codel", "target": "2 ms"}],
    ...                      seed=2, set={"duration": "1 s"}, report=False)
    >>> fifo, codel = (result.aqms[name].summary for name in ("fifo", "codel"))
    >>> codel.mean < fifo.mean
    True
    """
    from sojourn.results.notebook import RunResult

    with refused(not scripts):
        plan = plan_scenario(
            scenario,
            backend=(backend := ground or backend),
            set=set,
            aqms=aqms,
            seed=seed,
            math_unit=math_unit,
            executor=executor,
            capture=pcap,
            include_paths=include_paths,
            defines=defines,
        )
    temporary = None
    if out is not None:
        folder = Path(out)
    elif report:
        folder = Path(tempfile.mkdtemp(prefix=f"{plan.name}-"))
    else:
        temporary = tempfile.TemporaryDirectory(prefix=f"{plan.name}-")
        folder = Path(temporary.name)
    with locked(folder):
        recorded = record(plan, folder, backend=backend, replaces=replaces)
        return RunResult.of(finish(recorded, report=report), temporary)
