"""Plain numbers as people write them in tests and commands: ports, handles, cells.

Values of keys and arguments are the engine's to read (`crates/control/src/value_parser.rs`).
"""

import re

from sojourn.control.description import ControlError

MOST_PRIORITY = (1 << 32) - 1
"""Of an entry."""
_LONGEST = 100
"""Characters of a number that a message repeats."""


def index(text: str, what: str, most: int = (1 << 64) - 1) -> int:
    """A plain number of 0 to `most`: a port, a handle, a cell."""
    if len(text) > _LONGEST:
        raise ControlError(f"{what}: a number of {len(text)} characters; the largest is {most}")
    value = _digits(text)
    if value is None or value < 0:
        raise ControlError(f"{what}: {text} is not a number of 0 or more")
    if value > most:
        raise ControlError(f"{what}: {text} is too large; the largest is {most}")
    return value


def _digits(text: str) -> int | None:
    folded = text.casefold()
    if folded in ("true", "false"):
        return int(folded == "true")
    try:
        # Python refuses decimal numbers with leading zeros, which people write.
        return int(text, 10) if re.fullmatch(r"[+-]?\d+", text) else int(text, 0)
    except ValueError:
        return None
