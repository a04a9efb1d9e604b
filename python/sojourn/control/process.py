"""`[control] process`: a controller process, a client of P4Runtime or BfRt, in virtual time.

The run's clock stands until the controller waits: all threads of the process sleep, and nothing is
under way between it and the server. It then goes on to the earliest of three instants: the end of
a request, which takes `latency`; the end of a sleep; the next message for the controller. Uses
the engine's run and its server. Must not depend on scenarios.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import IO

from sojourn import _core
from sojourn.common.closing import Closing
from sojourn.control import process_state
from sojourn.control.run_servers import RunServers, ServedSwitch
from sojourn.control.virtual_clock import ClockServer
from sojourn.errors import ScenarioError

_CLOCK = Path(__file__).parent / "clock"
"""The folder whose module gives a process in Python the run's clock."""
_SHORTEST, _LONGEST = 0.0002, 0.005
"""Seconds between two looks at a process that works: from the first to the last."""
_GRACE = 2.0
"""Seconds that a process has to end after SIGTERM."""
_SAID = 4_096
"""Bytes at the end of its output in which its last line is looked for."""


@dataclass(frozen=True)
class ProcessSettings:
    """A controller process: its command, and how its requests take time."""

    command: tuple[str, ...]
    folder: Path
    """Its working directory."""
    protocol: str
    """`p4runtime` or `bfrt`."""
    latency: int
    """Of a request or a message of a stream, ns."""
    timeout: int
    """Real time in which it has to answer for itself, ns."""
    poll: int
    """Interval between two looks for messages of the program, ns."""
    port: int
    """Where the first server listens, the others at the next ports; 0 for free ports."""
    device: int
    """The number of the first switch for the controller; the others have the next numbers."""

    @property
    def shown(self) -> str:
        """The command line."""
        return " ".join(self.command)

    def served(self, switches: Sequence[tuple[int, _core.Program]]) -> list[ServedSwitch]:
        """The switches with these places and programs, each with its port and number."""
        return [
            ServedSwitch(place, program, self.port and self.port + number, self.device + number)
            for number, (place, program) in enumerate(switches)
        ]


