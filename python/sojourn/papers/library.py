"""The papers that are shipped, by name.

Stands on the model and on the package's own files.
"""

import tomllib
from functools import cache
from importlib.resources import files

from sojourn.errors import ScenarioError
from sojourn.papers.model import Paper
from sojourn.suggest import did_you_mean

_FOLDERS = ("codel_act", "p4_codel_2021", "p4_codel_2018", "cs244_codel")
"""In the order of the list."""


@cache
def papers() -> dict[str, Paper]:
    """All of them."""
    found = (_read(folder) for folder in _FOLDERS)
    return {paper.name: paper for paper in found}


def find_papers(name: str) -> list[Paper]:
    """The paper called `name`; all of them for `all`."""
    known = papers()
    if name == "all":
        return list(known.values())
    if name not in known:
        hint = did_you_mean(name, known)
        raise ScenarioError(f"no paper {name!r}{hint}\nKnown: {', '.join(known)}; or all.")
    return [known[name]]


def _read(folder: str) -> Paper:
    text = files("sojourn.papers").joinpath(folder, "paper.toml").read_text(encoding="utf-8")
    return Paper.model_validate(tomllib.loads(text))
