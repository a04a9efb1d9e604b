"""The library that a user-mode kernel needs on processors with large register state.

Such a kernel stops at its first process ("ptrace set fp regs failed") where CPUID reports more
register state than it was built for, as with AMX. `xstate_shim.c` pads the state. The library is
compiled once, when needed, and cached in the user's cache folder. Must not depend on how the kernel
is started.
"""

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from sojourn.errors import SojournError

_SOURCE = Path(__file__).with_name("xstate_shim.c")
_KNOWN_TO_THE_KERNEL = ("amx_tile",)
_COMPILER = ("cc", "-O2", "-shared", "-fPIC")


class ShimError(SojournError):
    """The library cannot be built."""


def is_needed() -> bool:
    """True if this processor has register state that a kernel of 6.1 does not know."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    flags = next((line for line in text.splitlines() if line.startswith("flags")), "")
    return any(flag in flags.split() for flag in _KNOWN_TO_THE_KERNEL)


def cache_folder() -> Path:
    """Folder of the files that the Linux backend has built."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "sojourn"


def built() -> Path:
    """The library, compiled if its source has not been compiled before."""
    source = _SOURCE.read_bytes()
    path = cache_folder() / f"xstate_shim-{hashlib.sha256(source).hexdigest()[:16]}.so"
    if path.is_file():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        fresh = Path(folder) / path.name
        command = [*_COMPILER, "-o", str(fresh), str(_SOURCE)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise ShimError(
                "this processor's register state (AMX) is larger than user-mode Linux knows, and\n"
                "the small library that mends it needs a C compiler: apt-get install gcc libc6-dev"
            ) from None
        if done.returncode != 0:
            raise ShimError(f"{_SOURCE.name} cannot be compiled:\n{done.stderr.strip()}")
        # In one step, so that two runs at once both find a whole file.
        fresh.replace(path)
    return path
