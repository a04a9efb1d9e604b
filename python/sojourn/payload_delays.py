"""Queue delays that a P4 program has written into the packets: the first 32 bits of a TCP payload.

Stands on captures, and on the fields of Ethernet, IPv4 and TCP that lead to the payload. What
writes them is `QueueMeasurement` (`p4/v1model/aqm/queue_measurement.p4`). It cannot tell a packet
that was measured from one that was not: that is the user's to know.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from sojourn.captures import CapturedFrame, read_frames

_IPV4, _TCP = 0x0800, 6
_WORD = 4
"""Bytes that a delay takes."""
_BEFORE = "entered"
"""The interface of a run's capture that is in front of the queue."""


@dataclass(frozen=True)
class MeasuredDelay:
    """One packet."""

    time: int
    """When it was captured, ns."""
    flow: str
    delay: int
    """ns, of whole microseconds."""


def read_delays(path: Path, least: int = _WORD) -> Iterator[MeasuredDelay]:
    """The delays in the capture at `path`; in a run's own, those of the packets that have left.

    Packets with less than `least` bytes of payload count as not measured.
    """
    for frame in read_frames(path):
        found = None if frame.interface == _BEFORE else _measured(frame, max(least, _WORD))
        if found is not None:
            yield found


def _measured(frame: CapturedFrame, least: int) -> MeasuredDelay | None:
    """The delay in a frame; none if it is not TCP over IPv4 with so much payload."""
    data = frame.data
    if len(data) < 34 or struct.unpack_from("!H", data, 12)[0] != _IPV4:
        return None
    length, fragment = struct.unpack_from("!HxxH", data, 16)
    tcp = 14 + 4 * (data[14] & 15)
    if data[14] >> 4 != 4 or data[23] != _TCP or fragment & 0x1FFF or len(data) < tcp + 20:
        return None
    payload = tcp + 4 * (data[tcp + 12] >> 4)
    if 14 + length < payload + least or len(data) < payload + _WORD:
        return None
    source, destination = (IPv4Address(data[at : at + 4]) for at in (26, 30))
    ports = struct.unpack_from("!HH", data, tcp)
    flow = f"{source}:{ports[0]} > {destination}:{ports[1]}"
    return MeasuredDelay(frame.time, flow, struct.unpack_from("!I", data, payload)[0] * 1000)
