"""`sojourn ctl`: operations of a control plane on a live switch while it runs."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.shared import Json, app
from sojourn.control import ControlError
from sojourn.live.commands import carry_out
from sojourn.live.served import RemoteSwitch
from sojourn.textfile import read_text


@app.command()
def ctl(
    folder: Annotated[Path, typer.Argument(help="The folder of the switch that runs.")],
    commands: Annotated[
        list[str] | None,
        typer.Argument(help="Each a line of simple_switch_CLI, in quotes. [default: from input]"),
    ] = None,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Lines of commands.")] = None,
    as_json: Json = False,
) -> None:
    """Change and read tables, registers, counters, rates of a live switch while it runs.

    Changes that follow each other are one batch: all are done, or none. Beside the commands of
    simple_switch_CLI: table_dump TABLE, show_ports, set_port_rate PORT RATE.
    """
    if file is not None:
        lines = read_text(file, str(file), ControlError).splitlines()
    else:
        lines = commands or sys.stdin.read().splitlines()
    switch = RemoteSwitch(folder)
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
