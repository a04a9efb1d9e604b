"""The control law as entries of a P4 table: what `p4/v1model/common/control_law_exact.p4` holds.

`python3 -m sojourn.control_law_p4` writes that file's text. Stands on `control_law`; the program
scales the fractions by its own INTERVAL, so they are in 2^-60. Knows no table and no control plane.
"""

from collections.abc import Iterator

from sojourn.control_law import by_leading_bits, spacing

_ONE = 1 << 60
_EXACT = 1023
"""Counts with an entry of their own."""
_BITS, _WIDTH, _COUNT_BITS = 7, 20, 32
"""Beyond these: leading bits that are looked at, bits of the largest count, bits of the key."""

_HEAD = """\
// INTERVAL / sqrt(count): entries of the table in control_law.p4.
//
// For each count from 1 to 1023, and beyond for each seven leading bits, up to 2^20. Each number is
// 1 / sqrt(count) in 2^-60. `python3 -m sojourn.control_law_p4` writes this file.
"""


def entries() -> Iterator[str]:
    """A line for each entry, the most specific first."""
    full = (1 << _COUNT_BITS) - 1
    for count in range(1, _EXACT + 1):
        yield _entry(count, full, spacing(_ONE, count))
    above = full - ((1 << _WIDTH) - 1)
    for group in by_leading_bits(_ONE, _EXACT + 1, _WIDTH, _BITS):
        yield _entry(group.value, group.mask | above, group.nanoseconds)


def text() -> str:
    """The file."""
    return _HEAD + "".join(f"{line}\n" for line in entries())


def _entry(value: int, mask: int, fraction: int) -> str:
    return f"            32w{value} &&& {mask:#010x} : SPACING({fraction});"


if __name__ == "__main__":
    print(text(), end="")
