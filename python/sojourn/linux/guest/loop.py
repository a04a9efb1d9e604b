"""One loop for all hosts of a namespace: what is due, and whose socket has something to say.

Stands on epoll and the monotonic clock. All flows share one process, so that they start on time
even where a fork takes longer than a round trip. Times are ns from the run's time zero. Knows no
traffic.
"""

import heapq
import select
import socket
import time
from collections.abc import Callable

_FAR = 50_000_000
"""ns; epoll counts in milliseconds, so what is due sooner is waited for by `select`."""
_NEAR = 2_000_000

Ready = Callable[[int], None]


class Loop:
    """Calls actions at their times and sockets' owners when they are ready."""

    def __init__(self, end: int) -> None:
        self._poll = select.epoll()
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
            self._serve(min(self._due[0][0] if self._due else self._end, self._end))
        self._due.clear()
        for action in self._at_end:
            action()
        over()
        while True:
            self._serve(self.now + 10**9)

    def _call_due(self) -> None:
        now = self.now
        while self._due and self._due[0][0] <= now:
            heapq.heappop(self._due)[2]()

    def _serve(self, until: int) -> None:
        """Waits for sockets until then."""
        wait = max(until - self.now, 0)
        if wait > _FAR:
            found = self._poll.poll((wait - _NEAR) / 1e9)
        else:
            select.select([self._poll], [], [], wait / 1e9)
            found = self._poll.poll(0)
        for number, events in found:
            if number in self._ready:
                self._ready[number](events)
