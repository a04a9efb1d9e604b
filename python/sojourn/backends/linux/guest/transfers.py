"""Short transfers, each over a connection of its own between addresses of its own.

The job gives begin and size of each. Depends on the loop and on TCP sockets.
"""

import select
import socket
import struct
from typing import Any

from . import tcp
from .event_loop import Loop
from .transfer_log import Log

_TCP_INFO, _TCP_INFO_BYTES = 11, 192
_TOTAL_RETRANS, _DATA_SEGS_OUT = 100, 156
"""Offsets in `struct tcp_info` of Linux 6.1."""

Flow = dict[str, Any]


def end(flow: Flow, side: str, place: int) -> tcp.End:
    """Address and port of the transfer at `place` among those of its source."""
    number = flow["number"] + place
    # In a network all transfers of a source have one address, and are distinguished by their ports.
    address = int(flow[f"{side}_base"]) + (number if flow["by_address"] else 0)
    first, count = flow["ports"]
    port = first + number % count if side == "client" else flow["port"]
    if flow["family"] == socket.AF_INET6:
        return socket.inet_ntop(socket.AF_INET6, address.to_bytes(16, "big")), port
    return socket.inet_ntoa(address.to_bytes(4, "big")), port


def transfer_index(flow: Flow, peer: tcp.End) -> int | None:
    """The index of the source's transfer that `peer` opens, if it opens one."""
    address, port = peer
    if (":" in address) != (flow["family"] == socket.AF_INET6):
        return None
    number = int.from_bytes(socket.inet_pton(flow["family"], address), "big") - flow["client_base"]
    if not flow["by_address"]:
        number = port - flow["ports"][0] if number == 0 else -1
    place = number - flow["number"]
    return place if 0 <= place < len(flow["transfers"]) else None


class TransferSource:
    """Begins the transfers of one source, one after the other."""

    def __init__(self, loop: Loop, flow: Flow, log: Log) -> None:
        self._loop, self._flow, self._log = loop, flow, log
        self._begun = 0
        self.open: set[_Sender] = set()
        self._wait()
        loop.at_end(self._end)

    def _wait(self) -> None:
        if self._begun < len(self._flow["transfers"]):
            self._loop.at(self._flow["transfers"][self._begun][0], self._begin)

    def _begin(self) -> None:
        self.open.add(_Sender(self._loop, self._flow, self._log, self._begun, self.open))
        self._begun += 1
        self._wait()

    def _end(self) -> None:
        for sender in list(self.open):
            sender.close(aborts=True)


class _Sender:
    """The end that connects, sends, and has no more to send."""

    def __init__(
        self, loop: Loop, flow: Flow, log: Log, place: int, all_open: "set[_Sender]"
    ) -> None:
        self._loop, self._flow, self._log, self._all = loop, flow, log, all_open
        self._missing = flow["transfers"][place][1]
        self._socket = tcp.opening(flow, end(flow, "client", place))
        log.begun(flow["number"] + place, 0, loop.now)
        self._socket.connect_ex(end(flow, "server", place))
        events = select.EPOLLOUT | select.EPOLLIN | select.EPOLLRDHUP | select.EPOLLET
        loop.watch(self._socket, events, self._ready)

    def _ready(self, events: int) -> None:
        if self._missing and events & select.EPOLLOUT:
            self._missing -= tcp.write(self._socket, self._missing)
            if not self._missing:
                self._socket.shutdown(socket.SHUT_WR)
        if events & (select.EPOLLRDHUP | select.EPOLLHUP | select.EPOLLERR):
            self.close(aborts=False)

    def close(self, *, aborts: bool) -> None:
        """Leaves what the kernel counted."""
        info = self._socket.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _TCP_INFO_BYTES)
        (again,) = struct.unpack_from("I", info, _TOTAL_RETRANS)
        (segments,) = struct.unpack_from("I", info, _DATA_SEGS_OUT)
        self._log.add(self._flow["flow"], retransmits=again, segments=segments - again)
        self._loop.forget(self._socket)
        self._all.discard(self)
        if aborts:
            tcp.abort(self._socket)
        else:
            self._socket.close()


class TransferReceiver:
    """The end that accepted the connection; it knows how much will come."""

    def __init__(self, loop: Loop, one: socket.socket, log: Log, flow: Flow, place: int) -> None:
        self._loop, self._socket, self._log, self._flow = loop, one, log, flow
        self._place = place
        self._missing: int = flow["transfers"][place][1]
        tcp.wake_at(one, self._missing, flow)
        loop.watch(one, select.EPOLLIN, self._read)

    def _read(self, _: int) -> None:
        count = tcp.read(self._socket)
        if count is None:
            self._loop.forget(self._socket)
            self._socket.close()
            return
        if not count:
            return
        self._log.add(self._flow["flow"], delivered=count)
        self._missing -= count
        tcp.wake_at(self._socket, self._missing, self._flow)
        if not self._missing:
            self._log.done(self._flow["number"] + self._place, 0, self._loop.now)
