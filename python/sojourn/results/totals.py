"""Totals of a queue, which a run with `rows = false` leaves in place of rows.

`runtime.queue_totals` writes the file. Depends on the file alone.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sojourn.common.textfile import check_file
from sojourn.runtime.arrow_tables import VERDICTS
from sojourn.runtime.queue_totals import FIELDS

Longs = npt.NDArray[np.int64]

LEFT_OUT = (
    "rows = false: no percentiles of queue delay, no courses over time, no plots and no report; "
    "means, maxima and counts are of all packets"
)
"""A note on the result of such a run."""


class Totals(NamedTuple):
    """Columns of `FIELDS`."""

    flow: Longs
    verdict: Longs
    queued: Longs
    packets: Longs
    bytes: Longs
    delay: Longs
    longest: Longs
    above: Longs


def read_totals(path: Path) -> Totals:
    """The totals in the file at `path`; `OSError`, `ValueError` or `pa.ArrowException` if there are
    none."""
    check_file(path)
    table = pq.ParquetFile(path).read()
    if table.schema.names != list(FIELDS) or any(one != pa.int64() for one in table.schema.types):
        raise ValueError(f"{path.name}: its columns are not {', '.join(FIELDS)}")
    found = Totals(*(table.column(name).to_numpy() for name in FIELDS))
    if len(found.flow) and (min(map(np.min, found)) < 0 or found.verdict.max() >= len(VERDICTS)):
        raise ValueError(f"{path.name}: a number is out of range")
    return found


def summed(places: Longs, amounts: Longs, count: int) -> Longs:
    """The sum of the amounts at each of `count` places."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, places, amounts)
    return sums
