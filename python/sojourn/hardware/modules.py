"""Which hardware modules there are: those that are shipped, `verilog/NAME`, and files of a user's.

Stands on the folder `hardware/` and on the engine, which a module is added to when it is run for
the first time. Knows no scenario.
"""

import re
from pathlib import Path

from sojourn import _core
from sojourn.hardware.verilator import library
from sojourn.layout import hardware_folder

FOLDER = "verilog/"
"""What the names of shipped modules begin with."""

_SHIPPED = ("codel", "fq_codel")
"""Those files of the folder that decide about packets; the others are their surroundings."""


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


def added(path: Path) -> str:
    """The name by which the engine knows the module in the file `path`, which is compiled first if
    it has not been. `SojournError` says what it needs, or what is wrong with the module and where.
    """
    compiled = library(path)
    name = f"{FOLDER}{path.stem}@{compiled.stem.rpartition('-')[2]}"
    _core.add_hardware_module(name, compiled)
    return name
