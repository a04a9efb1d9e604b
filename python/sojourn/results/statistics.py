"""Statistics of a run's rows: queue delay, goodput, utilisation, drops; and the curves of plots.

Reads the Parquet files in bounded pieces and needs the same memory for any number of packets;
percentiles are exact. Must not depend on the engine; draws nothing.

Queue delay is a packet's time between enqueue and dequeue. It covers all packets that left the
queue, including those that the AQM then dropped, because that is the delay that the AQM measures.
Packets that were dropped on arrival, by tail drop, by an AQM such as RED or PIE, or by a program's
ingress, have none.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sojourn.results.congestion_cycles import Cycles, CycleTally
from sojourn.results.counters import read_counters
from sojourn.results.delivered import delivered
from sojourn.results.totals import Totals, summed
from sojourn.runtime.arrow_tables import (
    AQM,
    INGRESS,
    MARK,
    SENT,
    TAIL,
    VERDICTS,
    iter_rows,
    was_queued,
)
from sojourn.runtime.run_files import PACKETS

_TIME_BINS = 1000
_COARSE_BINS = 200
"""Of time, for what has a distribution in each."""
_DECADES = (2, 11)
"""Powers of ten, in ns, between which the distribution is drawn: 100 ns to 100 s."""
_BINS_PER_DECADE = 100
EDGES = np.logspace(*_DECADES, (_DECADES[1] - _DECADES[0]) * _BINS_PER_DECADE + 1)
"""Delays at which distributions are known, ns."""
_WHOLE_EDGES = np.floor(EDGES).astype(np.int64)
"""A delay is whole: it is at most an edge if it is at most the whole part of that."""
_PERCENTS = (5, 25, 50, 75, 95, 99)
"""Percentiles of a summary: those of a box plot, and the tail."""
_DIGIT = 16
"""Bits that one pass of the percentile search settles."""
_KEPT = 1 << 21
"""Delays that are kept for the percentiles; for more of them, the rows are read again."""

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Summary:
    """One row of the result table. Times in ns, rates in bit/s."""

    simulated: int
    """The end of the time that all of it is of: the run's, or that of the part that is compared."""
    since: int
    """The start of that time: the end of the warm-up."""
    packets: int
    """Offered to the bottleneck's queue."""
    mean: float | None
    p5: int | None
    p25: int | None
    median: int | None
    p75: int | None
    p95: int | None
    p99: int | None
    max: int | None
    above_target: float | None
    """Share of packets whose queue delay exceeds the scenario's target."""
    goodput: float
    """Payload that receiving applications got."""
    utilisation: float
    """Bytes sent, Ethernet frames without FCS, over the rate of the shaper as built; or packets
    sent over the port's rate in packets, if that is what holds them up."""
    aqm_drops: int
    """At the queue: by a program's egress or a native discipline."""
    tail_drops: int
    ingress_drops: int
    """By a program's ingress, before any queue: as an AQM does that decides there, or because it
    forwarded them nowhere."""
    marks: int
    recirculated: int | None
    """Packets that took the recirculation port, those included which its egress pass used up; not
    known of a part of a run, such as that after a warm-up."""
    recirculated_share: float
    """Their bytes over the bytes received from hosts; as all below, of the whole run."""
    mirrored: int
    unsynchronised: int
    """Total time of mirrored copies on the way to the registers that they update."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class DelayOverTime:
    """Queue delay by time of dequeue, in bins of equal length; ns. Empty bins are NaN."""

    time: Floats
    low: Floats
    mean: Floats
    high: Floats
    drops: Longs
    """Packets that were dropped in each bin, for whatever reason."""
    marks: Longs


@dataclass(frozen=True)
class QueueOverTime:
    """Backlog and departures of a queue in bins of equal length. NaN where no packet left."""

    time: Floats
    """The middle of each bin, ns."""
    median: Floats
    """Of the queue delay of what left in the bin, ns; as the next, to 2.3 %."""
    p99: Floats
    backlog: Floats
    """Bytes of frames in the queue at the end of the bin, up to the arrival of the last one that
    left it: of what was still there at the run's end there are no rows."""
    utilisation: Floats
    """Bytes sent over what the link could have sent."""


