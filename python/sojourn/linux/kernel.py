"""Which kernel: Debian's program, a user-mode kernel's file, or the machine's own.

A kernel built with time travel counts virtual time: its clock stands still while it computes, so
what the machine does beside it changes nothing. Stands on files only.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError

_ELF = b"\x7fELF"
_TIME_TRAVEL = b"time-travel="
"""The parameter's name, which only a kernel with that ability contains."""


class KernelError(SojournError):
    """Not a kernel that can be started."""


@dataclass(frozen=True)
class Kernel:
    """A kernel to measure on."""

    program: Path | None
    """What is run as a process; none for the kernel that runs already."""
    virtual_time: bool = False

    @property
    def is_host(self) -> bool:
        """Whether it is the machine's own."""
        return self.program is None

    @property
    def arguments(self) -> list[str]:
        """What it is told beside the usual."""
        return ["time-travel=inf-cpu"] if self.virtual_time else []


def read_kernel(path: Path) -> Kernel:
    """The user-mode kernel in the file at `path`."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise KernelError(
            f"--kernel {path}: {error.strerror}; give 'uml', 'host' or a user-mode kernel's file"
        ) from error
    if not content.startswith(_ELF) or not os.access(path, os.X_OK):
        raise KernelError(f"--kernel {path}: not a user-mode kernel (a program made with ARCH=um)")
    return Kernel(path.resolve(), _TIME_TRAVEL in content)
