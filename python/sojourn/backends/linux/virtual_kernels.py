"""The kernels with virtual time that can be built: name, Debian's package, configuration, place.

`virtual` is Linux 6.1, by which all agreement cells are judged. Depends on the configuration files
and on the cache folder. Must not depend on how a kernel is built or started.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sojourn.backends.linux.xstate_shim import cache_folder

_HERE = Path(__file__).parent
_COMMON = _HERE / "virtual.config"

TICKS = "1000"
"""A second, as on many machines; user-mode kernels have 100 and are not asked, and with 100 TCP's
timers are up to 10 ms late."""


@dataclass(frozen=True)
class VirtualKernel:
    """A kernel that is built from Debian's package of its source."""

    name: str
    """The value of `--kernel`."""
    version: str
    """Version and patch level, as in its Makefile."""
    suite: str
    """Debian's suite that has the package."""
    additions: tuple[Path, ...] = ()
    """Configuration beside the common one."""

    @property
    def package(self) -> str:
        """Debian's package of the source."""
        return f"linux-source-{self.version}"

    @property
    def configurations(self) -> tuple[Path, ...]:
        """The files that are merged into `make ARCH=um defconfig`, the last one deciding."""
        return (_COMMON, *self.additions)

    @property
    def path(self) -> Path:
        """The built kernel in the cache; it depends on the kernel's configuration."""
        settings = b"".join(file.read_bytes() for file in self.configurations) + TICKS.encode()
        digest = hashlib.sha256(settings).hexdigest()[:12]
        version = f"{self.version}-" if self.additions else ""
        return cache_folder() / f"linux-virtual-{version}{digest}"

    @property
    def command(self) -> str:
        """The command that builds it."""
        return "sojourn linux build-kernel" + (f" --kernel {self.name}" if self.additions else "")


VIRTUAL = VirtualKernel("virtual", "6.1", "bookworm")
NEWER = VirtualKernel("7.3", "7.3", "trixie-backports", (_HERE / "virtual-7.3.config",))
VIRTUAL_KERNELS = {kernel.name: kernel for kernel in (VIRTUAL, NEWER)}
