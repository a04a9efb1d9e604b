"""Text files with two numbers a line, as tables of sizes and of rates are.

Numbers are exact decimals, separated by a comma, a semicolon or white space. Must not know what the
numbers mean.
"""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError

_LARGEST_FILE = 64 << 20
"""Bytes."""
_NUMBER = re.compile(r"\d{1,30}(\.\d{0,30})?|\.\d{1,30}")


def text_of(path: Path) -> str:
    """The file's text; `ScenarioError` if it is too large, no text, or cannot be read."""
    try:
        if (size := path.stat().st_size) > _LARGEST_FILE:
            raise ScenarioError(f"{shown(path)}: {size} bytes; at most {_LARGEST_FILE} are allowed")
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ScenarioError(f"{shown(path)}: not a text file in UTF-8") from error


def numbered_lines(
    path: Path, form: str, most: int
) -> Iterator[tuple[str, tuple[Fraction, Fraction]]]:
    """Each line's place and its two numbers; comments, empty lines and a header are left out.

    `form` is what a line should look like; more than `most` lines are refused.
    """
    count = 0
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        words = re.split(r"[,;\s]+", line.split("#", 1)[0].strip())
        if words == [""]:
            continue
        place = f"{shown(path)}:{number}"
        if not all(_NUMBER.fullmatch(word) for word in words) or len(words) != 2:
            if count == 0 and not any(character.isdigit() for character in line):
                continue
            raise ScenarioError(f"{place}: {line.strip()[:60]!r}: a line is {form}")
        count += 1
        if count > most:
            raise ScenarioError(f"{shown(path)}: at most {most} lines are allowed")
        yield place, (Fraction(words[0]), Fraction(words[1]))
