"""Exact percentiles of the queue delay of each group of flows, in bounded memory.

Few delays are kept and sorted. For more of them the rows are read again, a few bits of the
percentile a pass, for all groups at once. Depends on rows and on the group of each, not on flows.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]

_DIGIT = 12
"""Bits that one pass settles."""
_AT_ONCE = 256
"""Groups that share a pass."""


class Reread(Protocol):
    """Reads the same rows again."""

    def __call__(self) -> Iterable[tuple[Longs, Longs]]:
        """Groups and delays of the packets that were in the queue, a piece at a time."""


def split(group: Longs, delay: Longs) -> Iterable[tuple[int, Longs]]:
    """The delays of each group that occurs."""
    order = np.argsort(group, kind="stable")
    names, starts = np.unique(group[order], return_index=True)
    yield from zip(names.tolist(), np.split(delay[order], starts[1:]), strict=True)


def percentiles(
    kept: Sequence[tuple[Longs, Longs]] | None,
    counts: Longs,
    percents: Sequence[int],
    largest: int,
    reread: Reread,
) -> list[list[int | None]]:
    """For each group the delays that so many in 100 packets did not exceed, nearest rank.

    `kept` are groups and delays if they are few; `counts` has the number of delays of each group.
    """
    ranks = -(-counts[:, None] * np.array(percents) // 100)
    found: list[list[int | None]] = [[None] * len(percents) for _ in counts]
    if kept is not None:
        if not kept:
            return found
        groups, delays = (np.concatenate(part) for part in zip(*kept, strict=True))
        for place, own in split(groups, delays):
            if place >= 0:
                ordered = np.sort(own)
                found[place] = [int(ordered[rank - 1]) for rank in ranks[place]]
        return found
    for first in range(0, len(counts), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        searched = _search(ranks[part], first, largest, reread)
        for place, values in enumerate(searched, start=first):
            if counts[place]:
                found[place] = list(values)
    return found


def _search(ranks: Longs, first: int, largest: int, reread: Reread) -> list[list[int]]:
    """The delays at `ranks` (from 1) of the groups from `first` on."""
    low, left = np.zeros_like(ranks), ranks.copy()
    bits = largest.bit_length()
    while bits > 0:
        bits = max(bits - _DIGIT, 0)
        counts = np.zeros((*ranks.shape, 1 << _DIGIT), np.int64)
        for groups, delays in reread():
            for place, own in split(groups - first, delays):
                if 0 <= place < len(ranks):
                    for rank, start in enumerate(low[place]):
                        digit = (own - start) >> bits
                        digit = digit[(digit >= 0) & (digit < 1 << _DIGIT)]
                        counts[place, rank] += np.bincount(digit, minlength=1 << _DIGIT)
        running = np.cumsum(counts, axis=2)
        digits = np.minimum((running < left[..., None]).sum(axis=2), (1 << _DIGIT) - 1)
        before = np.take_along_axis(running, np.maximum(digits - 1, 0)[..., None], 2)[..., 0]
        left -= np.where(digits > 0, before, 0)
        low += digits << bits
    return [[int(value) for value in row] for row in low]
