"""The schema of a sweep file: a base scenario, seeds, axes, plots.

Depends on pydantic and the base scenario's document. Knows neither runs nor results.
"""

import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.model.scenario import find_scenario
from sojourn.model.scenario.quantities import Strict
from sojourn.model.scenario.read import read_document

MOST_RUNS = 1_000_000
"""More than anybody waits for; what is above is a slip of the keyboard."""

Keep = Literal["rows", "report"]


def parse_seeds(value: object) -> list[int]:
    """Seeds as `"1..20"`, a number, or a list of both."""
    if isinstance(value, list):
        found = [seed for part in value for seed in parse_seeds(part)]
    elif isinstance(value, int) and not isinstance(value, bool):
        found = [value]
    elif isinstance(value, str):
        found = [seed for part in value.split(",") for seed in _span(part.strip())]
    else:
        raise ValueError('write seeds as 1, [1, 2, 3] or "1..20"')
    if not found:
        raise ValueError("no seed is given")
    if any(not 0 <= seed < 2**63 for seed in found):
        raise ValueError("a seed is from 0 to 2^63 - 1")
    repeated = sorted({seed for seed in found if found.count(seed) > 1}) if len(found) < 99 else []
    if repeated or len(set(found)) < len(found):
        raise ValueError(f"a seed is given twice: {repeated[0] if repeated else ''}".rstrip(" :"))
    return found


def _span(text: str) -> list[int]:
    first, dots, last = text.partition("..")
    try:
        low, high = int(first), int(last if dots else first)
    except ValueError:
        raise ValueError(f'{text!r} is no seed; write 7 or "1..20"') from None
    if high < low:
        raise ValueError(f"{text}: the last seed is below the first")
    if high - low >= MOST_RUNS:
        raise ValueError(f"{text}: more than {MOST_RUNS:,} seeds")
    return list(range(low, high + 1))


Values = Annotated[list[Any], Field(min_length=1)]


class PlotRequest(Strict):
    """A plot of the sweep: a metric against one axis or two."""

    metric: str
    """Figure to draw, as a column of the table."""
    group: str | None = None
    """The group of flows. Absent: the queue as a whole, or, of what only single groups have, a plot
    for each of them."""
    to: str | None = None
    """Another group: what is drawn is the metric of `group` over that of this one."""
    against: Annotated[list[str], Field(max_length=2)]
    """Names of axes; two make a heat map for each AQM, none a box for each AQM."""
    style: Literal["lines", "heat", "box"] | None = None
    """Form of the plot; by default what fits the axes."""
    log: bool = False
    """The axis on which the metric is drawn."""


class SweepFile(Strict):
    """What a sweep file may say."""

    title: str = ""
    """Heading of the page."""
    scenario: str | dict[str, Any]
    """A shipped scenario's name, a file relative to this one, or a scenario itself."""
    seeds: Annotated[list[int], BeforeValidator(parse_seeds), Field(default_factory=lambda: [1])]
    """Seeds, as a range or a list."""
    aqms: Annotated[list[Any], Field(default_factory=list)]
    """In place of the scenario's; one that the scenario names too takes its options there."""
    set: Annotated[dict[str, Any], Field(default_factory=dict)]
    """Keys of the scenario that all runs have otherwise."""
    grid: Annotated[dict[str, Values], Field(default_factory=dict)]
    """Axes: every value of each with every value of all others."""
    zip: Annotated[list[dict[str, Values]], Field(default_factory=list)]
    """Axes that go together, value by value."""
    names: Annotated[dict[str, str], Field(default_factory=dict)]
    """What an axis is called in tables and plots."""
    keep: Annotated[list[Keep], Field(default_factory=list)]
    """What stays of single runs beside their figures."""
    plots: Annotated[list[PlotRequest], Field(default_factory=list)]
    """Further plots."""


class Base:
    """The scenario that a sweep varies: its document, its name, where its paths start."""

    def __init__(self, document: dict[str, Any], name: str, beside: Path) -> None:
        self._document, self.name, self.beside = document, name, beside

    def document(self) -> dict[str, Any]:
        """A copy to change."""
        return deepcopy(self._document)


def read_sweep(path: Path) -> SweepFile:
    """The sweep in the file at `path`; `ScenarioError` says all that is wrong with it."""
    name = shown(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ScenarioError(f"{name}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{name}: not a text file in UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScenarioError(f"{name}: not valid TOML: {error}") from error
    return sweep_from_dict(document, name)


def sweep_from_dict(document: dict[str, Any], name: str = "sweep") -> SweepFile:
    """The sweep that `document` describes."""
    try:
        return SweepFile.model_validate(document)
    except ValidationError as error:
        lines = [_problem(name, dict(problem)) for problem in error.errors(include_url=False)[:8]]
        raise ScenarioError("\n".join(lines)) from None


def _problem(name: str, problem: dict[str, Any]) -> str:
    keys = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = ", ".join(SweepFile.model_fields)
        return f"{name}: {keys}: unknown key (known here: {known})"
    if problem["type"] == "too_short":
        return f"{name}: {keys}: empty; an axis needs at least one value"
    return f"{name}: {keys}: {problem['msg'].removeprefix('Value error, ')}"


def base_of(given: str | dict[str, Any], beside: Path) -> Base:
    """The scenario that `given` names or is; a relative path starts from the folder `beside`."""
    if isinstance(given, dict):
        return Base(given, "scenario", beside)
    near = beside / given
    path = near if near.is_file() else find_scenario(given)
    document, _ = read_document(path)
    return Base(document, path.stem, path.parent)
