"""The files that a controller's command names: its executable, its scripts and their modules.

They are known before the command runs. Must not depend on a run.
"""

import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

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


def path_parts(command: Sequence[object], folder: Path) -> Iterator[tuple[int, str, Path]]:
    """The arguments of a command that name an existing path, from `folder` on: the index of each,
    the text in front of the path (`--config=`), and the path.

    A name without a slash is no path where it stands for the executable or a module (`-m`).
    """
    for index, part in enumerate(command):
        if not isinstance(part, str) or not part:
            continue
        is_name = "/" not in part and (index == 0 or command[index - 1] == "-m")
        option, equals, value = part.partition("=")
        for front, name in (("", part), (option + equals, value)):
            if name and not is_name and (folder / name).exists():
                yield index, front, folder / name
                break


def absolute_command(command: Sequence[Any], folder: Path) -> list[Any]:
    """The command with every path that it names made absolute, to be run from another folder."""
    parts = list(command)
    for index, front, path in path_parts(command, folder):
        parts[index] = f"{front}{path.absolute()}"
    return parts


def _named(command: Sequence[str], folder: Path) -> Iterator[Path]:
    for index, _, path in path_parts(command, folder):
        if index == 0:
            continue
        if path.is_file():
            yield absolute(path)
        elif (path / "__main__.py").is_file():
            yield absolute(path / "__main__.py")
