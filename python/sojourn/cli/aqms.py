"""`sojourn aqms`: what can be run."""

import json
from typing import Annotated, Any

import typer

from sojourn.aqms import Aqm, catalogue
from sojourn.cli.shared import WIDTH, Json, app


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
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


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
