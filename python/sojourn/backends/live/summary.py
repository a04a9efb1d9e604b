"""Packet counts and delays at the shaped ports of a live switch.

Reads the rows of its folder through `statistics`, a bounded number at a time. Times in ns.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.backends.live.plan import LivePlan
from sojourn.backends.live.switch_run import rows_of
from sojourn.results.statistics import delays_at, read_rows
from sojourn.runtime.arrow_tables import DROPS, MARK, SENT, VERDICTS, was_queued

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
    median: int | None
    p99: int | None
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
    counts = np.zeros(len(VERDICTS), dtype=np.int64)
    queued = total = longest = sent_bytes = last = 0
    first: int | None = None
    for time, delay, size, verdict in read_rows(path):
        if not len(time):
            continue
        counts += np.bincount(verdict, minlength=len(VERDICTS))
        sent_bytes += int(size[(verdict == SENT) | (verdict == MARK)].sum())
        first = int(time[0] - delay[0]) if first is None else first
        last = max(last, int(time.max()))
        waited = delay[was_queued(delay, verdict)]
        queued, total = queued + len(waited), total + int(waited.sum())
        longest = max(longest, int(waited.max(initial=0)))
    ranks = [-(-queued * percent // 100) for percent in (50, 99)]
    median, p99 = delays_at(path, ranks, longest) if queued else (None, None)
    by_verdict = dict(zip(VERDICTS, counts.tolist(), strict=True))
    spent = 0 if first is None else last - first
    return PortSummary(
        port=port,
        rate=rate,
        packets=int(counts.sum()),
        sent=by_verdict["sent"] + by_verdict["mark"],
        dropped={verdict: by_verdict[verdict] for verdict in DROPS},
        marked=by_verdict["mark"],
        mean=total / queued if queued else None,
        median=median,
        p99=p99,
        max=longest if queued else None,
        throughput=sent_bytes * 8e9 / spent if spent else 0.0,
    )
