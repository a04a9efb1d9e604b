"""The rows of every bottleneck of a network, from what was captured at its switches' ports.

What came in at a switch for a host that lies behind a port came to that port's queue; what left the
port left it. A packet has one number in the rows of all queues that it passes. Stands on the graph
and on what the ground with one switch has.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from sojourn.linux.addresses import FIRST_PORT
from sojourn.linux.frames import Frames, together
from sojourn.linux.measured import Measured, Queue, Raw, measured, queue_of
from sojourn.linux.network.graph import Direction, Network
from sojourn.linux.network.job import arrived_at, came_in, measured_spots, went_out
from sojourn.linux.network.topology import Plan
from sojourn.linux.path import Longs
from sojourn.linux.samples import End, read_samples
from sojourn.linux.traffic import Traffic


def measure_network(raw: Raw, config: dict[str, Any], plan: Plan, traffic: Traffic) -> Measured:
    """The run whose guest left `raw`."""
    network, duration = plan.network, config["duration"]
    taps = [
        (_entered(raw, network, way, traffic), raw.frames(went_out(way), traffic, by_ports=True))
        for way in network.measured
    ]
    queues = [
        queue_of(raw, entered, left, spot.aqm, place, duration)
        for place, (spot, (entered, left)) in enumerate(
            zip(measured_spots(plan), taps, strict=True)
        )
    ]
    numbered = _numbered(queues, [entered for entered, _ in taps])
    arrived = [
        raw.frames(arrived_at(host), traffic, by_ports=True)
        for host in network.hosts
        if (raw.folder / arrived_at(host)).is_file()
    ]
    samples = read_samples(raw.folder / "sockets.bin", _Ends(config), duration)
    came = together(arrived) if arrived else None
    return measured(raw, config, traffic, numbered, came, samples)


def _entered(raw: Raw, network: Network, way: Direction, traffic: Traffic) -> Frames:
    """What came to the queue of a direction."""
    ports = [other for other in network.directions if other.near == way.near]
    came = together([raw.frames(came_in(port), traffic, by_ports=True) for port in ports])
    kept = np.zeros(len(came), bool)
    for name, ways in network.ways.items():
        if ways.get(way.near) is way:
            host = network.hosts[name]
            kept |= came.is_for(host["ipv4"], host["ipv6"])
    return came.selected(kept)


def _numbered(queues: list[Queue], entered: list[Frames]) -> list[Queue]:
    """The queues with packets that have the same number in all of them, in the order of time."""
    keys = np.concatenate([frames.keys for frames in entered])
    times = np.concatenate([frames.time for frames in entered])
    _, same = np.unique(keys, return_inverse=True)
    same = _apart(same, [len(frames) for frames in entered])
    first = np.full(int(same.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, same, times)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    found, start = [], 0
    for queue, frames in zip(queues, entered, strict=True):
        own = number[same[start : start + len(frames)]]
        found.append(replace(queue, rows=replace(queue.rows, packet=own[queue.rows.packet])))
        start += len(frames)
    return found


def _apart(same: Longs, lengths: list[int]) -> Longs:
    """Packets that look alike told apart by how many such came to the same queue before them."""
    ranks = []
    start = 0
    for length in lengths:
        own = same[start : start + length]
        order = np.argsort(own, kind="stable")
        ordered = own[order]
        begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if length else order
        rank = np.empty(length, np.int64)
        rank[order] = np.arange(length) - np.repeat(begins, np.diff(np.append(begins, length)))
        ranks.append(rank)
        start += length
    pairs = np.stack([same, np.concatenate(ranks)], axis=1)
    _, number = np.unique(pairs, axis=0, return_inverse=True)
    return np.asarray(number.ravel(), np.int64)


class _Ends:
    """Whose a socket is, by the port of who opened the connection."""

    def __init__(self, config: dict[str, Any]) -> None:
        self._flows = config["flows"]
        self._hosts = [host["name"] for host in config["network"]["hosts"]]

    def __call__(self, side: int, local: End, peer: End) -> tuple[int, bool] | None:
        number = max(local[1], peer[1]) - FIRST_PORT
        if not 0 <= number < len(self._flows):
            return None
        flow = self._flows[number]
        if flow["kind"] not in ("tcp", "requests"):
            return None
        return number, self._hosts[side] == flow["from"]
