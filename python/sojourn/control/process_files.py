"""The files that a controller's command names: its executable, its scripts and their modules.

They are known before the command runs. Must not depend on a run.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
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
    in Python import from their own folders."""
    found: dict[Path, None] = {}
    for path in _named(command, folder):
        python = path.suffix == ".py"
        found |= dict.fromkeys(script_files(path) if python else [path])
    return tuple(found)


def _named(command: Sequence[str], folder: Path) -> Iterator[Path]:
    for place, part in enumerate(command[1:], start=1):
        if command[place - 1] == "-m" and (module := module_file(folder, part)) is not None:
            yield absolute(module)
        for name in (part, part.partition("=")[2]):
            path = folder / name
            if name and path.is_file():
                yield absolute(path)
            elif name and (path / "__main__.py").is_file():
                yield absolute(path / "__main__.py")
