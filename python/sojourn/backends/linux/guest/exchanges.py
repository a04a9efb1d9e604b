"""Requests and responses over one connection: a client and a server.

The job gives the times of requests: fixed instants, or a delay after each answer. Depends on the
loop and on TCP sockets.
"""

import bisect
import select
import socket
from typing import Any

from . import tcp
from .event_loop import Loop
from .transfer_log import Log

Flow = dict[str, Any]


class _Talk:
    """A connection on which both ends write and read."""

    def __init__(self, loop: Loop, one: socket.socket) -> None:
        self._loop, self._socket = loop, one
        self._wanted = 0
        loop.at_end(self._end)

    def _watch(self) -> None:
        events = select.EPOLLIN | select.EPOLLOUT | select.EPOLLET
        self._loop.watch(self._socket, events, self._ready)

    def _ready(self, events: int) -> None:
        if events & select.EPOLLOUT:
            self._write()
        # Edges: what has come is read until there is no more.
        while events & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
            count = tcp.read(self._socket)
            if not count:
                if count is None:
                    self._loop.forget(self._socket)
                return
            self._came(count)

    def _came(self, count: int) -> None:
        raise NotImplementedError

    def _write(self) -> None:
        if self._wanted:
            self._wanted -= tcp.write(self._socket, self._wanted)

    def _say(self, size: int) -> None:
        self._wanted += size
        self._write()

    def _end(self) -> None:
        self._loop.forget(self._socket)
        tcp.abort(self._socket)


class RequestClient(_Talk):
    """The client: opens the connection and sends one request at a time."""

    def __init__(self, loop: Loop, flow: Flow, log: Log) -> None:
        super().__init__(loop, tcp.opening(flow, tuple(flow["client"])))
        self._flow, self._log = flow, log
        self._number, self._missing, self._open = 0, 0, False
        tcp.wake_at(self._socket, flow["response"], flow)
        loop.at(flow["start"], self._connect)

    def _connect(self) -> None:
        self._socket.connect_ex(tuple(self._flow["server"]))
        self._watch()

    def _write(self) -> None:
        """Called when the socket takes something: for the first time when it is connected."""
        if not self._open:
            self._open = True
            self._plan(self._loop.now)
        super()._write()

    def _plan(self, now: int) -> None:
        """Has the next question asked when it is due."""
        instants: list[int] | None = self._flow["instants"]
        thinks: list[int] = self._flow["thinks"]
        if instants is not None:
            # Instants that passed while an answer was outstanding are left out.
            self._number = bisect.bisect_right(instants, now) if self._number else 0
            due = instants[self._number] if self._number < len(instants) else None
        else:
            due = now + (thinks[self._number - 1] if self._number else 0)
        stop = self._flow["stop"]
        if due is not None and (stop is None or due < stop):
            self._loop.at(due, self._ask)

    def _ask(self) -> None:
        self._log.begun(self._flow["number"], self._number, self._loop.now)
        self._missing = self._flow["response"]
        self._say(self._flow["request"])

    def _came(self, count: int) -> None:
        self._missing -= count
        if self._missing > 0:
            tcp.wake_at(self._socket, self._missing, self._flow)
            return
        now = self._loop.now
        self._log.done(self._flow["number"], self._number, now)
        self._number += 1
        tcp.wake_at(self._socket, self._flow["response"], self._flow)
        self._plan(now)


class RequestServer(_Talk):
    """The end that accepted the connection: each whole request is answered at once."""

    def __init__(self, loop: Loop, one: socket.socket, flow: Flow) -> None:
        super().__init__(loop, one)
        self._flow = flow
        self._came_so_far = 0
        tcp.accepted(flow, one)
        tcp.wake_at(one, flow["request"], flow)
        self._watch()

    def _came(self, count: int) -> None:
        request = self._flow["request"]
        asked = (self._came_so_far + count) // request - self._came_so_far // request
        self._came_so_far += count
        tcp.wake_at(self._socket, request - self._came_so_far % request, self._flow)
        if asked:
            self._say(asked * self._flow["response"])
