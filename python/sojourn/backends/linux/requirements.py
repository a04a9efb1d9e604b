"""Programs that the Linux backend needs, and the line that installs missing ones.

Depends on the search path only. Runs nothing.
"""

import shutil
from pathlib import Path

from sojourn.errors import SojournError

UML = "linux.uml"
MODULES = Path("/usr/lib/uml/modules")
_PACKAGES = {UML: "user-mode-linux", "ip": "iproute2", "tc": "iproute2"}
_SBIN = ("/usr/sbin", "/sbin", "/usr/local/sbin")


class MissingError(SojournError):
    """A program that the Linux backend needs is not installed."""


def find_program(name: str) -> Path | None:
    """The program's path; administrators' folders are searched, too."""
    found = shutil.which(name) or shutil.which(name, path=":".join(_SBIN))
    return Path(found) if found else None


def missing_packages(*, own_kernel: bool = False, iperf: bool = False) -> list[str]:
    """Debian's packages to install; `own_kernel` if Debian's kernel is not needed."""
    wanted = dict(_PACKAGES)
    if own_kernel:
        del wanted[UML]
    if iperf:
        wanted["iperf3"] = "iperf3"
    return sorted({package for p, package in wanted.items() if find_program(p) is None})


def install_line(packages: list[str]) -> str:
    """The command that installs the packages."""
    return f"apt-get install {' '.join(packages)}"


def require(*, own_kernel: bool = False, iperf: bool = False) -> None:
    """`MissingError` names what is not installed and how to install it."""
    if missing := missing_packages(own_kernel=own_kernel, iperf=iperf):
        raise MissingError(
            f"--on linux needs {' and '.join(missing)}: {install_line(missing)}\n"
            "(Debian's names; the guest kernel is user-mode-linux, an ordinary program.)"
        )
