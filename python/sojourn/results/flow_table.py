"""The figures of each single flow of a run: goodput, queue delay, losses, marks, round trip.

Reads the rows of the first measured queue once more, in bounded pieces. Draws nothing.
"""

from dataclasses import dataclass

import numpy as np

from sojourn.results.delivered import delivered
from sojourn.results.flow_series import FlowSeries
from sojourn.results.groups import FlowSources
from sojourn.results.result import AqmResult, Result
from sojourn.results.statistics import Floats, Longs, after, read_flow_rows
from sojourn.runtime.arrow_tables import MARK, SENT, was_queued


@dataclass(frozen=True)
class FlowFigures:
    """One row for each flow of the scenario; NaN where a flow has none."""

    goodput: Floats
    """bit/s."""
    mean: Floats
    """Mean queue delay, ns."""
    largest: Floats
    """The longest, ns."""
    drop_share: Floats
    """Share of the packets that were dropped at the queue."""
    marks: Floats
    round_trip: Floats
    """Mean of the smoothed round-trip time, ns."""
    retransmitted: Floats
    """Segments."""


def flow_figures(result: Result, aqm: AqmResult, series: FlowSeries, count: int) -> FlowFigures:
    """The figures of the first `count` flows after the warm-up; `series` has some of them."""
    since = aqm.summary.since
    path = aqm.folder / result.scenario.bottlenecks[0].rows
    tally = _Tally(count, FlowSources(aqm.folder))
    for batch in read_flow_rows(path, result.compared):
        rows = after(batch, since)
        tally.add(rows.flow, rows.delay, rows.verdict)
    received = delivered(aqm.folder, aqm.findings.counters, since, result.compared)
    span = max((result.compared or aqm.findings.counters["simulated"]) - since, 1)
    late = series.time > since
    sampled = np.array(series.flows, np.int64)
    with np.errstate(invalid="ignore", divide="ignore"):
        trips = np.where(series.round_trip > 0, series.round_trip, np.nan)[:, late]
        known = ~np.isnan(trips)
        return FlowFigures(
            goodput=_spread(np.array(received), np.arange(len(received)), count) * 8e9 / span,
            mean=tally.total / tally.queued,
            largest=np.where(tally.queued > 0, tally.largest, np.nan),
            drop_share=tally.dropped / tally.seen,
            marks=tally.marked.astype(np.float64),
            round_trip=_spread(np.nansum(trips, axis=1) / known.sum(axis=1), sampled, count),
            retransmitted=_spread(series.retransmitted[:, -1], sampled, count),
        )


def _spread(values: Floats, places: Longs, count: int) -> Floats:
    """`values` at their places of `count`; NaN elsewhere."""
    spread = np.full(count, np.nan)
    inside = places < count
    spread[places[inside]] = values[inside]
    return spread


class _Tally:
    """Sums over packets' rows for each flow."""

    def __init__(self, count: int, sources: FlowSources) -> None:
        self._count, self._sources = count, sources
        self.seen, self.queued, self.dropped, self.marked = np.zeros((4, count), np.int64)
        self.total, self.largest = np.zeros((2, count), np.float64)

    def add(self, flow: Longs, delay: Longs, verdict: Longs) -> None:
        """Counts packets in."""
        place, count = self._sources.of(flow), self._count
        known = place < count
        place, delay, verdict = place[known], delay[known], verdict[known]
        left = np.isin(verdict, [SENT, MARK])
        self.seen += np.bincount(place, minlength=count)
        self.dropped += np.bincount(place[~left], minlength=count)
        self.marked += np.bincount(place[verdict == MARK], minlength=count)
        queued = was_queued(delay, verdict)
        place, delay = place[queued], delay[queued]
        self.queued += np.bincount(place, minlength=count)
        self.total += np.bincount(place, weights=delay, minlength=count)
        np.maximum.at(self.largest, place, delay)
