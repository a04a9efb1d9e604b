"""The papers that are shipped, by name, and one of a user's own, by its file.

Depends on the model and on the package's own files.
"""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from sojourn.common.resources import shown
from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.model.scenario.read import messages, read_document
from sojourn.studies.papers.model import Paper, Search, Setup
from sojourn.studies.papers.published import NAME as PUBLISHED
from sojourn.studies.papers.published import published_paper

Runs = TypeVar("Runs", Setup, Search)

_FOLDERS = (
    "codel_act",
    "p4_codel_2021",
    "p4_codel_2018",
    "cs244_codel",
    "dualpi2_2022",
    "sp_pifo_2020",
    "cebinae_2022",
)
"""In the order of the list."""


@cache
def papers() -> dict[str, Paper]:
    """All of them."""
    found = (_read(folder) for folder in _FOLDERS)
    return {paper.name: paper for paper in found}


def find_papers(name: str, sources: Path | None = None) -> list[Paper]:
    """The paper called `name`, or in the file of that name; all that are shipped for `all`;
    `published` is made from clones."""
    known = papers()
    if name == PUBLISHED:
        return [published_paper(sources)]
    if sources is not None:
        raise ScenarioError(f"--sources is for `sojourn paper {PUBLISHED}`")
    if name.endswith(".toml"):
        return [read_paper(Path(name))]
    if name == "all":
        return list(known.values())
    if name not in known:
        hint = did_you_mean(name, [*known, PUBLISHED])
        raise ScenarioError(
            f"no paper {name!r}{hint}\n"
            f"Known: {', '.join(known)}; or all; or {PUBLISHED}; or a file of your own, .toml."
        )
    return [known[name]]


def read_paper(path: Path) -> Paper:
    """The paper in the file at `path`; relative paths of scenarios and programs start from its
    folder.

    `ScenarioError` lists all its faults.
    """
    document, text = read_document(path)
    try:
        paper = Paper.model_validate(document)
    except ValidationError as error:
        raise ScenarioError("\n".join(messages(error, document, shown(path), text))) from None
    return paper.model_copy(
        update={
            "setups": [_near(path, setup) for setup in paper.setups],
            "searches": [_near(path, search) for search in paper.searches],
        }
    )


def _near(path: Path, runs: Runs) -> Runs:
    """These runs with the files in the folder of `path`."""
    aqms = [_beside(path, aqm) for aqm in runs.aqms]
    return runs.model_copy(update={"scenario": _beside(path, runs.scenario), "aqms": aqms})


def _beside(path: Path, given: str | dict[str, Any]) -> str | dict[str, Any]:
    """`given` with its path, if it names a file in the folder of `path`."""
    if isinstance(given, dict):
        return given | {"use": _beside(path, given["use"])} if "use" in given else given
    near = path.parent / given
    return str(near) if near.is_file() else given


def _read(folder: str) -> Paper:
    text = (
        files("sojourn.studies.papers").joinpath(folder, "paper.toml").read_text(encoding="utf-8")
    )
    return Paper.model_validate(tomllib.loads(text))
