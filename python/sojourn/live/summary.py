"""What became of the packets at the shaped ports of a live switch.

Stands on the rows of its folder. Times in ns.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.live.ask import LivePlan
from sojourn.live.running import rows_of
from sojourn.record import DROPS, NEVER_QUEUED, VERDICTS, iter_rows

DISTURBED = 1_000_000
"""Lateness, ns, that one departure in a hundred may have before a run is called disturbed."""


@dataclass(frozen=True)
class PortSummary:
    """The packets that came to a port's queues."""

    port: int
    rate: int
    """bit/s, as asked for."""
    packets: int
    sent: int
    dropped: dict[str, int]
    """By verdict: `aqm`, `tail`, `ingress`."""
    marked: int
    mean: float | None
    """Of the sojourn times, ns, of those that were queued."""
    median: float | None
    p99: float | None
    max: int | None
    throughput: float
    """Bytes sent without FCS, bit/s, from the first row to the last."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def summarise(plan: LivePlan, folder: Path) -> list[PortSummary]:
    """A summary of each port that shapes."""
    return [
        _of(port.number, port.rate or 0, folder / rows_of(port.number)) for port in plan.measured
    ]


def _of(port: int, rate: int, path: Path) -> PortSummary:
    delays: list[np.ndarray[Any, np.dtype[np.int64]]] = []
    counts = np.zeros(len(VERDICTS), dtype=np.int64)
    first, last, sent_bytes = None, 0, 0
    never = [VERDICTS.index(verdict) for verdict in NEVER_QUEUED]
    dropped = [VERDICTS.index(verdict) for verdict in DROPS]
    for batch in iter_rows(path):
        verdict = batch["verdict"].indices.to_numpy()
        enqueued, dequeued = batch["enqueued"].to_numpy(), batch["dequeued"].to_numpy()
        if len(verdict) == 0:
            continue
        counts += np.bincount(verdict, minlength=len(VERDICTS))
        queued = ~np.isin(verdict, never)
        delays.append((dequeued - enqueued)[queued])
        sent_bytes += int(batch["size"].to_numpy()[~np.isin(verdict, dropped)].sum())
        first = int(enqueued[0]) if first is None else first
        last = max(last, int(dequeued.max()))
    waited = np.concatenate(delays) if delays else np.empty(0, dtype=np.int64)
    by_verdict = dict(zip(VERDICTS, counts.tolist(), strict=True))
    spent = (last - first) / 1e9 if first is not None and last > first else 0.0
    some = len(waited) > 0
    return PortSummary(
        port=port,
        rate=rate,
        packets=int(counts.sum()),
        sent=by_verdict["sent"] + by_verdict["mark"],
        dropped={verdict: by_verdict[verdict] for verdict in DROPS},
        marked=by_verdict["mark"],
        mean=float(waited.mean()) if some else None,
        median=float(np.median(waited)) if some else None,
        p99=float(np.percentile(waited, 99)) if some else None,
        max=int(waited.max()) if some else None,
        throughput=sent_bytes * 8 / spent if spent else 0.0,
    )
