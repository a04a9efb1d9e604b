"""Totals of a queue by flow and verdict: the figures of a run with `rows = false`.

Such a run writes no row for each packet, so it adds the rows up as the engine hands them over. The
sums are exact; percentiles and courses over time need rows. Depends on the engine's columns.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError

if TYPE_CHECKING:
    import pyarrow as pa

    from sojourn import _core

FIELDS = ("flow", "verdict", "queued", "packets", "bytes", "delay", "longest", "above")
"""Columns of the file: packets, bytes, the sum and the largest of their queue delays in ns, and
packets above the target, for each flow, verdict and whether the packets entered the queue."""

_SAMPLED = 20_000_000
"""Two intervals between samples of a flow, ns."""


class QueueTotals:
    """Sums over the packets that leave a queue after the warm-up."""

    def __init__(self, target: int, since: int) -> None:
        """`target` is the scenario's, `since` the end of its warm-up; ns."""
        self._target, self._since = target, since
        self._sums: dict[int, tuple[int, int, int, int, int]] = {}

    def add(self, columns: "_core.Columns") -> None:
        """Counts rows in."""
        import numpy as np

        from sojourn.runtime.arrow_tables import (
            PACKET_SCHEMA,
            VERDICTS,
            table_from_columns,
            was_queued,
        )

        table = table_from_columns(PACKET_SCHEMA, columns)
        verdict = table.column("verdict").combine_chunks().indices.to_numpy().astype(np.int64)
        enqueued, dequeued, size, flow = (
            table.column(name).to_numpy().astype(np.int64)
            for name in ("enqueued", "dequeued", "size", "flow")
        )
        delay = dequeued - enqueued
        keys = (flow * len(VERDICTS) + verdict) * 2 + was_queued(delay, verdict)
        counted = dequeued >= self._since
        keys, delay, size = keys[counted], delay[counted], size[counted]
        found, places = np.unique(keys, return_inverse=True)
        longest = np.zeros(len(found), np.int64)
        np.maximum.at(longest, places, delay)
        sums = [
            np.bincount(places, weights=values, minlength=len(found))
            for values in (np.ones(len(keys)), size, delay, delay > self._target)
        ]
        for place, key in enumerate(found.tolist()):
            packets, octets, waited, above = (int(values[place]) for values in sums)
            own = self._sums.get(key, (0, 0, 0, 0, 0))
            most = max(own[3], int(longest[place]))
            self._sums[key] = (
                own[0] + packets, own[1] + octets, own[2] + waited, most, own[4] + above
            )  # fmt: skip

    def write(self, path: Path) -> None:
        """Writes the file anew."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from sojourn.runtime.arrow_tables import VERDICTS

        rows = [
            (key // 2 // len(VERDICTS), key // 2 % len(VERDICTS), key % 2, *sums)
            for key, sums in sorted(self._sums.items())
        ]
        columns = [
            pa.array([row[place] for row in rows], pa.int64()) for place in range(len(FIELDS))
        ]
        pq.write_table(pa.Table.from_arrays(columns, list(FIELDS)), path)


def no_rows(path: Path, what: str) -> ScenarioError:
    """The error of something that is made from rows, for the run in `path` that has none."""
    return ScenarioError(
        f"{shown(path)}: the run has rows = false, and {what} is made from rows. Its figures are "
        "in summary.json; run it again with --set rows=true for the rest"
    )


def samples_before(columns: "_core.Columns", since: int) -> "pa.Table":
    """The samples of flows just before the end of the warm-up, from which goodput counts."""
    from sojourn.runtime.arrow_tables import FLOW_SCHEMA, table_from_columns

    table = table_from_columns(FLOW_SCHEMA, columns)
    time = table.column("time").to_numpy()
    return table.filter((time > since - _SAMPLED) & (time <= since))
