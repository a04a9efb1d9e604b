"""`sojourn run`: a scenario through each of its AQMs."""

import sys
import time
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Annotated, Any, Literal

import typer

from sojourn.backends.backend import Backend
from sojourn.backends.sim import SIMULATOR
from sojourn.cli.backend_options import BackendOptions
from sojourn.cli.options import grouped
from sojourn.cli.shared import (
    Define,
    Include,
    Json,
    NoScripts,
    Sources,
    app,
    definitions,
    open_console,
)
from sojourn.common.atomic_write import locked
from sojourn.errors import ScenarioError
from sojourn.model.aqms import is_path
from sojourn.model.scenario import find_scenario
from sojourn.model.scenario.keys import read_changes
from sojourn.model.scenario.read import read_document
from sojourn.model.scenario_code import refuse_if
from sojourn.runner import plan_scenario, record
from sojourn.runtime.engine import Progress as RunProgress
from sojourn.runtime.folder import RunFolder, default_folder
from sojourn.runtime.plan import Plan
from sojourn.studies.published import PREFIX


@dataclass(frozen=True)
class Changes:
    """The options that replace keys of the scenario."""

    aqm: Annotated[
        list[str] | None,
        typer.Option(help="An AQM's name or .p4 file, in place of the scenario's. Repeatable."),
    ] = None
    seed: Annotated[int | None, typer.Option(min=0, help="In place of the scenario's.")] = None
    seeds: Annotated[
        str | None,
        typer.Option(metavar="1..20", help="A run for each; means with their intervals."),
    ] = None
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help='As in switch.rate="50 Mbit/s". Repeatable.'
        ),
    ] = None
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help='Simulated time, as in "30 s".')
    ] = None
    rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help='The bottleneck\'s, as in "50 Mbit/s"; of one switch.'),
    ] = None
    include: Include = None
    define: Define = None
    math_unit: Annotated[
        Literal["vendor", "paper"] | None,
        typer.Option(help="Reading of the stateful ALU's math unit, for all P4 programs."),
    ] = None
    executor: Annotated[
        Literal["native", "interpreter"] | None,
        typer.Option(help="What runs P4 programs; both do the same, machine code faster."),
    ] = None


@dataclass(frozen=True)
class Output:
    """The options about the files of a run."""

    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None
    replaces: Annotated[
        bool,
        typer.Option("--replace", "--force", help="Also if --out has a run of another scenario."),
    ] = False
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Also write what entered and left the bottleneck.")
    ] = False
    report: Annotated[
        bool,
        typer.Option("--report/--no-report", help="Whether to draw pictures and make the page."),
    ] = True


@app.command()
@grouped
def run(
    scenario: Annotated[
        str,
        typer.Argument(
            help="A scenario file, a shipped scenario's name, or published/NAME with --sources."
        ),
    ],
    where: BackendOptions,
    changes: Changes,
    output: Output,
    sources: Sources = None,
    no_scripts: NoScripts = False,
    as_json: Json = False,
) -> None:
    """Run a scenario through each of its AQMs; write rows, table, plots and report."""
    refuse_if(no_scripts)
    if sources is not None and not scenario.startswith(PREFIX):
        raise ScenarioError(f"--sources is for {PREFIX}NAME, as `sojourn published` lists them")
    named: dict[str, str] = {}
    what: str | dict[str, Any] = scenario
    if scenario.startswith(PREFIX) and not Path(scenario).is_file():
        from sojourn.studies.published.apply_recipe import published_scenario

        named["name"], what = published_scenario(scenario, sources)
    set_ = read_changes(changes.changes or ()) | _short_changes(
        what, changes.duration, changes.rate
    )
    if changes.seeds is not None:
        _check_seeds(changes, output)
        folders = tuple(str(Path(one).absolute()) for one in changes.include or ())
        # A path typed here starts from where the user is, not from the scenario.
        typed = [str(Path(one).absolute()) if is_path(one) else one for one in changes.aqm or ()]
        macros = folders, definitions(changes.define)
        asked = {"scenario": what, "seeds": changes.seeds, "aqms": typed, "set": set_}
        _run_seeds(asked, macros, where.backend(), output.out, as_json)
        return
    backend = where.backend()
    plan = plan_scenario(
        what,
        backend=backend,
        set=set_,
        aqms=changes.aqm or (),
        seed=changes.seed,
        math_unit=changes.math_unit,
        executor=changes.executor,
        capture=output.pcap,
        include_paths=changes.include or (),
        defines=definitions(changes.define),
        **named,
    )
    _run_plan(plan, backend, output, as_json)


