"""Queue delays that a P4 program has written into the packets: the first 32 bits of a TCP payload.

Depends on captures, and on the fields of IPv4 and TCP that lead to the payload. What
writes them is `QueueMeasurement` (`p4/v1model/aqm/queue_measurement.p4`). It cannot tell a packet
that was measured from one that was not: that is the user's to know.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

from sojourn.tools.delays.captures import CapturedFrame, read_frames
from sojourn.tools.delays.link_layer import IPV4, network_header

_TCP = 6
_WORD = 4
"""Bytes that a delay takes."""
_BEFORE = "entered"
"""The interface of a run's capture that is in front of the queue."""


@dataclass(frozen=True)
class MeasuredDelay:
    """One packet."""

    time: int | None
    """Capture time, ns; nothing if the capture has none."""
    flow: str
    delay: int
    """ns, of whole microseconds."""


class Delays:
    """The delays in a capture; in a run's own, those of the packets that have left."""

    def __init__(self, path: Path, least: int = _WORD) -> None:
        """Packets with less than `least` bytes of payload count as not measured."""
        self._frames = read_frames(path)
        self._least = max(least, _WORD)

    def __iter__(self) -> Iterator[MeasuredDelay]:
        """The delays, in the order of the file."""
        for frame in self._frames:
            found = None if frame.interface == _BEFORE else _measured(frame, self._least)
            if found is not None:
                yield found

    @property
    def skipped(self) -> list[str]:
        """The frames that could not be read so far, in words."""
        return self._frames.skipped


def read_delays(path: Path, least: int = _WORD) -> Delays:
    """The delays in the capture at `path`, of packets with at least `least` bytes of payload."""
    return Delays(path, least)


def _measured(frame: CapturedFrame, least: int) -> MeasuredDelay | None:
    """The delay in a frame; none if it is not TCP over IPv4 with so much payload."""
    header = network_header(frame.link, frame.data)
    if header is None or header[0] != IPV4:
        return None
    data = frame.data[header[1] :]
    if len(data) < 20:
        return None
    length, fragment = struct.unpack_from("!2xHxxH", data)
    # A segment that the interface is to cut (TSO) may have no length yet: it ends with the frame.
    length = length or frame.length - header[1]
    tcp = 4 * (data[0] & 15)
    if data[0] >> 4 != 4 or data[9] != _TCP or fragment & 0x1FFF or len(data) < tcp + 20:
        return None
    payload = tcp + 4 * (data[tcp + 12] >> 4)
    if length < payload + least or len(data) < payload + _WORD:
        return None
    source, destination = (IPv4Address(data[at : at + 4]) for at in (12, 16))
    ports = struct.unpack_from("!HH", data, tcp)
    flow = f"{source}:{ports[0]} > {destination}:{ports[1]}"
    return MeasuredDelay(frame.time, flow, struct.unpack_from("!I", data, payload)[0] * 1000)
