"""Comparison of runs: differences in their settings and in their figures.

Runs of one scenario that differ in the seed alone are one set-up, whose figures are means with
their intervals. Differences are to the first set-up, with Welch's interval where both have seeds.
Depends on results; draws nothing.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.errors import ScenarioError
from sojourn.model.inputs import distinct
from sojourn.results.intervals import CONFIDENCE, Interval, interval
from sojourn.results.metrics import SHOWN, Metric
from sojourn.results.result import AqmResult, Result

_PLACES = ("program", "include_paths")
"""Of an AQM's options: where its files are, which says nothing of what they are."""
_SILENT = ("seed", "title", "description", "look_at", "notes", "aqms")
"""Keys of a scenario that decide nothing about a run of one AQM with one seed."""


@dataclass(frozen=True)
class Setup:
    """Runs that differ in their seeds alone."""

    name: str
    results: tuple[Result, ...]
    differs: tuple[str, ...]
    """Differences of its scenario to the first one's: `key: theirs -> its`."""


@dataclass(frozen=True)
class Line:
    """An AQM in one set-up: each figure, and its difference to the first set-up."""

    aqm: str
    setup: str
    values: tuple[Interval | None, ...]
    """In the order of `SHOWN`."""
    differences: tuple[Interval | None, ...]
    """None in the first set-up."""


def setups(results: Sequence[tuple[str, Result]]) -> list[Setup]:
    """The set-ups that named results are of, in their order; `ScenarioError` for one run twice."""
    groups: list[tuple[dict[str, Any], list[tuple[str, Result]]]] = []
    for name, result in results:
        decisive = dict(_decisive(result))
        same = next((group for known, group in groups if known == decisive), None)
        if same is None:
            groups.append((decisive, [(name, result)]))
        elif any(other.path.resolve() == result.path.resolve() for _, other in same):
            raise ScenarioError(f"{name}: the same run twice")
        else:
            same.append((name, result))
    base = groups[0][0]
    return [
        Setup(
            group[0][0] if len(group) == 1 else f"{group[0][0]} and {len(group) - 1} more",
            tuple(result for _, result in group),
            tuple(
                f"{key}: {base.get(key, 'absent')} -> {decisive.get(key, 'absent')}"
                for key in dict.fromkeys([*base, *decisive])
                if base.get(key) != decisive.get(key)
            ),
        )
        for decisive, group in groups
    ]


def compare(results: Sequence[tuple[str, Result]]) -> tuple[list[Setup], list[Line]]:
    """The set-ups of named results, and a line for each AQM in each of them."""
    _refuse_parts(results)
    found = setups(results)
    labels = dict.fromkeys(
        label for setup in found for result in setup.results for label in result.aqms
    )
    lines = []
    for label in labels:
        first: list[list[float]] | None = None
        for setup in found:
            aqms = [result.aqms[label] for result in setup.results if label in result.aqms]
            if not aqms:
                continue
            values = [_values(metric, aqms) for metric in SHOWN]
            apart = differences(first, values)
            first = values if first is None else first
            lines.append(Line(label, setup.name, tuple(map(interval, values)), apart))
    return found, lines


def _refuse_parts(results: Sequence[tuple[str, Result]]) -> None:
    """`ScenarioError` if a run was interrupted and others' figures are of another time."""
    spans = {name: result.compared or result.scenario.duration for name, result in results}
    part = next((name for name, result in results if result.compared is not None), None)
    if part is None:
        return
    for name, span in spans.items():
        if span != spans[part]:
            raise ScenarioError(
                f"{part}: interrupted; its figures are of its first {spans[part] / 1e9:.3f} s, "
                f"those of {name} of {span / 1e9:.3f} s. Run it again to its end"
            )


def differences(
    first: Sequence[Sequence[float]] | None, second: Sequence[Sequence[float]]
) -> tuple[Interval | None, ...]:
    """The difference of each metric to the first set-up's values; none in the first set-up."""
    if first is None:
        return (None,) * len(second)
    return tuple(difference(a, b) for a, b in zip(first, second, strict=True))


def difference(first: Sequence[float], second: Sequence[float]) -> Interval | None:
    """The mean of `second` less that of `first`, with Welch's interval (B. L. Welch 1947) if both
    have two values at least; none of nothing."""
    if not len(first) or not len(second):
        return None
    mean = float(np.mean(second) - np.mean(first))
    count = min(len(first), len(second))
    if count < 2:
        return Interval(mean, None, count)
    parts = [float(np.var(values, ddof=1)) / len(values) for values in (first, second)]
    if not sum(parts):
        return Interval(mean, 0.0, count)
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (first, second), strict=True)
    )
    from scipy.special import stdtrit

    t = float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
    return Interval(mean, t * math.sqrt(sum(parts)), count)


def _values(metric: Metric, aqms: Sequence[AqmResult]) -> list[float]:
    found = [_figure(metric.name, aqm) for aqm in aqms]
    return [value for value in found if value is not None]


def _figure(name: str, aqm: AqmResult) -> float | None:
    summary = aqm.summary
    if name == "drop_share":
        drops = summary.aqm_drops + summary.tail_drops + summary.ingress_drops
        return drops / summary.packets if summary.packets else None
    value: float | None = getattr(summary, name)
    return value


def _decisive(result: Result) -> Iterator[tuple[str, Any]]:
    """All that decides what a run comes to but its seed, by dotted keys: the scenario, and of each
    AQM its options and what its files are."""
    for key, value in _flat(result.scenario.model_dump(mode="json", exclude_none=True)):
        if key.split(".")[0] not in _SILENT:
            yield key, value
    yield "backend", result.folder.backend["name"]
    for run in result.folder.runs:
        for key, value in _flat(run.aqm):
            if key.split(".")[0] not in _PLACES:
                yield f"{run.label}.{key}", value
        names = distinct(run.sources)
        for name, digest in run.sources.items():
            yield f"{run.label}: {names[name]}", f"SHA-256 {digest[:12]}"


def _flat(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """The values of a document by dotted keys."""
    parts = value.items() if isinstance(value, dict) else enumerate(value)
    for name, part in parts:
        place = f"{key}.{name}".lstrip(".")
        if isinstance(part, dict | list):
            yield from _flat(part, place)
        else:
            yield place, part
