"""Congestion cycles: stretches of packets that all waited at least the target, and their drops.

A controller that remembers its drop rate starts a cycle with drops close together; one that has
forgotten it waits an INTERVAL. Uses rows in the order of dequeue; must not depend on AQMs.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Cycles:
    """Statistics of the congestion cycles of one run; times in ns."""

    count: int
    without_drop: int
    longest: int
    first_gap: int | None
    """Median time between the first two drops of a cycle, over the cycles that have two."""


class CycleTally:
    """Finds cycles in rows that come in pieces; a cycle may go on from one piece to the next."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._open = False
        self._first_row = self._last_row = 0
        self._drops: list[int] = []
        self._count = self._without_drop = self._longest = 0
        self._gaps: list[int] = []

    def add(self, time: Longs, delay: Longs, dropped: Bools) -> None:
        """Rows of packets that left the queue: time of dequeue, queue delay, dropped by the AQM."""
        if not len(time):
            return
        above = delay >= self._target
        edges = np.flatnonzero(np.diff(above)) + 1
        bounds = [0, *edges.tolist(), len(time)]
        for start, end in pairwise(bounds):
            if above[start]:
                self._extend(time[start:end], dropped[start:end])
            else:
                self._close()

    def finish(self) -> Cycles:
        """The cycles, the last one included even if the run ended in it."""
        self._close()
        gap = int(np.median(self._gaps)) if self._gaps else None
        return Cycles(self._count, self._without_drop, self._longest, gap)

    def _extend(self, time: Longs, dropped: Bools) -> None:
        if not self._open:
            self._open, self._first_row, self._drops = True, int(time[0]), []
        self._last_row = int(time[-1])
        missing = 2 - len(self._drops)
        if missing:
            self._drops += time[dropped][:missing].tolist()

    def _close(self) -> None:
        if not self._open:
            return
        self._open = False
        self._count += 1
        self._without_drop += not self._drops
        self._longest = max(self._longest, self._last_row - self._first_row)
        if len(self._drops) == 2:
            self._gaps.append(self._drops[1] - self._drops[0])
