"""The papers that are shipped, by name.

Stands on the model and on the package's own files.
"""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

from sojourn.errors import ScenarioError
from sojourn.papers.model import Paper
from sojourn.papers.published import NAME as PUBLISHED
from sojourn.papers.published import published_paper
from sojourn.suggest import did_you_mean

_FOLDERS = ("codel_act", "p4_codel_2021", "p4_codel_2018", "cs244_codel")
"""In the order of the list."""


@cache
def papers() -> dict[str, Paper]:
    """All of them."""
    found = (_read(folder) for folder in _FOLDERS)
    return {paper.name: paper for paper in found}


def find_papers(name: str, sources: Path | None = None) -> list[Paper]:
    """The paper called `name`; all of them for `all`; `published` is made from clones."""
    known = papers()
    if name == PUBLISHED:
        return [published_paper(sources)]
    if sources is not None:
        raise ScenarioError(f"--sources is for `sojourn paper {PUBLISHED}`")
    if name == "all":
        return list(known.values())
    if name not in known:
        hint = did_you_mean(name, [*known, PUBLISHED])
        raise ScenarioError(
            f"no paper {name!r}{hint}\nKnown: {', '.join(known)}; or all; or {PUBLISHED}."
        )
    return [known[name]]


def _read(folder: str) -> Paper:
    text = files("sojourn.papers").joinpath(folder, "paper.toml").read_text(encoding="utf-8")
    return Paper.model_validate(tomllib.loads(text))
