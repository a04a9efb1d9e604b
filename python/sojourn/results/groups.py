"""Figures of each group of flows: queue delay, goodput, loss, marks, fairness, completion, voice.

Groups that share a queue differ in what they get from it, so each has a row, after one for all
flows of the queue. Depends on the rows of a run and on its scenario; draws nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn.model.scenario import Scenario
from sojourn.model.scenario.bottleneck import Bottleneck
from sojourn.model.scenario.groups import Group, groups_of
from sojourn.model.scenario.quantities import ALL_FLOWS
from sojourn.results.delivered import delivered
from sojourn.results.group_delays import percentiles
from sojourn.results.slowdown import slowdowns
from sojourn.results.statistics import (
    EDGES,
    Distribution,
    Findings,
    Rows,
    after,
    distribution_of,
    read_flow_rows,
    slots_of,
)
from sojourn.results.totals import Totals, summed
from sojourn.results.traffic.transfers import read_exchanges, times_of
from sojourn.results.traffic.voice import Voice
from sojourn.runtime.arrow_tables import (
    AQM,
    INGRESS,
    MARK,
    TAIL,
    VERDICTS,
    rows_table,
    was_queued,
)
from sojourn.runtime.run_files import EXCHANGES

Longs = npt.NDArray[np.int64]

_KEPT = 1 << 21
"""Delays that are kept for the percentiles."""
_PERCENTS = (50, 95, 99)


@dataclass(frozen=True)
class GroupFigures:
    """A group of flows at a queue. Times in ns, rates in bit/s, shares of 1.

    A figure is absent where the group's kind of traffic does not define it.
    """

    group: str
    kind: str | None
    """Of its traffic; absent for all flows."""
    flows: int
    packets: int
    """Offered to the queue, as the drops and marks below."""
    mean: float | None
    median: int | None
    p95: int | None
    p99: int | None
    max: int | None
    """Of the queue delay."""
    above_target: float | None
    goodput: float
    """Payload that the group's receivers got."""
    drop_share: float | None
    aqm_drops: int
    tail_drops: int
    ingress_drops: int
    marks: int
    fairness: float | None = None
    """Jain's index of the goodputs within the group; absent for a single flow."""
    completed: int | None = None
    unfinished: int | None = None
    completion_mean: float | None = None
    completion_median: float | None = None
    completion_p95: float | None = None
    completion_p99: float | None = None
    slowdown_mean: float | None = None
    slowdown_median: float | None = None
    slowdown_p99: float | None = None
    """Of completion times, see `slowdown`."""
    calls: int | None = None
    one_way_mean: float | None = None
    one_way_p95: float | None = None
    one_way_p99: float | None = None
    """Delay of voice from end to end."""
    jitter: float | None = None
    lost: float | None = None
    late: float | None = None
    rating: float | None = None
    mos: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


NAMES = tuple(field.name for field in fields(GroupFigures))
"""The figures, in the order of tables."""


@dataclass(frozen=True)
class Grouped:
    """The groups of a run at one queue."""

    rows: tuple[GroupFigures, ...]
    """All flows first, then each group in the scenario's order."""
    distributions: tuple[Distribution, ...]
    """Of the queue delay, in the same order."""
    queued: tuple[int, ...]
    """Packets that each distribution is of."""


