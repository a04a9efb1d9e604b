"""Figures that need a run's rows: the first burst, the number of times the delay falls below the
target.

Depends on the rows of one run. Must not depend on papers.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.errors import ScenarioError
from sojourn.results.statistics import Floats, Longs, read_rows
from sojourn.runtime.arrow_tables import MARK, SENT, was_queued
from sojourn.runtime.run_files import PACKETS
from sojourn.studies.sweeps.plan import SweepPlan

_STEADY = 1_000_000_000
"""ns: what the first second has is the start's."""
_PEAK = 10_000_000
"""ns: a peak is the mean of so long."""


@dataclass(frozen=True)
class TraceFigures:
    """Times in ns, from the start of the run."""

    burst: float | None
    """The highest mean of 10 ms before the first drop."""
    peak: float | None
    """The highest mean of 10 ms after the first second."""
    above: int
    """The longest time with every packet at or above the target, after the first second."""
    dips: float
    """Number of times in a second that the delay falls below the target, after the first second."""
    below: float | None
    """Share of the packets below the target, after the first second."""
    first_drop: int | None
    """Until the AQM's first drop, from the first packet above the target on."""
    busy: float | None
    """Share of the 100 ms bins after the first second with a full link's packets in them, of the
    median bin at least 97 %."""


def trace_figures(
    plan: SweepPlan, runs: list[dict[str, Any]], folder: Path
) -> list[dict[str, Any]]:
    """A row for each run with stored rows."""
    names = [axis.name for axis in plan.axes]
    found = []
    for row in runs:
        identity = {name: row[name] for name in (*names, "aqm", "seed", "run")}
        found.append(identity | asdict(figures_in(folder / "runs" / row["run"], plan.target)))
    return found


def figures_in(folder: Path, target: int) -> TraceFigures:
    """The figures of the one AQM that was run into `folder`."""
    time, delay, dropped = read_trace(folder)
    if not len(time):
        return TraceFigures(None, None, 0, 0.0, None, None, None)
    drops = time[dropped]
    first = int(drops[0]) if len(drops) else int(time[-1]) + 1
    above = np.flatnonzero(delay >= target)
    steady = time >= _STEADY
    late = delay[steady]
    starts = np.flatnonzero((late[1:] < target) & (late[:-1] >= target))
    seconds = max((int(time[-1]) - _STEADY) / 1e9, 1e-9)
    return TraceFigures(
        burst=_peak(time[time < first], delay[time < first]),
        peak=_peak(time[steady], late),
        above=_longest(time[steady], late >= target),
        dips=len(starts) / seconds,
        below=float((late < target).mean()) if len(late) else None,
        first_drop=first - int(time[above[0]]) if len(drops) and len(above) else None,
        busy=_busy(time[steady]),
    )


def read_trace(folder: Path) -> tuple[Longs, Longs, Any]:
    """Dequeue time, queue delay and dropped, of the packets that were in the queue."""
    parts = [(time, delay, verdict) for time, delay, _, verdict in read_rows(_rows(folder))]
    if not parts:
        empty = np.zeros(0, np.int64)
        return empty, empty, np.zeros(0, bool)
    time, delay, verdict = (np.concatenate(column) for column in zip(*parts, strict=True))
    queued = was_queued(delay, verdict)
    # Places in `VERDICTS`: 1 is what the AQM dropped.
    return time[queued], delay[queued], verdict[queued] == 1


def throughput(folder: Path, width: int) -> tuple[Floats, Floats]:
    """The queue's departures in each bin, bit/s of frames without FCS, by the bin's middle; without
    the last bin, which the run's end may cut short."""
    amounts: Floats = np.zeros(0)
    for time, _, size, verdict in read_rows(_rows(folder)):
        sent = (verdict == SENT) | (verdict == MARK)
        place, weights = time[sent] // width, size[sent]
        found = np.bincount(place, weights=weights, minlength=len(amounts)).astype(np.float64)
        amounts = found + np.pad(amounts, (0, len(found) - len(amounts)))
    middle = (np.arange(len(amounts), dtype=np.float64) + 0.5) * width
    return middle[:-1], amounts[:-1] * 8e9 / width


def _rows(folder: Path) -> Path:
    paths = sorted(folder.rglob(PACKETS))
    if not paths:
        raise ScenarioError(f"{folder}: no rows are kept there")
    return paths[0]


def bins(time: Longs, delay: Longs, width: int) -> tuple[Floats, Floats]:
    """Middle and mean delay of each bin that has packets."""
    if not len(time):
        return np.zeros(0), np.zeros(0)
    place = time // width
    count = np.bincount(place)
    total = np.bincount(place, weights=delay)
    full = count > 0
    middle: Floats = np.flatnonzero(full).astype(np.float64) * width + 0.5 * width
    return middle, total[full] / count[full]


def _peak(time: Longs, delay: Longs) -> float | None:
    _, means = bins(time, delay, _PEAK)
    return float(means.max()) if len(means) else None


def _longest(time: Longs, above: Any) -> int:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], above.astype(np.int8), [0]])))
    spans = [int(time[end - 1] - time[start]) for start, end in edges.reshape(-1, 2)]
    return max(spans, default=0)


def _busy(time: Longs) -> float | None:
    if not len(time):
        return None
    counts = np.bincount((time - time[0]) // 100_000_000)[:-1]
    if not len(counts):
        return None
    return float((counts >= 0.97 * np.median(counts)).mean())
