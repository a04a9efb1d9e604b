"""The page about programs that others have published: a paper like the others, made from clones.

Depends on the model and on recipes, whose programs it puts in place of their names.
"""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from sojourn.errors import ScenarioError
from sojourn.studies.papers.model import Paper
from sojourn.studies.published import PREFIX
from sojourn.studies.published.apply_recipe import (
    State,
    program_called,
    published_choice,
    published_control,
    published_scenario_without_aqms,
    states,
)
from sojourn.studies.published.recipe import base_scenario, find_recipe
from sojourn.studies.published.sources import find_clone

NAME = "published"

_QUEUE = {"bottleneck": "s>behind"}
"""The measured queue of `base.toml`."""

_HEADS = ("program", "repository", "commit", "compiles", "runs", "")


def published_paper(sources: Path | None) -> Paper:
    """The page's set-ups, figures and claims, with the programs of the clones in `sources`.

    A program whose clone is not there is left out, and its set-ups say so.
    """
    if sources is None:
        raise ScenarioError(
            "paper published: give the folder with your clones, --sources DIR; "
            "`sojourn published` lists the repositories"
        )
    if not sources.is_dir():
        raise ScenarioError(f"--sources {sources}: no such folder")
    text = files("sojourn.studies.published").joinpath("paper.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    for setup in document["setups"]:
        scenario = setup["scenario"]
        _put_programs(setup, sources)
        setup["scenario"] = _scenario(scenario, setup["aqms"], sources)
    _select_the_queue(document)
    found = states(sources)
    document["tables"] = [
        {
            "source": "Programs",
            "caption": "What becomes of each in this version",
            "about": "Compiled from the clones; stages are estimates.",
            "heads": _HEADS,
            "rows": [_row(state) for state in found],
        }
    ]
    return Paper.model_validate(document)


def _select_the_queue(document: dict[str, Any]) -> None:
    """The way back over the same link is measured too, and nothing is on it."""
    for figure in document["figures"]:
        figure["where"] = _QUEUE | figure.get("where", {})
    for check in (check for claim in document["claims"] for check in claim["checks"]):
        for side in ("of", "to"):
            if side in check:
                check[side] = _QUEUE | check[side]


def _scenario(name: str, aqms: list[dict[str, Any]], sources: Path) -> dict[str, Any]:
    """The scenario, with the recipe's controller if an AQM of the set-up has it."""
    if name == NAME:
        return base_scenario()
    recipe = find_recipe(name.removeprefix(PREFIX))
    document = published_scenario_without_aqms(recipe)
    labels = [aqm.get("label") for aqm in aqms]
    if own := [label for label in recipe.controller.get("aqms", ()) if label in labels]:
        control = published_control(recipe, find_clone(recipe, sources))
        document["control"] = control | {"aqms": own}
    return document


def _put_programs(setup: dict[str, Any], sources: Path) -> None:
    aqms, absent = [], []
    for one in setup["aqms"]:
        name = one.get("published")
        if name is None:
            aqms.append(one)
            continue
        try:
            aqms.append(published_choice(name, sources))
        except ScenarioError as error:
            label = program_called(name)[1].label
            absent.append(f"{label}: {str(error).splitlines()[0]}")
    setup["aqms"], setup["absent"] = aqms, absent


def _row(state: State) -> tuple[str, ...]:
    why = state.program.why_not
    says = "; ".join(filter(None, (state.says, why)))
    recipe = state.recipe
    name = f"{recipe.name}/{state.program.name}"
    yes = {True: "yes", False: "no"}
    return name, recipe.repository, recipe.commit[:7], yes[state.takes], yes[state.runs], says
