"""Application of a recipe: its scenario with the programs of a clone, and the state of each
program.

Depends on recipes, clones and the checker. Runs no packets.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.model.scenario.keys import set_key
from sojourn.studies.published.recipe import (
    Program,
    Recipe,
    base_scenario,
    find_recipe,
    recipes,
    recipes_folder,
)
from sojourn.studies.published.sources import find_clone
from sojourn.tools.check.checker import CheckResult, check


def published_scenario(name: str, sources: Path | None) -> tuple[str, dict[str, Any]]:
    """The recipe's name and its scenario, with its programs and the AQMs to compare.

    `name` is `published/NAME`. `ScenarioError` if there are no sources, they are not the recipe's,
    or none of its programs can be run.
    """
    recipe = find_recipe(name)
    runnable = [one for one in recipe.programs if not one.why_not]
    if not runnable:
        reasons = [f"{one.name}: {one.why_not}" for one in recipe.programs]
        raise ScenarioError(f"{name} cannot be run: {'; '.join(reasons)}")
    clone = _clone(recipe, sources)
    own = [_choice(recipe, one, clone) for one in runnable]
    document = published_scenario_without_aqms(recipe) | {"aqms": [*recipe.beside, *own]}
    if recipe.controller:
        document["control"] = published_control(recipe, clone)
    return recipe.name, document


def published_control(recipe: Recipe, clone: Path) -> dict[str, Any]:
    """The recipe's controller as a scenario's `control`, with paths of its script or command."""
    folder = recipes_folder() / recipe.name
    control = dict(recipe.controller)
    if "script" in control:
        control["script"] = str(folder / control["script"])
    else:
        places = (("{recipe}", str(folder)), ("{clone}", str(clone.absolute())))
        control["process"] = [_filled(part, places) for part in control["process"]]
    return control


def _filled(part: str, places: tuple[tuple[str, str], ...]) -> str:
    for name, path in places:
        part = part.replace(name, path)
    return part


def published_scenario_without_aqms(recipe: Recipe) -> dict[str, Any]:
    """The recipe's scenario: the base with the recipe's keys."""
    given = {
        "title": recipe.line,
        "look_at": recipe.look_at,
        "description": f"{recipe.work}. {recipe.repository} at commit {recipe.commit[:7]}.",
        "notes": recipe.notes,
    }
    document = base_scenario() | given | recipe.scenario
    document["flows"] = [*document["flows"], *recipe.flows]
    for key, value in recipe.set.items():
        set_key(document, key, value)
    return document


def published_choice(name: str, sources: Path) -> dict[str, Any]:
    """The program `RECIPE/PROGRAM` as a scenario chooses an AQM."""
    recipe, program = program_called(name)
    return _choice(recipe, program, _clone(recipe, sources))


def program_called(name: str) -> tuple[Recipe, Program]:
    """The recipe and the program that `RECIPE/PROGRAM` means."""
    recipe_name, _, program_name = name.partition("/")
    recipe = find_recipe(recipe_name)
    return recipe, next(one for one in recipe.programs if one.name == program_name)


def _clone(recipe: Recipe, sources: Path | None) -> Path:
    if sources is None:
        raise ScenarioError(
            f"published/{recipe.name}: give the folder with your clone of {recipe.repository}: "
            "--sources DIR"
        )
    return find_clone(recipe, sources)


def _choice(recipe: Recipe, program: Program, clone: Path) -> dict[str, Any]:
    path = clone / program.program
    if program.made_by and not path.is_file():
        raise ScenarioError(f"{shown(path)} is not there: {program.made_by}")
    choice: dict[str, Any] = {"use": str(path.absolute()), "label": program.label}
    if program.control:
        choice["control"] = str(recipes_folder() / recipe.name / program.control)
    if program.defines:
        choice["defines"] = dict(program.defines)
    return choice


@dataclass(frozen=True)
class State:
    """The result of a check of a published program."""

    recipe: Recipe
    program: Program
    takes: bool
    """The compiler takes it."""
    says: str
    """Its target and stages, or the first diagnostic, or why there is nothing to say."""

    @property
    def runs(self) -> bool:
        """It is taken, and can be run with what a recipe has."""
        return self.takes and not self.program.why_not


def states(sources: Path) -> list[State]:
    """Every program of every recipe, compiled from its clone in `sources`."""
    return [state for recipe in recipes().values() for state in _states(recipe, sources)]


def _states(recipe: Recipe, sources: Path) -> list[State]:
    try:
        clone = find_clone(recipe, sources)
    except ScenarioError as error:
        says = str(error).splitlines()[0]
        return [State(recipe, program, False, says) for program in recipe.programs]
    return [_state(recipe, program, clone) for program in recipe.programs]


def _state(recipe: Recipe, program: Program, clone: Path) -> State:
    path = clone / program.program
    if not path.is_file():
        return State(recipe, program, False, program.made_by or f"{shown(path)} is not there")
    defines = {name: str(value) for name, value in program.defines.items()}
    found = check(path, defines=defines)
    if not found.ok:
        return State(recipe, program, False, _first(found, "error"))
    if why := _unsimulated(found):
        return State(recipe, program, False, why)
    return State(recipe, program, True, _fits(found))


def _first(found: CheckResult, severity: str) -> str:
    of = [one for one in found.diagnostics if one["severity"] == severity]
    return f"{of[0]['code']}: {of[0]['message']}" if of else "refused"


def _unsimulated(found: CheckResult) -> str:
    """A feature that the chip has and the simulator lacks: `check` warns, a run refuses."""
    of = [one for one in found.diagnostics if one["code"] == "T0804"]
    return f"T0804: {of[0]['message']}" if of else ""


def _fits(found: CheckResult) -> str:
    if found.stages is None:
        return f"{found.architecture}"
    data, _ = found.stages
    return f"{found.architecture}, {data['stages_used']} stages (estimate)"
