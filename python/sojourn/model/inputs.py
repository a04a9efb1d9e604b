"""The files that a run reads: programs with their includes, control planes, scripts, modules.

Each is listed by its path and the SHA-256 of its bytes. A sweep's digest, `run.json`, `compare` and
`trace` use this one list, so that no file counts in one of them and not in another. Uses files
only; the readers of each kind of file say which files belong to it.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from sojourn.common.resources import data_root, hardware_folder, programs_folder, shown
from sojourn.errors import ScenarioError

Inputs = Mapping[Path, str]
"""Absolute path -> SHA-256 in hexadecimal digits."""


def hashed(paths: Iterable[Path]) -> dict[Path, str]:
    """The files at `paths`; `ScenarioError` if one cannot be read."""
    return {path: _digest(path) for path in map(absolute, paths)}


def absolute(path: Path) -> Path:
    """`path` from the root on, without `..`; links are not followed."""
    return Path(os.path.normpath(path.absolute()))


def is_shipped(path: Path) -> bool:
    """True if Sojourn ships the file at the absolute `path`."""
    return path.is_relative_to(programs_folder()) or path.is_relative_to(hardware_folder())


def named(inputs: Inputs, folder: Path) -> dict[str, str]:
    """`inputs` by names that do not depend on the working directory, in their order.

    A shipped file is named from the shipped data on, a file below `folder` from there on, and any
    other by its absolute path.
    """
    return dict(sorted((_name(path, absolute(folder)), digest) for path, digest in inputs.items()))


def distinct(names: Iterable[str]) -> dict[str, str]:
    """The shortest ends of `names` that tell them apart, by name.

    They stay the same when a folder with all the files moves.
    """
    parts = {name: Path(name).parts for name in names}
    short = {}
    for name, own in parts.items():
        others = [other for other in parts.values() if other != own]
        lengths = range(1, len(own) + 1)
        count = next(
            (n for n in lengths if all(other[-n:] != own[-n:] for other in others)), len(own)
        )
        short[name] = "/".join(own[-count:])
    return short


def _name(path: Path, folder: Path) -> str:
    if is_shipped(path):
        return str(path.relative_to(data_root()))
    if not path.is_relative_to(folder):
        return str(path)
    name = str(path.relative_to(folder))
    # Not to be taken for a shipped file.
    return f"./{name}" if is_shipped(data_root() / name) else name


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error
