"""Observation of a run from begin to end: captures, samples, and the lateness of wake-ups.

Depends on the rings and socket dumps. Writes raw files; computes no figures.
"""

import struct
import time
from pathlib import Path
from typing import Any

from .packet_ring import Ring
from .socket_diag import SocketDump
from .system import FIRST, Batch, enter_namespace, sleep_until

_PROGRESS = 200_000_000
_BLOCKS, _FEW = 384, 4
"""Blocks of all rings together, 96 MB, and how many rings share them at least."""
_QUIET = 150_000_000
"""ns without a frame at the bottleneck after which the queue is taken to be empty."""


def _ring(tap: dict[str, Any], folder: Path, count: int) -> Ring:
    """A tap's ring, opened in its namespace; this process stays there."""
    enter_namespace(tap["namespace"])
    return Ring(
        tap["interface"],
        folder / tap["file"],
        outgoing=tap["outgoing"],
        only_udp=tap["only_udp"],
        blocks=_BLOCKS // max(count, _FEW),
    )


class Watch:
    """The measurements of one run; the rings exist from the beginning."""

    def __init__(self, job: dict[str, Any], folder: Path, dumps: list[SocketDump]) -> None:
        self._job = job
        self._rings = [_ring(tap, folder, len(job["taps"])) for tap in job["taps"]]
        enter_namespace(FIRST)
        self._samples = (folder / "sockets.bin").open("wb", buffering=1 << 20)
        self._dumps = dumps
        self._late: list[int] = []
        self._changes = list(job["changes"])
        self._changed_late: list[int] = []
        self._tc = {
            name: Batch(["tc", "-n", name, "-batch", "-"])
            for name in {change["where"] for change in self._changes}
        }
        for batch in self._tc.values():
            # What it has to load for the kinds that are there, it loads now.
            batch.do(["qdisc show"])

    def run(self, origin: int) -> None:
        """Measures from `origin` (monotonic ns) until the bottleneck's queue is empty."""
        duration, step = self._job["duration"], self._job["sample"]
        shown = 0
        for time_in_run in range(step, duration + 1, step):
            self._change_until(time_in_run, origin)
            sleep_until(origin + time_in_run)
            now = time.monotonic_ns() - origin
            self._late.append(now - time_in_run)
            self._sample(now)
            self._take()
            if now >= shown:
                print(f"@{now}", flush=True)
                shown = now + _PROGRESS
        self._drain(origin + duration)

    def _change_until(self, time_in_run: int, origin: int) -> None:
        """Makes the changes that are due before then, each at its time."""
        while self._changes and self._changes[0]["at"] < time_in_run:
            change = self._changes.pop(0)
            sleep_until(origin + change["at"])
            self._tc[change["where"]].do(change["tc"])
            self._changed_late.append(time.monotonic_ns() - origin - change["at"])

    def _take(self) -> int:
        """Takes in what was captured; how many blocks that was."""
        return sum([ring.drain() for ring in self._rings])

    def _sample(self, now: int) -> None:
        for side, dump in enumerate(self._dumps):
            taken = dump.take()
            self._samples.write(struct.pack("<QII", now, side, len(taken)) + taken)

    def _drain(self, end: int) -> None:
        """Takes in what the queue still held at the end, so that none of it counts as dropped."""
        last = time.monotonic_ns()
        while (now := time.monotonic_ns()) < end + self._job["drain"] and now < last + _QUIET:
            sleep_until(now + 20_000_000)
            if self._take():
                last = time.monotonic_ns()

    def close(self) -> dict[str, Any]:
        """Ends the captures; what they lost and how late each sample was, in ns."""
        for batch in self._tc.values():
            batch.close()
        for ring in self._rings:
            ring.close()
        self._samples.close()
        return {
            "lost": sum(ring.lost for ring in self._rings),
            "late": self._late,
            "changed_late": self._changed_late,
        }
