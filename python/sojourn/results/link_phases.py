"""Figures of a queue for each phase between two changes of its link's rate.

A phase begins with a change. Its packets are those that left the queue in it, or were refused
there. Reads a bottleneck's rows in bounded pieces.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sojourn.model.scenario.bottleneck import Bottleneck
from sojourn.results.statistics import Longs, read_rows, share_sent
from sojourn.runtime.arrow_tables import MARK, SENT, was_queued

_WINDOWS = 150
"""Parts of a phase whose mean delays are compared; a multiple of three."""
_SETTLED = 2
"""A spike is over when no mean is above so many times that of the phase's last third."""
_GROWS = 1.25
"""A delay that is higher by this in the last third than on average has not come down."""


@dataclass(frozen=True)
class Phase:
    """The time between two changes of the rate. Times in ns, from the start of the run."""

    start: int
    rate: int
    """bit/s"""
    mean: float | None
    max: int | None
    """Of the queue delay."""
    settled: int | None
    """Time from the change to the end of its spike; none if the delay grows instead."""
    dropped: float | None
    """Share of the packets that were offered."""
    utilisation: float


def read_phases(
    folder: Path, bottleneck: Bottleneck, simulated: int, since: int = 0, burst: int = 0
) -> list[Phase]:
    """The phases of a bottleneck whose rate changes; none if it does not. A phase that the warm-up
    `since` covers is left out; one that it cuts begins at its end. `burst` is the shaper's, B."""
    if not bottleneck.steps:
        return []
    changes = [
        change for change in ((0, bottleneck.rate), *bottleneck.steps) if change[0] < simulated
    ]
    ends = [at for at, _ in changes[1:]] + [simulated]
    spans = [
        (max(at, since), end, rate)
        for (at, rate), end in zip(changes, ends, strict=True)
        if end > since
    ]
    sums = [_Sums(at, end) for at, end, _ in spans]
    for rows in read_rows(folder / bottleneck.rows, simulated):
        for phase in sums:
            phase.add(*rows)
    return [phase.finish(rate, burst) for phase, (_, _, rate) in zip(sums, spans, strict=True)]


class _Sums:
    """Running sums over the rows of one phase."""

    def __init__(self, start: int, end: int) -> None:
        self._start, self._end = start, end
        self._count = np.zeros(_WINDOWS, np.int64)
        self._total = np.zeros(_WINDOWS, np.float64)
        self._max = self._bytes = self._offered = self._drops = self._largest = 0

    def add(self, time: Longs, delay: Longs, size: Longs, verdict: Longs) -> None:
        """Counts rows in."""
        inside = (time >= self._start) & (time < self._end)
        if not inside.any():
            return
        kind = verdict[inside]
        self._offered += len(kind)
        self._largest = max(self._largest, int(size[inside].max()))
        self._drops += int(((kind != SENT) & (kind != MARK)).sum())
        self._bytes += int(size[inside][(kind == SENT) | (kind == MARK)].sum())
        queued = was_queued(delay[inside], kind)
        delays, times = delay[inside][queued], time[inside][queued]
        if len(delays):
            self._max = max(self._max, int(delays.max()))
            window = (times - self._start) * _WINDOWS // (self._end - self._start)
            self._count += np.bincount(window, minlength=_WINDOWS)
            self._total += np.bincount(window, weights=delays, minlength=_WINDOWS)

    def finish(self, rate: int, burst: int) -> Phase:
        """The phase, now that all rows are counted in."""
        span = self._end - self._start
        queued = int(self._count.sum())
        return Phase(
            start=self._start,
            rate=rate,
            mean=float(self._total.sum()) / queued if queued else None,
            max=self._max if queued else None,
            settled=self._settled(span, rate) if queued else None,
            dropped=self._drops / self._offered if self._offered else None,
            utilisation=share_sent(self._bytes, rate * span / 8e9, burst, self._largest),
        )

    def _settled(self, span: int, rate: int) -> int | None:
        means = self._total / np.maximum(self._count, 1)
        full = self._count > 0
        last_third = np.arange(_WINDOWS) >= _WINDOWS * 2 // 3
        if not (full & last_third).any():
            return None
        late = float(means[full & last_third].mean())
        # Who waits for no longer than a packet takes on the wire has met no queue.
        packet = self._largest * 8e9 / rate
        if late > max(_GROWS * float(means[full].mean()), packet):
            return None
        above = np.flatnonzero(means > max(_SETTLED * late, packet))
        return int(above[-1] + 1) * span // _WINDOWS if len(above) else 0
