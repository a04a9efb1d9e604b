"""Whether two grounds agree in a cell: medians of the repeats, their spread, and the tolerances.

Stands on the figures of both. Knows neither how they were measured nor how they are shown.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

UTILISATION_POINTS = 2.0
DELAY_SHARE, DELAY_MS = 0.15, 1.0
LOSS_SHARE, LOSS_POINTS = 0.25, 0.05


@dataclass(frozen=True)
class Figures:
    """What is compared, of one run. Delays in ms, shares in %."""

    mean: float
    p95: float
    utilisation: float
    loss: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Side:
    """One ground's figures in a cell: the median of the repeats, and how far they spread."""

    median: Figures
    low: Figures
    high: Figures
    runs: int


@dataclass(frozen=True)
class Verdict:
    """A cell's comparison."""

    outside: tuple[str, ...]
    """The figures that are further apart than allowed."""
    why: str
    """What is known of the reason, or nothing."""


def side(runs: Sequence[Figures]) -> Side:
    """The median and the spread of several runs, figure by figure."""

    def each(choose: Any) -> Figures:
        names = Figures.__dataclass_fields__
        return Figures(**{name: choose([getattr(run, name) for run in runs]) for name in names})

    return Side(each(median), each(min), each(max), len(runs))


def compare(simulated: Side, kernel: Side) -> Verdict:
    """The verdict of a cell; the kernel is what the simulation is measured by."""
    ours, theirs = simulated.median, kernel.median
    outside = []
    if abs(ours.utilisation - theirs.utilisation) > UTILISATION_POINTS:
        outside.append("utilisation")
    if abs(ours.mean - theirs.mean) > max(DELAY_SHARE * theirs.mean, DELAY_MS):
        outside.append("mean")
    if abs(ours.loss - theirs.loss) > max(LOSS_SHARE * theirs.loss, LOSS_POINTS):
        outside.append("loss")
    return Verdict(tuple(outside), _why(outside, simulated, kernel))


def _why(outside: Sequence[str], simulated: Side, kernel: Side) -> str:
    """What the repeats themselves say of the reason."""
    if not outside:
        return ""
    if min(simulated.runs, kernel.runs) < 2:
        return "one run only; --repeat shows how much of it is chance"
    apart = [name for name in outside if not _overlap(simulated, kernel, name)]
    if not apart:
        return "chance: the repeats of both overlap"
    return f"not chance: the repeats of both are apart in {' and '.join(apart)}"


def _overlap(one: Side, other: Side, name: str) -> bool:
    return bool(
        getattr(one.low, name) <= getattr(other.high, name)
        and getattr(other.low, name) <= getattr(one.high, name)
    )
