"""Slowdown of transfers by size: HPCC's twenty bins, and pFabric's three classes.

Papers on data centres judge a fabric by these figures. The twenty bins hold 5 % of the transfers
each, in the order of their sizes; the classes are up to 100 kB, up to 10 MB, and above. Depends on
slowdowns of single transfers. Draws nothing.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sojourn.model.scenario import Scenario
from sojourn.model.scenario.flows import TransferFlows
from sojourn.results.slowdown import normalised
from sojourn.results.traffic.transfers import read_exchanges

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn.results.result import Result

_BINS = 20
_SHORT, _LONG = 100_000, 10_000_000
"""Upper ends of pFabric's first two classes, bytes."""
_PERCENTS = (50, 95, 99, 99.9)

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SlowdownBin:
    """The slowdowns of a group's complete transfers of some sizes."""

    group: str
    bins: str
    """`all`, `pfabric` or `hpcc`."""
    smallest: int
    largest: int
    """Of its transfers, bytes."""
    transfers: int
    mean: float
    p50: float
    p95: float
    p99: float
    p999: float


def read_slowdowns(
    folder: Path, scenario: Scenario, until: int | None, since: int
) -> tuple[SlowdownBin, ...]:
    """The bins of each group of transfers whose sizes are those of a table."""
    if not any(_of_table(flows) for flows in scenario.flows):
        return ()
    found: list[SlowdownBin] = []
    for group, exchanges in read_exchanges(folder, scenario.flows, until, since):
        if not _of_table(group.flows):
            continue
        slow = normalised(scenario, group, exchanges)
        if slow is None or not len(slow):
            continue
        found += _bins(group.name, exchanges.size[exchanges.finished > 0], slow)
    return tuple(found)


def class_of(size: int) -> str:
    """The name of the class of pFabric that a size is of."""
    if size <= _SHORT:
        return "up to 100 kB"
    return "100 kB to 10 MB" if size <= _LONG else "above 10 MB"


def _of_table(flows: object) -> bool:
    return isinstance(flows, TransferFlows) and flows.sizes is not None


def _bins(group: str, sizes: Longs, slow: Floats) -> Iterator[SlowdownBin]:
    order = np.argsort(sizes, kind="stable")
    sizes, slow = sizes[order], slow[order]
    yield _bin(group, "all", sizes, slow)
    edges = np.searchsorted(sizes, [_SHORT, _LONG], side="right")
    for part in zip(np.split(sizes, edges), np.split(slow, edges), strict=True):
        if len(part[0]):
            yield _bin(group, "pfabric", *part)
    ends = [len(sizes) * place // _BINS for place in range(1, _BINS)]
    for part in zip(np.split(sizes, ends), np.split(slow, ends), strict=True):
        if len(part[0]):
            yield _bin(group, "hpcc", *part)


def _bin(group: str, bins: str, sizes: Longs, slow: Floats) -> SlowdownBin:
    percentiles = np.percentile(slow, _PERCENTS, method="inverted_cdf")
    return SlowdownBin(
        group, bins, int(sizes[0]), int(sizes[-1]), len(sizes), float(slow.mean()),
        *map(float, percentiles),
    )  # fmt: skip


def slowdown_table(result: "Result") -> "pa.Table":
    """All bins of a result: one row for each AQM, group and bin; sizes in bytes."""
    import pyarrow as pa

    kinds: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64()}
    own = [pa.field(field.name, kinds[field.type], False) for field in fields(SlowdownBin)]
    rows = [
        {"aqm": label} | asdict(one) for label, aqm in result.aqms.items() for one in aqm.slowdowns
    ]
    return pa.Table.from_pylist(rows, pa.schema([pa.field("aqm", pa.string(), False), *own]))
