"""`sojourn schema`: the keys of a file, as JSON schema and as a page."""

import json
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.shared import app
from sojourn.common.atomic_write import write_named
from sojourn.common.resources import shown
from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError, output_error
from sojourn.tools.schemas import SCHEMAS, reference


@app.command()
def schema(
    kind: Annotated[
        str, typer.Argument(help=f"{', '.join(SCHEMAS)}, or `reference` for a page of all keys.")
    ] = "scenario",
    out: Annotated[Path | None, typer.Option(help="A file, in place of the terminal.")] = None,
) -> None:
    """Print the JSON schema of a scenario, sweep or control-plane file, for editors."""
    known = [*SCHEMAS, "reference"]
    if kind not in known:
        allowed = ", ".join(known)
        raise ScenarioError(f"{kind}: it can be {allowed}{did_you_mean(kind, known)}")
    text = reference() if kind == "reference" else json.dumps(SCHEMAS[kind](), indent=2) + "\n"
    if out is None:
        print(text, end="")
        return
    try:
        write_named(out, text)
    except OSError as error:
        raise output_error(error, shown(out)) from error