class GroupTally:
    """Sums over the rows of one queue for each group."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self.groups = groups_of(scenario.flows)
        self._ends = np.array([group.end for group in self.groups])
        self._sources = FlowSources(folder)
        self._target = scenario.target
        count = len(self.groups)
        self.verdicts = np.zeros((count, len(VERDICTS)), np.int64)
        self.queued, self.above, self.largest = np.zeros((3, count), np.int64)
        self.total = np.zeros(count, np.float64)
        self.histogram = np.zeros((count, len(EDGES) + 1), np.int64)
        self.kept: list[tuple[Longs, Longs]] | None = []
        self._summed = False
        """Whether a run without rows is counted."""

    def of_flows(self, flow: Longs) -> Longs:
        """The group of each flow; -1 for transfers of unknown source."""
        group = np.searchsorted(self._ends, self._sources.of(flow), side="right")
        return np.where(group < len(self._ends), group, -1)

    def add(self, rows: Rows) -> None:
        """Counts rows in."""
        group = self.of_flows(rows.flow)
        known = group >= 0
        count = len(self.groups)
        together = group[known] * len(VERDICTS) + rows.verdict[known]
        counted = np.bincount(together, minlength=self.verdicts.size)
        self.verdicts += counted.reshape(self.verdicts.shape)
        queued = known & was_queued(rows.delay, rows.verdict)
        group, delay = group[queued], rows.delay[queued]
        if not len(delay):
            return
        self.queued += np.bincount(group, minlength=count)
        self.above += np.bincount(group[delay > self._target], minlength=count)
        self.total += np.bincount(group, weights=delay, minlength=count)
        np.maximum.at(self.largest, group, delay)
        slots = self.histogram.shape[1]
        found = np.bincount(group * slots + slots_of(delay), minlength=self.histogram.size)
        self.histogram += found.reshape(self.histogram.shape)
        if self.kept is not None:
            self.kept.append((group, delay))
        if self.queued.sum() > _KEPT:
            self.kept = None

    def add_totals(self, totals: Totals) -> None:
        """Counts in sums, which leave percentiles and distributions empty."""
        group = self.of_flows(totals.flow)
        known = group >= 0
        together = group[known] * len(VERDICTS) + totals.verdict[known]
        counted = summed(together, totals.packets[known], self.verdicts.size)
        self.verdicts += counted.reshape(self.verdicts.shape)
        queued = known & (totals.queued > 0)
        group, count = group[queued], len(self.groups)
        self.queued += summed(group, totals.packets[queued], count)
        self.above += summed(group, totals.above[queued], count)
        self.total += summed(group, totals.delay[queued], count)
        np.maximum.at(self.largest, group, totals.longest[queued])
        self.kept = None
        self._summed = True

    def percentiles(self, path: Path, since: int, until: int | None) -> list[list[int | None]]:
        """Those of `_PERCENTS` of each group; `path` is the file of the rows."""
        if self._summed:
            return [[None] * len(_PERCENTS) for _ in self.groups]

        def reread() -> Iterable[tuple[Longs, Longs]]:
            for batch in read_flow_rows(path, until):
                rows = after(batch, since)
                queued = was_queued(rows.delay, rows.verdict)
                yield self.of_flows(rows.flow[queued]), rows.delay[queued]

        largest = int(self.largest.max(initial=0))
        return percentiles(self.kept, self.queued, _PERCENTS, largest, reread)


class FlowSources:
    """The scenario's flow of each packet's flow: transfers have flows of their own."""

    def __init__(self, folder: Path) -> None:
        self._keys = self._sources = np.zeros(0, np.int64)
        if (folder / EXCHANGES).exists():
            table = rows_table(folder / EXCHANGES, ["flow", "source"])
            flow, source = (
                table.column(name).to_numpy().astype(np.int64) for name in ("flow", "source")
            )
            self._keys, places = np.unique(flow, return_index=True)
            self._sources = source[places]

    def of(self, flow: Longs) -> Longs:
        """The scenario's flow of each of `flow`; a transfer of unknown source has its own."""
        if not len(self._keys):
            return flow
        place = np.minimum(np.searchsorted(self._keys, flow), len(self._keys) - 1)
        return np.where(self._keys[place] == flow, self._sources[place], flow)


