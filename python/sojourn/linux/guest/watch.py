"""Watches a run from its beginning to its end: captures, samples, and how late the clock wakes it.

Stands on the rings and socket dumps beside it. Writes raw files; makes no figure of them.
"""

import struct
import time
from pathlib import Path
from typing import Any

from .ring import Ring
from .sockets import SocketDump
from .system import call, sleep_until

_PROGRESS = 200_000_000
_QUIET = 150_000_000
"""ns without a frame at the bottleneck after which the queue is taken to be empty."""


class Watch:
    """The measurements of one run; the rings exist from the beginning."""

    def __init__(self, job: dict[str, Any], folder: Path, dumps: dict[str, SocketDump]) -> None:
        self._job = job
        self._entered = Ring(job["entrance"], folder / "entered.ring", outgoing=False)
        self._left = Ring(job["exit"], folder / "left.ring", outgoing=True)
        self._samples = (folder / "sockets.bin").open("wb", buffering=1 << 20)
        self._dumps = dumps
        self._late: list[int] = []

    def run(self, origin: int) -> None:
        """Measures from `origin` (monotonic ns) until the bottleneck's queue is empty."""
        duration, step = self._job["duration"], self._job["sample"]
        changes = list(self._job["changes"])
        shown = 0
        for time_in_run in range(step, duration + 1, step):
            sleep_until(origin + time_in_run)
            now = time.monotonic_ns() - origin
            self._late.append(now - time_in_run)
            while changes and changes[0]["at"] <= now:
                call(("tc", "-batch", "-"), "\n".join(changes.pop(0)["tc"]) + "\n")
            self._sample(now)
            self._entered.drain()
            self._left.drain()
            if now >= shown:
                print(f"@{now}", flush=True)
                shown = now + _PROGRESS
        self._drain(origin + duration)

    def _sample(self, now: int) -> None:
        for side, dump in enumerate(self._dumps.values()):
            taken = dump.take()
            self._samples.write(struct.pack("<QII", now, side, len(taken)) + taken)

    def _drain(self, end: int) -> None:
        """Takes in what the queue still held at the end, so that none of it counts as dropped."""
        last = time.monotonic_ns()
        while (now := time.monotonic_ns()) < end + self._job["drain"] and now < last + _QUIET:
            sleep_until(now + 20_000_000)
            if self._entered.drain() + self._left.drain():
                last = time.monotonic_ns()

    def close(self) -> dict[str, Any]:
        """Ends the captures; what they lost and how late each sample was, in ns."""
        self._entered.close()
        self._left.close()
        self._samples.close()
        return {"lost": self._entered.lost + self._left.lost, "late": self._late}
