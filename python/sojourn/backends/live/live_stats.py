"""A live switch as it is seen while it runs: what its rows say a quarter of a second at a time,
what it counts, and what stands in its program's registers.

Depends on the rows as they are taken, and on questions to the switch. Knows neither page nor
protocol.
"""

import json
import threading
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn import _core
from sojourn.backends.live.switch_run import Recording
from sojourn.runtime.arrow_tables import MARK, SENT, VERDICTS
from sojourn.runtime.row_writer import Columns

KEPT = 240
"""Moments that are kept for each port: a minute."""
FLOWS = 4
"""Flows of a port that are shown: those that sent most in its moments."""
CELLS = 64
"""Of each register and counter that are looked at; shown are those that were anything but 0."""
_AT_ONCE = 32
"""Cells that are read between two frames: more would make a departure late."""
BOUNDS = (0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""s; upper bounds of the sojourn times that are counted together."""


@dataclass(frozen=True)
class Moment:
    """Counts of a port since the previous sample: departures, drops."""

    at: float
    """s since the start."""
    seconds: float
    mean: float | None
    """ms of sojourn time of what was sent; absent if nothing was."""
    p99: float | None
    rate: float
    """bit/s that was sent."""
    sent: int
    drops: int
    marks: int
    flows: dict[int, float]
    """ms of sojourn time on average of the flows that sent most, by number."""


@dataclass
class PortTotals:
    """Since the start."""

    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    below: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    """Sent packets by their sojourn time: within each bound, and above all."""
    seconds: float = 0.0
    """The sum of those times."""


class LiveStats:
    """Statistics of a live switch."""

    def __init__(self, recording: Recording) -> None:
        self._switch, self._plan = recording.switch, recording.plan
        self._start = time.monotonic()
        self._lock = threading.Lock()
        measured = [port.number for port in recording.plan.measured]
        self._moments: dict[int, deque[Moment]] = {n: deque(maxlen=KEPT) for n in measured}
        self._totals = {number: PortTotals() for number in measured}
        self._before: dict[int, float] = {}
        self._objects = _objects(recording.switch)
        self._used: set[tuple[str, str, int]] = set()
        recording.watchers.append(self._take)

    def _take(self, port: int, columns: Columns, now: float) -> None:
        verdict = np.frombuffer(columns["verdict"], np.uint8)
        size = np.frombuffer(columns["size"], "<u4")
        enqueued = np.frombuffer(columns["enqueued"], "<i8")
        dequeued = np.frombuffer(columns["dequeued"], "<i8")
        went = (verdict == SENT) | (verdict == MARK)
        waited = (dequeued - enqueued)[went]
        flow = np.frombuffer(columns["flow"], "<u4")
        counts = np.bincount(verdict, minlength=len(VERDICTS))
        places = np.searchsorted(np.array(BOUNDS) * 1e9, waited, side="left")
        below = np.bincount(places, minlength=len(BOUNDS) + 1)
        before = self._before.get(port)
        self._before[port] = now
        with self._lock:
            # What came before the first look has no beginning.
            if before is not None:
                moment = _moment(
                    now - self._start, now - before, waited, size[went], verdict, flow[went]
                )
                self._moments[port].append(moment)
            totals = self._totals[port]
            for name, count in zip(VERDICTS, counts.tolist(), strict=True):
                totals.verdicts[name] += count
            totals.below = [a + b for a, b in zip(totals.below, below.tolist(), strict=True)]
            totals.seconds += float(waited.sum()) / 1e9

    def totals(self) -> dict[int, PortTotals]:
        """By port, a copy."""
        with self._lock:
            return {
                port: PortTotals(dict(one.verdicts), list(one.below), one.seconds)
                for port, one in self._totals.items()
            }

    def report(self) -> dict[str, Any]:
        """The counters of interfaces and switch so far."""
        report: dict[str, Any] = json.loads(self._switch.report())
        return report

    def cells(self) -> list[tuple[str, str, int, list[int]]]:
        """Kind, name, index and values of those of the first cells of registers and counters that
        are or have been anything but 0."""
        found = []
        for first in range(0, len(self._objects), _AT_ONCE):
            asked = self._objects[first : first + _AT_ONCE]
            queries = [{"read": kind, "name": name, "index": cell} for kind, name, cell in asked]
            replies = json.loads(self._switch.read_all(json.dumps(queries)))
            for one, reply in zip(asked, replies, strict=True):
                values = [] if reply is None else _values(reply)
                if any(values):
                    self._used.add(one)
                if values and one in self._used:
                    found.append((*one, values))
        return found

    def shown(self, since: float) -> dict[str, Any]:
        """All that a page shows; of moments only those after `since`, s."""
        report = self.report()
        with self._lock:
            moments = {
                port: [asdict(moment) for moment in kept if moment.at > since]
                for port, kept in self._moments.items()
            }
        return {
            "program": self._plan.name,
            "now": time.monotonic() - self._start,
            "rates": {port.number: port.rate for port in self._plan.measured},
            "moments": moments,
            "interfaces": report["live"]["ports"],
            "lateness": report["live"]["lateness"],
            "ports": report["switch"]["ports"],
            "faults": report["switch"]["faults"],
            "cells": [
                {"kind": kind, "name": name, "index": cell, "values": values}
                for kind, name, cell, values in self.cells()
            ],
        }


def _moment(
    at: float,
    seconds: float,
    waited: npt.NDArray[Any],
    sent: npt.NDArray[Any],
    verdict: npt.NDArray[Any],
    flow: npt.NDArray[Any],
) -> Moment:
    """From the sojourn times, ns, bytes and flows of what was sent, and the verdicts of all."""
    seconds = max(seconds, 1e-3)
    return Moment(
        at=round(at, 3),
        seconds=seconds,
        mean=float(waited.mean()) / 1e6 if len(waited) else None,
        p99=float(np.percentile(waited, 99)) / 1e6 if len(waited) else None,
        rate=float(sent.sum()) * 8 / seconds,
        sent=len(sent),
        drops=len(verdict) - len(sent),
        marks=int((verdict == MARK).sum()),
        flows=_means(waited, flow),
    )


def _means(waited: npt.NDArray[Any], flow: npt.NDArray[Any]) -> dict[int, float]:
    """The mean sojourn time, ms, of those flows that sent most packets; 0 is not IP."""
    numbers, place, sent = np.unique(flow, return_inverse=True, return_counts=True)
    sums = np.bincount(place, weights=waited, minlength=len(numbers))
    busiest = np.argsort(-sent, kind="stable")
    chosen = [at for at in busiest.tolist() if numbers[at]][:FLOWS]
    return {int(numbers[at]): float(sums[at] / sent[at]) / 1e6 for at in sorted(chosen)}


def _objects(switch: _core.LiveSwitch) -> list[tuple[str, str, int]]:
    """Kind, name and index of the cells that are shown."""
    try:
        description = json.loads(switch.describe())
    except _core.ConfigError:
        return []
    return [
        (one["of"], one["name"], cell)
        for one in description["objects"]
        if one["of"] in ("register", "counter")
        for cell in range(min(one["size"] or 0, CELLS))
    ]


def _values(reply: Any) -> list[int]:
    if isinstance(reply, dict):
        return [reply["packets"], reply["bytes"]]
    return [int(value) for value in reply]
