"""The command line: `sojourn run`, `check`, `aqms`, `report`.

Stands on the package's functions and shows what they return. A mistake of the user's ends in a
message of one screen and status 2, a fault of ours in status 1, an interruption in 130.
"""

import json
import os
import sys
import time
from pathlib import Path
from textwrap import TextWrapper
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import sojourn
from sojourn.aqms import Aqm, catalogue
from sojourn.engine import Progress as RunProgress
from sojourn.errors import (
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_USER,
    Interrupted,
    ProgramError,
    ScenarioError,
    SojournError,
)
from sojourn.folder import REPORT, RunFolder, default_folder
from sojourn.layout import shown
from sojourn.result import Result
from sojourn.runner import finish, plan_scenario, record, summaries
from sojourn.scenario import Plan
from sojourn.stages import estimate, explanation
from sojourn.table import result_tables

_WIDTH = 100

app = typer.Typer(
    help="What a P4 queue-management program does to real traffic, from its source text.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _console(*, stderr: bool = False) -> Console:
    console = Console(stderr=stderr, highlight=False)
    console.width = min(console.width, _WIDTH) if console.is_terminal else _WIDTH
    return console


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


@app.command()
def run(
    scenario: Annotated[str, typer.Argument(help="A scenario file, or a shipped scenario's name.")],
    on: Annotated[Literal["sim"], typer.Option(help="Where it runs: in virtual time.")] = "sim",
    aqm: Annotated[
        list[str] | None,
        typer.Option(help="An AQM's name or .p4 file, in place of the scenario's. Repeatable."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="In place of the scenario's.")] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder.")] = None,
    math_unit: Annotated[
        Literal["vendor", "paper"] | None,
        typer.Option(help="Reading of the stateful ALU's math unit, for all P4 programs."),
    ] = None,
    pcap: Annotated[
        bool, typer.Option("--pcap", help="Also write what entered and left the bottleneck.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a scenario through each of its AQMs; write rows, table, plots and report."""
    del on  # one ground so far; typer has refused every other
    plan = plan_scenario(scenario, aqms=aqm or (), seed=seed, math_unit=math_unit, capture=pcap)
    folder = out or default_folder(plan.name)
    start = time.perf_counter()
    recorded = _record_with_progress(plan, folder)
    runs_done = time.perf_counter()
    result = _finish_with_status(recorded)
    _show(result, as_json=as_json)
    if not as_json:
        now = time.perf_counter()
        print(
            f"took    {runs_done - start:.1f} s for the runs, {now - runs_done:.1f} s for the rest"
        )


def _finish_with_status(folder: RunFolder) -> Result:
    with _console(stderr=True).status("figures, plots and report"):
        return finish(folder)


def _record_with_progress(plan: Plan, folder: Path) -> RunFolder:
    """Runs `plan` while a bar for each AQM shows simulated time."""
    duration = plan.scenario.duration
    progress = RunProgress(duration)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=40),
        TextColumn("{task.fields[now]:5.1f} of " + f"{duration / 1e9:g} s simulated"),
        TimeElapsedColumn(),
    )
    console = _console(stderr=True)
    # Where no terminal listens, a bar is noise.
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        width = max(len(run.label) for run in plan.runs)
        tasks = {
            run.label: bars.add_task(run.label.ljust(width), total=duration, now=0.0)
            for run in plan.runs
        }

        def refresh() -> None:
            for label, task in tasks.items():
                now = progress.now.get(label, 0)
                bars.update(task, completed=now, now=now / 1e9)

        return record(plan, folder, progress, refresh)


def _show(result: Result, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"folder": str(result.path)} | summaries(result), indent=2))
        return
    console = _console()
    scenario = result.scenario
    console.print(f"\n[bold]{scenario.title or result.folder.name}[/bold]")
    for table in result_tables(result, console.width):
        console.print(table)
    console.print(f"report  {shown(result.path / REPORT)}", soft_wrap=True)
    console.print(f"rows    {shown(result.path)}/*/packets.parquet", soft_wrap=True)


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder of an earlier run.")],
    as_json: Json = False,
) -> None:
    """Make table, plots and report again from the rows of an earlier run."""
    _show(_finish_with_status(RunFolder.open(folder)), as_json=as_json)


