"""The clock of a run for a controller process: sleeps in virtual time, by lines over loopback.

A line is `now`, `sleep NS`, or `wake`, which ends a sleep early. The answer is the run's time in
ns: at once, or at the end of the sleep. Must not depend on a switch or process.
"""

import contextlib
import selectors
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from sojourn.common.closing import Closing
from sojourn.errors import ScenarioError

_MOST = 1_024
"""Connections."""
_LONGEST = 64
"""Bytes of a line."""
_LATEST = 1 << 62
"""Of an instant, ns."""


@dataclass
class _Client:
    """A connection to the clock."""

    socket: socket.socket
    rest: bytes = b""
    until: int | None = None
    """The end of its sleep, ns."""


class ClockServer(Closing):
    """Answers a process's questions for the time, and knows until when it sleeps."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._clients: dict[int, _Client] = {}
        self.heard = 0
        """Lines so far."""

    @property
    def address(self) -> str:
        """Host and port."""
        host, port = self._listener.getsockname()
        return f"{host}:{port}"

    @property
    def wakes(self) -> int | None:
        """The earliest end of a sleep, ns; nothing if none sleeps."""
        ends = (one.until for one in self._clients.values() if one.until is not None)
        return min(ends, default=None)

    def take(self, now: int, wait: float = 0.0) -> None:
        """Reads what has come, `now` being the run's time; waits up to `wait` seconds for it."""
        for key, _ in self._selector.select(wait):
            if key.fileobj is self._listener:
                self._accept()
            else:
                self._read(self._clients[key.fd], now)

    def wake(self, now: int) -> bool:
        """Ends the sleeps that end by `now`, ns. False if there is none."""
        over = [one for one in self._clients.values() if one.until is not None and one.until <= now]
        for client in over:
            client.until = None
            self._answer(client, now)
        return bool(over)

    def close(self) -> None:
        """Closes all connections."""
        for client in list(self._clients.values()):
            self._drop(client)
        self._listener.close()
        self._selector.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            connection, _ = self._listener.accept()
            if len(self._clients) >= _MOST:
                connection.close()
                return
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(connection, selectors.EVENT_READ)
            self._clients[connection.fileno()] = _Client(connection)

    def _read(self, client: _Client, now: int) -> None:
        try:
            data = client.socket.recv(4_096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(client)
            return
        client.rest += data
        for line in self._lines(client):
            self._do(client, line, now)

    def _lines(self, client: _Client) -> Iterator[str]:
        while b"\n" in client.rest:
            line, _, client.rest = client.rest.partition(b"\n")
            self.heard += 1
            yield line.decode("ascii", "replace").strip()
        if len(client.rest) > _LONGEST:
            raise ScenarioError(_refused(client.rest.decode("ascii", "replace")[:_LONGEST]))

    def _do(self, client: _Client, line: str, now: int) -> None:
        word, _, number = line.partition(" ")
        if line == "now" and client.until is None:
            self._answer(client, now)
        elif line == "wake":
            if client.until is not None:
                client.until = None
                self._answer(client, now)
        elif word == "sleep" and number.isdecimal() and len(number) <= 20 and client.until is None:
            client.until = min(now + int(number), _LATEST)
        else:
            raise ScenarioError(_refused(line))

    def _answer(self, client: _Client, now: int) -> None:
        try:
            client.socket.sendall(b"%d\n" % now)
        except OSError:
            self._drop(client)

    def _drop(self, client: _Client) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(client.socket)
        self._clients.pop(client.socket.fileno(), None)
        client.socket.close()


def _refused(line: str) -> str:
    return (
        f"control: the run's clock was sent {line!r}; it takes `now`, `sleep NS` and `wake`, one "
        "sleep at a time on a connection"
    )
