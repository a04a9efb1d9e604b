"""A clone of a published repository: found in the folder that the user names, and its files
checked.

Depends on recipes and the file system. Compiles nothing.
"""

from hashlib import sha256
from pathlib import Path

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.studies.published.recipe import Recipe

_MOST_NAMED = 3
"""Files that a message names."""


def find_clone(recipe: Recipe, sources: Path) -> Path:
    """The clone of the recipe's repository: `sources` itself, or the folder of that name in it.

    `ScenarioError` if it is not there, or its files are not those of the recipe's commit.
    """
    if not sources.is_dir():
        reason = "this is a file" if sources.exists() else "no such folder"
        raise ScenarioError(f"--sources {shown(sources)}: {reason}")
    places = (sources / recipe.folder, sources)
    clone = next((place for place in places if _begins(recipe, place)), None)
    if clone is None:
        first = next(iter(recipe.files))
        raise ScenarioError(
            f"--sources {shown(sources)}: no clone of {recipe.repository}: neither "
            f"{shown(places[0] / first)} nor {shown(places[1] / first)} is there\n"
            f"Clone {recipe.repository} from GitHub into {shown(places[0])}, at commit "
            f"{recipe.commit}."
        )
    _check(recipe, clone)
    return clone


def _begins(recipe: Recipe, place: Path) -> bool:
    return any((place / file).is_file() for file in recipe.files)


def _check(recipe: Recipe, clone: Path) -> None:
    missing = [file for file in recipe.files if not (clone / file).is_file()]
    other = [
        file
        for file, digest in recipe.files.items()
        if file not in missing and _digest(clone / file) != digest
    ]
    if not missing and not other:
        return
    faults = [f"{_named(missing)} not there"] if missing else []
    faults += [f"{_named(other)} other than in that commit"] if other else []
    raise ScenarioError(
        f"{shown(clone)}: not {recipe.repository} at commit {recipe.commit[:7]}, which the recipe "
        f"is for: {'; '.join(faults)}\n"
        f"Check out {recipe.commit}; a program that you have changed runs from a scenario of your "
        "own."
    )


def _named(found: list[str]) -> str:
    shown_files = ", ".join(found[:_MOST_NAMED])
    more = len(found) - _MOST_NAMED
    are = "is" if len(found) == 1 else "are"
    return f"{shown_files} and {more} more are" if more > 0 else f"{shown_files} {are}"


def _digest(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error
