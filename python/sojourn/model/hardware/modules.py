"""The catalogue of hardware modules: the shipped ones, `verilog/NAME`, and a user's files.

Depends on the folder `hardware/` and on the engine, to which a module is added at its first run.
Must not depend on scenarios.
"""

import re
from pathlib import Path
from typing import NamedTuple

from sojourn import _core
from sojourn.common.resources import hardware_folder
from sojourn.model.hardware.verilator import compiled
from sojourn.model.inputs import is_shipped
from sojourn.model.scenario_code import admit

FOLDER = "verilog/"
"""Prefix of the names of shipped modules."""

_SHIPPED = ("codel", "fq_codel")
"""Those files of the folder that decide about packets; the others are their surroundings."""


class Added(NamedTuple):
    """A module that the engine has."""

    name: str
    """As the engine knows it."""
    files: tuple[Path, ...]
    """Its source files, by absolute paths."""


def is_module(name: str) -> bool:
    """True if `name` is a module's: a shipped one's, or that of a file of Verilog."""
    return name.startswith(FOLDER) or is_file(name)


def is_file(name: str) -> bool:
    """True if `name` is that of a file of Verilog."""
    return name.endswith((".sv", ".v"))


def shipped() -> dict[str, Path]:
    """The shipped modules by name."""
    return {f"{FOLDER}{name}": hardware_folder() / f"{name}.sv" for name in _SHIPPED}


def summary(path: Path) -> str:
    """The first sentence of the comment that a module opens with."""
    head = path.read_text(encoding="utf-8", errors="replace")[:4000]
    comment = re.match(r"\s*(//[^\n]*\n)+", head)
    words = " ".join(line.strip("/ ") for line in comment[0].splitlines()) if comment else ""
    return re.split(r"\.\s", words.strip() + " ")[0].rstrip(". ")


def added(path: Path) -> Added:
    """The module in the file `path`, compiled unless it has been, and added to the engine.

    `SojournError` says what is missing, or what is wrong with the module and where.
    """
    path = path.absolute()
    if not is_shipped(path):
        admit(path, "a hardware module, compiled to machine code")
    library, files = compiled(path)
    name = f"{FOLDER}{path.stem}@{library.stem.rpartition('-')[2]}"
    _core.add_hardware_module(name, library)
    return Added(name, files)
