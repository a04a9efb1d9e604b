"""`sojourn run`: a scenario through each of its AQMs."""

import sys
import time
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import Annotated, Any, Literal

import typer

from sojourn.backends.backend import ATTEMPTS, Ground
from sojourn.backends.sim import SIMULATOR
from sojourn.cli.shared import (
    AcceptDisturbed,
    Attempts,
    Define,
    Include,
    Json,
    Kernel,
    NoScripts,
    Sources,
    app,
    definitions,
    open_console,
)
from sojourn.common.atomic_write import held
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


@app.command()
def run(
    scenario: Annotated[
        str,
        typer.Argument(
            help="A scenario file, a shipped scenario's name, or published/NAME with --sources."
        ),
    ],
    on: Annotated[
        Literal["sim", "linux", "live"],
        typer.Option(
            help="Where it runs: in virtual time, on a Linux kernel, or as real packets through "
            "the live switch."
        ),
    ] = "sim",
    kernel: Kernel = "uml",
    aqm: Annotated[
        list[str] | None,
        typer.Option(help="An AQM's name or .p4 file, in place of the scenario's. Repeatable."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="In place of the scenario's.")] = None,
    seeds: Annotated[
        str | None,
        typer.Option(metavar="1..20", help="A run for each; means with their intervals."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KEY=VALUE", help='As in switch.rate="50 Mbit/s". Repeatable.'
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help='Simulated time, as in "30 s".')
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(metavar="RATE", help='The bottleneck\'s, as in "50 Mbit/s"; of one switch.'),
    ] = None,
    include: Include = None,
    define: Define = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None,
    replaces: Annotated[
        bool,
        typer.Option("--replace", "--force", help="Also if --out has a run of another scenario."),
    ] = False,
    math_unit: Annotated[
        Literal["vendor", "paper"] | None,
        typer.Option(help="Reading of the stateful ALU's math unit, for all P4 programs."),
    ] = None,
    executor: Annotated[
        Literal["native", "interpreter"] | None,
        typer.Option(help="What runs P4 programs; both do the same, machine code faster."),
    ] = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Also write what entered and left the bottleneck.")
    ] = False,
    report: Annotated[
        bool,
        typer.Option("--report/--no-report", help="Whether to draw pictures and make the page."),
    ] = True,
    traffic: Annotated[
        Literal["sockets", "iperf3"],
        typer.Option(help="With --on linux and live: who sends; sockets start exactly on time."),
    ] = "sockets",
    accept_disturbed: AcceptDisturbed = False,
    attempts: Attempts = ATTEMPTS,
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
        from sojourn.studies.published.use import published_scenario

        named["name"], what = published_scenario(scenario, sources)
    set_ = read_changes(changes or ()) | _short_changes(what, duration, rate)
    if seeds is not None:
        if on != "sim" or seed is not None or math_unit is not None or executor or pcap or replaces:
            raise ScenarioError(
                "--seeds goes with --set, --duration, --rate, --aqm, -I, -D and --out only"
            )
        macros = tuple(str(Path(one).absolute()) for one in include or ()), definitions(define)
        # A path typed here starts from where the user is, not from the scenario.
        typed = [str(Path(one).absolute()) if is_path(one) else one for one in aqm or ()]
        _run_seeds(what, seeds, typed, set_, macros, out, as_json)
        return
    ground = SIMULATOR
    if on != "linux" and kernel != "uml":
        raise ScenarioError("--kernel is for --on linux")
    if on == "sim" and (traffic, accept_disturbed, attempts) != ("sockets", False, ATTEMPTS):
        raise ScenarioError(
            "--traffic, --accept-disturbed and --attempts are for --on linux and --on live"
        )
    if on == "live":
        from sojourn.backends.live.backend import live

        ground = live(accept_disturbed=accept_disturbed, traffic=traffic, attempts=attempts)
    if on == "linux":
        from sojourn.backends.linux.backend import linux

        ground = linux(
            kernel, accept_disturbed=accept_disturbed, traffic=traffic, attempts=attempts
        )
    plan = plan_scenario(
        what,
        ground=ground,
        set=set_,
        aqms=aqm or (),
        seed=seed,
        math_unit=math_unit,
        executor=executor,
        capture=pcap,
        include_paths=include or (),
        defines=definitions(define),
        **named,
    )
    folder = out or default_folder(plan.name)
    start = time.perf_counter()
    with held(folder):
        recorded = _record_with_progress(plan, folder, ground, replaces, report)
        runs_done = time.perf_counter()
        from sojourn.cli.show import finish_with_status, show

        result = finish_with_status(recorded, report=report)
    show(result, as_json=as_json)
    if not as_json:
        now = time.perf_counter()
        print(
            f"took    {runs_done - start:.1f} s for the runs, {now - runs_done:.1f} s for the rest"
        )


def _short_changes(
    scenario: str | dict[str, Any], duration: str | None, rate: str | None
) -> dict[str, Any]:
    """What --duration and --rate change: keys of the scenario by dotted names."""
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
    scenario: str | dict[str, Any],
    seeds: str,
    aqms: list[str],
    changes: dict[str, Any],
    macros: tuple[tuple[str, ...], dict[str, str]],
    out: Path | None,
    as_json: bool,
) -> None:
    """A sweep without axes: the scenario with each seed."""
    from sojourn.cli.sweep import show_sweep
    from sojourn.studies.sweeps.file import sweep_from_dict
    from sojourn.studies.sweeps.plan import Macros
    from sojourn.studies.sweeps.sweep import plan_file

    given = {"scenario": scenario, "seeds": seeds, "aqms": aqms, "set": changes}
    plan = plan_file(sweep_from_dict(given, "run --seeds"), macros=Macros(*macros))
    folder = out or default_folder(f"{plan.name}-seeds")
    show_sweep(plan, folder, None, None, as_json=as_json)


@cache
def _load(report: bool) -> None:
    """Has what shows a result loaded while the runs go on, once: it takes longer than some runs."""
    needed = ("sojourn.cli.show", *(("sojourn.results.plots",) if report else ()))
    Thread(target=lambda: [import_module(name) for name in needed]).start()


def _record_with_progress(
    plan: Plan, folder: Path, ground: Ground, replaces: bool, report: bool
) -> RunFolder:
    """Runs `plan` while a bar for each AQM shows the run's time."""
    duration = plan.scenario.duration
    progress = RunProgress(duration)
    if not sys.stderr.isatty():
        # Where no terminal listens, a bar is noise.
        return record(plan, folder, progress, partial(_load, report), ground, replaces=replaces)

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

        return record(plan, folder, progress, refresh, ground, replaces=replaces)
