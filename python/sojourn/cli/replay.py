"""`sojourn replay`: the same packets put to several programs, decision by decision."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from sojourn.cli.options import grouped
from sojourn.cli.shared import Json, NoScripts, app, definitions, open_console
from sojourn.common.atomic_write import locked
from sojourn.common.resources import shown
from sojourn.errors import Interrupted, ScenarioError
from sojourn.model.scenario_code import refuse_if
from sojourn.model.units import RATE, TIME, Dimension
from sojourn.tools.replay import PROFILES, Parameters, Study, find_traces, subjects
from sojourn.tools.replay.output import DECISIONS, StudyFolder
from sojourn.tools.replay.study import DEFAULT_AQMS
from sojourn.tools.replay.table import (
    COMPARED,
    LEGEND,
    RACE_LEGEND,
    RACED,
    text,
)


@dataclass(frozen=True)
class Traces:
    """The options about the synthetic traces."""

    rate: Annotated[
        list[str] | None,
        typer.Option(help="Line rate of synthetic traces. Repeatable. By default each one's own."),
    ] = None
    duration: Annotated[str | None, typer.Option(help="Length of synthetic traces.")] = None
    seed: Annotated[int, typer.Option(min=0, help="Of synthetic traces.")] = 1
    packet_size: Annotated[
        int | None,
        typer.Option(help="Bytes of all synthetic IP packets; by default mixed, 40 to 9000."),
    ] = None


@dataclass(frozen=True)
class Subjects:
    """The options about the programs."""

    aqm: Annotated[
        list[str] | None,
        typer.Option(
            help="A program's name or .p4 file, or a hardware module. Repeatable. By default all "
            "CoDels."
        ),
    ] = None
    recirculation_latency: Annotated[
        list[str] | None,
        typer.Option(
            help="From a mirror request to the copy's egress pass. Several show the cost of the "
            "delay. By default 1 us."
        ),
    ] = None
    ghost_delay: Annotated[
        list[str] | None,
        typer.Option(
            help="From a change of the queue to the ghost thread, for programs that have one. "
            "Several make one row each. By default 1 us."
        ),
    ] = None
    target: Annotated[str, typer.Option(help="CoDel's TARGET, for all.")] = "5 ms"
    interval: Annotated[str, typer.Option(help="CoDel's INTERVAL, for all.")] = "100 ms"
    math_unit: Annotated[
        Literal["vendor", "paper"] | None,
        typer.Option(help="Reading of the stateful ALU's math unit."),
    ] = None
    define: Annotated[
        list[str] | None,
        typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro, in all programs."),
    ] = None


@app.command()
@grouped
def replay(
    traces: Traces,
    programs: Subjects,
    trace: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"A run's folder or rows, or a synthetic trace: {', '.join(PROFILES)}. "
            "By default all synthetic ones."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The replay's folder.")] = None,
    no_scripts: NoScripts = False,
    as_json: Json = False,
) -> None:
    """Put the same packets to P4 programs and to RFC 8289; compare their decisions one by one.

    Nobody reacts to a drop: all programs see one course of a queue, recorded at the bottleneck of a
    run or made up.
    """
    refuse_if(no_scripts)
    study = _study(trace or list(PROFILES), traces, programs)
    folder = StudyFolder(out or Path("replays") / f"{datetime.now():%Y%m%d-%H%M%S}", study)
    with locked(folder.path):
        folder.create()
        _replay_with_progress(folder)
    _show(folder, as_json=as_json)


def _study(names: list[str], traces: Traces, programs: Subjects) -> Study:
    parameters = Parameters(
        target=_quantity("--target", programs.target, TIME, least=1),
        interval=_quantity("--interval", programs.interval, TIME, least=100),
    )
    length = traces.duration
    return Study(
        find_traces(
            names,
            rates=[_quantity("--rate", text, RATE, least=10**6) for text in traces.rate or ()],
            duration=_quantity("--duration", length, TIME, least=1) if length else None,
            seed=traces.seed,
            packet_size=traces.packet_size,
            parameters=parameters,
        ),
        subjects(
            programs.aqm or DEFAULT_AQMS,
            math_unit=programs.math_unit,
            parameters=parameters,
            macros=definitions(programs.define),
            ghost_delays=sorted(
                {_quantity("--ghost-delay", text, TIME) for text in programs.ghost_delay or ()}
            ),
        ),
        sorted(
            {
                _quantity("--recirculation-latency", text, TIME)
                for text in programs.recirculation_latency or ("1 us",)
            }
        ),
        parameters,
    )


def _quantity(option: str, text: str, dimension: Dimension, *, least: int = 0) -> int:
    try:
        value = dimension.parse(text)
    except ValueError as error:
        raise ScenarioError(f"{option} {text!r}: {error}") from error
    if value < least:
        raise ScenarioError(f"{option} {text!r}: must be at least {dimension.format(least)}")
    return value


def _replay_with_progress(folder: StudyFolder) -> None:
    console = open_console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=40),
        TimeElapsedColumn(),
    )
    progress = folder.study.progress
    with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
        task = bars.add_task("")

        def refresh() -> None:
            total = progress.total or None
            bars.update(task, description=progress.trace, completed=progress.done, total=total)

        try:
            for found in folder.study.outcomes(refresh):
                folder.add(found)
        except KeyboardInterrupt:
            raise Interrupted(
                f"stopped at {progress.trace}; what was done before, {len(folder.done)} of "
                f"{len(folder.study.traces)} traces, is in {shown(folder.path)}"
            ) from None
    folder.finish()


def _show(folder: StudyFolder, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"folder": str(folder.path)} | folder.as_dict(), indent=2))
        return
    print(text(COMPARED, folder.compared, LEGEND))
    if folder.raced:
        print("\n" + text(RACED, folder.raced, RACE_LEGEND))
    for warning in folder.warnings:
        open_console().print(f"warning {warning}", markup=False, soft_wrap=True)
    print(f"\ndecisions  {shown(folder.path)}/{DECISIONS}/*.parquet")
    print(f"pictures   {shown(folder.path)}/*.png")
