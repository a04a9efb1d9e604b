"""A process in namespaces of its own: network, mounts, processes; as an ordinary user of users too.

Its interfaces, its namespaces' names and everything that it starts are gone with it, and it is gone
when whoever started it is, killed or not: the kernel sees to both (prctl(2) PR_SET_PDEATHSIG,
pid_namespaces(7)). Depends on `unshare`, `setpriv` and `chrt`. Must not depend on a topology.
"""

import os
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from sojourn.backends.linux.requirements import find_program
from sojourn.errors import SojournError

_PACKAGES = {
    "ip": "iproute2",
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "chrt": "util-linux",
}


_FIRST = ("chrt", "--rr", "1")


class NamespacesError(SojournError):
    """No namespaces can be made here."""


def is_root() -> bool:
    """True if namespaces are root's, and threads may have priority."""
    return os.geteuid() == 0


def enclosed(command: Sequence[str]) -> list[str]:
    """The command that runs `command` as the first process of namespaces of its own."""
    user = [] if is_root() else ["--user", "--map-root-user"]
    spaces = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
    return ["setpriv", "--pdeathsig", "KILL", "unshare", *user, *spaces, *command]


def before_others(command: Sequence[str]) -> list[str]:
    """`command` before all processes of ordinary priority, where that is allowed: else what a host
    does waits for whatever else the machine does, and its flow's round trip with it."""
    return [*_FIRST, *command] if is_root() and _may_go_first() else [*command]


@cache
def _may_go_first() -> bool:
    return subprocess.run([*_FIRST, "true"], capture_output=True).returncode == 0


@cache
def require() -> None:
    """`NamespacesError` says what is not installed, or what the kernel refuses."""
    lacking = sorted({package for tool, package in _PACKAGES.items() if not find_program(tool)})
    if lacking:
        raise NamespacesError(
            f"live networks need {' and '.join(lacking)}: apt-get install {' '.join(lacking)}"
        )
    script = "ip link add va type veth peer name vb"
    tried = subprocess.run(enclosed(["sh", "-c", script]), capture_output=True, text=True)
    if tried.returncode:
        raise NamespacesError(
            f"no network namespace can be made here: {tried.stderr.strip()}\n"
            "As an ordinary user this takes user namespaces "
            "(sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces); or be root."
        )


def first_process(outer: int) -> int:
    """The first process of an enclosure by the number that it has outside; `outer` is the process
    that `enclosed` was started as."""
    children = Path(f"/proc/{outer}/task/{outer}/children").read_text(encoding="ascii").split()
    return int(children[0])


def entered(process: int) -> list[str]:
    """The prefix of a command that runs in the namespaces of that first process."""
    user = [] if is_root() else ["--user", "--preserve-credentials"]
    return ["nsenter", "-t", str(process), *user, "--net", "--mount", "--pid", "--wd=."]
