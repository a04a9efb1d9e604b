"""`sojourn new`: a program of one's own to begin with."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.shared import Json, app
from sojourn.common.resources import shown
from sojourn.tools.new.skeleton import architectures, write_skeleton


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="What it is called, as in my_aqm.")],
    target: Annotated[
        str, typer.Option("--for", help=f"Its architecture: {' or '.join(architectures())}.")
    ] = "tna",
    out: Annotated[Path | None, typer.Option(help="The folder; NAME by default.")] = None,
    as_json: Json = False,
) -> None:
    """Write a small AQM of your own: program, control plane, scenario and packet tests that run."""
    paths = write_skeleton(name, target, out)
    if as_json:
        print(json.dumps({"files": [str(path) for path in paths]}, indent=2))
        return
    for path in paths:
        print(shown(path))
    folder = shown(paths[0].parent)
    print(
        f"\nNext:\n    cd {folder}\n    sojourn check {name}.p4\n    sojourn test {name}.p4\n"
        f"    sojourn run {name}-scenario.toml"
    )
