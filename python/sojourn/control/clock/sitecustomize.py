"""Virtual time of a run for a controller in Python: its sleeps and its clocks are the run's.

The interpreter imports this file when it starts, because the run puts its folder on the process's
`PYTHONPATH`. It asks the clock at `SOJOURN_CLOCK` and depends on the standard library alone: the
process may run any interpreter. Libraries keep the machine's clocks, as their timeouts are real.
"""

import datetime
import os
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import Any

_ADDRESS = os.environ.get("SOJOURN_CLOCK", "")
_LIBRARIES = (getattr(sys, "stdlib_module_names", frozenset()) - {"asyncio"}) | {"grpc"}
"""Packages that keep the machine's clocks."""


class _Clock:
    """A connection to the run's clock: one sleep or question at a time."""

    def __init__(self) -> None:
        host, _, port = _ADDRESS.rpartition(":")
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def send(self, line: str) -> None:
        """Sends a command."""
        try:
            self.socket.sendall(line.encode() + b"\n")
        except OSError:
            raise SystemExit("the run has ended") from None

    def answer(self) -> int:
        """The run's time, ns, once the clock answers."""
        while b"\n" not in self._rest:
            try:
                data = self.socket.recv(256)
            except OSError:
                data = b""
            if not data:
                raise SystemExit("the run has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\n")
        return int(line)


_local = threading.local()


def _clock() -> _Clock:
    """The calling thread's connection."""
    if getattr(_local, "process", None) != os.getpid():
        _local.clock, _local.process = _Clock(), os.getpid()
    clock: _Clock = _local.clock
    return clock


def _now() -> int:
    clock = _clock()
    clock.send("now")
    return clock.answer()


def _is_library(depth: int = 2) -> bool:
    """True if the caller of a clock is a library."""
    name: str = sys._getframe(depth).f_globals.get("__name__", "")
    return name.partition(".")[0] in _LIBRARIES


def _sleep(seconds: float) -> None:
    """`time.sleep` in the run's time."""
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if seconds == 0 or _is_library():
        return _real_sleep(seconds)
    clock = _clock()
    clock.send(f"sleep {round(seconds * 1e9)}")
    clock.answer()
    return None


def _seconds(real: Callable[[], float]) -> Callable[[], float]:
    def clock() -> float:
        return real() if _is_library() else _now() / 1e9

    return clock


def _nanoseconds(real: Callable[[], int]) -> Callable[[], int]:
    def clock() -> int:
        return real() if _is_library() else _now()

    return clock


class _Selector(selectors.DefaultSelector):
    """Waits of an event loop: for its files, and in the run's time for its timers."""

    _waits: _Clock | None = None

    def select(self, timeout: float | None = None) -> list[Any]:
        """As `selectors.BaseSelector.select`."""
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        if ready := super().select(0):
            return ready
        if self._waits is None:
            self._waits = _Clock()
            self.register(self._waits.socket, selectors.EVENT_READ)
        clock = self._waits
        clock.send(f"sleep {max(round(timeout * 1e9), 1)}")
        ready = super().select(None)
        others = [one for one in ready if one[0].fileobj is not clock.socket]
        if len(others) == len(ready):
            clock.send("wake")
        clock.answer()
        return others

    def close(self) -> None:
        """As `selectors.BaseSelector.close`."""
        if self._waits is not None:
            self._waits.socket.close()
        super().close()


class _IsDatetime(type):
    """Makes any `datetime` an instance of the class below: extensions make the standard one."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _real_datetime)


_real_datetime = datetime.datetime


class _Datetime(_real_datetime, metaclass=_IsDatetime):
    """`datetime.datetime` whose present is the run's time."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> "_Datetime":
        """As `datetime.datetime.now`."""
        return super().now(tz) if _is_library() else cls.fromtimestamp(_now() / 1e9, tz)

    @classmethod
    def today(cls) -> "_Datetime":
        """As `datetime.datetime.today`."""
        return super().today() if _is_library() else cls.fromtimestamp(_now() / 1e9)

    @classmethod
    def utcnow(cls) -> "_Datetime":
        """As `datetime.datetime.utcnow`."""
        utc = datetime.timezone.utc  # noqa: UP017 - the process may run an old Python
        instant = super().now(utc) if _is_library() else cls.fromtimestamp(_now() / 1e9, utc)
        return instant.replace(tzinfo=None)


def _next_sitecustomize() -> None:
    """Runs the file of this name that stands behind this one, as without this one."""
    own = __file__.rpartition("/")[0]
    others = [path for path in sys.path if path.rstrip("/") != own]
    spec = PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


_real_sleep = time.sleep
if _ADDRESS:
    time.sleep = _sleep  # type: ignore[assignment]
    for _name in ("time", "monotonic", "perf_counter"):
        setattr(time, _name, _seconds(getattr(time, _name)))
        setattr(time, _name + "_ns", _nanoseconds(getattr(time, _name + "_ns")))
    selectors.DefaultSelector = _Selector  # type: ignore[misc]
    datetime.datetime = _Datetime  # type: ignore[misc]
_next_sitecustomize()
