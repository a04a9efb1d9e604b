"""Search over a paper's open assumptions: the share of settings in which each claim holds.

A setting is a level of every assumption. Each level has its share of the settings, which are drawn
from a fixed stream, so a search is repeatable. Depends on sweeps and on the checks of claims. Draws
nothing.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.studies.papers.measure import Measured, rows_of, value_of
from sojourn.studies.papers.model import Check, Search, Setup
from sojourn.studies.papers.verdict import Status, judge
from sojourn.studies.sweeps.file import sweep_from_dict
from sojourn.studies.sweeps.plan import SweepPlan
from sojourn.studies.sweeps.scheduler import State, Workers
from sojourn.studies.sweeps.sweep import plan_file, run_sweep

_DRAW = 8289
"""Of the stream that settings are drawn from."""
_CLEAR = 0.05
"""An assumption decides if chance alone would part its levels so far as seldom as that, all
assumptions and claims of the search counted in."""


@dataclass(frozen=True)
class Setting:
    """A level of each assumption."""

    number: int
    levels: dict[str, str]


@dataclass(frozen=True)
class Level:
    """The share of settings at one level of an assumption in which a check holds."""

    name: str
    held: int
    of: int

    @property
    def share(self) -> float:
        """Of the settings with that level."""
        return self.held / self.of if self.of else 0.0


@dataclass(frozen=True)
class Effect:
    """An assumption's main effect on one check."""

    factor: str
    levels: tuple[Level, ...]
    chance: float
    """Probability that chance alone parts the levels so far (a test of independence)."""

    @property
    def size(self) -> float:
        """Between its best and its worst level."""
        shares = [level.share for level in self.levels if level.of]
        return max(shares) - min(shares) if shares else 0.0


@dataclass(frozen=True)
class Outcome:
    """The outcome of one check."""

    claim: str
    check: Check
    values: tuple[float | None, ...]
    """Of each setting, in its unit."""
    held: tuple[bool, ...]
    effects: tuple[Effect, ...]
    """The largest first."""
    decided: str
    """The sentence for the page."""


@dataclass(frozen=True)
class Searched:
    """A search that was run."""

    search: Search
    settings: tuple[Setting, ...]
    outcomes: tuple[Outcome, ...]
    best: str
    """In which setting most of the checks hold."""
    failures: tuple[str, ...]


def plan_search(search: Search, *, quick: bool) -> SweepPlan:
    """The search's sweep. What an assumption says nothing of is run once, though it repeats."""
    settings = draw_settings(search, search.quick_settings if quick else search.settings)
    columns = _columns(search, settings)
    document = {
        "scenario": search.scenario,
        "seeds": 1,
        "aqms": search.aqms,
        "set": search.set | (search.quick if quick else {}),
        "zip": [columns],
        "names": {key: f"key {number}" for number, key in enumerate(columns)},
    }
    return plan_file(sweep_from_dict(document), repeats=True)


def _columns(search: Search, settings: tuple[Setting, ...]) -> dict[str, list[Any]]:
    """The value of each key in each setting."""
    return {
        key: [factor.levels[one.levels[name]][place] for one in settings]
        for name, factor in search.factors.items()
        for place, key in enumerate(factor.keys)
    }


def run_search(
    search: Search,
    folder: Path,
    *,
    quick: bool,
    workers: Callable[[], Workers],
    tell: Callable[[str, State], None],
) -> Searched:
    """Runs what is missing of the search in `folder`."""
    settings = draw_settings(search, search.quick_settings if quick else search.settings)
    columns = _columns(search, settings)
    plan = plan_search(search, quick=quick)
    result = run_sweep(
        plan, folder, workers=workers, tell=lambda state: tell(search.name, state), pictures=False
    )
    failures = tuple(f"{run}: {failure.message}" for run, failure in result.state.failures)
    rows = rows_of(result.table)
    setup = Setup(name=search.name, says=search.says, scenario=search.scenario)
    names = [f"key {number}" for number in range(len(columns))]
    keys = [
        tuple(axis.stored(columns[axis.key][number]) for axis in plan.axes)
        for number in range(len(settings))
    ]
    by_key: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        by_key.setdefault(tuple(row[name] for name in names), []).append(row)
    measured = [
        Measured(setup, (), {"runs": by_key.get(key, [])}, plan.target, folder) for key in keys
    ]
    outcomes = tuple(
        _outcome(search, settings, measured, claim, check)
        for claim, check in zip(search.claims, search.checks, strict=True)
    )
    return Searched(search, settings, outcomes, _best(settings, outcomes), failures)


