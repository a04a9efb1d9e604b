"""Long TCP flows: as fast as it goes, or capped as by `iperf3 -b`.

Depends on the loop and on TCP sockets. Knows neither addresses' meaning nor the bottleneck.
"""

import select
import socket
from threading import Thread
from typing import Any

from . import tcp
from .event_loop import Loop

_TICK = 1_000_000
"""ns; iperf3 looks at its average rate this often."""


class BulkSender:
    """The end that sends."""

    def __init__(self, loop: Loop, flow: dict[str, Any]) -> None:
        self._loop, self._flow = loop, flow
        self._socket = tcp.opening(flow, tuple(flow["client"]))
        self._opened: int | None = None
        self._allowed = self._written = 0
        self._stopped = False
        self._cap: int | None = flow["rate_cap"]
        self._block: int = flow["block"]
        tcp.pace(self._socket, flow["pacing"])
        loop.at(flow["start"], self._start)
        if flow["stop"] is not None:
            loop.at(flow["stop"], self._stop)
        loop.at_end(self._end)

    def _start(self) -> None:
        """Connects; the rest follows when the socket can be written to."""
        self._socket.connect_ex(tuple(self._flow["server"]))
        self._loop.watch(self._socket, select.EPOLLOUT | select.EPOLLET, self._write)

    def _write(self, _: int = 0) -> None:
        """Writes what the socket takes, and no more than the cap allows."""
        if self._stopped:
            return
        if self._opened is None:
            self._opened = self._loop.now
            self._allow()
        room = len(tcp.ZEROS)
        while True:
            if self._cap is not None:
                room = min(self._allowed - self._written, len(tcp.ZEROS))
            if room <= 0:
                return
            try:
                self._written += self._socket.send(tcp.ZEROS[:room])
            except OSError:
                return

    def _allow(self) -> None:
        """Allows another block at the first tick at which the average rate is below the cap."""
        if self._cap is None or self._opened is None or self._stopped:
            return
        self._allowed += self._block
        ticks = self._allowed * 8 * 10**9 // (self._cap * _TICK) + 1
        self._loop.at(self._opened + ticks * _TICK, self._allow_and_write)

    def _allow_and_write(self) -> None:
        self._allow()
        self._write()

    def _stop(self) -> None:
        """Has nothing more to send; what is in the socket still goes."""
        self._stopped = True
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def _end(self) -> None:
        self._loop.forget(self._socket)
        tcp.abort(self._socket)


class BulkReceiver:
    """The end that accepted a connection and discards what comes, in a thread of its own: a read
    that waits for more within the kernel costs a guest no system call for each segment."""

    def __init__(self, one: socket.socket, flow: dict[str, Any]) -> None:
        tcp.wake_at(one, flow["piece"], flow)
        Thread(target=tcp.discard, args=(one,), daemon=True).start()
