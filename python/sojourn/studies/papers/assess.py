"""A paper's claims, each with the finding and a verdict under each combination of assumptions.

Depends on measured set-ups and on what is computed. Draws nothing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeVar

from sojourn.studies.papers.computed import COMPUTED
from sojourn.studies.papers.computed.finding import Computed
from sojourn.studies.papers.measure import Measured, value_of
from sojourn.studies.papers.model import Check, Claim, Contradiction, Level, Measure, Paper, Where
from sojourn.studies.papers.verdict import Found, Status, Verdict, judge, shown, verdict

GOOD = (Status.HOLDS, Status.DIFFERS)

Measuring = TypeVar("Measuring", bound=Measure)


@dataclass(frozen=True)
class Assessed:
    """A claim with its verdict."""

    claim: Claim
    found: tuple[Found, ...]
    verdict: Verdict
    computed: tuple[Computed, ...]


@dataclass(frozen=True)
class Combination:
    """A level of each assumption, with all claims judged under it."""

    levels: Mapping[str, str]
    claims: tuple[Assessed, ...]

    @property
    def score(self) -> tuple[int, int]:
        """The number of claims that hold, with or without a difference, and of their parts."""
        parts = sum(found.status in GOOD for one in self.claims for found in one.found)
        return sum(one.verdict.status in GOOD for one in self.claims), parts

    def named(self, *, without: str = "") -> str:
        """Its levels in words; `without` is an assumption that goes without saying."""
        return ", ".join(f"{a} {level}" for a, level in self.levels.items() if a != without)


@dataclass(frozen=True)
class Need:
    """Under which combinations a claim holds."""

    claim: Claim
    held: int
    of: int
    text: str


@dataclass(frozen=True)
class Assessment:
    """A paper judged."""

    published: Combination
    """As the paper's text has it."""
    readings: Mapping[str, Combination]
    """By level of the first assumption: the combination that explains most of the claims."""
    combinations: tuple[Combination, ...]
    """Those that explain most claims first."""
    needs: tuple[Need, ...]
    contradictions: tuple[tuple[str, str], ...]
    """Unexplained claims, with their measurements in the best combination."""


def assess(paper: Paper, measured: Mapping[str, Measured]) -> Assessment:
    """All claims of the paper, in its order, under all combinations of its assumptions."""
    computed = {name: COMPUTED[name]() for claim in paper.claims for name in claim.computed}
    found = []
    for levels in product(*(one.levels for one in paper.assumptions)):
        chosen = dict(zip((one.name for one in paper.assumptions), levels, strict=True))
        names = [one.levels[chosen[one.name]] for one in paper.assumptions]
        claims = tuple(_assess(claim, measured, computed, names, levels) for claim in paper.claims)
        found.append(Combination(chosen, claims))
    # Of equals the one that the paper's text is nearer to.
    ordered = tuple(sorted(found, key=lambda one: one.score, reverse=True))
    readings = {}
    for first in paper.assumptions[:1]:
        for level in first.levels:
            readings[level] = next(one for one in ordered if one.levels[first.name] == level)
    best = [one.levels[ordered[0].levels[one.name]] for one in paper.assumptions]
    reported = tuple((one.says, _told(one, measured, best)) for one in paper.contradictions)
    needs = tuple(_need(place, paper, found) for place in range(len(paper.claims)))
    return Assessment(found[0], readings, ordered, needs if paper.assumptions else (), reported)


def _assess(
    claim: Claim,
    measured: Mapping[str, Measured],
    computed: Mapping[str, Computed],
    names: Sequence[Level],
    levels: Sequence[str],
) -> Assessed:
    parts = tuple(computed[name] for name in claim.computed)
    found = [_under(one, levels) for part in parts for one in part.found]
    found += [_found(_renamed(check, names), measured) for check in claim.checks]
    return Assessed(claim, tuple(found), verdict(found), parts)


def _under(found: Found, levels: Sequence[str]) -> Found:
    """The computed finding, under the level of an assumption if it differs there."""
    for place, (name, ours, status) in enumerate(found.beside):
        if name in levels:
            rest = found.beside[:place] + found.beside[place + 1 :]
            return Found(found.says, found.paper, ours, status, f"with {name}", None, rest)
    return found


def _renamed(check: Measuring, names: Sequence[Level]) -> Measuring:
    """The check with the AQMs and set-ups that stand for those that it names."""
    changed = check
    for level in names:
        setups, aqms = level.setups, level.aqms
        update = {
            "setup": setups.get(changed.setup, changed.setup),
            "over": [setups.get(name, name) for name in changed.over],
            "of": _aqm_renamed(changed.of, aqms),
            "to": None if changed.to is None else _aqm_renamed(changed.to, aqms),
        }
        if isinstance(changed, Check):
            update["also"] = [setups.get(name, name) for name in changed.also]
        changed = changed.model_copy(update=update)
    return changed


def _aqm_renamed(where: Where, aqms: Mapping[str, str]) -> Where:
    return where | {"aqm": aqms.get(where["aqm"], where["aqm"])} if "aqm" in where else where


def _runs(measure: Measure, measured: Mapping[str, Measured]) -> list[Measured]:
    return [measured[name] for name in (measure.setup, *measure.over)]


def _found(check: Check, measured: Mapping[str, Measured]) -> Found:
    own = value_of(_runs(check, measured), check)
    status, note, off = judge(check, own)
    if own is None:
        note = _why(check, measured[check.setup])
    beside = []
    for name in check.also:
        other = value_of(measured[name], check)
        beside.append((name, shown(check, other), judge(check, other)[0]))
    return Found(check.says, check.paper, shown(check, own), status, note, off, tuple(beside))


def _why(check: Check, measured: Measured) -> str:
    """The reason that there is no measurement."""
    wanted = check.of.get("aqm")
    for missing in measured.missing:
        if wanted is not None and missing.startswith(f"{wanted}:"):
            return missing.partition(": ")[2]
    if wanted == "Linux kernel":
        return "the kernel runs with --on linux"
    return measured.failures[0] if measured.failures else "nothing was measured"


def _told(one: Contradiction, measured: Mapping[str, Measured], names: Sequence[Level]) -> str:
    found = []
    for named in one.measured:
        measure = named if one.as_named else _renamed(named, names)
        value = value_of(_runs(measure, measured), measure)
        found.append(f"{measure.says}: {shown(measure, value)}")
    return "; ".join(found)


def _need(place: int, paper: Paper, combinations: Sequence[Combination]) -> Need:
    """Of each assumption the levels without which the claim holds in no combination."""
    held = [one for one in combinations if one.claims[place].verdict.status in GOOD]
    needed = []
    for assumption in paper.assumptions:
        levels = {one.levels[assumption.name] for one in held}
        if held and len(levels) < len(assumption.levels):
            named = " or ".join(level for level in assumption.levels if level in levels)
            needed.append(f"{assumption.name} {named}")
    if not held:
        text = "in no combination"
    elif len(held) == len(combinations):
        text = "in every combination"
    else:
        text = f"in {len(held)} of {len(combinations)} combinations"
        text += f"; needs {', '.join(needed)}" if needed else "; no assumption decides it alone"
    return Need(paper.claims[place], len(held), len(combinations), text)


def counts(assessed: Sequence[Assessed]) -> dict[Status, int]:
    """The number of claims for each verdict."""
    return {status: sum(a.verdict.status is status for a in assessed) for status in Status}
