"""Writes files atomically into a folder that may hold anything, and never through a link.

A file is written next to its destination under an unpredictable name and then renamed. A link at
the destination is replaced and not followed, and a reader sees the old file or the new one. Must
not depend on formats.
"""

import contextlib
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from sojourn.common.resources import shown
from sojourn.errors import OutputError, output_error


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """An empty file to be filled, which takes the place of `path` if nothing goes wrong."""
    fresh = path.parent / f".{secrets.token_hex(8)}.tmp"
    os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    try:
        yield fresh
        fresh.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise


def write_bytes(path: Path, data: bytes) -> None:
    """Puts a file with `data` at `path`, in place of what is there."""
    with replacing(path) as fresh:
        fresh.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Puts a file with `text` in UTF-8 at `path`, in place of what is there."""
    write_bytes(path, text.encode("utf-8"))


def write_named(path: Path, text: str) -> None:
    """Writes `text` to a path that the user named: a link there is followed, a device or a pipe is
    written to directly."""
    place = path.resolve()
    if place.exists() and not place.is_file():
        place.write_text(text, encoding="utf-8")
    else:
        write_text(place, text)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Makes `folder` if it is not there and holds it against every other process meanwhile.

    `OutputError` if another one holds it. Where a file system knows no locks, nothing is held.
    """
    try:
        if folder.exists() and not folder.is_dir():
            raise OutputError(f"{shown(folder)}: there is a file of that name")
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise output_error(error, shown(folder)) from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise OutputError(
                    f"{shown(folder)}: another sojourn is writing into this folder\n"
                    "Wait for its end, or give another folder with --out."
                ) from error
        yield
    finally:
        os.close(handle)


def remove_tree(folder: Path) -> None:
    """Removes `folder` with all that is in it; links are removed and not followed."""
    if not folder.is_symlink():
        shutil.rmtree(folder)
