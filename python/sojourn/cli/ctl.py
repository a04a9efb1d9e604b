"""`sojourn ctl`: operations of a control plane on a live switch while it runs."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from sojourn import _core
from sojourn.backends.connections import door_to
from sojourn.backends.live.commands import carry_out
from sojourn.cli.shared import Json, app
from sojourn.common.textfile import read_text
from sojourn.control import ControlError


@app.command()
def ctl(
    switch_at: Annotated[
        str,
        typer.Argument(
            metavar="SWITCH",
            help="The folder of the switch that runs, or a P4Runtime server: 127.0.0.1:9559.",
        ),
    ],
    commands: Annotated[
        list[str] | None,
        typer.Argument(
            help="Lines of simple_switch_CLI, each in quotes, or one in several words. "
            "[default: from input]"
        ),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Lines of commands.")] = None,
    device_id: Annotated[int, typer.Option(min=0, help="Of a P4Runtime server.")] = 1,
    election_id: Annotated[
        int, typer.Option(min=1, help="With which this becomes its primary controller.")
    ] = 1,
    as_json: Json = False,
) -> None:
    """Change and read tables, registers, counters, rates of a live switch while it runs.

    Changes that follow each other are one batch: all are done, or none. Beside the commands of
    simple_switch_CLI: table_dump TABLE, show_ports, set_port_rate PORT RATE.
    """
    if file is not None:
        lines = read_text(file, str(file), ControlError).splitlines()
    else:
        lines = _lines(commands) if commands else sys.stdin.read().splitlines()
    switch = door_to(switch_at, device=device_id, election=election_id)
    try:
        try:
            description = switch.describe()
        except ControlError:
            description = None
        answers = carry_out(lines, description, switch)
    finally:
        switch.close()
    if as_json:
        print(json.dumps([{"line": one.line, "answer": one.data} for one in answers], indent=2))
        return
    for answer in answers:
        for text in answer.text:
            print(text)


def _lines(commands: list[str]) -> list[str]:
    """Arguments as lines: one command may come in several words, as in `table dump routes`."""
    if any(" " in command for command in commands) or len(commands) == 1:
        return commands
    first, second, *rest = commands
    joined = f"{first}_{second}"
    if joined in (*_core.switch_commands(), "table_dump", "table_num_entries"):
        return [" ".join([joined, *rest])]
    if first in (*_core.switch_commands(), "table_dump", "table_num_entries", "set_port_rate"):
        return [" ".join(commands)]
    return commands