@app.command()
def check(
    program: Annotated[Path | None, typer.Argument(help="A P4 program.")] = None,
    language_only: Annotated[
        bool, typer.Option("--language-only", help="Stop after the type checker.")
    ] = False,
    explain: Annotated[
        str | None, typer.Option(metavar="CODE", help="Tell what a rule of the target is about.")
    ] = None,
    include: Annotated[
        list[Path] | None, typer.Option("-I", metavar="DIR", help="Where #include looks first.")
    ] = None,
    define: Annotated[
        list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a P4 program: the language, whether the target can load it, and its stages."""
    if explain is not None:
        print(explanation(explain))
        return
    if program is None:
        raise ScenarioError("sojourn check: name a P4 program, or a rule with --explain CODE")
    defines = dict(_definition(text) for text in define or ())
    result = sojourn.check(
        program,
        language_only=language_only,
        include_paths=include or (),
        defines=defines,
        colour=_console().is_terminal and "NO_COLOR" not in os.environ,
    )
    stages = None
    if result.ok and not language_only:
        stages = estimate(program, include_paths=include or (), defines=defines)
    if as_json:
        found = {"ok": result.ok, "diagnostics": result.diagnostics}
        print(json.dumps(found | {"stages": stages.data if stages else None}, indent=2))
    else:
        if result.rendered:
            print(result.rendered.rstrip("\n"))
        if result.ok:
            print(f"{program}: {'no errors' if language_only else 'no errors; it can be run'}")
        if stages:
            print("\n" + stages.text.rstrip("\n"))
    if not result.ok:
        raise typer.Exit(EXIT_USER)


def _definition(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.isidentifier():
        raise ScenarioError(f"-D {text}: write NAME or NAME=VALUE")
    return name, value if "=" in text else "1"


@app.command()
def aqms(
    parameters: Annotated[
        bool,
        typer.Option("--parameters", help="Also what the native disciplines can be told."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the native disciplines and the shipped P4 programs."""
    known = catalogue()
    if as_json:
        print(json.dumps([_as_dict(aqm) for aqm in known], indent=2))
        return
    width = max(len(aqm.name) for aqm in known)
    for aqm in known:
        print(_cut(f"{aqm.name.ljust(width)}  {aqm.kind:<8}  {aqm.summary}"))
        for parameter in aqm.parameters if parameters else ():
            default = "off" if parameter.default is None else json.dumps(parameter.written)
            print(_cut(f"  {parameter.name:<13} {default:<10} {parameter.summary}"))


def _cut(line: str) -> str:
    return line if len(line) <= _WIDTH else line[: _WIDTH - 3] + "..."


def _as_dict(aqm: Aqm) -> dict[str, Any]:
    """For JSON. A default is given twice: in the engine's unit, and as a scenario writes it."""
    parameters = [
        {
            "name": parameter.name,
            "kind": parameter.kind.name,
            "unit": parameter.unit,
            "default": parameter.default,
            "written": parameter.written,
            "summary": parameter.summary,
        }
        for parameter in aqm.parameters
    ]
    return {
        "name": aqm.name,
        "kind": aqm.kind,
        "summary": aqm.summary,
        "parameters": parameters,
    }


def main() -> None:
    """The entry point: runs the command and turns errors into messages and statuses."""
    try:
        app(standalone_mode=True)
    except Interrupted as error:
        _complain(str(error), "interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except ProgramError as error:
        # The engine's diagnostics have their own heads, and a layout of their own.
        print(str(error.args[0]).rstrip("\n"), file=sys.stderr)
        sys.exit(EXIT_USER)
    except SojournError as error:
        _complain(str(error.args[0]), "error")
        sys.exit(EXIT_USER)
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_FAULT)
    except Exception as error:
        _complain(
            f"{type(error).__name__}: {error}\n"
            "This is a fault in Sojourn, not in what you asked for. Please report it with the\n"
            "command that you ran; SOJOURN_TRACEBACK=1 shows where it happened.",
            "internal error",
        )
        if _wants_traceback():
            raise
        sys.exit(EXIT_FAULT)


def _complain(message: str, kind: str) -> None:
    console = _console(stderr=True)
    colour = "yellow" if kind == "interrupted" else "red"
    console.print(f"[bold {colour}]{kind}:[/]", end=" ")
    console.print(_wrapped(message), markup=False, soft_wrap=True)


def _wrapped(message: str) -> str:
    """`message` in lines that fit, with what is continued set in."""
    wrap = TextWrapper(
        _WIDTH - 8, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrap.fill(line) for line in message.splitlines())


def _wants_traceback() -> bool:
    return bool(os.environ.get("SOJOURN_TRACEBACK"))
