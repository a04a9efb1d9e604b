"""Payload that each flow's receiver got within a part of a run.

Flows with samples in `flows.parquet` have it from the samples. For others the whole amount is
shared out: by the sizes of their complete transfers, by the arrivals of their datagrams, or else by
time. Depends on the Parquet files alone.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn.runtime.arrow_tables import iter_rows, rows_table
from sojourn.runtime.run_files import DATAGRAMS, EXCHANGES, FLOWS, journal_of

Longs = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def delivered(
    folder: Path, counters: dict[str, Any], since: int = 0, until: int | None = None
) -> list[float]:
    """The payload of each flow after `since` and up to `until`, ns, in B; `until` is by default the
    end of the run."""
    flows = counters["flows"]
    if not since and until is None:
        return [float(flow["delivered"]) for flow in flows]
    whole = np.array([float(flow["delivered"]) for flow in flows])
    ends = whole if until is None else _up_to(folder, counters, whole, until)
    starts = _up_to(folder, counters, whole, since) if since else np.zeros(len(whole))
    return [float(amount) for amount in np.maximum(ends - starts, 0.0)]


def _up_to(folder: Path, counters: dict[str, Any], whole: Floats, instant: int) -> Floats:
    """Bytes that each flow had delivered at an instant."""
    found = whole * min(instant / max(counters["simulated"], 1), 1.0)
    for name, flow, time, amount in (
        (EXCHANGES, "source", "finished", "size"),
        (DATAGRAMS, "flow", "received", None),
    ):
        if (folder / name).exists() or (folder / journal_of(name)).exists():
            shares = _shares(folder / name, flow, time, amount, instant, len(whole))
            found = np.where(np.isnan(shares), found, whole * shares)
    return _sampled(folder / FLOWS, found, instant)


def _shares(
    path: Path, flow: str, time: str, amount: str | None, instant: int, count: int
) -> Floats:
    """The share of each flow's arrivals that were there at an instant; NaN without arrivals."""
    table = rows_table(path, [flow, time, *([amount] if amount else [])])
    flows, times = (table.column(name).to_numpy().astype(np.int64) for name in (flow, time))
    weights = table.column(amount).to_numpy() if amount else np.ones(len(flows))
    there = (times > 0) & (flows < count)
    early = there & (times <= instant)
    total, part = (
        np.bincount(flows[own], weights=weights[own], minlength=count) for own in (there, early)
    )
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(total > 0, part / total, np.nan), np.float64)


def _sampled(path: Path, found: Floats, instant: int) -> Floats:
    """`found` with the last sample up to an instant in place of what flows with samples have."""
    amounts = found.copy()
    known = np.zeros(len(found), bool)
    for batch in iter_rows(path, ["time", "flow", "delivered"]):
        time, flow, amount = (batch.column(place).to_numpy() for place in range(3))
        first = np.unique(flow)
        amounts[first[~known[first]]] = 0.0
        known[first] = True
        early = time <= instant
        # Of several samples of a flow the last one stays.
        amounts[flow[early]] = amount[early]
    return amounts
