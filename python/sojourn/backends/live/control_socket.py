"""The control plane of a live switch while it runs: a Unix socket in the run's folder.

A request is one line of JSON, and so is its answer. A request whose line does not end has not been
made, so a client that dies leaves the switch as it was; operations that come in one request are
carried out all or not at all. Only the user whose switch it is may connect.
"""

import contextlib
import json
import os
import socket
import socketserver
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.backends.live.server_thread import PausingServer, serving
from sojourn.common.resources import shown
from sojourn.common.textfile import parse_json
from sojourn.control import ControlError
from sojourn.errors import OutputError

SOCKET = "control.sock"
_LONGEST = 64 << 20
"""Bytes of a request: a table of 100,000 entries has 20 MB."""


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    """The socket's path by way of the folder's descriptor: however long the folder's own path is,
    it is short enough for a socket's address."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{place}/{SOCKET}"
    finally:
        os.close(place)


class _Server(PausingServer, socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def __init__(self, address: str, switch: _core.LiveSwitch) -> None:
        self.switch = switch
        super().__init__(address, _Client)


class _Client(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        """Answers one line after the other until the client is gone."""
        with contextlib.suppress(ConnectionError):
            while line := self.rfile.readline(_LONGEST):
                # The end of a line that does not end is the end of the client.
                if not line.endswith(b"\n"):
                    return
                self.wfile.write(json.dumps(_answer(self.server.switch, line)).encode() + b"\n")


def _answer(switch: _core.LiveSwitch, line: bytes) -> dict[str, Any]:
    try:
        match parse_json(line):
            case {"apply": operations}:
                return {"ok": switch.apply(json.dumps(operations))}
            case {"read": query}:
                return {"ok": json.loads(switch.read(json.dumps(query)))}
            case {"ask": "describe"}:
                return {"ok": json.loads(switch.describe())}
            case {"ask": "report"}:
                return {"ok": json.loads(switch.report())}
    except (_core.SojournError, ValueError) as error:
        return {"error": str(error.args[0] if error.args else error)}
    return {"error": "write {apply: [...]}, {read: {...}} or {ask: describe | report}"}


@contextlib.contextmanager
def serve_control(folder: Path, switch: _core.LiveSwitch) -> Iterator[None]:
    """A context in which clients may send operations to `switch`."""
    try:
        with _address(folder) as address:
            # Only this user may connect, from the socket's creation on.
            mask = os.umask(0o177)
            try:
                server = _Server(address, switch)
            finally:
                os.umask(mask)
    except OSError as error:
        raise OutputError(f"{shown(folder / SOCKET)}: no socket can be made: {error}") from error
    try:
        with serving(server):
            yield
    finally:
        (folder / SOCKET).unlink(missing_ok=True)


class RemoteSwitch:
    """A live switch of another process, by its folder. `ControlError` is what it refuses."""

    def __init__(self, folder: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            with _address(folder) as address:
                self._socket.connect(address)
        except OSError as error:
            raise ControlError(
                f"no switch runs in {shown(folder)}: {error.strerror}; name the folder that "
                "`sojourn switch --out` was given, or that it names at its start"
            ) from error
        self._answers = self._socket.makefile("rb")

    def close(self) -> None:
        """Ends the connection."""
        self._answers.close()
        self._socket.close()

    def describe(self) -> str:
        """As `_core.PacketSwitch.describe`."""
        return json.dumps(self._ask({"ask": "describe"}))

    def report(self) -> dict[str, Any]:
        """The counters of interfaces and switch so far."""
        report: dict[str, Any] = self._ask({"ask": "report"})
        return report

    def apply(self, operations: str | _core.Operations) -> list[int | None]:
        """As `_core.PacketSwitch.apply`."""
        handles: list[int | None] = self._ask({"apply": json.loads(str(operations))})
        return handles

    def read(self, query: dict[str, Any]) -> Any:
        """The answer to a question."""
        return self._ask({"read": query})

    def _ask(self, request: dict[str, Any]) -> Any:
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            line = self._answers.readline()
        except OSError as error:
            raise ControlError(f"the switch is gone: {error.strerror}") from error
        if not line:
            raise ControlError("the switch is gone: it has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise ControlError(answer["error"])
        return answer["ok"]
