"""A run's figures from the guest's files: rows of each queue, samples, exchanges, datagrams.

Depends on frames, matching, samples and the hosts' logs. Must not depend on how a guest is started
or how files are written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.backends.linux.addresses import hosts, sends_from_behind
from sojourn.backends.linux.exchanges import Columns, read_datagrams, read_exchanges, read_totals
from sojourn.backends.linux.frames import Frames, read_frames
from sojourn.backends.linux.matching import Rows, match
from sojourn.backends.linux.samples import End, Samples, read_samples
from sojourn.backends.linux.tc import Qdisc
from sojourn.backends.linux.traffic import Workload, first_of

_OVERFLOW = ("drop_overlimit", "overlimit", "pdrop")
"""The qdiscs' counter of packets that found no room."""


@dataclass(frozen=True)
class Raw:
    """The files of a guest."""

    folder: Path
    done: dict[str, Any]

    def qdisc(self, place: int = 0) -> dict[str, Any]:
        """The AQM's own statistics, of the measured queue at that place."""
        shown = self.done["qdiscs"][place]
        found: dict[str, Any] = next(q for q in shown if q.get("handle") == "10:")
        return found

    def frames(
        self, name: str, workload: Workload, *, back: bool = False, by_ports: bool = False
    ) -> Frames:
        """The flows' frames in a tap's file."""
        frames = read_frames(self.folder / name, back=back, by_ports=by_ports)
        return frames.numbered(workload.numbers).of_flows()

    def within(self, rows: Rows, duration: int) -> Rows:
        """The rows of the run, by its own time."""
        begin = self.done["origin"]
        return rows.within(begin, begin + duration)


@dataclass(frozen=True)
class Queue:
    """A measured queue."""

    rows: Rows
    entered: Frames
    left: Frames
    unmatched: int
    """Packets that entered and never left."""
    statistics: dict[str, Any]
    """The kernel's counters."""

    @property
    def dropped(self) -> int:
        """The kernel's count of drops."""
        return int(self.statistics["drops"])


def queue_of(
    raw: Raw, entered: Frames, left: Frames, aqm: Qdisc, place: int, duration: int
) -> Queue:
    """The queue between two taps."""
    statistics = raw.qdisc(place)
    overflow = sum(int(statistics.get(name, 0)) for name in _OVERFLOW)
    every = match(entered, left, aqm, full=overflow > 0)
    drops = int(np.isin(every.verdict, (1, 2)).sum())
    return Queue(raw.within(every, duration), entered, left, drops, statistics)


@dataclass(frozen=True)
class Measured:
    """A run."""

    queues: Sequence[Queue]
    """In the order of the scenario's bottlenecks."""
    arrived: Frames | None
    """Datagrams that do not go through the first queue alone, where they are taken in, up to the
    end of the run."""
    samples: Samples
    exchanges: Columns
    datagrams: Columns
    starts: list[int]
    """The start of each flow."""
    totals: dict[int, dict[str, int]]
    """The hosts' counts for each source of transfers."""

    @cached_property
    def rows(self) -> Rows:
        """Those of the first queue."""
        return self.queues[0].rows

    @property
    def complaint(self) -> str:
        """Contradictions of captures and kernel, or nothing."""
        for queue in self.queues:
            if queue.unmatched != queue.dropped:
                return (
                    f"the capture misses {queue.unmatched} packets behind the queue, the "
                    f"kernel counts {queue.dropped} drops"
                )
        return ""


def samples_of(raw: Raw, config: dict[str, Any]) -> Samples:
    """The samples of the sockets of hosts in groups."""
    return read_samples(raw.folder / "sockets.bin", _Ends(config), config["duration"])


def measured(
    raw: Raw,
    config: dict[str, Any],
    workload: Workload,
    queues: Sequence[Queue],
    arrived: Frames | None,
    samples: Samples,
) -> Measured:
    """The figures that every network has, with the hosts' logs."""
    begin = raw.done["origin"]
    captured = (queues[0].entered, queues[0].left, arrived)
    return Measured(
        queues=queues,
        arrived=None if arrived is None else arrived.until(begin + config["duration"]),
        samples=samples,
        exchanges=read_exchanges(raw.folder, config, workload),
        datagrams=read_datagrams(config, workload, captured, begin),
        starts=[first_of(drawn) for drawn in workload.flows],
        totals=read_totals(raw.folder, config),
    )


class _Ends:
    """Whose a socket is, by the address of its end in front of the bottleneck."""

    def __init__(self, config: dict[str, Any]) -> None:
        followed = {
            number: flow
            for number, flow in enumerate(config["flows"])
            if flow["kind"] in ("tcp", "requests")
        }
        self._flows = {hosts(number, flow).front_end: number for number, flow in followed.items()}
        self._backward = {n for n, flow in followed.items() if sends_from_behind(flow)}

    def __call__(self, side: int, local: End, peer: End) -> tuple[int, bool] | None:
        is_front = side == 0
        flow = self._flows.get(local if is_front else peer)
        return None if flow is None else (flow, is_front != (flow in self._backward))
