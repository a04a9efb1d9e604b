"""Builds the kernel with virtual time from Debian's package of the kernel's source.

Depends on that package and on the usual tools of a kernel build. The kernel is cached in the user's
cache folder, where `--kernel` finds it. Must not depend on runs.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from sojourn.backends.linux.requirements import install_line
from sojourn.backends.linux.virtual_kernels import TICKS, VIRTUAL, VirtualKernel
from sojourn.backends.linux.xstate_shim import cache_folder
from sojourn.errors import SojournError

_SOURCES = Path("/usr/src")
_TOOLS = {
    "make": "make", "gcc": "gcc", "flex": "flex", "bison": "bison", "bc": "bc", "xz": "xz-utils",
}  # fmt: skip
_NO_CHOICE = re.compile(r"(config HZ\n\tint\n\tdefault) \d+\n")
_VERSION = re.compile(r"^VERSION = (\d+)\nPATCHLEVEL = (\d+)$", re.MULTILINE)
_OBJECTS = 1550
"""About as many steps as the build has, for the progress it shows."""


class BuildError(SojournError):
    """The kernel cannot be built."""


def build_kernel(
    tree: Path | None, tell: Callable[[str], None], wanted: VirtualKernel = VIRTUAL
) -> Path:
    """Builds the kernel, from the unpacked source `tree` or from Debian's package.

    `tell` hears what is being done. About ten minutes on two cores.
    """
    _require(wanted, with_package=tree is None)
    if tree is not None:
        return _build(wanted, tree.resolve(), tell)
    cache_folder().mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_folder(), prefix="build-") as folder:
        tell("unpacking the source")
        archive = _archive(wanted)
        _call(["tar", "-xf", str(archive), "--strip-components=1", "-C", folder], Path(folder))
        return _build(wanted, Path(folder), tell)


def _require(wanted: VirtualKernel, *, with_package: bool) -> None:
    lacking = sorted({package for tool, package in _TOOLS.items() if not shutil.which(tool)})
    where = ""
    if with_package and not _archive(wanted).is_file():
        lacking.append(wanted.package)
        where = (
            f"\n({wanted.package} is in Debian's {wanted.suite}; --tree takes its unpacked source.)"
        )
    if lacking:
        raise BuildError(f"to build a kernel is missing: {install_line(lacking)}{where}")


def _archive(wanted: VirtualKernel) -> Path:
    return _SOURCES / f"{wanted.package}.tar.xz"


def _build(wanted: VirtualKernel, tree: Path, tell: Callable[[str], None]) -> Path:
    _check(wanted, tree)
    tell("configuring")
    _set_ticks(tree / "arch" / "um" / "Kconfig")
    _call(["make", "ARCH=um", "defconfig"], tree)
    merge = ["scripts/kconfig/merge_config.sh", "-m", ".config"]
    _call([*merge, *map(str, wanted.configurations)], tree)
    _call(["make", "ARCH=um", "olddefconfig"], tree)
    _compile(tree, tell)
    kernel = wanted.path
    kernel.parent.mkdir(parents=True, exist_ok=True)
    fresh = kernel.with_suffix(".new")
    shutil.copy2(tree / "linux", fresh)
    subprocess.run(["strip", str(fresh)], check=False)
    fresh.replace(kernel)
    return kernel


def _check(wanted: VirtualKernel, tree: Path) -> None:
    """`BuildError` if the tree is no source of that version: figures name the kernel they are
    judged by, and its name decides that."""
    if not (tree / "arch" / "um").is_dir():
        raise BuildError(f"{tree}: not the source of a Linux kernel (it has no arch/um)")
    found = _VERSION.search((tree / "Makefile").read_text(encoding="utf-8"))
    version = ".".join(found.groups()) if found else "without a version"
    if version != wanted.version:
        raise BuildError(
            f"{tree}: Linux {version}; --kernel {wanted.name} is built from {wanted.version}"
        )


def _set_ticks(choices: Path) -> None:
    """Has the kernel count `TICKS` a second, where the source leaves no choice."""
    text, found = _NO_CHOICE.subn(rf"\g<1> {TICKS}\n", choices.read_text(encoding="utf-8"))
    if not found:
        raise BuildError(f"{choices}: no 'config HZ' with a default")
    choices.write_text(text, encoding="utf-8")


def _compile(tree: Path, tell: Callable[[str], None]) -> None:
    """Compiles on all cores, at low priority; its last lines are the message if it fails."""
    command = ["nice", "make", "ARCH=um", f"-j{os.cpu_count() or 1}", "linux"]
    said: list[str] = []
    with subprocess.Popen(
        command,
        cwd=tree,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        assert process.stdout is not None
        done = 0
        for line in process.stdout:
            said = [*said[-20:], line.rstrip()]
            if line.startswith(("  CC ", "  AR ", "  LD ", "  AS ")):
                done += 1
                tell(f"compiling, step {done} of about {max(done, _OBJECTS)}")
    if process.returncode != 0:
        raise BuildError("the kernel does not compile:\n" + "\n".join(said[-12:]))


def _call(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()[-8:]
        raise BuildError("\n".join([f"{' '.join(command)} failed:", *said]))
