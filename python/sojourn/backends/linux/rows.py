"""The rows of every bottleneck of a run, from the captures at its switches' ports.

What came in at a switch for a host that lies behind a port came to that port's queue; what left the
port left it. A packet has one number in the rows of all queues that it passes. Depends on the graph
and on how a queue's captures are matched.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sojourn.backends.linux.addresses import FIRST_PORT
from sojourn.backends.linux.frames import Frames, together
from sojourn.backends.linux.graph import Direction, Network
from sojourn.backends.linux.groups import has_groups
from sojourn.backends.linux.job import arrived_at, came_in, went_out
from sojourn.backends.linux.measurements import Measured, Queue, Raw, measured, queue_of, samples_of
from sojourn.backends.linux.netns import NetworkNamespaces
from sojourn.backends.linux.path import Longs
from sojourn.backends.linux.samples import End, Samples, read_samples
from sojourn.backends.linux.traffic import Workload


def measure(
    raw: Raw, config: dict[str, Any], spaces: NetworkNamespaces, workload: Workload
) -> Measured:
    """The run whose guest left `raw`."""
    network, duration, by_ports = spaces.network, config["duration"], not has_groups(config)
    taps = [
        (
            _entered(raw, network, way, workload, by_ports=by_ports),
            raw.frames(went_out(way), workload, by_ports=by_ports),
        )
        for way in network.measured
    ]
    queues = [
        queue_of(raw, entered, left, spot.aqm, place, duration)
        for place, (spot, (entered, left)) in enumerate(zip(spaces.measured, taps, strict=True))
    ]
    if len(queues) > 1:
        queues = _numbered(queues, [entered for entered, _ in taps])
    # Datagrams for a group come from behind the bottleneck.
    arrived = [
        raw.frames(arrived_at(host), workload, back=not by_ports, by_ports=by_ports)
        for host in network.hosts
        if (raw.folder / arrived_at(host)).is_file()
    ]
    came = together(arrived) if arrived else None
    samples = samples_by_ports(raw, config) if by_ports else samples_of(raw, config)
    return measured(raw, config, workload, queues, came, samples)


def _entered(
    raw: Raw, network: Network, way: Direction, workload: Workload, *, by_ports: bool
) -> Frames:
    """The frames that entered the queue of a direction."""
    ports = network.inwards(way)
    came = together([raw.frames(came_in(port), workload, by_ports=by_ports) for port in ports])
    kept = np.zeros(len(came), bool)
    for name, ways in network.ways.items():
        if ways.get(way.near) is not way:
            continue
        if network.is_group(name):
            # Known by its addresses: who is not in it has no flow.
            kept[:] = True
        else:
            host = network.own_addresses(name)
            kept |= came.is_for(host["ipv4"], host["ipv6"])
    return came.selected(kept)


def samples_by_ports(raw: Raw, config: dict[str, Any]) -> Samples:
    """The samples of the sockets of hosts in a network."""
    return read_samples(raw.folder / "sockets.bin", _Ends(config), config["duration"])


def _numbered(queues: list[Queue], entered: list[Frames]) -> list[Queue]:
    """The queues with packets that have the same number in all of them, in the order of time."""
    numbers = same_numbers([frames.keys for frames in entered], [one.time for one in entered])
    return [
        replace(queue, rows=replace(queue.rows, packet=own[queue.rows.packet]))
        for queue, own in zip(queues, numbers, strict=True)
    ]


def same_numbers(keys: Sequence[npt.NDArray[Any]], times: Sequence[Longs]) -> list[Longs]:
    """For each packet of each queue a number: packets with one key have one in all of them, in the
    order of time."""
    lengths = [len(own) for own in keys]
    _, same = np.unique(np.concatenate(keys), return_inverse=True)
    same = _apart(same, lengths)
    first = np.full(int(same.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, same, np.concatenate(times))
    number = np.empty(len(first), np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    return np.split(number[same], np.cumsum(lengths)[:-1])


def _apart(same: Longs, lengths: list[int]) -> Longs:
    """Numbers equal packets by how many of them entered the same queue earlier."""
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