class ControllerProcess(Closing):
    """A controller process at work on switches of a run."""

    def __init__(
        self,
        settings: ProcessSettings,
        simulation: _core.Simulation,
        switches: Sequence[tuple[int, _core.Program]],
        *,
        log: Path | None = None,
        stop: Event | None = None,
    ) -> None:
        process_state.check()
        self._settings, self._simulation = settings, simulation
        self._stop = stop or Event()
        self._next_poll = settings.poll
        self._arrived = self._sent = 0
        """Requests and messages at the last look."""
        self._status: int | None = None
        """Its exit status, once it has ended."""
        with contextlib.ExitStack() as opened:
            self._clock = opened.enter_context(ClockServer())
            served = settings.served(switches)
            self._devices = [str(one.device) for one in served]
            self._servers = opened.enter_context(
                RunServers(simulation, served, settings.protocol, settings.latency)
            )
            self._log = opened.enter_context(_output(log))
            self._process = self._started()
            opened.callback(self._end_process)
            self._hold()
            self._closing = opened.pop_all()

    def due(self) -> int | None:
        """Up to when the run may go on before the controller is to act."""
        ends = self._servers.ends
        if self._status is not None and ends is None:
            return None
        return min(at for at in (self._next_poll, ends, self._clock.wakes) if at is not None)

    def act(self) -> None:
        """Executes what is due, and lets the controller work until it waits."""
        now = self._simulation.now
        acted = self._servers.admit(now)
        acted = self._clock.wake(now) or acted
        if now >= self._next_poll:
            self._next_poll = now + self._settings.poll
            self._servers.poll()
        if acted or self._has_moved():
            self._hold()

    def finish(self) -> None:
        """`ScenarioError` at the end of a run in which the controller never asked a switch."""
        if unmet := self._servers.unmet:
            raise self._error(f"has not connected to {', '.join(unmet)} during the run")

    @property
    def missed(self) -> int:
        """Messages lost because the controller did not read them."""
        return self._servers.missed

    def close(self) -> None:
        """Ends the process and the servers."""
        self._closing.close()

    @property
    def _met(self) -> bool:
        """True once it has sent a request."""
        return self._servers.arrived > 0

    def _has_moved(self) -> bool:
        """True if it has sent or received anything since it last waited, or has ended."""
        self._clock.take(self._simulation.now)
        moved = (self._servers.arrived, self._servers.sent) != (self._arrived, self._sent)
        return moved or (self._status is None and self._exit_status() is not None)

    def _hold(self) -> None:
        """Returns once the controller waits, or has ended; until then no time passes in the run."""
        began, pause = time.monotonic(), _SHORTEST
        # Two looks: one may fall between two sleeps of threads where the machine is loaded.
        while not self._stop.is_set() and not (self._waits() and self._waits()):
            took = time.monotonic() - began
            if took * 1e9 > self._settings.timeout:
                raise self._error(self._complaint())
            self._clock.take(self._simulation.now, pause)
            pause = min(2 * pause, _LONGEST)
        self._arrived, self._sent = self._servers.arrived, self._servers.sent
        self._servers.begin(self._simulation.now)

    def _waits(self) -> bool:
        """True if the controller waits for the run."""
        now, pid = self._simulation.now, self._process.pid
        if self._has_ended():
            return True
        self._clock.take(now)
        before = process_state.asleep(pid)
        if before is None:
            return False
        seen = self._seen()
        self._servers.settle()
        self._clock.take(now)
        if seen != self._seen() or self._servers.are_under_way():
            return False
        if process_state.asleep(pid) != before:
            return False
        # A process that waits for nothing of the run is looked at again, until its time is over.
        return self._servers.waiting > 0 or self._clock.wakes is not None or self._is_connected

    def _seen(self) -> tuple[int, int, int]:
        return self._servers.arrived, self._servers.waiting, self._clock.heard

    @property
    def _is_connected(self) -> bool:
        return self._met and self._servers.connections() > 0

    def _complaint(self) -> str:
        seconds = f"{self._settings.timeout / 1e9:g} s of real time (control.timeout)"
        if process_state.asleep(self._process.pid) is None:
            return f"works for more than {seconds} and neither asks nor waits"
        if not self._met:
            return f"has not connected to {self._addresses} within {seconds}"
        return f"has closed its connection and has not come back within {seconds}"

    def _has_ended(self) -> bool:
        """True if the process has ended, which it may with status 0."""
        if self._status is None:
            self._status = self._exit_status()
            if self._status is not None:
                self._servers.settle()
                if self._status != 0:
                    raise self._error(f"ended with {_named(self._status)}")
                if not self._met:
                    raise self._error(f"ended without connecting to {self._addresses}")
        return self._status is not None

    @property
    def _addresses(self) -> str:
        return ",".join(self._servers.addresses)

    def _error(self, what: str) -> ScenarioError:
        at = f"at {self._simulation.now / 1e9:.6f} s of the run"
        said = self._last_line()
        last = f"\nIts last line: {said}" if said else ""
        return ScenarioError(f"control.process: {self._settings.shown} {what}, {at}{last}")

    def _last_line(self) -> str:
        with contextlib.suppress(OSError):
            self._log.seek(0, os.SEEK_END)
            self._log.seek(max(self._log.tell() - _SAID, 0))
            lines = self._log.read().decode("utf-8", "replace").split("\n")
            return next((line.strip() for line in reversed(lines) if line.strip()), "")
        return ""

    def _started(self) -> "subprocess.Popen[bytes]":
        settings, addresses = self._settings, self._addresses
        address = self._servers.addresses[0]
        host, _, port = address.rpartition(":")
        values = {
            "address": address,
            "addresses": addresses,
            "host": host,
            "port": port,
            "device": self._devices[0],
            "clock": self._clock.address,
            "python": sys.executable,
        }
        command = [filled(part, values) for part in settings.command]
        behind = os.environ.get("PYTHONPATH")
        environment = {
            **os.environ,
            "SOJOURN_CONTROL": addresses,
            "SOJOURN_DEVICE": ",".join(self._devices),
            "SOJOURN_CLOCK": values["clock"],
            "PYTHONPATH": os.pathsep.join([str(_CLOCK), *([behind] if behind else [])]),
            "PYTHONUNBUFFERED": "1",
            "no_grpc_proxy": "127.0.0.1,localhost",
        }
        try:
            return subprocess.Popen(
                command,
                cwd=settings.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise ScenarioError(f"control.process: {command[0]}: {error.strerror}") from error

    def _end_process(self) -> None:
        """Ends the process with all that it has started."""
        # What it has started may outlive it, so the group gets both signals.
        for sent in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, sent)
            began, pause = time.monotonic(), _SHORTEST
            while self._exit_status() is None and time.monotonic() - began < _GRACE:
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_GRACE)

    def _exit_status(self) -> int | None:
        """The status of the process, once it has ended; a signal's is negative.

        The process is not reaped, so that no other group gets its number before `_end_process`.
        """
        found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def filled(part: str, values: dict[str, str]) -> str:
    """A part of a command with `{address}` and the other names in it replaced."""
    for name, value in values.items():
        part = part.replace(f"{{{name}}}", value)
    return part


@contextlib.contextmanager
def _output(log: Path | None) -> Iterator[IO[bytes]]:
    """The file of what the process prints."""
    with tempfile.TemporaryFile() if log is None else log.open("w+b") as file:
        yield file


def _named(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    with contextlib.suppress(ValueError):
        return f"signal {signal.Signals(-status).name}"
    return f"signal {-status}"
