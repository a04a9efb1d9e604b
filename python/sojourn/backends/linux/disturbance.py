"""Disturbance of a run: the effect of the machine around the guest on its clock.

While packets wait, the shaper has to send at its rate. A shortfall, and the longest pause, are the
effect of a late timer on the measurement, whatever the discipline is. A pause with an empty queue
shows in the guest's own process, which samples at fixed times. A run beyond the thresholds
describes the machine, not the discipline. Depends on the rows.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sojourn.backends.linux.matching import Rows
from sojourn.backends.linux.topology import Shaper

LEAST_SHARE = 0.985
"""Of the shaper's rate while packets wait."""
LONGEST_STALL = 20_000_000
"""ns beyond a packet's turn in which nothing left although packets waited."""
LONGEST_SLEEP = 30_000_000
"""ns by which the guest's own process may be late once: its tick and a stall."""
_UNJUDGED = 30_000_000
"""ns around a change of the rate: a packet that is being sent is not called back."""
_DROPPED = (1, 2)


@dataclass(frozen=True)
class Timing:
    """Accuracy of the guest's clock. Times in ns."""

    shaper_share: float
    """Departures while packets waited, as a share of the shaper's allowance in that time."""
    longest_stall: int
    lateness_median: int
    """Of the guest's own process that samples each 10 ms."""
    lateness_p99: int
    lateness_max: int

    @property
    def complaint(self) -> str:
        """The disturbance in words, or nothing."""
        if self.shaper_share < LEAST_SHARE:
            return (
                f"while packets waited the shaper sent {100 * self.shaper_share:.1f} % of its "
                f"rate; at least {100 * LEAST_SHARE:.1f} % is asked for"
            )
        if self.longest_stall > LONGEST_STALL:
            return (
                f"nothing left for {self.longest_stall / 1e6:.1f} ms although packets waited; at "
                f"most {LONGEST_STALL / 1e6:g} ms is allowed"
            )
        if self.lateness_max > LONGEST_SLEEP:
            return (
                f"a process of the guest woke up {self.lateness_max / 1e6:.1f} ms late; at most "
                f"{LONGEST_SLEEP / 1e6:g} ms is allowed"
            )
        return ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def timing(
    rows: Rows, shaper: Shaper, lateness: list[int], steps: Sequence[tuple[int, Shaper]] = ()
) -> Timing:
    """The figures of one run; `steps` are the shapers that took the place of the first one.

    What leaves around a change is not judged: it was asked for at one rate and leaves at another.
    """
    went = ~np.isin(rows.verdict, _DROPPED)
    enqueued, dequeued, size = rows.enqueued[went], rows.dequeued[went], rows.size[went]
    gap = np.diff(dequeued)
    changes = np.array([at for at, _ in steps], np.int64)
    rates = np.array([shaper.rate, *(then.rate for _, then in steps)], np.int64)
    rate = rates[np.searchsorted(changes, dequeued[1:], side="right")]
    turn = (size[:-1] + shaper.overhead) * 8 * 10**9 // rate
    waited = enqueued[1:] <= dequeued[:-1]
    for change in changes:
        waited &= (dequeued[:-1] < change - _UNJUDGED) | (dequeued[:-1] > change + _UNJUDGED)
    taken, allowed = int(gap[waited].sum()), int(turn[waited].sum())
    stall = int((gap - turn)[waited].max()) if waited.any() else 0
    late = np.array(lateness or [0])
    return Timing(
        allowed / taken if taken else 1.0,
        max(stall, 0),
        int(np.median(late)),
        int(np.percentile(late, 99)),
        int(late.max()),
    )


def worst(timings: Sequence[Timing]) -> Timing:
    """The timing of a run with several queues: each figure is the worst of theirs."""
    return replace(
        timings[0],
        shaper_share=min(one.shaper_share for one in timings),
        longest_stall=max(one.longest_stall for one in timings),
    )
