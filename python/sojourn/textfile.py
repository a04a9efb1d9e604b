"""Text files that a user has written, read with a message that names what is wrong with them."""

from collections.abc import Callable
from pathlib import Path


def read_text(path: Path, name: str, wrong: Callable[[str], Exception]) -> str:
    """The text in UTF-8 of the file `path`, which messages call `name`; else raises `wrong`."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise wrong(f"{name}: not a text file in UTF-8") from None
    except OSError as error:
        raise wrong(f"{name}: {error.strerror or error}") from error