def _run_plan(plan: Plan, backend: Backend, output: Output, as_json: bool) -> None:
    """Runs `plan` and shows its result."""
    folder = output.out or default_folder(plan.name)
    start = time.perf_counter()
    with locked(folder):
        recorded = _record_with_progress(plan, folder, backend, output.replaces, output.report)
        runs_done = time.perf_counter()
        from sojourn.cli.show import finish_with_status, show

        result = finish_with_status(recorded, report=output.report)
    show(result, as_json=as_json)
    if not as_json:
        now = time.perf_counter()
        print(
            f"took    {runs_done - start:.1f} s for the runs, {now - runs_done:.1f} s for the rest"
        )


def _check_seeds(changes: Changes, output: Output) -> None:
    """`ScenarioError` for options that a sweep over seeds does not have."""
    others = (
        changes.seed is not None,
        changes.math_unit is not None,
        changes.executor is not None,
        output.pcap,
        output.replaces,
    )
    if any(others):
        raise ScenarioError(
            "--seeds goes with --set, --duration, --rate, --aqm, -I, -D, --out and --on only"
        )


def _short_changes(
    scenario: str | dict[str, Any], duration: str | None, rate: str | None
) -> dict[str, Any]:
    """The changes by --duration and --rate: keys of the scenario by dotted names."""
    changes = {} if duration is None else {"duration": duration}
    if rate is None:
        return changes
    if isinstance(scenario, str):
        name, document = scenario, read_document(find_scenario(scenario))[0]
    else:
        name, document = "the recipe's scenario", scenario
    if "switch" not in document:
        raise ScenarioError(
            f'--rate: {name} has more than one link; say which, as in --set links.0.rate="{rate}"'
        )
    return changes | {"switch.rate": rate}


def _run_seeds(
    asked: dict[str, Any],
    macros: tuple[tuple[str, ...], dict[str, str]],
    backend: Backend,
    out: Path | None,
    as_json: bool,
) -> None:
    """A sweep without axes: the scenario with each seed. On a backend in real time the runs follow
    each other."""
    from sojourn.cli.sweep import show_sweep
    from sojourn.studies.sweeps.file import sweep_from_dict
    from sojourn.studies.sweeps.plan import Macros
    from sojourn.studies.sweeps.run_job import BackendWorkers
    from sojourn.studies.sweeps.sweep import plan_file, workers_for

    sweep = sweep_from_dict(asked, "run --seeds")
    plan = plan_file(sweep, macros=Macros(*macros), backend=backend)
    folder = out or default_folder(f"{plan.name}-seeds")
    in_turn = backend is not SIMULATOR
    workers = (lambda: BackendWorkers(backend)) if in_turn else workers_for(None, None)
    show_sweep(plan, folder, workers, as_json=as_json)


@cache
def _load(report: bool) -> None:
    """Has what shows a result loaded while the runs go on, once: it takes longer than some runs."""
    needed = ("sojourn.cli.show", *(("sojourn.results.plots",) if report else ()))
    Thread(target=lambda: [import_module(name) for name in needed]).start()


def _record_with_progress(
    plan: Plan, folder: Path, backend: Backend, replaces: bool, report: bool
) -> RunFolder:
    """Runs `plan` while a bar for each AQM shows the run's time."""
    duration = plan.scenario.duration
    progress = RunProgress(duration, warn=lambda said: print(f"warning: {said}", file=sys.stderr))
    if not sys.stderr.isatty():
        # Where no terminal listens, a bar is noise.
        return record(plan, folder, progress, partial(_load, report), backend, replaces=replaces)

    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=40),
        TextColumn("{task.fields[now]:5.1f} of " + f"{duration / 1e9:g} s", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=open_console(stderr=True)) as bars:
        width = max(len(run.label) for run in plan.runs)
        tasks = {
            run.label: bars.add_task(run.label.ljust(width), total=duration, now=0.0)
            for run in plan.runs
        }

        def refresh() -> None:
            _load(report)
            for label, task in tasks.items():
                now = progress.now.get(label, 0)
                bars.update(task, completed=now, now=now / 1e9)

        return record(plan, folder, progress, refresh, backend, replaces=replaces)
