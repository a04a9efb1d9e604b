"""bmv2's own tools as a judge: p4c for bmv2, a running `simple_switch`, its command line.

The folder of the judge has `p4c-bmv2`, `simple_switch` and `simple_switch_CLI`; the last one wants
Python with the packages thrift, setuptools and six, whose interpreter the variable PYTHON names.
Packets go in through named pipes in the place of capture files (`--use-files`), so that they come
one by one and commands between them. Must not depend on Sojourn.
"""

import os
import re
import signal
import socket
import struct
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_PROMPT = b"RuntimeCmd: "
_COMPLAINT = re.compile(
    r"unknown syntax|error|invalid|duplicate|exception|traceback|\bbad\b", re.IGNORECASE
)
_FILE_HEADER = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
_QUIET = 0.15
"""s without a packet after which none is expected any more."""


class JudgeError(Exception):
    """A tool of the judge refuses, or does not answer."""


def compile_program(
    judge: Path,
    program: Path,
    output: Path,
    *,
    include_paths: Iterable[Path] = (),
    defines: Mapping[str, str] | None = None,
) -> str:
    """bmv2's JSON of `program` in the file `output`; returns the compiler's warnings."""
    includes = [word for path in include_paths for word in ("-I", str(path))]
    macros = [word for item in (defines or {}).items() for word in ("-D", "=".join(item))]
    command = [str(judge / "p4c-bmv2"), str(program), "-o", str(output), *includes, *macros]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise JudgeError(done.stderr)
    return done.stderr


class _Arrivals:
    """The capture files that `simple_switch` reads, and when it may read on.

    It wants to have seen the next frame of every file that has not ended, and takes the one with
    the lowest time. So all frames are known before; their times are their numbers; and a frame is
    let in by writing what follows the one before it in the same file, or by ending that file.
    """

    def __init__(self, frames: Sequence[tuple[int, bytes]], folder: Path, ports: Iterable[int]):
        self._order = [port for port, _ in frames]
        self._next = 0
        self._rest: dict[int, deque[bytes]] = {}
        self._pipes: dict[int, int] = {}
        for number, (port, frame) in enumerate(frames):
            head = struct.pack("<IIII", number, 0, len(frame), len(frame))
            self._rest.setdefault(port, deque()).append(head + frame)
        for port in ports:
            path = folder / f"{port}_in.pcap"
            if port not in self._rest:
                path.write_bytes(_FILE_HEADER)
                continue
            os.mkfifo(path)
            # For reading too, so that opening does not wait for the switch.
            self._pipes[port] = os.open(path, os.O_RDWR)
            os.write(self._pipes[port], _FILE_HEADER)
        for port in self._rest:
            if port != self._order[0]:
                self._write(port)

    def _write(self, port: int) -> None:
        if self._rest[port]:
            os.write(self._pipes[port], self._rest[port].popleft())
        else:
            os.close(self._pipes.pop(port))

    def let_in(self) -> None:
        """The next frame arrives."""
        self._write(self._order[max(self._next - 1, 0)])
        self._next += 1

    def close(self) -> None:
        """Ends all files."""
        for pipe in self._pipes.values():
            os.close(pipe)


class SimpleSwitch:
    """A running `simple_switch` and its command line.

    `arrivals` are the frames that will come, each with its port; `ports` all that it has.
    """

    def __init__(
        self,
        judge: Path,
        compiled: Path,
        folder: Path,
        ports: Sequence[int],
        queues: int,
        arrivals: Sequence[tuple[int, bytes]],
    ) -> None:
        self._folder, self._ports = folder, ports
        self._arrivals = _Arrivals(arrivals, folder, ports)
        address = str(_free_port())
        interfaces = [word for port in ports for word in ("-i", f"{port}@{folder}/{port}")]
        self._log = (folder / "log").open("wb")
        self._switch = subprocess.Popen(
            [
                *(str(judge / "simple_switch"), "--use-files", "0", *interfaces),
                *("--thrift-port", address, "--log-console", "-L", "info", str(compiled)),
                *("--", "--priority-queues", str(queues)),
            ],
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._started = time.monotonic()
        _await_port(int(address), self._switch)
        self._cli = subprocess.Popen(
            [str(judge / "simple_switch_CLI"), "--thrift-port", address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._answer()

    def _answer(self) -> str:
        assert self._cli.stdout is not None
        text = b""
        while not text.endswith(_PROMPT):
            chunk = os.read(self._cli.stdout.fileno(), 4096)
            if not chunk:
                raise JudgeError(f"simple_switch_CLI has ended: {text.decode()}")
            text += chunk
        return text[: -len(_PROMPT)].decode()

    def command(self, line: str) -> str:
        """What the command line answers to one line."""
        assert self._cli.stdin is not None
        self._cli.stdin.write(line.encode() + b"\n")
        self._cli.stdin.flush()
        return self._answer()

    def receive(self) -> None:
        """The next of the frames arrives."""
        self._arrivals.let_in()

    def settle(self) -> None:
        """Waits until nothing leaves any more."""
        before = -1
        while before != (before := self._written()):
            time.sleep(_QUIET)

    def be_old(self, seconds: float) -> None:
        """Waits until the switch has run for so long."""
        time.sleep(max(0.0, self._started + seconds - time.monotonic()))

    def _written(self) -> int:
        return sum(path.stat().st_size for path in self._folder.glob("*_out.pcap"))

    def sent(self) -> dict[int, list[bytes]]:
        """What has left so far, port by port."""
        frames = {port: list(_frames(self._folder / f"{port}_out.pcap")) for port in self._ports}
        return {port: sent for port, sent in frames.items() if sent}

    def running(self) -> bool:
        """Whether the switch has not crashed."""
        return self._switch.poll() is None

    def log(self) -> str:
        """What the switch has said."""
        return (self._folder / "log").read_text(errors="replace")

    def close(self) -> None:
        """Ends both processes."""
        for process in (self._cli, self._switch):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._arrivals.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _frames(path: Path) -> Iterator[bytes]:
    """The frames of a capture that `simple_switch` has written, which names no link type."""
    data = path.read_bytes()
    at = len(_FILE_HEADER)
    while at < len(data):
        (kept,) = struct.unpack_from("<I", data, at + 8)
        yield data[at + 16 : at + 16 + kept]
        at += 16 + kept


def complaint(answer: str) -> str | None:
    """The first line of an answer in which the command line complains."""
    return next((line for line in answer.splitlines() if _COMPLAINT.search(line)), None)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number: int = free.getsockname()[1]
        return number


def _await_port(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise JudgeError(f"simple_switch ends with status {process.returncode}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise JudgeError("simple_switch does not answer")
