"""Event loop of all hosts of a namespace: due timers and ready sockets.

Depends on epoll and on a timer by the monotonic clock. All flows share one process, so that they
start on time even where a fork takes longer than a round trip. Times are ns from the run's time
zero. Must not depend on traffic.
"""

import heapq
import select
import socket
import time
from collections.abc import Callable

from .system import Alarm

Ready = Callable[[int], None]


class Loop:
    """Calls actions at their times and sockets' owners when they are ready."""

    def __init__(self, end: int) -> None:
        self._poll, self._alarm = select.epoll(), Alarm()
        self._poll.register(self._alarm.number, select.EPOLLIN)
        self._set_for: int | None = None
        self._ready: dict[int, Ready] = {}
        self._due: list[tuple[int, int, Callable[[], None]]] = []
        self._at_end: list[Callable[[], None]] = []
        self._origin, self._end, self._order = 0, end, 0

    @property
    def now(self) -> int:
        """ns since time zero."""
        return time.monotonic_ns() - self._origin

    def at(self, instant: int, action: Callable[[], None]) -> None:
        """Has `action` called at `instant`; never, if that is not before the end."""
        if instant < self._end:
            self._order += 1
            heapq.heappush(self._due, (instant, self._order, action))

    def at_end(self, action: Callable[[], None]) -> None:
        """Has `action` called when the run is over."""
        self._at_end.append(action)

    def watch(self, one: socket.socket, events: int, ready: Ready) -> None:
        """Has `ready` called with what `one` is ready for."""
        self._ready[one.fileno()] = ready
        self._poll.register(one, events)

    def forget(self, one: socket.socket) -> None:
        """`one` is about to be closed; harmless when repeated."""
        if self._ready.pop(one.fileno(), None) is not None:
            self._poll.unregister(one)

    def run(self, origin: int, over: Callable[[], object]) -> None:
        """Serves from time zero, `origin` on the monotonic clock, for ever; `over` is called behind
        what is to be done at the end. What the others still send is taken in after it."""
        self._origin = origin
        while self.now < self._end:
            self._call_due()
            self._wait_for(self._due[0][0] if self._due else self._end)
            self._serve()
        self._due.clear()
        for action in self._at_end:
            action()
        over()
        while True:
            self._serve()

    def _call_due(self) -> None:
        now = self.now
        while self._due and self._due[0][0] <= now:
            heapq.heappop(self._due)[2]()

    def _wait_for(self, instant: int) -> None:
        """Has waiting end then."""
        if instant != self._set_for:
            self._set_for = instant
            self._alarm.set(self._origin + instant)

    def _serve(self) -> None:
        """Waits for sockets, and for what is due."""
        for number, events in self._poll.poll():
            if number == self._alarm.number:
                self._alarm.take()
                self._set_for = None
            elif number in self._ready:
                self._ready[number](events)
