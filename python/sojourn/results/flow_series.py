"""Time series of each flow: goodput, window, round trip, retransmissions; and fairness.

Reads the samples of `flows.parquet` in bounded pieces. Must not depend on plots.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sojourn.runtime.arrow_tables import iter_rows
from sojourn.runtime.run_files import FLOWS

_BINS = 100
_MOST = 2_000
"""Maximum number of flows whose series are kept; a plot of more is unreadable."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FlowSeries:
    """One row for each flow with samples, one column for each bin; NaN before the first sample."""

    flows: tuple[int, ...]
    """Their places in the scenario."""
    time: Floats
    """The end of each bin, ns."""
    goodput: Floats
    """Payload that arrived in the bin, bit/s."""
    window: Floats
    """Congestion window at its end, B."""
    round_trip: Floats
    """Smoothed round-trip time at its end, ns; 0 where there is none (UDP)."""
    retransmitted: Floats
    """Segments so far."""

    @property
    def total(self) -> Floats:
        """Goodput of all flows, bit/s."""
        return np.asarray(np.nansum(self.goodput, axis=0), np.float64)

    @property
    def fairness(self) -> Floats:
        """Jain's index of the goodputs of the flows that had begun (Jain, Chiu, Hawe 1984): 1 if
        all are equal, 1/n if one flow has all, NaN if all are 0."""
        present = ~np.isnan(self.goodput)
        squares = np.nansum(self.goodput**2, axis=0) * present.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(self.total**2 / squares, np.float64)


def read_flow_series(folder: Path, duration: int) -> FlowSeries | None:
    """The series of the run in `folder`; nothing if it has no samples, or too many flows."""
    width = max(-(-duration // _BINS), 1)
    names = ("delivered", "cwnd", "srtt", "retransmits")
    kept: dict[int, Floats] = {}
    for batch in iter_rows(folder / FLOWS, ["time", "flow", *names]):
        columns = {name: batch.column(name).to_numpy() for name in ("time", "flow", *names)}
        # A sample at the very end of a bin is that bin's.
        place = np.clip((columns["time"].astype(np.int64) - 1) // width, 0, _BINS - 1)
        for flow in np.unique(columns["flow"]).tolist():
            if flow not in kept and len(kept) >= _MOST:
                return None
            series = kept.setdefault(flow, np.full((len(names), _BINS), np.nan))
            own = columns["flow"] == flow
            for row, name in enumerate(names):
                # Of several samples in a bin the last one stays.
                series[row][place[own]] = columns[name][own]
    if not kept:
        return None
    flows = tuple(sorted(kept))
    delivered, window, round_trip, retransmitted = (
        np.stack([_filled(kept[flow][row]) for flow in flows]) for row in range(len(names))
    )
    before = np.concatenate([np.zeros((len(flows), 1)), delivered[:, :-1]], axis=1)
    goodput = (delivered - np.nan_to_num(before)) * 8e9 / width
    time = (np.arange(_BINS, dtype=np.float64) + 1) * width
    return FlowSeries(flows, time, goodput, window, round_trip, retransmitted)


def _filled(values: Floats) -> Floats:
    """`values` with each gap behind a sample filled with it."""
    known = np.where(np.isnan(values), 0, np.arange(len(values)))
    return np.asarray(values[np.maximum.accumulate(known)], np.float64)
