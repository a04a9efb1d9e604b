"""The catalogue of AQMs: native disciplines, P4 programs and hardware modules, found by name or
path.

A shipped program is a `.p4` file directly in an architecture's folder of `p4/`. If several AQMs
share a name, the plain name means the first one, in the order native, then the engine's targets.
The others are named with their folder, as in `v1model/codel`. Depends on the engine's list of
disciplines. Must not depend on a program's options.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from sojourn.common.resources import programs_folder, shown
from sojourn.common.suggest import did_you_mean, nearest
from sojourn.errors import UnknownAqmError
from sojourn.model.hardware import modules
from sojourn.model.parameters import Parameter, disciplines, hardware_module
from sojourn.model.programs import target_folders
from sojourn.model.python_discipline import OwnDiscipline, find_class, is_class
from sojourn.model.session_aqms import registered

HARDWARE = "verilog"
"""The kind of a hardware module."""

PYTHON = "python"
"""The kind of a class in Python."""


@dataclass(frozen=True)
class Aqm:
    """Something that can be run: a P4 program (`program`), a hardware module (`module`), a class in
    Python (`own`), or a native discipline, which has none of them."""

    name: str
    summary: str
    program: Path | None = None
    architecture: str | None = None
    parameters: tuple[Parameter, ...] = ()
    """Parameters of a native discipline."""
    module: Path | None = None
    own: OwnDiscipline | None = None

    @property
    def kind(self) -> str:
        """`native`, or what a shipped P4 program is for; `p4` if only compiling it can tell."""
        return self.architecture or ("native" if self.program is None else "p4")


def catalogue() -> list[Aqm]:
    """The native disciplines, then the shipped programs and modules, each in order of name."""
    found = [Aqm(d.name, d.summary, parameters=d.parameters) for d in disciplines()]
    for folder, architecture in target_folders().items():
        taken = {aqm.name for aqm in found}
        for path in sorted((programs_folder() / folder).glob("*.p4")):
            name = f"{folder}/{path.stem}" if path.stem in taken else path.stem
            found.append(Aqm(name, _first_sentence(path), path, architecture))
    return found + [_module(name, path) for name, path in modules.shipped().items()]


def is_path(name: str) -> bool:
    """True if `name` is a file's and not that of something known."""
    if name.startswith(":"):
        return False
    is_file = name.endswith(".p4") or modules.is_file(name) or is_class(name)
    return is_file or ("/" in name and name not in _known())


def find_aqm(name: str, beside: Path | None = None) -> Aqm:
    """The AQM of a name: a known name, or a `.p4` or `.sv` file or `FILE.py:CLASS` relative to the
    folder `beside`."""
    if is_class(name):
        own = find_class(name, beside or Path())
        return Aqm(own.name, own.summary, None, PYTHON, own=own)
    if modules.is_file(name):
        return _module_at((beside or Path()) / Path(name).expanduser(), name)
    if is_path(name):
        return _program_at((beside or Path()) / Path(name).expanduser(), name)
    known = _known()
    if name in known:
        return known[name]
    raise UnknownAqmError(
        f"unknown AQM {name!r}{did_you_mean(name, [*known, *registered()])}\n"
        f"Known: {', '.join(aqm.name for aqm in catalogue())}; "
        "or give the path of a .p4 or .sv file, or FILE.py:CLASS."
    )


def known_names() -> set[str]:
    """Every name that something shipped has."""
    return set(_known())


def _known() -> dict[str, Aqm]:
    """Everything that is shipped, by every name that it has."""
    aqms = catalogue()
    full = {f"{a.program.parent.name}/{a.program.stem}": a for a in aqms if a.program is not None}
    return full | {aqm.name: aqm for aqm in aqms}


def _program_at(path: Path, written: str) -> Aqm:
    if path.is_file():
        return Aqm(path.stem, _first_sentence(path), path)
    beside = sorted(path.parent.glob("*.p4")) if path.parent.is_dir() else []
    near = nearest(path.name, [program.name for program in beside])
    hint = f"; did you mean {shown(path.parent / near)}?" if near else ""
    raise UnknownAqmError(f"{written}: no such P4 program{hint}")


def _module_at(path: Path, written: str) -> Aqm:
    if not path.is_file():
        raise UnknownAqmError(f"{written}: no such hardware module")
    return _module(f"{modules.FOLDER}{path.stem}", path)


def _module(name: str, path: Path) -> Aqm:
    """A module takes the parameters that every module takes."""
    parameters = hardware_module().parameters
    return Aqm(name, modules.summary(path), None, HARDWARE, parameters, path)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _first_sentence(path: Path) -> str:
    """The first sentence of the comment that a program opens with."""
    head = _text(path)[:4000]
    comment = re.match(r"\s*(/\*(?P<block>.*?)\*/|(?P<lines>(//[^\n]*\n?)+))", head, re.DOTALL)
    if comment is None:
        return ""
    text = comment["block"] or comment["lines"] or ""
    words = " ".join(re.sub(r"^\s*(//+|\*+)[/!]*", "", line).strip() for line in text.splitlines())
    return words.strip().split(". ")[0].rstrip(".")
