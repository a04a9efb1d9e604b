"""Verdicts on two backends in a cell: medians of the repeats, their spread, and the tolerances.

Depends on the figures of both. Must not depend on how they were measured or are shown.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

UTILISATION_POINTS = 2.0
DELAY_SHARE, DELAY_MS = 0.15, 1.0
LOSS_SHARE, LOSS_POINTS = 0.25, 0.05
DCTCP_POINTS = 5.0


@dataclass(frozen=True)
class Figures:
    """The compared figures of one run. Delays in ms, shares in %."""

    mean: float
    p95: float
    utilisation: float
    loss: float
    settled_mean: float
    """Mean delay without the run's first third, and with it slow start."""
    settled_loss: float
    marks: float = 0.0
    """Share of the packets that were marked."""
    dctcp: float = 0.0
    """DCTCP's share of the bytes sent, where CUBIC sends as well."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Spread:
    """One backend's figures in a cell: the median of the repeats, and their spread."""

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
    """The reason, if it is known."""


def spread(runs: Sequence[Figures]) -> Spread:
    """The median and the spread of several runs, figure by figure."""

    def each(choose: Any) -> Figures:
        names = Figures.__dataclass_fields__
        return Figures(**{name: choose([getattr(run, name) for run in runs]) for name in names})

    return Spread(each(median), each(min), each(max), len(runs))


def compare(simulated: Spread, kernel: Spread) -> Verdict:
    """The verdict of a cell; the kernel is what the simulation is measured by."""
    ours, theirs = simulated.median, kernel.median
    outside = []
    if abs(ours.utilisation - theirs.utilisation) > UTILISATION_POINTS:
        outside.append("utilisation")
    if not _delay_agrees(ours.mean, theirs.mean):
        outside.append("mean")
    for share in ("loss", "marks"):
        if not _loss_agrees(getattr(ours, share), getattr(theirs, share)):
            outside.append(share)
    if abs(ours.dctcp - theirs.dctcp) > DCTCP_POINTS:
        outside.append("dctcp")
    return Verdict(tuple(outside), _why(outside, simulated, kernel))


def scattered(simulated: Spread, kernel: Spread) -> bool:
    """True if the runs of one backend lie further apart than the backends may.

    Whether the medians of so few runs agree is then a matter of chance. More runs are needed in
    either case: adding runs only where the medians disagree would stop as soon as chance lets them
    agree.
    """
    return any(_apart(each, kernel.median) for each in (simulated, kernel))


def unsteady(kernel: Spread) -> tuple[str, ...]:
    """The figures in which the kernel's own runs lie further apart than the backends may.

    They allow no verdict, whether the medians agree or not.
    """
    return _apart(kernel, kernel.median)


def _apart(runs: Spread, reference: Figures) -> tuple[str, ...]:
    """The figures whose least and greatest are further apart than allowed around `reference`."""
    high, low = runs.high, runs.low
    allowed = {
        "utilisation": UTILISATION_POINTS,
        "mean": max(DELAY_SHARE * reference.mean, DELAY_MS),
        "loss": max(LOSS_SHARE * reference.loss, LOSS_POINTS),
        "marks": max(LOSS_SHARE * reference.marks, LOSS_POINTS),
        "dctcp": DCTCP_POINTS,
    }
    return tuple(
        name for name, most in allowed.items() if getattr(high, name) - getattr(low, name) > most
    )


def _delay_agrees(ours: float, theirs: float) -> bool:
    return abs(ours - theirs) <= max(DELAY_SHARE * theirs, DELAY_MS)


def _loss_agrees(ours: float, theirs: float) -> bool:
    return abs(ours - theirs) <= max(LOSS_SHARE * theirs, LOSS_POINTS)


def _why(outside: Sequence[str], simulated: Spread, kernel: Spread) -> str:
    """The reason that the figures themselves show: chance, slow start, or neither."""
    if not outside:
        return ""
    many = min(simulated.runs, kernel.runs) > 1
    if many and all(_overlap(simulated, kernel, name) for name in outside):
        return "chance: the repeats of both overlap"
    ours, theirs = simulated.median, kernel.median
    settled = (
        f"without the first third of the run {ours.settled_mean:.2f} / {theirs.settled_mean:.2f} "
        f"ms, loss {ours.settled_loss:.2f} / {theirs.settled_loss:.2f} %"
    )
    slow_start = _delay_agrees(ours.settled_mean, theirs.settled_mean) and _loss_agrees(
        ours.settled_loss, theirs.settled_loss
    )
    if slow_start and "utilisation" not in outside:
        return f"slow start: {settled}"
    return f"not slow start alone: {settled}"


def _overlap(one: Spread, other: Spread, name: str) -> bool:
    return bool(
        getattr(one.low, name) <= getattr(other.high, name)
        and getattr(other.low, name) <= getattr(one.high, name)
    )
