"""The hosts that send: TCP as fast as it goes or capped as by `iperf3 -b`, and constant-rate UDP.

Stands on the kernel's own sockets, all of them in one process, so that flows start on time even
where a fork takes longer than a round trip. Knows neither addresses' meaning nor the bottleneck.
"""

import contextlib
import heapq
import select
import socket
import struct
import time
from collections.abc import Callable
from typing import Any

_CONGESTION = 13
_BLOCK = 128 * 1024
"""What iperf3 writes at once."""
_TICK = 1_000_000
"""ns; iperf3 looks at its average rate this often."""
_ZEROS = bytes(_BLOCK)
_ABORT = struct.pack("ii", 1, 0)

Flow = dict[str, Any]


class Senders:
    """All flows' senders; `run` returns when the run is over."""

    def __init__(self, flows: list[Flow], origin: int, end: int) -> None:
        self._poll = select.epoll()
        self._ready: dict[int, _TcpSender] = {}
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._origin, self._end = origin, end
        self._order = 0
        for flow in flows:
            make = _TcpSender if flow["kind"] == "tcp" else _UdpSender
            sender = make(self, flow)
            self.at(origin + flow["start"], sender.start)
            if flow["stop"] is not None:
                self.at(origin + flow["stop"], sender.stop)

    def at(self, instant: int, action: Callable[[], None]) -> None:
        """Has `action` called at `instant` of the monotonic clock."""
        self._order += 1
        heapq.heappush(self._due, (instant, self._order, action))

    def watch(self, sender: "_TcpSender") -> None:
        """Has `sender` told when its socket takes more."""
        self._ready[sender.socket.fileno()] = sender
        self._poll.register(sender.socket, select.EPOLLOUT | select.EPOLLET)

    def forget(self, sender: "_TcpSender") -> None:
        """The socket is about to be closed."""
        if self._ready.pop(sender.socket.fileno(), None) is not None:
            self._poll.unregister(sender.socket)

    def run(self) -> None:
        """Sends until the end, then aborts what is still open."""
        while (now := time.monotonic_ns()) < self._end:
            while self._due and self._due[0][0] <= now:
                heapq.heappop(self._due)[2]()
            until = min(self._due[0][0] if self._due else self._end, self._end)
            wait = max(until - time.monotonic_ns(), 0) / 1e9
            # epoll alone counts in milliseconds.
            select.select([self._poll], [], [], wait)
            for number, _ in self._poll.poll(0):
                if number in self._ready:
                    self._ready[number].write()
        for sender in self._ready.values():
            sender.abort()


class _TcpSender:
    def __init__(self, all_of_them: Senders, flow: Flow) -> None:
        self._all, self._flow = all_of_them, flow
        self.socket = socket.socket(flow["family"], socket.SOCK_STREAM)
        self.socket.setblocking(False)
        congestion_control = flow["congestion_control"].encode()
        self.socket.setsockopt(socket.IPPROTO_TCP, _CONGESTION, congestion_control)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(tuple(flow["client"]))
        self._opened: int | None = None
        self._allowed = self._written = 0

    def start(self) -> None:
        """Connects; the rest follows when the socket can be written to."""
        self.socket.connect_ex(tuple(self._flow["server"]))
        self._all.watch(self)

    def write(self) -> None:
        """Writes what the socket takes, and no more than the cap allows."""
        if self._opened is None:
            self._opened = time.monotonic_ns()
            self._allow()
        while True:
            room = _BLOCK if self._cap is None else min(self._allowed - self._written, _BLOCK)
            if room <= 0:
                return
            try:
                self._written += self.socket.send(memoryview(_ZEROS)[:room])
            except OSError:
                return

    @property
    def _cap(self) -> int | None:
        cap: int | None = self._flow["rate_cap"]
        return cap

    def _allow(self) -> None:
        """Allows another block at the first tick at which the average rate is below the cap."""
        if self._cap is None or self._opened is None or self.socket.fileno() < 0:
            return
        self._allowed += _BLOCK
        ticks = self._allowed * 8 * 10**9 // (self._cap * _TICK) + 1
        self._all.at(self._opened + ticks * _TICK, self._allow_and_write)

    def _allow_and_write(self) -> None:
        self._allow()
        self.write()

    def stop(self) -> None:
        """Has nothing more to send; what is in the socket still goes."""
        self._all.forget(self)
        self.socket.close()

    def abort(self) -> None:
        """Sends nothing more, not even what is in the socket."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
        self.socket.close()


def departure(flow: Flow, number: int) -> int:
    """When a UDP flow's packet leaves, in ns after its first one."""
    bits: int = flow["packet_size"] * 8
    rate: int = flow["rate"]
    if flow["on"] is None:
        return bits * number * 10**9 // rate
    # A burst has the packets that begin while it is on.
    on: int = flow["on"]
    off: int = flow["off"]
    burst, place = divmod(number, -(-on * rate // (bits * 10**9)))
    return burst * (on + off) + bits * place * 10**9 // rate


class _UdpSender:
    def __init__(self, all_of_them: Senders, flow: Flow) -> None:
        self._all, self._flow = all_of_them, flow
        self._socket = socket.socket(flow["family"], socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(tuple(flow["client"]))
        self._socket.connect(tuple(flow["server"]))
        self._open, self._number, self._first = True, 0, 0

    def start(self) -> None:
        """Sends the first packet; each sees to the next."""
        self._first = time.monotonic_ns()
        self._send()

    def _send(self) -> None:
        if not self._open:
            return
        number = struct.pack("!QQ", self._number, 0)
        with contextlib.suppress(OSError):
            self._socket.send(number + _ZEROS[: self._flow["payload"] - len(number)])
        self._number += 1
        self._all.at(self._first + departure(self._flow, self._number), self._send)

    def stop(self) -> None:
        """Sends nothing more."""
        self._open = False
