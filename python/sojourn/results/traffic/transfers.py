"""Completion times of transfers, response times of requests, and rounds of incast.

Stands on the rows of `exchanges.parquet`. A transfer's time is from its first SYN until its
receiver has every byte; a request's from its being written until the response is complete; a
round's from the common instant until the last of all responses is complete.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sojourn.model.scenario.flows import FlowGroup, IncastFlows, RequestFlows, TransferFlows
from sojourn.model.units import SIZE
from sojourn.runtime.arrow_tables import rows_table
from sojourn.runtime.run_files import EXCHANGES

_CLASSES = (10_000, 100_000, 1_000_000)
"""Upper ends of the size classes, in bytes."""

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Times:
    """Completion times of one kind of exchange. Times in ns."""

    what: str
    count: int
    """That were complete at the end of the run."""
    unfinished: int
    mean: float | None
    median: float | None
    p95: float | None
    p99: float | None


def read_times(folder: Path, flows: Sequence[FlowGroup], until: int | None = None) -> list[Times]:
    """The times of each group of flows in `folder`, transfers also by size; with `until`, as if
    the run had ended then, ns."""
    groups = list(_groups(flows))
    if not groups:
        return []
    table = rows_table(folder / EXCHANGES)
    source, number, size, started, finished = (
        table.column(name).to_numpy().astype(np.int64)
        for name in ("source", "number", "size", "started", "finished")
    )
    if until is not None:
        begun = started <= until
        source, number, size, started, finished = (
            column[begun] for column in (source, number, size, started, finished)
        )
        finished = np.where(finished <= until, finished, 0)
    found: list[Times] = []
    for first, last, name, group in groups:
        own = (source >= first) & (source < last)
        exchange = _Exchanges(number[own], size[own], started[own], finished[own])
        match group:
            case TransferFlows():
                found.append(_times(name, exchange.spans()))
                found += _by_size(exchange)
            case IncastFlows():
                found.append(_times(f"{name}, each response", exchange.spans()))
                found.append(_times("  whole rounds", exchange.rounds()))
            case _:
                found.append(_times(name, exchange.spans()))
    return found


def _groups(
    flows: Sequence[FlowGroup],
) -> Iterator[tuple[int, int, str, TransferFlows | RequestFlows | IncastFlows]]:
    """The groups that have exchanges: first flow, the one after the last, a name."""
    first = 0
    for group in flows:
        last = first + group.count
        if isinstance(group, TransferFlows | RequestFlows | IncastFlows):
            yield first, last, f"{group.kind} {group.congestion_control}", group
        first = last


@dataclass(frozen=True)
class _Exchanges:
    number: Longs
    size: Longs
    started: Longs
    finished: Longs

    def spans(self) -> Longs:
        """The duration of each; -1 for those that the end of the run cut short."""
        return np.where(self.finished > 0, self.finished - self.started, -1)

    def rounds(self) -> Longs:
        """The duration of each round until its last response; -1 if one is missing."""
        spans = self.spans()
        longest = []
        for number in np.unique(self.number):
            of_round = spans[self.number == number]
            longest.append(-1 if (of_round < 0).any() else int(of_round.max()))
        return np.array(longest, np.int64)


def _by_size(exchanges: _Exchanges) -> Iterator[Times]:
    low = 0
    spans = exchanges.spans()
    for high in (*_CLASSES, None):
        inside = (exchanges.size >= low) & ((exchanges.size < high) if high else True)
        name = f"  {_class(low, high)}"
        if inside.any() and not inside.all():
            yield _times(name, spans[inside])
        low = high or low


def _class(low: int, high: int | None) -> str:
    if high is None:
        return f"from {SIZE.format(low)} on"
    if not low:
        return f"below {SIZE.format(high)}"
    first, last = SIZE.format(low).split(), SIZE.format(high).split()
    return f"{' '.join(first[:1] if first[1:] == last[1:] else first)} to {' '.join(last)}"


def _times(what: str, spans: Longs) -> Times:
    done = spans[spans >= 0]
    unfinished = int((spans < 0).sum())
    if not len(done):
        return Times(what, 0, unfinished, None, None, None, None)
    median, p95, p99 = np.percentile(done, (50, 95, 99), method="inverted_cdf")
    mean = float(done.mean())
    return Times(what, len(done), unfinished, mean, float(median), float(p95), float(p99))
