"""Runs a guest kernel as a child process: starts it, follows its console, ends it by its id.

Depends on a kernel that is a program, and on the files that guest and host share. Whatever happens,
none of the guest's processes is left, and its console is in a file. Must not depend on networks.
"""

import contextlib
import os
import selectors
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from sojourn.backends.linux import xstate_shim
from sojourn.backends.linux.kernel import Kernel
from sojourn.backends.linux.temporary_folders import scratch
from sojourn.common.resources import shown
from sojourn.errors import SojournError

CONSOLE = "console.log"
_HERE = Path(__file__).parent
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_MEMORY = "1G"
_BOOT_TIME = 60
"""s without a word from the guest after which it hangs."""
_LOOK = 0.5
"""s between two looks whether a silent guest is alive."""
_FAREWELL = 10
"""s for which a process that was killed is waited for."""
_LAST_LINES = 12
_PRIORITY = 50


class GuestError(SojournError):
    """The guest died, hung or could not do its job."""


def run_guest(
    kernel: Kernel, folder: Path, limit: float, on_progress: Callable[[int], None]
) -> bool:
    """Boots `kernel`, whose first process does the job in `folder`. Returns true if it ran with
    real-time priority.

    `limit` is in seconds; `on_progress` hears how far the run is, in ns.
    """

    prioritise = _nobody if kernel.virtual_time else _prioritise
    first = first_process(folder)
    if not kernel.program:
        # The same first process, in network and mount namespaces of its own.
        command = ["unshare", "--net", "--mount", "sh", "-c", first]
        return run_job(command, folder, folder, limit, on_progress, prioritise=prioritise)
    with scratch() as place:
        init = place / "init"
        init.write_text(f"#!/bin/sh\n{first}\n")
        init.chmod(0o755)
        extra = {"LD_PRELOAD": str(xstate_shim.built())} if xstate_shim.is_needed() else {}
        command = _booted(kernel, init, str(place))
        return run_job(
            command, folder, place, limit, on_progress, prioritise=prioritise, extra=extra
        )


def first_process(folder: Path, *arguments: str) -> str:
    """Shell commands of the first process of the job in `folder`."""
    words = shlex.join([str(folder), *arguments])
    return (
        f"export PATH={_PATH}\ncd {shlex.quote(str(_HERE))} &&\n"
        f"exec {shlex.quote(_python())} -S -s -B -m guest {words}"
    )


def run_job(
    command: Sequence[str],
    folder: Path,
    temporary: Path,
    limit: float,
    on_progress: Callable[[int], None],
    *,
    prioritise: Callable[[int], bool],
    extra: Mapping[str, str] = MappingProxyType({}),
) -> bool:
    """Runs the first process of the job in `folder`, or what boots it, by `command`, with a folder
    for what is temporary; true if with priority."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={"PATH": _PATH, "HOME": str(temporary), **extra},
        cwd=temporary,
        start_new_session=True,
    )
    try:
        prioritised = prioritise(process.pid)
        _follow(process, folder / CONSOLE, limit, on_progress)
    finally:
        _end(process)
    return prioritised


def _booted(kernel: Kernel, init: Path, temporary: str) -> list[str]:
    return [
        str(kernel.program),
        *("root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"),
        f"mem={_MEMORY}",
        *("con=null", "con0=null,fd:1", "ssl=null", "quiet"),
        f"uml_dir={temporary}/",
        f"init={init}",
        *kernel.arguments,
    ]


def _python() -> str:
    """The interpreter itself, not the one of a virtual environment that points to it."""
    return os.path.realpath(sys.executable)


def _nobody(_process: int) -> bool:
    """No priority."""
    return False


def _prioritise(process: int) -> bool:
    """One processor and real-time priority, where that is allowed: then the guest's timers hold."""
    try:
        os.sched_setscheduler(process, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        os.sched_setaffinity(process, {max(os.sched_getaffinity(process))})
    except PermissionError:
        return False
    return True


def _follow(
    process: "subprocess.Popen[bytes]",
    console: Path,
    limit: float,
    on_progress: Callable[[int], None],
) -> None:
    """Reads the console to its end; `GuestError` if the guest hangs."""
    end = time.monotonic() + limit
    with console.open("wb") as file:
        for line in _lines(process, end):
            if line is None:
                raise GuestError(
                    f"the guest hangs: no word from it for {_BOOT_TIME} s, or more than "
                    f"{limit:.0f} s in all; its files are in {shown(console.parent)}"
                    f"{last_words(console)}"
                )
            if line.startswith(b"@") and line[1:].strip().isdigit():
                on_progress(int(line[1:]))
            else:
                file.write(line)
                file.flush()
    process.wait(timeout=10)


def _lines(process: "subprocess.Popen[bytes]", end: float) -> Iterator[bytes | None]:
    """The console's lines; `None` when the guest has been silent for too long."""
    assert process.stdout is not None
    rest, heard = b"", time.monotonic()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            part = b""
            if selector.select(_LOOK):
                part, heard = os.read(process.stdout.fileno(), 1 << 16), time.monotonic()
            elif process.poll() is None:
                now = time.monotonic()
                if now - heard >= _BOOT_TIME or now >= end:
                    yield None
                continue
            # At its end, or killed: then its own processes still hold the console open.
            if not part:
                if rest:
                    yield rest
                return
            *whole, rest = (rest + part).split(b"\n")
            yield from (line.strip(b"\r") + b"\n" for line in whole)


def last_words(console: Path) -> str:
    """The end of a console, for a message."""
    try:
        lines = console.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    said = [line for line in lines if line.strip()][-_LAST_LINES:]
    return "\n".join((f"\nIts last words ({shown(console)}):", *said)) if said else ""


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends all that is left of the guest: a session of its own, which its children share."""
    if process.poll() is None:
        process.kill()
    process.wait()
    end = time.monotonic() + _FAREWELL
    while (others := _session(process.pid)) and time.monotonic() < end:
        for other in others:
            with contextlib.suppress(ProcessLookupError):
                os.kill(other, signal.SIGKILL)
        time.sleep(0.01)
    if process.stdout is not None:
        process.stdout.close()


def _session(leader: int) -> list[int]:
    """Ids of the processes in the session that `leader` began."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != leader:
            with contextlib.suppress(OSError):
                if os.getsid(int(entry.name)) == leader and not _is_dead(entry):
                    found.append(int(entry.name))
    return found


def _is_dead(process: Path) -> bool:
    """True if it only waits for its parent to take notice."""
    return (process / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
