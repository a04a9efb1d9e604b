"""The schema of `paper.toml`: set-ups, figures, claims, and assumptions that the text leaves open.

Depends on pydantic and the sweep file. Must not depend on runs or results.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from sojourn.common.filenames import clashing
from sojourn.model.scenario.quantities import Strict

FileName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
"""A name by which a file or folder is called, too."""

TableName = Literal["runs", "groups", "phases", "times", "voices", "rows"]
"""A table of a set-up's runs; `groups` has a row for each group of flows."""

Where = dict[str, Any]
"""A selection of rows: values by column; an axis's value as the set-up writes it."""


def folder_of(name: str) -> str:
    """The folder, below the paper's, of the set-up or search of that name."""
    return "".join(c if c.isalnum() else "-" for c in name)


class OptionalAqm(Strict):
    """An AQM of a target that this version may not have."""

    use: str
    label: str
    what: str
    """The target, as the page calls it when it is not there."""


class Setup(Strict):
    """Runs: a scenario with axes and seeds."""

    name: str
    says: str
    """The paper's text about it, with our remark."""
    scenario: str | dict[str, Any]
    seeds: str = "1..5"
    quick_seeds: str = "1..2"
    aqms: list[str | dict[str, Any]] = Field(default_factory=list)
    """In place of the scenario's."""
    optional: list[OptionalAqm] = Field(default_factory=list)
    set: dict[str, Any] = Field(default_factory=dict)
    quick: dict[str, Any] = Field(default_factory=dict)
    """Changes with `--quick`."""
    grid: dict[str, list[Any]] = Field(default_factory=dict)
    zip: list[dict[str, list[Any]]] = Field(default_factory=list)
    names: dict[str, str] = Field(default_factory=dict)
    rows: bool = False
    """Rows of the runs are kept: a figure shows the delay over time, or a check needs it."""
    absent: list[str] = Field(default_factory=list)
    """AQMs that are left out: what each is called, and why."""
    linux: str | None = None
    """The discipline that stands for the paper's Linux kernel with `--on linux`."""


class Measure(Strict):
    """A number to be measured."""

    says: str
    setup: str
    over: list[str] = Field(default_factory=list)
    """Further set-ups whose cells count as well; `take` says which of all."""
    table: TableName = "runs"
    metric: str
    unit: str = ""
    scale: float = 1.0
    """Divisor from the table's number to `unit`."""
    of: Where
    to: Where | None = None
    """The reference of the comparison, by `form`."""
    form: Literal["value", "ratio", "cut", "excess", "difference"] = "value"
    """`ratio` of / to, `cut` 1 - of / to and `excess` of / `bound` - 1 in per cent, `difference`
    of - to in `unit`."""
    bound: float | None = None
    """For `excess`, in `unit`."""
    take: Literal["only", "max", "min", "mean"] = "only"
    """Over the cells that the selection leaves."""

    @model_validator(mode="after")
    def _can_be_computed(self) -> Self:
        needs = {"value": None, "excess": self.bound}.get(self.form, self.to)
        if self.form != "value" and needs is None:
            raise ValueError(f"{self.says}: {self.form} needs what it is compared with")
        if self.over and self.take == "only":
            raise ValueError(f"{self.says}: over several set-ups, `take` says which of their cells")
        return self


class Check(Measure):
    """One thing that a claim says, as a number to be measured and judged."""

    also: list[str] = Field(default_factory=list)
    """Further set-ups with the same measurement; they do not decide."""
    paper: str
    """The paper's value, as text."""
    near: float | None = None
    """The paper's value as a number."""
    within: float = 0.1
    """Share of `near` that is no difference."""
    far: float = 0.5
    """Share of it beyond which the claim does not hold."""
    below: float | None = None
    above: float | None = None

    @model_validator(mode="after")
    def _can_be_judged(self) -> Self:
        given = [self.near, self.below, self.above]
        if sum(one is not None for one in given) != 1:
            raise ValueError(f"{self.says}: give one of near, below and above")
        return self


class Claim(Strict):
    """A claim by its id."""

    id: str
    text: str
    """The paper's statement."""
    source: str
    """Its place in the paper: figure, table, sentence."""
    measured: str
    """The measurement of ours."""
    checks: list[Check] = Field(default_factory=list)
    computed: list[str] = Field(default_factory=list)
    """Names in `computed/`: what is computed or checked, not simulated."""
    remark: str = ""
    """Explanation of a difference."""


class FigureSpec(Strict):
    """A figure or table, drawn again in the paper's form."""

    name: FileName
    source: str
    caption: str
    kind: Literal["bars", "boxes", "lines", "series", "table"]
    """`boxes` are bars of means and, next to them, box plots of the queue delay."""
    setup: str
    metric: str = "mean"
    label: str = ""
    """Of the y-axis; the metric's name if empty."""
    unit: str = "ms"
    scale: float = 1e6
    table: TableName = "runs"
    x: str | None = None
    """The axis; of a table its columns."""
    where: Where = Field(default_factory=dict)
    aqms: list[str] = Field(default_factory=list)
    """The chosen ones, in order; all if empty."""
    by: str = "aqm"
    """Of lines: the column whose values are the curves."""
    series: list[str] = Field(default_factory=list)
    """Of lines by another column than the AQM: its values."""
    published: dict[str, list[float]] = Field(default_factory=dict)
    """Of lines: the paper's values along the axis for each curve, drawn as crosses."""
    together: bool = False
    """Series in one panel."""
    throughput: bool = False
    """Of series: a second panel has what the queue sent over time."""
    log: bool = False
    metrics: list[str] = Field(default_factory=list)
    """Of a table: `metric` or `metric:unit:scale`."""
    paper: dict[str, list[str]] = Field(default_factory=dict)
    """Of a table: the paper's cells by row."""
    until: float | None = None
    """Seconds that a series shows."""


