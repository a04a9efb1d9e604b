"""A folder's list of the files that Sojourn wrote: they are removed or moved together.

A list may come from an untrusted source. Entries that lead out of the folder, or through a link,
are skipped. Must not depend on formats.
"""

from collections.abc import Callable
from pathlib import Path

from sojourn.common.atomic_write import remove_tree
from sojourn.common.resources import shown
from sojourn.errors import OutputError
from sojourn.runtime.run_files import GUEST_JOB, is_ours

Ours = Callable[[object], bool]
"""Whether a name out of a list is one that we may have written."""


def _inside(path: Path, files: list[str], ours: Ours = is_ours) -> list[Path]:
    """Those of `files` that are there and are themselves in `path`, not behind a link."""
    return [
        file
        for name in files
        if ours(name)
        and not (file := path / name).parent.is_symlink()
        and not file.is_symlink()
        and file.exists()
    ]


def remove_files(path: Path, files: list[str], ours: Ours = is_ours) -> None:
    """Removes those of `files` that are in `path`, and folders that are empty then. Of folders that
    are listed as a whole only what a guest was given and left is removed: it has its job in it."""
    for file in _inside(path, files, ours):
        if file.is_file():
            file.unlink()
        elif f"{file.parent.name}/{file.name}/" in files and _is_a_guests(file):
            remove_tree(file)
    _remove_empty(path, files)


def _is_a_guests(folder: Path) -> bool:
    return folder.is_dir() and ((folder / GUEST_JOB).is_file() or not any(folder.iterdir()))


def move_files(path: Path, target: Path, files: list[str]) -> None:
    """Moves those of `files` that are in `path` to the same places in `target`."""
    for file in _inside(path, files):
        place = target / file.relative_to(path)
        if place.parent.is_symlink():
            raise OutputError(f"{shown(place.parent)}: a link; the new run is in {shown(path)}")
        place.parent.mkdir(exist_ok=True)
        file.replace(place)
    _remove_empty(path, files)


def _remove_empty(path: Path, files: list[str]) -> None:
    for folder in {path / name.split("/")[0] for name in files if "/" in name}:
        if folder.is_dir() and not folder.is_symlink() and not any(folder.iterdir()):
            folder.rmdir()
