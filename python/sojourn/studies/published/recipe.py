"""The schema of `recipe.toml`: a program's source, its control plane and its scenario.

Depends on pydantic. Must not depend on a clone; runs nothing.
"""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.model.scenario.quantities import Strict
from sojourn.studies.published import PREFIX


class Program(Strict):
    """A program of the repository."""

    name: str
    label: str
    """Its label in tables and plots."""
    program: str
    """Its file in the clone."""
    control: str | None = None
    """Its control plane, a file next to the recipe."""
    defines: Annotated[dict[str, str | int], Field(default_factory=dict)]
    made_by: str = ""
    """The repository makes the program with a script: how."""
    why_not: str = ""
    """The reason that it cannot run here, although there is a recipe."""


class Recipe(Strict):
    """A repository with queue management in P4."""

    name: str
    line: str
    repository: str
    """Owner and name on GitHub."""
    commit: str
    work: str
    """The paper that it belongs to."""
    look_at: str = ""
    notes: str = ""
    """Findings from its runs."""
    files: dict[str, str]
    """SHA-256 of each file that is read, by its path in the clone."""
    programs: Annotated[list[Program], Field(min_length=1)]
    ours: Annotated[list[str], Field(default_factory=list)]
    """Shipped programs with the same algorithm for the same chip."""
    beside: Annotated[list[str | dict[str, Any]], Field(default_factory=list)]
    """AQMs of ours that see the same traffic."""
    scenario: Annotated[dict[str, Any], Field(default_factory=dict)]
    """Keys in place of those of `base.toml`."""
    set: Annotated[dict[str, Any], Field(default_factory=dict)]
    """Keys deeper in it, by their dotted names."""
    controller: Annotated[dict[str, Any], Field(default_factory=dict)]
    """The scenario's `control`. `script` is a file next to the recipe; in the command of `process`,
    `{recipe}` stands for the recipe's folder and `{clone}` for the clone."""
    flows: Annotated[list[dict[str, Any]], Field(default_factory=list)]
    """Beside the scenario's."""

    @property
    def folder(self) -> str:
        """The default name of a clone's folder."""
        return self.repository.partition("/")[2]


def recipes_folder() -> Path:
    """The folder with a folder for each recipe."""
    return Path(str(files("sojourn.studies.published").joinpath("recipes")))


@cache
def recipes() -> dict[str, Recipe]:
    """All recipes by name."""
    found = (_read(path) for path in sorted(recipes_folder().glob("*/recipe.toml")))
    return {recipe.name: recipe for recipe in found}


def base_scenario() -> dict[str, Any]:
    """The common part of all recipes' scenarios, without AQMs."""
    return tomllib.loads((recipes_folder() / "base.toml").read_text(encoding="utf-8"))


def find_recipe(name: str) -> Recipe:
    """The recipe that `name` means, with or without `published/`."""
    plain = name.removeprefix(PREFIX)
    known = recipes()
    if plain not in known:
        raise ScenarioError(
            f"{name}: no such recipe{did_you_mean(plain, known)}\n"
            f"Published programs: {', '.join(known)}; `sojourn published` lists them."
        )
    return known[plain]


def _read(path: Path) -> Recipe:
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    return Recipe.model_validate({"name": path.parent.name} | document)