@dataclass(frozen=True)
class Distribution:
    """Share of packets with at most `delay` ns in the queue."""

    delay: Floats
    share: Floats


@dataclass(frozen=True)
class Findings:
    """All that is derived from one run's rows."""

    summary: Summary
    counters: dict[str, Any]
    """The engine's own counters, as in `counters.json`."""
    over_time: DelayOverTime
    queue: QueueOverTime
    distribution: Distribution
    cycles: Cycles
    queued: int = 0
    """Packets that the distribution is of."""
    in_order: bool = True
    """Whether packets left in the order in which they came, as from a single queue."""


class Rows(NamedTuple):
    """Columns of packets' rows."""

    time: Longs
    """Of dequeue."""
    delay: Longs
    size: Longs
    verdict: Longs
    """Places in `VERDICTS`."""
    flow: Longs


class RowReader(Protocol):
    """An observer of the rows that `read_findings` reads, so that they are read once."""

    def add(self, rows: Rows) -> None:
        """Counts rows in."""

    def add_totals(self, totals: Totals) -> None:
        """Counts in what a run without rows has added up."""


def read_findings(
    folder: Path,
    *,
    target: int,
    rate: int | Callable[[int], float],
    duration: int,
    packet_rate: int | None = None,
    burst: int = 0,
    rows: str = PACKETS,
    since: int = 0,
    until: int | None = None,
    also: RowReader | None = None,
    totals: Totals | None = None,
) -> Findings:
    """Reads the rows of the run in `folder`; `target`, `rate` and `duration` are its scenario's.

    `rate` is what the bottleneck can send, or a function that says what it could on average up to
    an instant; `packet_rate` is what it can send in packets/s, `burst` what its shaper lets pass at
    once: bytes, or packets with a `packet_rate`. `rows` is the file of one bottleneck of several.
    With `until` only what happened up to that instant counts, ns; `since` is the end of the
    warm-up, which courses over time include and figures exclude. `also` gets the rows that figures
    are of. `totals` stand for the rows of a run without rows.
    """
    counters = read_counters(folder)
    tally = _Tally(duration, target, since)
    path = folder / rows
    if totals is not None:
        for reader in (tally, also):
            if reader is not None:
                reader.add_totals(totals)
    else:
        _read_into(tally, also, path, since, until)
    simulated = counters["simulated"]
    if until is not None and until >= simulated:
        until = None
    simulated = until or simulated
    seconds = max(simulated - since, 1) / 1e9
    possible = _mean_rate(rate, since, max(simulated, 1))
    exact = None if totals is not None else _percentiles(tally, path, since, until)
    p5, p25, median, p75, p95, p99 = exact or [None] * len(_PERCENTS)
    in_bytes = burst if packet_rate is None else 0
    utilisation = share_sent(tally.sent_bytes, possible * seconds / 8, in_bytes, tally.largest)
    if packet_rate is not None:
        sent_packets = int(tally.verdicts[SENT] + tally.verdicts[MARK])
        utilisation = max(utilisation, share_sent(sent_packets, packet_rate * seconds, burst, 1))
    summary = Summary(
        simulated=simulated,
        since=since,
        packets=int(tally.verdicts.sum()),
        mean=tally.total / tally.queued if tally.queued else None,
        p5=p5,
        p25=p25,
        median=median,
        p75=p75,
        p95=p95,
        p99=p99,
        max=tally.max if tally.queued else None,
        above_target=tally.above / tally.queued if tally.queued else None,
        goodput=sum(delivered(folder, counters, since, until)) * 8 / seconds,
        utilisation=utilisation,
        aqm_drops=int(tally.verdicts[AQM]),
        tail_drops=int(tally.verdicts[TAIL]),
        ingress_drops=int(tally.verdicts[INGRESS]),
        marks=int(tally.verdicts[MARK]),
        recirculated=None
        if until or since
        else counters["recirculated_packets"] + counters["recirculation_drops"],
        recirculated_share=counters["recirculated_share"],
        mirrored=counters["mirrored_packets"],
        unsynchronised=counters["unsynchronised"]["total"],
    )
    cycles = tally.cycles.finish()
    queue = tally.queue_over_time(rate, simulated)
    curve = tally.distribution()
    return Findings(
        summary,
        counters,
        tally.over_time(),
        queue,
        curve,
        cycles,
        tally.queued,
        tally.in_order,
    )