class StaticTable(Strict):
    """A table that no run fills."""

    source: str
    caption: str
    about: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]


class Search(Strict):
    """A search over the assumptions that the text leaves open."""

    name: str
    says: str
    scenario: str | dict[str, Any]
    aqms: list[str | dict[str, Any]]
    set: dict[str, Any] = Field(default_factory=dict)
    quick: dict[str, Any] = Field(default_factory=dict)
    factors: dict[str, "Factor"]
    settings: int = 64
    quick_settings: int = 6
    checks: list[Check]
    claims: list[str]
    """Ids, one for each check."""


class Factor(Strict):
    """An assumption: the keys that it sets, and its levels."""

    keys: list[str]
    levels: dict[str, list[Any]]
    """Name of a level -> a value for each key."""
    published: str = ""
    """The level that the set-up has which the paper describes."""


class Level(Strict):
    """A level of an assumption: names that stand for those in the claims' checks."""

    says: str = ""
    aqms: dict[str, str] = Field(default_factory=dict)
    """Label in the checks -> label that is measured."""
    setups: dict[str, str] = Field(default_factory=dict)
    """Set-up in the checks -> set-up that is measured."""


class Assumption(Strict):
    """Something that a paper leaves open or contradicts; each level judges all claims anew."""

    name: str
    levels: dict[str, Level] = Field(min_length=2)
    """By name; the first is what the paper's text says."""


class Contradiction(Strict):
    """Something that no combination of assumptions explains."""

    says: str
    measured: list[Measure] = Field(default_factory=list)
    """Shown as found in the combination that explains most."""
    as_named: bool = False
    """Shown as found in the set-ups and of the AQMs that are named, whatever stands for them."""


class Paper(Strict):
    """All of a paper."""

    name: FileName
    line: str
    """For the list."""
    title: str
    authors: str
    where: str
    """The place of its publication."""
    notes: str = ""
    setups: list[Setup]
    figures: list[FigureSpec] = Field(default_factory=list)
    claims: list[Claim]
    searches: list[Search] = Field(default_factory=list)
    assumptions: list[Assumption] = Field(default_factory=list)
    """The first has a verdict for each of its levels."""
    contradictions: list[Contradiction] = Field(default_factory=list)
    tables: list[StaticTable] = Field(default_factory=list)
    """Behind the figures."""

    @model_validator(mode="before")
    @classmethod
    def _with_set_ups_like_others(cls, document: Any) -> Any:
        """Fills in each set-up that is written as another one with changes."""
        if not isinstance(document, dict) or not isinstance(document.get("setups"), list):
            return document
        whole: list[Any] = []
        for setup in document["setups"]:
            whole.append(_like(setup, whole) if isinstance(setup, dict) else setup)
        return document | {"setups": whole}

    @model_validator(mode="after")
    def _what_is_named_is_there(self) -> Self:
        for kind, names in (("set-up", self.setups), ("search", self.searches)):
            if two := clashing([one.name for one in names], folder_of):
                raise ValueError(f"{kind}s {two[0]!r} and {two[1]!r} would have one folder")
        known = {setup.name for setup in self.setups}
        asked = [(figure.name, figure.setup) for figure in self.figures]
        for claim in self.claims:
            asked += [(claim.id, n) for k in claim.checks for n in (k.setup, *k.also, *k.over)]
        for reported in self.contradictions:
            asked += [
                (reported.says, name) for k in reported.measured for name in (k.setup, *k.over)
            ]
        for one in self.assumptions:
            for level in one.levels.values():
                asked += [(one.name, n) for pair in level.setups.items() for n in pair]
        for who, setup in asked:
            if setup not in known:
                raise ValueError(f"{who}: no set-up {setup!r} (there are {', '.join(known)})")
        for claim in self.claims:
            if not claim.checks and not claim.computed:
                raise ValueError(f"{claim.id}: neither checks nor anything computed")
        return self


def _like(setup: dict[str, Any], others: list[Any]) -> dict[str, Any]:
    """A set-up with what it does not say itself taken from the earlier one that `like` names; what
    both set in the scenario is put together."""
    if "like" not in setup:
        return setup
    own = {key: value for key, value in setup.items() if key != "like"}
    for other in others:
        if isinstance(other, dict) and other.get("name") == setup["like"]:
            return other | own | {"set": other.get("set", {}) | own.get("set", {})}
    raise ValueError(f"{setup.get('name')}: like {setup['like']!r}, which is no earlier set-up")
