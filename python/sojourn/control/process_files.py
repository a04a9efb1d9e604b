"""The files that a controller's command names: its executable, its scripts and their modules.

They are known before the command runs. Must not depend on a run.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from sojourn.errors import ScenarioError
from sojourn.model.inputs import absolute
from sojourn.model.script_modules import module_file, script_files

PYTHON = "{python}"
"""Stands in a command for the interpreter that runs Sojourn."""


def executable_of(name: str, folder: Path) -> Path:
    """The executable of a command that runs in `folder`."""
    if name == PYTHON:
        return absolute(Path(sys.executable))
    found = shutil.which(name if "/" not in name else str(folder / name))
    if found is None:
        raise ScenarioError(
            f"control.process: there is no executable {name}; write {PYTHON} for the Python that "
            "runs Sojourn"
        )
    return absolute(Path(found))


def files_of_command(command: Sequence[str], folder: Path) -> tuple[Path, ...]:
    """The files that the arguments of a command name, from `folder` on, and the modules that those
    in Python import: a module from `folder`, a script from its own."""
    found: dict[Path, None] = {}
    for path in _named(command, folder):
        python = path.suffix == ".py"
        found |= dict.fromkeys(script_files(path) if python else [path])
    for name in _modules(command):
        if (module := module_file(folder, name)) is not None:
            package = name if module.name == "__main__.py" else name.rpartition(".")[0]
            found |= dict.fromkeys(script_files(absolute(module), absolute(folder), package))
    return tuple(found)


def _modules(command: Sequence[str]) -> Iterator[str]:
    """The modules that Python is to run: the arguments after `-m`."""
    yield from (part for before, part in pairwise(command) if before == "-m")


def _named(command: Sequence[str], folder: Path) -> Iterator[Path]:
    for before, part in pairwise(command):
        if before == "-m" and module_file(folder, part) is not None:
            continue
        for name in (part, part.partition("=")[2]):
            path = folder / name
            if name and path.is_file():
                yield absolute(path)
            elif name and (path / "__main__.py").is_file():
                yield absolute(path / "__main__.py")