def _read_into(
    tally: "_Tally", also: RowReader | None, path: Path, since: int, until: int | None
) -> None:
    """Reads the rows once, for both."""
    for batch in read_flow_rows(path, until):
        counted = after(batch, since)
        tally.add(batch, counted)
        if also is not None:
            also.add(counted)


def _mean_rate(rate: int | Callable[[int], float], since: int, until: int) -> float:
    """What the bottleneck could send between two instants, bit/s on average."""
    if not callable(rate):
        return rate
    if not since:
        return rate(until)
    return (rate(until) * until - rate(since) * since) / max(until - since, 1)


def share_sent(sent: int, possible: float, burst: int, largest: int) -> float:
    """The share that `sent` is of the bytes or packets that a shaper could send.

    That is rate times time, `possible`, and for a sender of more the part that it needed of the
    burst and the rest of the frame that crosses it (`largest`): a full bucket passes both.
    """
    beyond = min(max(sent - possible, 0.0), burst + largest) if burst else 0.0
    return sent / (possible + beyond)


def _percentiles(
    tally: "_Tally", path: Path, since: int, until: int | None
) -> Sequence[int | None]:
    """Those of `_PERCENTS`: exact."""
    if not tally.queued:
        return [None] * len(_PERCENTS)
    ranks = [-(-tally.queued * percent // 100) for percent in _PERCENTS]
    if tally.delays is None:
        return delays_at(path, ranks, tally.max, until, since)
    places = [rank - 1 for rank in ranks]
    ordered = np.partition(np.concatenate(tally.delays), places)
    return [int(ordered[place]) for place in places]


def read_rows(path: Path, until: int | None = None) -> Iterator[tuple[Longs, Longs, Longs, Longs]]:
    """Dequeue time, queue delay, size and verdict of the rows, a bounded number at a time; with
    `until`, of those that had left by then."""
    for rows in read_flow_rows(path, until):
        yield rows[:4]


def read_flow_rows(path: Path, until: int | None = None) -> Iterator[Rows]:
    """The same with the packets' flows."""
    columns = ["enqueued", "dequeued", "size", "flow", "verdict"]
    for batch in iter_rows(path, columns):
        enqueued, dequeued, size, flow = (
            batch.column(name).to_numpy().astype(np.int64) for name in columns[:4]
        )
        verdict = _verdicts(batch.column("verdict"))
        rows = Rows(dequeued, dequeued - enqueued, size, verdict, flow)
        yield rows if until is None else _where(rows, dequeued <= until)


def after(rows: Rows, since: int) -> Rows:
    """Those of `rows` that left the queue after the warm-up."""
    return _where(rows, rows.time >= since) if since else rows


def _where(rows: Rows, chosen: npt.NDArray[np.bool_]) -> Rows:
    return rows if chosen.all() else Rows(*(column[chosen] for column in rows))


def _verdicts(column: pa.DictionaryArray) -> Longs:
    """Places in `VERDICTS`; a file's own dictionary is in order of first occurrence."""
    places = np.array([VERDICTS.index(name) for name in column.dictionary.to_pylist()], np.int64)
    indices: Longs = column.indices.to_numpy()
    return np.take(places, indices)


class _Tally:
    """Running sums over rows."""

    def __init__(self, duration: int, target: int, since: int) -> None:
        self._since = since
        self.in_order, self._last_came = True, 0
        self._bin = max(-(-duration // _TIME_BINS), 1)
        self._target = target
        self.cycles = CycleTally(target)
        self.delays: list[Longs] | None = []
        """Of all packets that were queued, as long as they are few."""
        self.queued = self.total = self.max = self.above = self.sent_bytes = 0
        self.largest = 0
        """Bytes of the largest packet; after `add_totals` the largest mean of a flow."""
        self.verdicts = np.zeros(len(VERDICTS), np.int64)
        self._count = np.zeros(_TIME_BINS, np.int64)
        self._drops, self._marks = np.zeros((2, _TIME_BINS), np.int64)
        self._sum = np.zeros(_TIME_BINS, np.float64)
        # Of the rows' own type: numpy's `at` is fast where nothing is converted.
        self._low = np.full(_TIME_BINS, np.iinfo(np.int64).max)
        self._high = np.full(_TIME_BINS, np.iinfo(np.int64).min)
        self._histogram = np.zeros(len(EDGES) + 1, np.int64)
        self._by_time = np.zeros((_COARSE_BINS, len(EDGES) + 1), np.int64)
        self._coarse = max(-(-duration // _COARSE_BINS), 1)
        self._entered, self._left, self._sent = np.zeros((3, _COARSE_BINS), np.int64)
        self._last_arrival = 0

    def add(self, rows: Rows, counted: Rows) -> None:
        """Counts rows in; figures are of `counted`, courses over time of all."""
        self._add_course(rows)
        time, delay, size, verdict, _ = counted
        self.verdicts += np.bincount(verdict, minlength=len(VERDICTS))
        self.sent_bytes += int(size[(verdict == SENT) | (verdict == MARK)].sum())
        self.largest = max(self.largest, int(size.max(initial=0)))
        queued = was_queued(delay, verdict)
        time, delay = time[queued], delay[queued]
        self.cycles.add(time, delay, verdict[queued] == AQM)
        if not len(delay):
            return
        came = time - delay
        if came[0] < self._last_came or (np.diff(came) < 0).any():
            self.in_order = False
        self._last_came = int(came[-1])
        self.queued += len(delay)
        if self.delays is not None:
            self.delays.append(delay)
        if self.queued > _KEPT:
            self.delays = None
        self.total += int(delay.sum())
        self.max = max(self.max, int(delay.max()))
        self.above += int((delay > self._target).sum())

    def add_totals(self, totals: Totals) -> None:
        """Counts in sums, which leave percentiles and courses over time empty."""
        self.verdicts += summed(totals.verdict, totals.packets, len(VERDICTS))
        sent = (totals.verdict == SENT) | (totals.verdict == MARK)
        queued = totals.queued > 0
        self.sent_bytes += int(totals.bytes[sent].sum())
        means = -(-totals.bytes // np.maximum(totals.packets, 1))
        self.largest = max(self.largest, int(means.max(initial=0)))
        self.queued += int(totals.packets[queued].sum())
        self.total += int(totals.delay[queued].sum())
        self.max = max(self.max, int(totals.longest[queued].max(initial=0)))
        self.above += int(totals.above[queued].sum())

    def _add_course(self, rows: Rows) -> None:
        """Counts rows into what is drawn over time."""
        time, delay, size, verdict, _ = rows
        lost = (verdict != SENT) & (verdict != MARK)
        for counts, of in ((self._drops, lost), (self._marks, verdict == MARK)):
            place = np.minimum(time[of] // self._bin, _TIME_BINS - 1)
            counts += np.bincount(place, minlength=_TIME_BINS)
        queued = was_queued(delay, verdict)
        self._hold(time, delay, size, queued, queued & ~lost)
        time, delay = time[queued], delay[queued]
        if not len(delay):
            return
        place = np.minimum(time // self._bin, _TIME_BINS - 1)
        self._count += np.bincount(place, minlength=_TIME_BINS)
        self._sum += np.bincount(place, weights=delay, minlength=_TIME_BINS)
        np.minimum.at(self._low, place, delay)
        np.maximum.at(self._high, place, delay)
        slot = slots_of(delay)
        slots = len(self._histogram)
        together = np.minimum(time // self._coarse, _COARSE_BINS - 1) * slots + slot
        found = np.bincount(together, minlength=self._by_time.size)
        self._by_time += found.reshape(self._by_time.shape)
        self._histogram += np.bincount(slot[time >= self._since], minlength=slots)

    def _hold(
        self,
        time: Longs,
        delay: Longs,
        size: Longs,
        queued: npt.NDArray[np.bool_],
        sent: npt.NDArray[np.bool_],
    ) -> None:
        """Bytes by the bin in which they came, went, and went on the wire."""
        if queued.any():
            self._last_arrival = max(self._last_arrival, int((time - delay)[queued].max()))
        for amounts, at, of in (
            (self._entered, time - delay, queued),
            (self._left, time, queued),
            (self._sent, time, sent),
        ):
            place = np.minimum(at[of] // self._coarse, _COARSE_BINS - 1)
            amounts += np.bincount(place, weights=size[of], minlength=_COARSE_BINS).astype(np.int64)

    def queue_over_time(self, rate: int | Callable[[int], float], simulated: int) -> QueueOverTime:
        """Backlog and departures of the queue; `rate` as for `read_findings`."""
        ends = np.minimum((np.arange(_COARSE_BINS) + 1) * self._coarse, simulated)
        # As Python's integers: ten seconds in ns at 10 Gbit/s do not fit into 64 bits.
        could = [
            end * (rate(end) if callable(rate) else rate) / 8e9 for end in ends.tolist() if end
        ]
        possible = np.diff(np.array([0.0, *could]))
        with np.errstate(invalid="ignore", divide="ignore"):
            utilisation = np.where(possible > 0, self._sent / possible, np.nan)
        return QueueOverTime(
            (np.arange(_COARSE_BINS, dtype=np.float64) + 0.5) * self._coarse,
            self._percentile(0.5),
            self._percentile(0.99),
            np.where(ends <= self._last_arrival, np.cumsum(self._entered - self._left), np.nan),
            utilisation,
        )

    def _percentile(self, share: float) -> Floats:
        running = np.cumsum(self._by_time, axis=1)
        rank = np.ceil(share * running[:, -1:])
        slot = np.minimum((running < rank).sum(axis=1), len(EDGES) - 1)
        # A delay below the first edge is none that could be drawn.
        found = np.where(slot == 0, 0.0, EDGES[slot])
        return np.where(running[:, -1] == 0, np.nan, found)

    def over_time(self) -> DelayOverTime:
        """The delay by time of dequeue."""
        empty = self._count == 0
        low, high = np.where(empty, np.nan, self._low), np.where(empty, np.nan, self._high)
        mean = np.where(empty, np.nan, self._sum / np.maximum(self._count, 1))
        time = (np.arange(_TIME_BINS, dtype=np.float64) + 0.5) * self._bin
        return DelayOverTime(time, low, mean, high, self._drops, self._marks)

    def distribution(self) -> Distribution:
        """The delay's distribution."""
        return distribution_of(self._histogram)


def slots_of(delay: Longs) -> Longs:
    """The places of delays in a histogram over `EDGES`; one more than those is beyond the last."""
    return np.searchsorted(_WHOLE_EDGES, delay, side="left")


def distribution_of(histogram: Longs) -> Distribution:
    """The distribution of a histogram's delays, from the last edge at zero to the first at one."""
    share = np.cumsum(histogram)[:-1] / max(int(histogram.sum()), 1)
    first = max(int(np.searchsorted(share, 0, side="right")) - 1, 0)
    last = int(np.searchsorted(share, 1, side="left")) + 1
    return Distribution(EDGES[first:last], share[first:last])


def delays_at(
    path: Path, ranks: Sequence[int], largest: int, until: int | None = None, since: int = 0
) -> list[int]:
    """The delays at `ranks` (from 1) in order of size: exact, a few bits a pass over the rows, for
    rows that memory need not hold."""
    low = [0] * len(ranks)
    left = list(ranks)
    bits = largest.bit_length()
    while bits > 0:
        bits = max(bits - _DIGIT, 0)
        counts = [np.zeros(1 << _DIGIT, np.int64) for _ in ranks]
        for batch in read_flow_rows(path, until):
            _, delay, _, verdict, _ = after(batch, since)
            queued = delay[was_queued(delay, verdict)]
            for start, count in zip(low, counts, strict=True):
                digit = (queued - start) >> bits
                digit = digit[(digit >= 0) & (digit < 1 << _DIGIT)]
                count += np.bincount(digit, minlength=1 << _DIGIT)
        for index, count in enumerate(counts):
            running = np.cumsum(count)
            digit_found = int(np.searchsorted(running, left[index], side="left"))
            if digit_found:
                left[index] -= int(running[digit_found - 1])
            low[index] += digit_found << bits
    return low
