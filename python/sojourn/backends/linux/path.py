"""A flow's path behind the bottleneck: its delays over time, and the clock of the host there.

All of a flow's round-trip time lies on the way from behind the bottleneck to the front, so that
only the queue stands between a packet and its host. A host behind it therefore receives everything
half a round trip sooner than on a path with a delay in each direction, and does everything as much
sooner. Its clock is early by that, and nothing else differs.

The delay includes the time that the simulator's links and switch take of a round trip, some
microseconds, as a guest's links take no time. The part on the way to a host behind the bottleneck
has already passed when a packet reaches the queue. The clock of a host in front is late by that
part. That of one behind, whose acknowledgements wait for ticks more often, is not.

The job gives the guest a host's times by the host's own clock; the guest's logs are read by true
time. Depends on the engine's configuration of a run.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn.backends.linux.groups import has_groups, switch_of
from sojourn.backends.linux.tc import FULL_FRAME

_ACKNOWLEDGEMENT = 66
"""Bytes of the frame, without FCS: Ethernet, IP, TCP with its timestamp option."""
_SHORTEST = 60
_BEHIND_A_FRAME = 12
"""Preamble and FCS, which hold a wire with the frame."""

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Path:
    """Times in ns."""

    rtt: int
    steps: tuple[tuple[int, int], ...] = ((0, 0),)
    """One-way delays of the link behind the bottleneck with their times, from 0 on."""
    links: tuple[int, int] = (0, 0)
    """Further time in links and switch: of data on its way there, of its acknowledgement."""

    def early(self, now: Longs) -> Longs:
        """By how much a host behind the bottleneck is early at those times of the guest."""
        delays = np.array([delay for _, delay in self.steps], np.int64)
        changes = np.array([at for at, _ in self.steps[1:]], np.int64)
        return np.asarray(self.rtt // 2 + delays[np.searchsorted(changes, now, side="right")])

    def true(self, now: Longs, *, behind: bool) -> Longs:
        """The run's time of what a host saw at those times of the guest."""
        return now + self.early(now) if behind else now - self.links[0]

    def in_guest(self, instant: int, *, behind: bool) -> int:
        """The guest's time of what a host is to do at `instant`."""
        if not behind:
            return instant + self.links[0]
        found = instant - self.rtt // 2 - self.steps[0][1]
        for at, delay in self.steps[1:]:
            then = instant - self.rtt // 2 - delay
            # When the delay grows, a host's time jumps: what is in between is done at the jump.
            if then >= at or found >= at:
                found = max(then, at)
        return found

    def delays(self) -> list[tuple[int, int]]:
        """The times of changes of the total delay to the front, each with the delay. It is the sum
        of both ways of the link behind the bottleneck as a packet meets them, the way back half a
        round trip after the way there."""
        changes: list[tuple[int, int, int]] = []
        for (_, before), (at, delay) in zip(self.steps, self.steps[1:], strict=False):
            changes += [(max(at - before - self.rtt // 2, 0), 1, delay), (at, 0, delay)]
        now = [self.steps[0][1]] * 2
        always = self.rtt + sum(self.links)
        found = [(0, always + sum(now))]
        for at, way, delay in sorted(changes, key=lambda change: change[0]):
            now[way] = delay
            found.append((at, always + sum(now)))
        return found


def path_of(flow: dict[str, Any], config: dict[str, Any]) -> Path:
    """The way of a flow of a run. In a network, and if the scenario has its round-trip times at the
    hosts, all delays are where they belong."""
    if not has_groups(config):
        return Path(0)
    if config["netem"]["at"] != "behind":
        return Path(0)
    return path_behind(flow, switch_of(config))


def path_behind(flow: dict[str, Any], switch: dict[str, Any]) -> Path:
    """The way of a flow of a run with that one switch."""
    changes = [(step["at"], step["delay"]) for step in switch["schedule"]]
    steps = [(0, switch["delay"]), *(change for change in changes if change[1] is not None)]
    # Without any delay the links' own asks for none: a kernel without netem runs such a scenario.
    delayed = flow["rtt"] or any(delay for _, delay in steps)
    return Path(flow["rtt"], tuple(steps), links_of(switch) if delayed else (0, 0))


def links_of(switch: dict[str, Any]) -> tuple[int, int]:
    """The time of links and switch for a full segment to a host behind the bottleneck and for its
    acknowledgement, ns, without waiting: the link to the switch, the switch, its port's wire, the
    link that the hosts share."""
    if "access" not in switch:
        return 0, 0
    speed, within = switch["port_speed"], switch["ingress_latency"] + switch["egress_latency"]
    front, behind = switch["access"]
    back = behind or switch["rate_back"] or switch["rate"]
    there = [front or speed, speed, *([behind] if behind else [])]
    again = [back, speed, *([front] if front else [])]
    return (
        within + sum(_on_the_wire(rate, FULL_FRAME) for rate in there),
        within + sum(_on_the_wire(rate, _ACKNOWLEDGEMENT) for rate in again),
    )


def _on_the_wire(rate: int, frame: int) -> int:
    """Serialization time of a frame, ns."""
    return -(-(max(frame, _SHORTEST) + _BEHIND_A_FRAME) * 8 * 10**9 // rate)
