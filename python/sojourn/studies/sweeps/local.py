"""Jobs on this machine: one process for each core, which runs one job at a time.

The processes are `python -m sojourn.studies.sweeps.worker`. They read jobs from standard input and
end with it, so that none outlives a scheduler that was killed. Depends on `run_job`.
"""

import contextlib
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from typing import IO, Any

from sojourn.studies.sweeps.job import Failure, Job, Outcome

_LENGTH = struct.Struct(">Q")
_TRIES = 2
"""Attempts of a run whose process dies in it."""


def send(stream: IO[bytes], message: object) -> None:
    """Writes `message` with its length before it."""
    data = pickle.dumps(message)
    stream.write(_LENGTH.pack(len(data)))
    stream.write(data)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The next message; `EOFError` if there is none any more."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


class LocalWorkers:
    """As many processes as there are cores, or as are asked for."""

    def __init__(self, count: int | None = None) -> None:
        self.count = count or len(os.sched_getaffinity(0))
        self.name = f"{self.count} {'process' if self.count == 1 else 'processes'} here"

    def outcomes(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome | Failure]]:
        """Runs `jobs` and yields each with what it came to, in the order in which they end."""
        source, lock = iter(jobs), threading.Lock()
        done: queue.Queue[tuple[Job, Outcome | Failure] | BaseException | None] = queue.Queue(
            2 * self.count
        )
        stop = threading.Event()

        def take() -> Job | None:
            with lock:
                return None if stop.is_set() else next(source, None)

        processes = [_Process() for _ in range(self.count)]
        threads = [
            threading.Thread(target=_serve, args=(process, take, done), daemon=True)
            for process in processes
        ]
        for thread in threads:
            thread.start()
        try:
            running = self.count
            while running:
                match done.get():
                    case None:
                        running -= 1
                    case BaseException() as error:
                        raise error
                    case ended:
                        yield ended
        finally:
            stop.set()
            for process in processes:
                process.end()


def _serve(process: "_Process", take: Any, done: "queue.Queue[Any]") -> None:
    """One thread: has its process do one job after the other."""
    try:
        while (job := take()) is not None:
            done.put((job, process.run(job)))
        done.put(None)
    except BaseException as error:
        done.put(error)


class _Process:
    """A process that runs jobs; another one takes its place when it dies."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._ended = False

    def run(self, job: Job) -> Outcome | Failure:
        """The outcome of `job`; a `Failure` if its process died in it every time."""
        for _ in range(_TRIES):
            child = self._started()
            assert child.stdin is not None and child.stdout is not None
            try:
                send(child.stdin, job)
                outcome: Outcome | Failure = receive(child.stdout)
            except (EOFError, OSError):
                status = child.wait()
                self._child = None
                if self._ended:
                    break
            else:
                return outcome
        return Failure(f"the process that ran it {_how_it_ended(status)}, {_TRIES} times")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "sojourn.studies.sweeps.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        return self._child

    def end(self) -> None:
        """Ends the process, in the middle of a run if it must."""
        self._ended = True
        child = self._child
        if child is not None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            child.wait()


def _how_it_ended(status: int) -> str:
    if status < 0:
        name = signal.Signals(-status).name
        more = " (was memory short?)" if name == "SIGKILL" else ""
        return f"was ended by {name}{more}"
    return f"ended with status {status}"
