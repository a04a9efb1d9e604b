"""The kernel of the machine itself as the guest: probes its features and names missing ones.

Depends on `tc` in a network namespace of its own, so that nothing of the machine is touched. Needs
root. Must not depend on scenarios.
"""

import os
import subprocess
from collections.abc import Iterable
from functools import cache

from sojourn.backends.linux import dualpi2
from sojourn.backends.linux.requirements import find_program
from sojourn.backends.linux.virtual_kernels import NEWER
from sojourn.errors import SojournError

_SHAPER = {"htb": "sch_htb"}
_DELAYS = {"netem": "sch_netem", "prio": "sch_prio"}
"""Qdiscs and their modules: of every run, and of runs with round-trip times."""


class HostKernelError(SojournError):
    """The machine's own kernel cannot serve as the backend."""


def require_host(qdiscs: Iterable[tuple[str, str]], *, delays: bool) -> None:
    """`HostKernelError` names the modules that the running kernel lacks.

    `qdiscs` are the AQMs' kinds, each with its module; `delays` if there are round-trip times.
    """
    if os.geteuid() != 0:
        raise HostKernelError(
            "--kernel host makes network namespaces and needs root; --kernel uml does not"
        )
    wanted = _SHAPER | dict(qdiscs) | (_DELAYS if delays else {})
    lacking = sorted({module for kind, module in wanted.items() if not _has(kind)})
    if lacking:
        raise HostKernelError(
            f"--kernel host: this machine's kernel ({os.uname().release}) has no "
            f"{', '.join(lacking)}\nLoad the modules (modprobe {' '.join(lacking)}) if your "
            f"distribution has them, or run with --kernel {_has_all(lacking)}, which has them all."
        )


def _has_all(modules: Iterable[str]) -> str:
    """The kernel that has these modules."""
    return NEWER.name if dualpi2.MODULE in modules else "uml"


@cache
def _has(kind: str) -> bool:
    """True if the kernel makes such a qdisc: tried at the loopback of a fresh namespace."""
    tc = find_program("tc") or "tc"
    extra = {"netem": ("delay", "1ms"), "red": _RED}.get(kind, ())
    command = ["unshare", "--net", str(tc), "qdisc", "add", "dev", "lo", "root", kind, *extra]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode == 0


_RED = ("limit", "60000", "min", "10000", "max", "30000", "avpkt", "1000", "burst", "20")
