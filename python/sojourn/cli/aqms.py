"""`sojourn aqms`: the list of AQMs."""

import json
import sys
from textwrap import shorten, wrap
from typing import Annotated, Any

import typer

from sojourn.backends.linux.tc import kernel_disciplines
from sojourn.cli.shared import WIDTH, Json, app, open_console
from sojourn.model.aqms import Aqm, catalogue
from sojourn.studies.published import PREFIX
from sojourn.studies.published.recipe import recipes


@app.command()
def aqms(
    parameters: Annotated[
        bool,
        typer.Option(
            "--parameters", help="In full, with the parameters of the native disciplines."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the native disciplines and the shipped P4 programs, and on which backends they run."""
    known = catalogue()
    if as_json:
        print(json.dumps([_as_dict(aqm) for aqm in known], indent=2))
        return
    longest = max(len(aqm.name) for aqm in known)
    width = open_console().width if sys.stdout.isatty() else None
    for aqm in known:
        head = f"{aqm.name.ljust(longest)}  {aqm.kind:<8}{' '.join(_backends(aqm)):<9}  "
        if not parameters:
            # In a pipe nothing is cut: whoever reads it there wants to search in it.
            room = None if width is None else width - len(head)
            summary = _summary(aqm)
            print(head + (shorten(summary, room, placeholder=" ...") if room else summary))
            continue
        _print_whole(head, _summary(aqm))
        for parameter in aqm.parameters:
            default = "off" if parameter.default is None else json.dumps(parameter.written)
            _print_whole(f"  {parameter.name:<13} {default:<10} ", parameter.summary)


def _summary(aqm: Aqm) -> str:
    """What it is, and where programs for its algorithm and chip are that others have published."""
    others = _published(aqm)
    return f"{aqm.summary}; see {', '.join(others)}" if others else aqm.summary


def _published(aqm: Aqm) -> list[str]:
    """Recipes that name the shipped program of their algorithm."""
    return [f"{PREFIX}{recipe.name}" for recipe in recipes().values() if aqm.name in recipe.ours]


def _print_whole(head: str, text: str) -> None:
    """A line, and where it is too long, more lines below its text."""
    below = " " * len(head)
    print(
        "\n".join(
            wrap(text, WIDTH, initial_indent=head, subsequent_indent=below, break_on_hyphens=False)
        )
    )


def _backends(aqm: Aqm) -> list[str]:
    """The values of --on with which it runs."""
    return ["sim", "linux"] if aqm.name in kernel_disciplines() else ["sim"]


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
        "grounds": _backends(aqm),
        "summary": aqm.summary,
        "published": _published(aqm),
        "parameters": parameters,
    }