def grouped(
    folder: Path,
    scenario: Scenario,
    bottleneck: Bottleneck,
    found: Findings,
    tally: GroupTally,
    own: "OwnFigures",
    until: int | None,
) -> Grouped:
    """The figures of all flows and of each group at a queue whose rows `tally` has counted."""
    summary = found.summary
    percents = tally.percentiles(folder / bottleneck.rows, summary.since, until)
    rows = [_of_queue(found, scenario, own)]
    for place, group in enumerate(tally.groups):
        verdicts, queued = tally.verdicts[place], int(tally.queued[place])
        median, p95, p99 = percents[place]
        drops = [int(verdicts[one]) for one in (AQM, TAIL, INGRESS)]
        packets = int(verdicts.sum())
        at_queue = GroupFigures(
            group=group.name,
            kind=group.kind,
            flows=group.flows.count,
            packets=packets,
            mean=float(tally.total[place]) / queued if queued else None,
            median=median,
            p95=p95,
            p99=p99,
            max=int(tally.largest[place]) if queued else None,
            above_target=int(tally.above[place]) / queued if queued else None,
            goodput=own.goodputs(group),
            drop_share=sum(drops) / packets if packets else None,
            aqm_drops=drops[0],
            tail_drops=drops[1],
            ingress_drops=drops[2],
            marks=int(verdicts[MARK]),
        )
        rows.append(replace(at_queue, **own.figures[group.name]))
    curves = [found.distribution, *map(distribution_of, tally.histogram)]
    counts = [found.queued, *tally.queued.tolist()]
    return Grouped(tuple(rows), tuple(curves), tuple(counts))


def _of_queue(found: Findings, scenario: Scenario, own: "OwnFigures") -> GroupFigures:
    """The row of a queue as a whole."""
    summary = found.summary
    drops = summary.aqm_drops + summary.tail_drops + summary.ingress_drops
    same = ("packets", "mean", "median", "p95", "p99", "max", "above_target", "goodput")
    counted = ("aqm_drops", "tail_drops", "ingress_drops", "marks")
    return GroupFigures(
        group=ALL_FLOWS,
        kind=None,
        flows=sum(group.count for group in scenario.flows),
        drop_share=drops / summary.packets if summary.packets else None,
        fairness=jain(own.amounts),
        **{name: getattr(summary, name) for name in (*same, *counted)},
    )


class OwnFigures:
    """What groups got from end to end, which is the same for every queue of a run."""

    def __init__(
        self,
        folder: Path,
        scenario: Scenario,
        counters: dict[str, Any],
        voices: Sequence[Voice],
        *,
        since: int,
        until: int | None,
    ) -> None:
        end = counters["simulated"] if until is None else min(until, counters["simulated"])
        self._seconds: float = max(end - since, 1) / 1e9
        self.amounts = delivered(folder, counters, since, until)
        self.figures: dict[str, dict[str, Any]] = {
            group.name: {"fairness": jain(self.amounts[group.first : group.end])}
            for group in groups_of(scenario.flows)
        }
        for name, figures in _completion(folder, scenario, since, until):
            self.figures[name] |= figures
        for voice in voices:
            self.figures[voice.group] |= _of_voice(voice)

    def goodputs(self, group: Group) -> float:
        """Payload of all flows of a group, bit/s."""
        amount: float = sum(self.amounts[group.first : group.end])
        return amount * 8 / self._seconds


def _completion(
    folder: Path, scenario: Scenario, since: int, until: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    for group, exchanges in read_exchanges(folder, scenario.flows, until, since):
        times = times_of(group.name, exchanges.spans())
        figures: dict[str, Any] = {"completed": times.count, "unfinished": times.unfinished}
        for name in ("mean", "median", "p95", "p99"):
            figures[f"completion_{name}"] = getattr(times, name)
        slow = slowdowns(scenario, group, exchanges)
        if slow is not None and len(slow):
            median, p99 = np.percentile(slow, (50, 99), method="inverted_cdf")
            figures |= {
                "slowdown_mean": float(slow.mean()),
                "slowdown_median": float(median),
                "slowdown_p99": float(p99),
            }
        yield group.name, figures


def _of_voice(voice: Voice) -> dict[str, Any]:
    return {
        "calls": voice.calls,
        "one_way_mean": voice.mean,
        "one_way_p95": voice.p95,
        "one_way_p99": voice.p99,
        "jitter": voice.jitter,
        "lost": voice.lost,
        "late": voice.late,
        "rating": voice.rating,
        "mos": voice.score,
    }


def jain(amounts: Sequence[float]) -> float | None:
    """Jain's fairness index (Jain, Chiu, Hawe 1984) of what flows delivered; nothing for one flow
    or where nothing was delivered."""
    squares: float = sum(amount * amount for amount in amounts)
    if len(amounts) < 2 or not squares:
        return None
    total: float = sum(amounts)
    index: float = total * total / (len(amounts) * squares)
    return index
