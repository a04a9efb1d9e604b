"""Verdicts: comparison of a measured value with a paper's claim.

Depends on intervals. Must not depend on papers' files or runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sojourn.results.intervals import Interval
from sojourn.studies.papers.model import Check, Measure


class Status(StrEnum):
    """Of a check."""

    HOLDS = "holds"
    DIFFERS = "holds with a difference"
    FAILS = "does not hold"
    UNSEEN = "cannot be seen here"


@dataclass(frozen=True)
class Found:
    """One thing that a claim says, with what we found."""

    says: str
    paper: str
    ours: str
    status: Status
    note: str = ""
    """The deviation, or the reason that it is unknown; the verdicts of other set-ups."""
    difference: float | None = None
    """Relative to the paper's value."""
    beside: tuple[tuple[str, str, Status], ...] = ()
    """Other set-ups: name, value, verdict there."""


def judge(check: Check, found: Interval | None) -> tuple[Status, str, float | None]:
    """The status of `found`, a remark, and how far it is off."""
    if found is None:
        return Status.UNSEEN, "nothing was measured", None
    if check.near is not None:
        return _near(check, check.near, found)
    half = found.half or 0.0
    bound, side = (check.below, -1.0) if check.below is not None else (check.above or 0.0, 1.0)
    assert bound is not None
    clear = side * (found.mean - bound)
    if clear > half:
        return Status.HOLDS, "", None
    if clear <= -half or clear == 0:
        return Status.FAILS, "", None
    runs = f"the interval of {found.count} seeds includes the bound"
    return Status.UNSEEN, runs, None


def _near(check: Check, paper: float, found: Interval) -> tuple[Status, str, float | None]:
    off = (found.mean - paper) / abs(paper) if paper else found.mean
    if abs(off) <= check.within:
        return Status.HOLDS, "", off
    difference = f"{100 * off:+.0f} %"
    status = Status.DIFFERS if abs(off) <= check.far else Status.FAILS
    return status, difference, off


def shown(check: Measure, found: Interval | None) -> str:
    """A value with its interval, in the check's unit."""
    if found is None:
        return "-"
    unit = (
        "%" if check.form in ("cut", "excess") else "times" if check.form == "ratio" else check.unit
    )
    size = max(abs(found.mean), found.half or 0.0)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2
    half = "" if found.half is None else f" ± {found.half:.{decimals}f}"
    return f"{found.mean:.{decimals}f}{half} {unit}".rstrip()


@dataclass(frozen=True)
class Verdict:
    """Of a claim."""

    status: Status
    text: str


def verdict(found: Sequence[Found]) -> Verdict:
    """The verdict over all that a claim says."""
    count = len(found)
    by = {status: [one for one in found if one.status is status] for status in Status}
    good = len(by[Status.HOLDS]) + len(by[Status.DIFFERS])
    unseen = len(by[Status.UNSEEN])
    if by[Status.FAILS]:
        seen = f"{count} parts" if not unseen else f"{count - unseen} parts that can be seen here"
        parts = f" ({good} of its {seen})" if good else ""
        joined = "holds in part" if good else "does not hold"
        return Verdict(Status.FAILS, f"{joined}{parts}{_elsewhere(found)}")
    if unseen == count:
        whys = dict.fromkeys(one.note for one in by[Status.UNSEEN] if one.note)
        return Verdict(Status.UNSEEN, f"cannot be seen here: {'; '.join(whys)}")
    rest = f", as far as it can be seen: {unseen} of {count} parts cannot" if unseen else ""
    if by[Status.DIFFERS]:
        worst = max(by[Status.DIFFERS], key=lambda one: abs(one.difference or 0))
        return Verdict(Status.DIFFERS, f"holds with a difference of {worst.note}{rest}")
    return Verdict(Status.HOLDS, f"holds{rest}{_not_elsewhere(found)}")


def _elsewhere(found: Sequence[Found]) -> str:
    """Set-ups other than the published one in which all that fails is measured, and nothing
    fails."""
    good = (Status.HOLDS, Status.DIFFERS)
    names = dict.fromkeys(name for one in found for name, _, _ in one.beside)
    failing = [one for one in found if one.status is Status.FAILS]
    holding = [
        name
        for name in names
        if all(s in good for one in found for other, _, s in one.beside if other == name)
        and all(any(other == name for other, _, _ in one.beside) for one in failing)
    ]
    return f"; it holds with {holding[0]}" if holding else ""


def _not_elsewhere(found: Sequence[Found]) -> str:
    """The other places where it was measured and does not hold."""
    failing = dict.fromkeys(
        name for one in found for name, _, status in one.beside if status is Status.FAILS
    )
    return f"; not with {', '.join(failing)}" if failing else ""
