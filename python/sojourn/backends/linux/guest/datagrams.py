"""UDP: datagrams at a constant rate, in bursts, or a voice in RTP.

The departure times are computed from the job alone, as in the simulator; a sender that was held up
catches up. Depends on the loop.
"""

import contextlib
import itertools
import socket
import struct
from collections.abc import Iterator
from typing import Any

from .event_loop import Loop

_RTP = struct.Struct("!BBHII")
_VERSION, _PCMU = 2 << 6, 0
_NUMBER = struct.Struct("!QQ")

Flow = dict[str, Any]


def departure(flow: Flow, number: int) -> int:
    """Departure of a UDP flow's packet, in ns after its first one."""
    bits: int = flow["packet_size"] * 8
    rate: int = flow["rate"]
    if flow["on"] is None:
        return bits * number * 10**9 // rate
    # A burst has the packets that begin while it is on.
    on: int = flow["on"]
    off: int = flow["off"]
    burst, place = divmod(number, -(-on * rate // (bits * 10**9)))
    return burst * (on + off) + bits * place * 10**9 // rate


def departures(flow: Flow) -> Iterator[int]:
    """Departure of each datagram, in ns of the run."""
    if flow["kind"] == "udp" and flow["bursts"]:
        for begin, end in flow["bursts"]:
            for number in itertools.count():
                at = begin + flow["packet_size"] * 8 * number * 10**9 // flow["rate"]
                if at >= end:
                    break
                yield at
        return
    for number in itertools.count():
        after = number * flow["interval"] if flow["kind"] == "voip" else departure(flow, number)
        if flow["stop"] is not None and flow["start"] + after >= flow["stop"]:
            return
        yield flow["start"] + after


class DatagramSender:
    """The end that sends."""

    def __init__(self, loop: Loop, flow: Flow) -> None:
        self._loop, self._flow = loop, flow
        self._socket = socket.socket(flow["family"], socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(tuple(flow["client"]))
        self._socket.connect(tuple(flow["server"]))
        self._number = 0
        self._filling = bytes(flow["payload"])
        self._due = departures(flow)
        self._wait()

    def _wait(self) -> None:
        due = next(self._due, None)
        if due is not None:
            self._loop.at(due, self._send)

    def _send(self) -> None:
        head = self._head()
        with contextlib.suppress(OSError):
            self._socket.send(head + self._filling[len(head) :])
        self._number += 1
        self._wait()

    def _head(self) -> bytes:
        """The start of the payload: the datagram's number, or a voice's RTP header."""
        if self._flow["kind"] == "udp":
            return _NUMBER.pack(self._number, 0)[: len(self._filling)]
        clock = self._number * self._flow["samples"] & 0xFFFFFFFF
        return _RTP.pack(_VERSION, _PCMU, self._number & 0xFFFF, clock, self._flow["source"])
