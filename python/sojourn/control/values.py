"""Numbers as people write them for a control plane: digits, addresses, truth values.

Knows widths, not names; a message says what would be right and is completed by the caller.
"""

import ipaddress
import re

from sojourn.control.description import ControlError

_MAC = re.compile(r"[0-9a-fA-F]{1,2}(:[0-9a-fA-F]{1,2}){5}")

MOST_PRIORITY = (1 << 32) - 1
"""Of an entry."""
_LONGEST = 100
"""Characters of a number that a message repeats."""


def number(text: str, what: str, width: int | None = None) -> int:
    """The number that `text` writes for `what`, of at most `width` bits.

    Digits in decimal, `0x`, `0b` or `0o`; `true` and `false`; for 32, 48 and 128 bits also an IPv4,
    MAC or IPv6 address.
    """
    value = _address(text, width)
    if value is None:
        value = _digits(text)
    if value is None:
        raise ControlError(f"{what}: {text} is not a number{_also(width)}")
    return fitting(value, what, width, text)


def fitting(value: int, what: str, width: int | None, text: str | None = None) -> int:
    """`value`, unless it is negative or does not fit `width` bits."""
    if value < 0:
        raise ControlError(f"{what}: {value} is negative; write the bits as an unsigned number")
    if width is not None and value.bit_length() > width:
        highest = (1 << width) - 1
        limit = str(highest) if width <= 16 else hex(highest)
        bits = "bit" if width == 1 else "bits"
        raise ControlError(
            f"{what}: {text or value} does not fit {width} {bits} (largest is {limit})"
        )
    return value


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


def _address(text: str, width: int | None) -> int | None:
    try:
        match width:
            case 32 if "." in text:
                return int(ipaddress.IPv4Address(text))
            case 48 if _MAC.fullmatch(text):
                return int("".join(part.zfill(2) for part in text.split(":")), 16)
            case 128 if ":" in text:
                return int(ipaddress.IPv6Address(text))
    except ValueError:
        return None
    return None


def _also(width: int | None) -> str:
    kinds = {32: "an IPv4 address", 48: "a MAC address", 128: "an IPv6 address"}
    return f" or {kinds[width]}" if width in kinds else ""
