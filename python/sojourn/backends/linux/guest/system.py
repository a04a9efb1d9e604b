"""The few system calls that Python lacks: mounts, namespaces, modules, exact sleeping, power-off.

Depends on the C library through ctypes; a fork in the guest costs tens of milliseconds, a call
microseconds. Must not depend on networks.
"""

import contextlib
import ctypes
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000
_FINIT_MODULE = 313
_POWER_OFF = 0x4321FEDC
_ALREADY_THERE = 17
_ABSOLUTE = 1
_SET_TIMER_SLACK = 29

FIRST = "first-process"
"""The namespace of the first process: no host, no switch has a hyphen in its name."""


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(kind: str, target: str, options: str = "") -> None:
    """Mounts a file system of that kind."""
    result = _libc.mount(kind.encode(), target.encode(), kind.encode(), 0, options.encode())
    _checked(result, f"mount {kind} at {target}")


def enter_namespace(name: str) -> None:
    """Moves this process into a network namespace made by `ip netns add`."""
    enter(Path(f"/run/netns/{name}"))


def enter(path: Path) -> None:
    """Moves this process into the network namespace that `path` stands for."""
    with path.open("rb") as file:
        _checked(_libc.setns(file.fileno(), _CLONE_NEWNET), f"namespace {path}")


def load_modules(folder: Path, names: Sequence[str]) -> None:
    """Loads the kernel's modules `names` and what they need; those built in are passed over."""
    release = folder / platform.release()
    needs: dict[str, tuple[str, list[str]]] = {}
    if not (release / "modules.dep").is_file():
        return
    for line in (release / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        needs[Path(path).name.partition(".")[0]] = (path, rest.split())
    for name in names:
        if name in needs:
            path, before = needs[name]
            for module in [*reversed(before), path]:
                _load(release / module)


def _load(path: Path) -> None:
    with path.open("rb") as file:
        result = _libc.syscall(_FINIT_MODULE, file.fileno(), b"", 0)
    if result != 0 and ctypes.get_errno() != _ALREADY_THERE:
        _checked(result, f"module {path.name}")


def sleep_until(instant: int) -> None:
    """Sleeps until `instant` ns on the monotonic clock."""
    until = _Timespec(*divmod(instant, 10**9))
    _libc.clock_nanosleep(time.CLOCK_MONOTONIC, _ABSOLUTE, ctypes.byref(until), None)


class Alarm:
    """A timer for epoll with the resolution of the kernel's clock; a wait with a timeout may be
    late by a thousandth of itself."""

    def __init__(self) -> None:
        flags = os.O_NONBLOCK | os.O_CLOEXEC
        self.number: int = _libc.timerfd_create(time.CLOCK_MONOTONIC, flags)
        _checked(min(self.number, 0), "timer")

    def set(self, instant: int) -> None:
        """Has it go off at `instant` ns on the monotonic clock, and not when it was set for."""
        at = (_Timespec * 2)(_Timespec(0, 0), _Timespec(*divmod(instant, 10**9)))
        _checked(_libc.timerfd_settime(self.number, _ABSOLUTE, ctypes.byref(at), None), "timer")

    def take(self) -> None:
        """It has gone off."""
        with contextlib.suppress(BlockingIOError):
            os.read(self.number, 8)


def exact_timers() -> None:
    """Has this process woken when it asked for it, and not up to 50 us later to save power."""
    _libc.prctl(_SET_TIMER_SLACK, 1, 0, 0, 0)


def call(command: Sequence[str], text: str | None = None) -> str:
    """Runs a program to its end and returns what it prints; `RuntimeError` with its complaint."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        complaint = (done.stderr or done.stdout).strip()
        raise RuntimeError(f"{' '.join(command)}: {complaint}")
    return done.stdout


class Batch:
    """A program that takes commands line by line, there from the beginning: a fork at the moment of
    a change would make it late by tens of milliseconds."""

    def __init__(self, command: Sequence[str]) -> None:
        self._command = command
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    def do(self, lines: Sequence[str]) -> None:
        """Sends the lines for execution; `close` reports failures."""
        pipe = self._process.stdin
        if pipe is not None and self._process.poll() is None:
            pipe.write("".join(f"{line}\n" for line in lines))
            pipe.flush()

    def close(self) -> None:
        """Ends the program; `RuntimeError` with its complaint if a line could not be done."""
        _, complaint = self._process.communicate()
        if self._process.returncode != 0:
            raise RuntimeError(f"{' '.join(self._command)}: {complaint.strip()}")


def power_off() -> None:
    """Ends the guest."""
    os.sync()
    _libc.reboot(_POWER_OFF)
