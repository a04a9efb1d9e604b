"""Completion times of transfers, response times of requests, and rounds of incast.

Depends on the rows of `exchanges.parquet`. A transfer's time is from its first SYN until its
receiver has every byte; a request's from its being written until the response is complete; a
round's from the common instant until the last of all responses is complete.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sojourn.model.scenario.flows import FlowGroup, IncastFlows, RequestFlows, TransferFlows
from sojourn.model.scenario.groups import Group, groups_of
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
    group: str = ""
    """The name of the group of flows."""


def read_times(
    folder: Path, flows: Sequence[FlowGroup], until: int | None = None, since: int = 0
) -> list[Times]:
    """The times of each group of flows in `folder`, transfers also by size; with `until`, as if
    the run had ended then; of what began after the warm-up `since`, ns."""
    found: list[Times] = []
    for group, exchange in read_exchanges(folder, flows, until, since):
        found += [replace(times, group=group.name) for times in _of_group(group, exchange)]
    return found


def _of_group(group: Group, exchange: "Exchanges") -> Iterator[Times]:
    match group.flows:
        case TransferFlows():
            yield times_of(group.name, exchange.spans())
            yield from _by_size(exchange)
        case IncastFlows():
            yield times_of(f"{group.name}, each response", exchange.spans())
            yield times_of("  whole rounds", exchange.rounds())
        case _:
            yield times_of(group.name, exchange.spans())


def read_exchanges(
    folder: Path, flows: Sequence[FlowGroup], until: int | None = None, since: int = 0
) -> list[tuple[Group, "Exchanges"]]:
    """The exchanges of each group that has some kind of them; `until`, `since` as above."""
    groups = [group for group in groups_of(flows) if isinstance(group.flows, _KINDS)]
    if not groups:
        return []
    table = rows_table(folder / EXCHANGES)
    every = Exchanges(
        *(
            table.column(name).to_numpy().astype(np.int64)
            for name in ("source", "number", "size", "started", "finished")
        )
    )
    if since:
        every = every.where(every.started >= since)
    if until is not None:
        every = every.where(every.started <= until)
        early = np.where(every.finished <= until, every.finished, 0)
        every = replace(every, finished=early)
    return [
        (group, every.where((every.source >= group.first) & (every.source < group.end)))
        for group in groups
    ]


_KINDS = (TransferFlows, RequestFlows, IncastFlows)


@dataclass(frozen=True)
class Exchanges:
    """Columns of exchanges' rows."""

    source: Longs
    number: Longs
    size: Longs
    started: Longs
    finished: Longs

    def where(self, chosen: npt.NDArray[np.bool_]) -> "Exchanges":
        """Some of them."""
        columns = (self.source, self.number, self.size, self.started, self.finished)
        return Exchanges(*(column[chosen] for column in columns))

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


def _by_size(exchanges: Exchanges) -> Iterator[Times]:
    low = 0
    spans = exchanges.spans()
    for high in (*_CLASSES, None):
        inside = (exchanges.size >= low) & ((exchanges.size < high) if high else True)
        name = f"  {_class(low, high)}"
        if inside.any() and not inside.all():
            yield times_of(name, spans[inside])
        low = high or low


def _class(low: int, high: int | None) -> str:
    if high is None:
        return f"from {SIZE.format(low)} on"
    if not low:
        return f"below {SIZE.format(high)}"
    first, last = SIZE.format(low).split(), SIZE.format(high).split()
    return f"{' '.join(first[:1] if first[1:] == last[1:] else first)} to {' '.join(last)}"


def times_of(what: str, spans: Longs) -> Times:
    """The figures of the spans of `what`; -1 stands for one that was cut short."""
    done = spans[spans >= 0]
    unfinished = int((spans < 0).sum())
    if not len(done):
        return Times(what, 0, unfinished, None, None, None, None)
    median, p95, p99 = np.percentile(done, (50, 95, 99), method="inverted_cdf")
    mean = float(done.mean())
    return Times(what, len(done), unfinished, mean, float(median), float(p95), float(p99))