def draw_settings(search: Search, count: int) -> tuple[Setting, ...]:
    """Settings in which each level of each assumption is as frequent as the others, to one. The
    first is the published one. Settings that are the same are left out."""
    stream = random.Random(_DRAW)
    columns: dict[str, list[str]] = {}
    for name, factor in search.factors.items():
        levels = list(factor.levels)
        column = [levels[place % len(levels)] for place in range(count)]
        stream.shuffle(column)
        published = factor.published or levels[0]
        first = column.index(published) if published in column else 0
        column[0], column[first] = column[first], column[0]
        columns[name] = column
    drawn = [{name: column[place] for name, column in columns.items()} for place in range(count)]
    different = {tuple(levels.items()): levels for levels in drawn}
    return tuple(Setting(number, levels) for number, levels in enumerate(different.values()))


def _outcome(
    search: Search,
    settings: tuple[Setting, ...],
    measured: list[Measured],
    claim: str,
    check: Check,
) -> Outcome:
    values, held = [], []
    for one in measured:
        found = value_of(one, check) if one.tables["runs"] else None
        values.append(None if found is None else found.mean)
        held.append(judge(check, found)[0] in (Status.HOLDS, Status.DIFFERS))
    effects = sorted(
        (
            _effect(name, list(factor.levels), settings, held)
            for name, factor in search.factors.items()
        ),
        key=lambda effect: (effect.chance, -effect.size),
    )
    decided = _decided(held, effects, len(search.factors) * len(search.checks))
    return Outcome(claim, check, tuple(values), tuple(held), tuple(effects), decided)


def _effect(
    name: str, levels: list[str], settings: tuple[Setting, ...], held: list[bool]
) -> Effect:
    found = []
    for level in levels:
        own = [was for one, was in zip(settings, held, strict=True) if one.levels[name] == level]
        found.append(Level(level, sum(own), len(own)))
    return Effect(name, tuple(found), _chance(found))


def _chance(levels: list[Level]) -> float:
    """By the chi-squared test of independence; 1 if all or none held."""
    table = [
        [one.held for one in levels if one.of],
        [one.of - one.held for one in levels if one.of],
    ]
    if not all(map(sum, table)) or len(table[0]) < 2:
        return 1.0
    # As long to import as a run takes.
    from scipy.stats import chi2_contingency

    return float(chi2_contingency(table, correction=False).pvalue)


def _decided(held: list[bool], effects: list[Effect], tried: int) -> str:
    count = sum(held)
    if count in (0, len(held)):
        return "in no setting" if count == 0 else "in every setting"
    deciding = [effect for effect in effects if effect.chance * tried < _CLEAR]
    if not deciding:
        return f"under {count} of {len(held)} settings; no single assumption decides it"
    first = deciding[0]
    best = max(first.levels, key=lambda level: level.share)
    worst = min(first.levels, key=lambda level: level.share)
    text = (
        f"under {count} of {len(held)} settings; decided by {first.factor}: "
        f"{best.held} of {best.of} with {best.name}, {worst.held} of {worst.of} with {worst.name}"
    )
    others = ", ".join(effect.factor for effect in deciding[1:])
    return f"{text}; then by {others}" if others else text


def _best(settings: tuple[Setting, ...], outcomes: tuple[Outcome, ...]) -> str:
    scores = [sum(one.held[place] for one in outcomes) for place in range(len(settings))]
    most = max(scores, default=0)
    where = [settings[place] for place, score in enumerate(scores) if score == most]
    if not most:
        return "No setting shows any of them."
    levels = ", ".join(f"{name} {level}" for name, level in where[0].levels.items())
    more = f" (and {len(where) - 1} more)" if len(where) > 1 else ""
    return f"Most at once, {most} of {len(outcomes)}, with {levels}{more}."
