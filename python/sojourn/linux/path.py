"""A flow's way behind the bottleneck: its delays over time, and the clock of the host there.

All of a flow's round-trip time lies on the way from behind the bottleneck to the front, so that
nothing but the queue stands between a packet and its host. A host behind it therefore has
everything half a round trip sooner than on a way with a delay in each direction, and does
everything as much sooner: its clock is early by that, and else nothing differs. What the scenario
says of such a host is told to the guest by the early clock, and what the guest says of it is read
by the true one. Stands on the engine's configuration of a run.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn.linux.groups import has_groups, switch_of

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Path:
    """Times in ns."""

    rtt: int
    steps: tuple[tuple[int, int], ...] = ((0, 0),)
    """When the link behind the bottleneck has which one-way delay, from 0 on."""

    def early(self, now: Longs) -> Longs:
        """By how much a host behind the bottleneck is early at those times of the guest."""
        delays = np.array([delay for _, delay in self.steps], np.int64)
        changes = np.array([at for at, _ in self.steps[1:]], np.int64)
        return np.asarray(self.rtt // 2 + delays[np.searchsorted(changes, now, side="right")])

    def true(self, now: Longs, *, behind: bool) -> Longs:
        """The run's time of what a host saw at those times of the guest."""
        return now + self.early(now) if behind else now

    def in_guest(self, instant: int, *, behind: bool) -> int:
        """The guest's time of what a host is to do at `instant`."""
        if not behind:
            return instant
        found = instant - self.rtt // 2 - self.steps[0][1]
        for at, delay in self.steps[1:]:
            then = instant - self.rtt // 2 - delay
            # When the delay grows, a host's time jumps: what is in between is done at the jump.
            if then >= at or found >= at:
                found = max(then, at)
        return found

    def delays(self) -> list[tuple[int, int]]:
        """When the way to the front has which delay in all: both ways of the link behind the
        bottleneck as a packet meets them, the way back half a round trip after the way there."""
        changes: list[tuple[int, int, int]] = []
        for (_, before), (at, delay) in zip(self.steps, self.steps[1:], strict=False):
            changes += [(max(at - before - self.rtt // 2, 0), 1, delay), (at, 0, delay)]
        now = [self.steps[0][1]] * 2
        found = [(0, self.rtt + sum(now))]
        for at, way, delay in sorted(changes, key=lambda change: change[0]):
            now[way] = delay
            found.append((at, self.rtt + sum(now)))
        return found


def path_of(flow: dict[str, Any], config: dict[str, Any]) -> Path:
    """The way of a flow of a run. In a network, and if the scenario has its round-trip times at the
    hosts, all delays are where they belong."""
    if not has_groups(config):
        return Path(0)
    there = flow if config["netem"]["at"] == "behind" else flow | {"rtt": 0}
    return path_behind(there, switch_of(config))


def path_behind(flow: dict[str, Any], switch: dict[str, Any]) -> Path:
    """The way of a flow of a run with that one switch."""
    changes = [(step["at"], step["delay"]) for step in switch["schedule"]]
    steps = [(0, switch["delay"]), *(change for change in changes if change[1] is not None)]
    return Path(flow["rtt"], tuple(steps))
