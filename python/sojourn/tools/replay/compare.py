"""Decisions held against the reference's, packet by packet and drop by drop.

Depends on numpy. Drops that both make at the same packet are partners. Of the others, a drop of the
reference and one of the other AQM are partners if each is the nearest to the other in time. What
stays without a partner is missed or extra.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sojourn.tools.replay.decisions import Flags
from sojourn.tools.replay.trace import Longs

MICROSECOND = 1_000
SAME, NEAR = 0.999, 1.0
"""Thresholds for a program that claims RFC 8289's decisions: the shares of the reference's drops
made at the same packet, and within a microsecond."""


@dataclass(frozen=True)
class Comparison:
    """Agreement of decisions with the reference's."""

    packets: int
    equal: float
    """Share of packets about which both decided the same."""
    reference_drops: int
    drops: int
    same: int
    """Drops of the reference made at the very same packet."""
    near: int
    """Drops of the reference made within a microsecond, `same` included."""
    missed: int
    """Drops of the reference without a partner."""
    extra: int
    """Drops without a partner."""
    errors: Longs
    """ns by which the partner of a reference's drop is later, sorted; `same` are zeros."""

    @property
    def same_share(self) -> float | None:
        """`same` over the reference's drops."""
        return self.same / self.reference_drops if self.reference_drops else None

    @property
    def near_share(self) -> float | None:
        """`near` over the reference's drops."""
        return self.near / self.reference_drops if self.reference_drops else None

    def error(self, percent: float) -> int | None:
        """The size of the error that so many percent of the paired drops do not exceed."""
        if not len(self.errors):
            return None
        return int(np.percentile(np.abs(self.errors), percent, method="inverted_cdf"))

    def within(self, nanoseconds: int) -> float:
        """Share of the reference's drops with a partner no further away."""
        if not self.reference_drops:
            return 1.0
        return float(np.count_nonzero(np.abs(self.errors) <= nanoseconds) / self.reference_drops)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "packets": self.packets,
            "equal": self.equal,
            "reference_drops": self.reference_drops,
            "drops": self.drops,
            "same_packet": self.same,
            "same_packet_share": self.same_share,
            "within_1_us": self.near,
            "within_1_us_share": self.near_share,
            "missed": self.missed,
            "extra": self.extra,
            "drop_time_error_ns": {
                "median": self.error(50),
                "p95": self.error(95),
                "p99": self.error(99),
                "max": self.error(100),
                "mean_signed": float(self.errors.mean()) if len(self.errors) else None,
            },
        }


def compare(time: Longs, reference: Flags, other: Flags) -> Comparison:
    """Holds `other` against `reference`; both are drops of the packets that left at `time`."""
    same = int(np.count_nonzero(reference & other))
    left, right = time[reference & ~other], time[other & ~reference]
    errors = pair(left, right)
    return Comparison(
        packets=len(time),
        equal=float(np.mean(reference == other)) if len(time) else 1.0,
        reference_drops=same + len(left),
        drops=same + len(right),
        same=same,
        near=same + int(np.count_nonzero(np.abs(errors) <= MICROSECOND)),
        missed=len(left) - len(errors),
        extra=len(right) - len(errors),
        errors=np.sort(np.concatenate((np.zeros(same, np.int64), errors))),
    )


def pair(left: Longs, right: Longs) -> Longs:
    """The delay of each paired one in `right` behind its partner in `left`; both ascend."""
    if not len(left) or not len(right):
        return np.zeros(0, np.int64)
    to_right, to_left = _nearest(left, right), _nearest(right, left)
    mutual = to_left[to_right] == np.arange(len(left))
    errors: Longs = right[to_right[mutual]] - left[mutual]
    return errors


def _nearest(of: Longs, among: Longs) -> Longs:
    """For each instant the place of the nearest one in `among`, the earlier of two equally near."""
    after = np.searchsorted(among, of, side="left")
    before = np.maximum(after - 1, 0)
    after = np.minimum(after, len(among) - 1)
    nearest: Longs = np.where(np.abs(among[after] - of) < np.abs(of - among[before]), after, before)
    return nearest
