"""`sojourn published`: programs of other authors, and their state here."""

import json
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from sojourn.cli.shared import Json, Sources, app, open_console
from sojourn.studies.published import PREFIX
from sojourn.studies.published.apply_recipe import State, states
from sojourn.studies.published.recipe import Recipe, recipes


@app.command()
def published(sources: Sources = None, as_json: Json = False) -> None:
    """List programs that others have published, and what becomes of each in your clones."""
    if sources is not None:
        _show_states(sources, as_json)
        return
    found = recipes()
    if as_json:
        print(json.dumps([_as_dict(recipe) for recipe in found.values()], indent=2))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for recipe in found.values():
        where = f"{recipe.repository} {recipe.commit[:7]}"
        table.add_row(f"{PREFIX}{recipe.name}", Text(recipe.line), Text(where))
    open_console().print(table)


def _show_states(sources: Path, as_json: bool) -> None:
    found = states(sources)
    if as_json:
        print(json.dumps([_state_as_dict(state) for state in found], indent=2))
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="")
    for column in ("program", "compiles", "runs", ""):
        table.add_column(column)
    for state in found:
        name = f"{state.recipe.name}/{state.program.name}"
        why = state.program.why_not
        says = state.says if not why or not state.takes else f"{state.says}; {why}"
        table.add_row(name, _yes(state.takes), _yes(state.runs), Text(says))
    open_console().print(table)


def _yes(it_does: bool) -> str:
    return "yes" if it_does else "no"


def _as_dict(recipe: Recipe) -> dict[str, Any]:
    programs = [
        {"name": one.name, "label": one.label, "file": one.program, "why_not": one.why_not}
        for one in recipe.programs
    ]
    return {
        "name": f"{PREFIX}{recipe.name}",
        "line": recipe.line,
        "repository": recipe.repository,
        "commit": recipe.commit,
        "work": recipe.work,
        "programs": programs,
    }


def _state_as_dict(state: State) -> dict[str, Any]:
    return {
        "program": f"{state.recipe.name}/{state.program.name}",
        "compiles": state.takes,
        "runs": state.runs,
        "says": state.says,
        "why_not": state.program.why_not,
    }
