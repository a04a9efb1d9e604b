"""Folders of the shipped data planes, hardware modules and scenarios.

In a clone they are the repository's own `p4/`, `hardware/` and `scenarios/`, so that an edited
program is the one that runs. In an installed package they are copies in `_data/`. Must not name a
program.
"""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def data_root() -> Path:
    """The folder that holds `p4/`, `hardware/` and `scenarios/`."""
    repository = _PACKAGE.parents[1]
    if (repository / "pyproject.toml").is_file() and (repository / "p4").is_dir():
        return repository
    return _PACKAGE / "_data"


def is_own(path: Path) -> bool:
    """True if the file at the absolute `path` is part of the package."""
    return path.resolve().is_relative_to(_PACKAGE)


def programs_folder() -> Path:
    """Data planes, a folder per architecture, and `include/` with the architectures themselves."""
    return data_root() / "p4"


def hardware_folder() -> Path:
    """Hardware modules, in SystemVerilog."""
    return data_root() / "hardware"


def scenarios_folder() -> Path:
    """Shipped scenarios."""
    return data_root() / "scenarios"


def shown(path: Path) -> str:
    """`path` as a user would write it: relative to here or to the shipped data if it is below."""
    for base in (Path.cwd(), data_root()):
        if path.is_relative_to(base):
            return str(path.relative_to(base))
    return str(path)
