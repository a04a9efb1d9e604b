"""The choice of a kernel: Debian's program, a user-mode kernel's file, or the machine's own.

A kernel built with time travel counts virtual time: its clock stands still while it computes, so
other load of the machine changes nothing. Depends on files only.
"""

import gzip
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from sojourn.backends.linux import dualpi2
from sojourn.backends.linux.virtual_kernels import VIRTUAL_KERNELS
from sojourn.errors import SojournError

_ELF = b"\x7fELF"
_TIME_TRAVEL = b"time-travel="
"""The parameter's name, which only a kernel with that ability contains."""
_CONFIGURATION = re.compile(rb"IKCFG_ST(\x1f\x8b.*?)IKCFG_ED", re.DOTALL)
"""The build configuration in a kernel's file (CONFIG_IKCONFIG)."""
_TICKS = re.compile(rb"^CONFIG_HZ=(\d+)$", re.MULTILINE)
_USUAL_TICK = 10_000_000
"""ns; user-mode kernels count in hundredths of a second, unless built otherwise."""
_COARSE_CLOCK = 6
"""CLOCK_MONOTONIC_COARSE, which moves with the machine's ticks."""


_NOT_EVERYWHERE = {dualpi2.MODULE: dualpi2.KIND.encode()}
"""Modules, with what a kernel's file contains that has it built in."""


class KernelError(SojournError):
    """Not a kernel that can be started."""


@dataclass(frozen=True)
class Kernel:
    """A kernel to measure on."""

    program: Path | None
    """The program that boots it; none for the machine's own kernel."""
    virtual_time: bool = False
    tick: int = _USUAL_TICK
    """ns in which it counts TCP's timers, and PIE's."""

    @property
    def is_host(self) -> bool:
        """True if it is the machine's own."""
        return self.program is None

    @property
    def arguments(self) -> list[str]:
        """Its arguments besides the default ones."""
        return ["time-travel=inf-cpu"] if self.virtual_time else []

    def lacks(self, module: str) -> bool:
        """True if it is a program without a qdisc that not every one has."""
        mark = _NOT_EVERYWHERE.get(module)
        return bool(mark and self.program and mark not in self.program.read_bytes())


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
    return Kernel(path.resolve(), _TIME_TRAVEL in content, _tick_of(content))


def virtual_kernel(name: str) -> Kernel:
    """The kernel with virtual time that `--kernel` calls so; `KernelError` if it is not built."""
    wanted = VIRTUAL_KERNELS[name]
    if not wanted.path.is_file():
        raise KernelError(
            f"--kernel {name}: not built yet; `{wanted.command}` builds it (ten minutes)"
        )
    return read_kernel(wanted.path)


def host_kernel() -> Kernel:
    """The machine's own."""
    return Kernel(None, tick=round(time.clock_getres(_COARSE_CLOCK) * 10**9))


def _tick_of(content: bytes) -> int:
    """The tick of the kernel whose file this is."""
    configuration = _CONFIGURATION.search(content)
    ticks = configuration and _TICKS.search(gzip.decompress(configuration[1]))
    return 10**9 // int(ticks[1]) if ticks else _USUAL_TICK
