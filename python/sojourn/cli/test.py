"""`sojourn test`: packet tests in p4c's STF format."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from sojourn.cli.shared import (
    Define,
    Include,
    Json,
    app,
    definitions,
    open_console,
    warn_of_unread_macros,
)
from sojourn.common.resources import shown
from sojourn.errors import EXIT_FAULT, EXIT_USER, UnknownAqmError
from sojourn.model.programs import compiled, with_own_folder
from sojourn.tools.stf import StfError, StfResult, run_stf


@app.command()
def test(
    program: Annotated[Path, typer.Argument(help="A P4 program.")],
    tests: Annotated[
        list[Path] | None,
        typer.Argument(help="Files of packet tests. [default: PROGRAM.stf]", show_default=False),
    ] = None,
    include: Include = None,
    define: Define = None,
    priority_queues: Annotated[
        int | None,
        typer.Option(min=1, max=8, help="v1model: queues of each port, as simple_switch's option."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also what the tests ask to be shown.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Run packet tests (STF) on a P4 program.

    Ends with status 1 if a test fails, with 2 if a file is wrong.
    """
    if not program.is_file():
        raise UnknownAqmError(f"{program}: no such P4 program")
    defines = definitions(define)
    if defines:
        paths = with_own_folder(include, program)
        warn_of_unread_macros(compiled(program, include_paths=paths, defines=defines), defines)
    outcomes: list[StfResult | StfError] = []
    for path in tests or [program.with_suffix(".stf")]:
        try:
            outcomes.append(
                run_stf(
                    program,
                    path,
                    include_paths=include or (),
                    defines=defines,
                    priority_queues=priority_queues,
                )
            )
        except StfError as error:
            outcomes.append(error)
    if as_json:
        print(
            json.dumps(
                {"program": shown(program), "tests": list(map(_as_dict, outcomes))}, indent=2
            )
        )
    else:
        for outcome in outcomes:
            _show(outcome, verbose=verbose)
        _show_sum(outcomes)
    if any(isinstance(outcome, StfError) for outcome in outcomes):
        raise typer.Exit(EXIT_USER)
    if not all(isinstance(outcome, StfResult) and outcome.passed for outcome in outcomes):
        raise typer.Exit(EXIT_FAULT)


def _show(outcome: StfResult | StfError, *, verbose: bool) -> None:
    console = open_console()
    if isinstance(outcome, StfError):
        complaint = open_console(stderr=True)
        complaint.print("[bold red]error:[/]", end=" ")
        complaint.print(str(outcome.args[0]), markup=False, soft_wrap=True)
        return
    traffic = f"{_packets(outcome.packets_in)} in, {outcome.packets_out} out"
    verdict = ("passed", "green") if outcome.passed else ("FAILED", "bold red")
    console.print(Text.assemble(f"{outcome.file}: ", verdict, f" ({traffic})"), soft_wrap=True)
    for note in outcome.notes if verbose else ():
        console.print(f"  {note}", markup=False, soft_wrap=True)
    for fault in outcome.faults:
        console.print(f"  warning: {fault}", markup=False, soft_wrap=True)
    for failure in outcome.failures:
        console.print(
            f"  {outcome.file}:{failure.line}: {failure.message}", markup=False, soft_wrap=True
        )
        for line in failure.detail:
            console.print(f"    {line}", markup=False, soft_wrap=True)


def _show_sum(outcomes: list[StfResult | StfError]) -> None:
    if len(outcomes) < 2:
        return
    results = [outcome for outcome in outcomes if isinstance(outcome, StfResult)]
    passed = sum(result.passed for result in results)
    counts = {"passed": passed, "failed": len(results) - passed}
    counts["not run"] = len(outcomes) - len(results)
    print(", ".join(f"{count} {what}" for what, count in counts.items() if count))


def _packets(count: int) -> str:
    return f"{count} packet" if count == 1 else f"{count} packets"


def _as_dict(outcome: StfResult | StfError) -> dict[str, Any]:
    if isinstance(outcome, StfError):
        return {"verdict": "error", "message": str(outcome.args[0])}
    return {
        "verdict": "passed" if outcome.passed else "failed",
        "file": outcome.file,
        "packets_in": outcome.packets_in,
        "packets_out": outcome.packets_out,
        "failures": [
            {
                "line": failure.line,
                "message": failure.message,
                "expected": failure.expected,
                "received": failure.received,
            }
            for failure in outcome.failures
        ],
        "notes": list(outcome.notes),
        "warnings": list(outcome.faults),
    }
