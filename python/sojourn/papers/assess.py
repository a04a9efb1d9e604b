"""A paper's claims, each with what was found and its verdict.

Stands on measured set-ups and on what is computed. Draws nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sojourn.papers.computed import COMPUTED
from sojourn.papers.computed.kind import Computed
from sojourn.papers.measure import Measured, value_of
from sojourn.papers.model import Check, Claim, Paper
from sojourn.papers.verdict import Found, Status, Verdict, judge, verdict
from sojourn.sweeps.intervals import Interval


@dataclass(frozen=True)
class Assessed:
    """A claim with its verdict."""

    claim: Claim
    found: tuple[Found, ...]
    verdict: Verdict
    computed: tuple[Computed, ...]


def assess(paper: Paper, measured: Mapping[str, Measured]) -> list[Assessed]:
    """All claims of the paper, in its order."""
    return [_assess(claim, measured) for claim in paper.claims]


def _assess(claim: Claim, measured: Mapping[str, Measured]) -> Assessed:
    computed = tuple(COMPUTED[name]() for name in claim.computed)
    found = [one for part in computed for one in part.found]
    found += [_found(check, measured) for check in claim.checks]
    return Assessed(claim, tuple(found), verdict(found), computed)


def _found(check: Check, measured: Mapping[str, Measured]) -> Found:
    own = value_of(measured[check.setup], check)
    status, note, off = judge(check, own)
    if own is None:
        note = _why(check, measured[check.setup])
    beside = []
    for name in check.also:
        other = value_of(measured[name], check)
        beside.append((name, shown(check, other), judge(check, other)[0]))
    return Found(check.says, check.paper, shown(check, own), status, note, off, tuple(beside))


def _why(check: Check, measured: Measured) -> str:
    """Why nothing was measured."""
    wanted = check.of.get("aqm")
    for missing in measured.missing:
        if wanted is not None and missing.startswith(f"{wanted}:"):
            return missing.partition(": ")[2]
    if wanted == "Linux kernel":
        return "the kernel runs with --on linux"
    return measured.failures[0] if measured.failures else "nothing was measured"


def shown(check: Check, found: Interval | None) -> str:
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


def counts(assessed: list[Assessed]) -> dict[Status, int]:
    """How many claims have each verdict."""
    return {status: sum(a.verdict.status is status for a in assessed) for status in Status}
