"""Matching of packets before and behind the bottleneck: one row for each packet, with its verdict.

Depends on the captured frames and on how the qdisc drops. A packet that entered and never left was
dropped: for want of room if the queue was full when it came, else by the AQM. A discipline that
decides at dequeue drops when the next packet leaves; one that decides on arrival, on arrival.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sojourn.backends.linux.frames import Frames, Longs
from sojourn.backends.linux.tc import Qdisc
from sojourn.runtime.arrow_tables import AQM, MARK, SENT, TAIL

_MARKED = 3
_NEVER = -1
_BEYOND = 1 << 44
"""ns; more than any run takes, five hours."""


@dataclass(frozen=True)
class Rows:
    """One row for each packet, in the order of the verdicts; times in ns, by the guest's clock."""

    packet: Longs
    flow: Longs
    size: Longs
    enqueued: Longs
    dequeued: Longs
    verdict: Longs

    def within(self, begin: int, end: int) -> "Rows":
        """The rows whose verdict fell from `begin` to `end`, with times from `begin`."""
        kept = (self.dequeued >= begin) & (self.dequeued <= end)
        rows = {name: getattr(self, name)[kept] for name in self.__dataclass_fields__}
        rows["enqueued"] = np.maximum(rows["enqueued"] - begin, 0)
        rows["dequeued"] = rows["dequeued"] - begin
        return Rows(**rows)


def match(entered: Frames, left: Frames, aqm: Qdisc, *, full: bool) -> Rows:
    """The rows of all packets that entered. `full` says whether the queue ever was."""
    departure = _departures(entered, left)
    gone = departure != _NEVER
    enqueued = entered.time
    dequeued = np.where(gone, left.time[departure], enqueued)
    # The two taps are a few hundred ns apart; a packet cannot leave before it came.
    dequeued = np.maximum(dequeued, enqueued)
    marked = gone & (left.ecn[departure] == _MARKED) & (entered.ecn != _MARKED)
    verdict = np.where(marked, MARK, np.where(gone, SENT, AQM))
    if aqm.drops_at == "dequeue":
        dequeued = np.where(gone, dequeued, _next_departure(entered, left, departure, aqm))
    if aqm.kind in ("pfifo", "bfifo"):
        verdict = np.where(gone, verdict, TAIL)
    elif full:
        tail = ~gone & _found_it_full(enqueued, dequeued, entered.size, gone, aqm)
        verdict = np.where(tail, TAIL, verdict)
    dequeued = np.where(verdict == TAIL, enqueued, dequeued)
    order = np.lexsort((np.arange(len(entered)), dequeued))
    columns = (np.arange(len(entered)), entered.flow, entered.size, enqueued, dequeued, verdict)
    return Rows(*(column[order].astype(np.int64) for column in columns))


def _departures(entered: Frames, left: Frames) -> Longs:
    """For each packet that entered its place among those that left, or `_NEVER`."""
    keys = np.concatenate([entered.keys, left.keys])
    _, number = np.unique(keys, return_inverse=True)
    ours, theirs = _with_rank(number[: len(entered)]), _with_rank(number[len(entered) :])
    order = np.argsort(theirs, kind="stable")
    place = np.minimum(np.searchsorted(theirs[order], ours), max(len(order) - 1, 0))
    if not len(order):
        return np.full(len(entered), _NEVER, np.int64)
    found = order[place]
    return np.where(theirs[found] == ours, found, _NEVER).astype(np.int64)


def _with_rank(number: npt.NDArray[np.intp]) -> Longs:
    """`number` made unique: a key that comes again counts on from its first time."""
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    is_start = np.ones(len(ordered), bool)
    is_start[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(is_start)
    lengths = np.diff(np.append(starts, len(ordered)))
    rank = np.empty(len(number), np.int64)
    rank[order] = np.arange(len(ordered)) - np.repeat(starts, lengths)
    return number.astype(np.int64) << 24 | rank


def _next_departure(entered: Frames, left: Frames, departure: Longs, aqm: Qdisc) -> Longs:
    """For each packet, when the next one behind it in its queue left.

    Behind it is any packet in a single queue, the flow's own where flows have queues of their own.
    """
    when = np.where(departure != _NEVER, left.time[departure], np.iinfo(np.int64).max)
    # Flow after flow, each from its end: the running minimum is the least departure time among all
    # that came later. What was before another flow's is raised beyond all of this one's.
    whose = np.zeros(len(entered), np.int64) if aqm.kind == "codel" else entered.flow
    order = np.lexsort((np.arange(len(entered)), whose))[::-1]
    _, place = np.unique(whose, return_inverse=True)
    origin = entered.time[0] if len(entered) else 0
    relative = np.where(when == np.iinfo(np.int64).max, _BEYOND, when - origin)
    least = np.minimum.accumulate((relative + place * (2 * _BEYOND))[order])
    result = np.empty(len(entered), np.int64)
    result[order] = least - (place * (2 * _BEYOND))[order]
    result = np.where(result >= _BEYOND, np.iinfo(np.int64).max, result + origin)
    last = left.time[-1] if len(left) else 0
    return np.where(result == np.iinfo(np.int64).max, np.maximum(last, entered.time), result)


def _found_it_full(
    enqueued: Longs, dequeued: Longs, size: Longs, gone: npt.NDArray[np.bool_], aqm: Qdisc
) -> npt.NDArray[np.bool_]:
    """Whether the queue had no room for a packet when it came.

    What had come by then and was let in, less what had left by then. Packets that turn out to have
    been refused count as let in at first, so the count is taken again without them until it stands.
    """
    refused = np.zeros(len(enqueued), bool)
    by_packets = aqm.limit is not None
    weight = np.ones(len(size), np.int64) if by_packets else size
    most = aqm.limit if aqm.limit is not None else _byte_limit(aqm)
    for _ in range(20):
        kept = np.where(refused, 0, weight)
        came = np.cumsum(kept) - kept
        order = np.argsort(dequeued, kind="stable")
        went = np.r_[0, np.cumsum(kept[order])]
        occupied = came - went[np.searchsorted(dequeued[order], enqueued, side="right")]
        now = ~gone & (occupied + weight > most)
        if (now == refused).all():
            break
        refused = now
    return refused


def _byte_limit(aqm: Qdisc) -> int:
    return int(aqm.arguments[aqm.arguments.index("limit") + 1])
