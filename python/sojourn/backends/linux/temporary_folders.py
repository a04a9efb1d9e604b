"""Temporary folders that do not outlive a `kill -9` by more than one start.

A folder is locked as long as its process lives, whatever ends it. Each start removes folders
without a lock. Must not depend on their contents.
"""

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "sojourn-job-"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder that is gone afterwards; those that earlier processes could not remove go, too."""
    _sweep()
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder, _held(Path(folder)):
        yield Path(folder)


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[bool]:
    """Whether the lock is this process's while this holds; not a child's, which may live longer."""
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(place)


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # Another may be at it, too.
        with contextlib.suppress(OSError):
            found = folder.lstat()
            if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
                continue
            with _held(folder) as ours:
                if ours:
                    shutil.rmtree(folder)
