"""`sojourn emit`: the control plane as files for a real switch."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.shared import Define, Include, Json, app, definitions, warn_of_unread_macros
from sojourn.common.resources import shown
from sojourn.common.suggest import did_you_mean
from sojourn.control.file import ProgramChoice
from sojourn.errors import ScenarioError, UnknownAqmError
from sojourn.model.programs import with_own_folder
from sojourn.model.units import RATE, SIZE
from sojourn.tools.emit import TARGETS, Job, Shaper
from sojourn.tools.emit import emit as write

_MOST_PORTS = 512


@app.command()
def emit(
    program: Annotated[Path, typer.Argument(help="A P4 program.")],
    target: Annotated[str, typer.Option("--for", help="The switch: " + ", ".join(TARGETS) + ".")],
    out: Annotated[
        Path | None, typer.Option(help="Folder for the files; PROGRAM-TARGET by default.")
    ] = None,
    control: Annotated[
        Path | None, typer.Option(help="Control-plane file; by default the one beside the program.")
    ] = None,
    shape: Annotated[
        list[str] | None,
        typer.Option(metavar="PORT=RATE", help='Shape a port, as in 2="100 Mbit/s". Repeatable.'),
    ] = None,
    burst: Annotated[str, typer.Option(help="Burst of the shapers.")] = "1600 B",
    include: Include = None,
    define: Define = None,
    as_json: Json = False,
) -> None:
    """Write what a switch needs besides a program: entries, sessions, shapers, steps."""
    if target not in TARGETS:
        known = ", ".join(TARGETS)
        raise ScenarioError(f"--for {target}: it can be {known}{did_you_mean(target, TARGETS)}")
    if not program.is_file():
        raise UnknownAqmError(f"{program}: no such P4 program")
    chosen = TARGETS[target]
    choice = ProgramChoice(
        program,
        chosen.architecture,
        with_own_folder(include, program),
        definitions(define),
        control,
    )
    shapers = tuple(_shaper(text, burst) for text in shape or ())
    job = Job.of(choice, shapers)
    warn_of_unread_macros(choice.compiled, choice.defines)
    written = write(job, chosen, out or Path(f"{program.stem}-{target}"))
    if as_json:
        print(json.dumps({"files": [str(path) for path in written]}, indent=2))
        return
    for path in written:
        print(f"{shown(path)}  {path.stat().st_size} bytes")


def _shaper(text: str, burst: str) -> Shaper:
    port, equals, rate = text.partition("=")
    if not equals or not port.isdigit() or int(port) >= _MOST_PORTS:
        raise ScenarioError(f'--shape {text}: write PORT=RATE, as in 2="100 Mbit/s"')
    try:
        return Shaper(int(port), RATE.parse(rate), SIZE.parse(burst))
    except ValueError as error:
        raise ScenarioError(f"--shape {text}: {error}") from error
