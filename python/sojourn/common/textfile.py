"""Text and JSON files from untrusted sources, read within bounds.

A file that is too long or nested too deep is refused with a message that names it. Must not depend
on what a file is for.
"""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LARGEST = 64 << 20
"""Bytes of a file that is read."""


def read_text(path: Path, name: str, wrong: Callable[[str], Exception]) -> str:
    """The text in UTF-8 of the file `path`, which messages call `name`; else raises `wrong`."""
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise wrong(f"{name}: longer than {_LARGEST >> 20} MB")
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise wrong(f"{name}: not a text file in UTF-8") from None
    except OSError as error:
        raise wrong(f"{name}: {error.strerror or error}") from error


def parse_json(text: str | bytes) -> Any:
    """The value that a JSON text stands for; `ValueError` if it is none."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def read_json(path: Path) -> Any:
    """The value in a JSON file of a run's folder. `OSError` or `ValueError` if there is none: a
    pipe or a device, which could keep a reader for ever, is no file."""
    check_file(path)
    if path.stat().st_size > _LARGEST:
        raise ValueError(f"{path.name}: longer than {_LARGEST >> 20} MB")
    return parse_json(path.read_text(encoding="utf-8"))


def check_file(path: Path) -> None:
    """`OSError` unless `path` is a regular file, or a link to one."""
    if not path.is_file():
        number = errno.EINVAL if path.exists() else errno.ENOENT
        reason = "not a file" if path.exists() else os.strerror(errno.ENOENT)
        raise OSError(number, reason, str(path))
