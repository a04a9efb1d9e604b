"""The state of a process and its descendants: running threads, and connections to a server.

Reads Linux's `/proc`. Must not depend on what the process does.
"""

from pathlib import Path

from sojourn.errors import ScenarioError

_PROC = Path("/proc")
_GONE = ("Z", "X")
_ESTABLISHED = "01"
_NOTHING = "00000000:00000000"
"""Bytes that a socket has to send and to read, as `/proc/net/tcp` writes them."""
_MOST = 10_000
"""Threads that are looked at."""

Asleep = frozenset[tuple[str, str]]
"""Each thread that sleeps, with its lines of context switches: equal if none has run meanwhile."""


def check() -> None:
    """`ScenarioError` if this machine does not show the state of threads."""
    if not (_PROC / "self" / "task").is_dir():
        raise ScenarioError("control.process needs Linux: it reads in /proc when a process waits")


def asleep(process: int) -> Asleep | None:
    """The threads of the process and of its descendants if all of them sleep."""
    found: set[tuple[str, str]] = set()
    waiting = [str(process)]
    while waiting and len(found) < _MOST:
        for task in _tasks(waiting.pop()):
            state, switches = _status(task)
            if state in _GONE:
                continue
            if state != "S":
                return None
            found.add((task.name, switches))
            waiting += _read(task / "children").split()
    return frozenset(found)


def connections(address: str) -> int:
    """The number of open TCP connections to a server on this machine, at `127.0.0.1:PORT`."""
    port = _port(address)
    return sum(one[1].endswith(port) for one in _established())


def are_under_way(address: str) -> bool:
    """True if bytes between a server at `127.0.0.1:PORT` and its clients have not been read.

    A loaded kernel delivers what a socket has written only after the writer has gone on: until
    then the reader sleeps, and the bytes are unacknowledged ones of the writer.
    """
    port = _port(address)
    return any(
        one[4] != _NOTHING and (one[1].endswith(port) or one[2].endswith(port))
        for one in _established()
    )


def _port(address: str) -> str:
    """The end of an address in `/proc/net/tcp`."""
    return f":{int(address.rpartition(':')[2]):04X}"


def _established() -> list[list[str]]:
    """The fields of each established connection: number, local and other address, state, bytes."""
    lines = [line.split() for line in _read(_PROC / "net" / "tcp").splitlines()[1:]]
    return [one for one in lines if one[3] == _ESTABLISHED]


def _tasks(process: str) -> list[Path]:
    try:
        return list((_PROC / process / "task").iterdir())
    except OSError:
        return []


def _status(task: Path) -> tuple[str, str]:
    """The letter of a thread's state, and its lines of context switches."""
    state, switches = "X", ""
    for line in _read(task / "status").splitlines():
        if line.startswith("State:"):
            state = line.split()[1]
        elif "ctxt_switches" in line:
            switches += line
    return state, switches


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
