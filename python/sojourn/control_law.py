"""CoDel's control law as table entries: INTERVAL / sqrt(count) for every count a key can be.

Stands on integers alone, so that the entries are the same on every machine: RFC 8289 section 5.6,
rounded to the nearest nanosecond. It must not know who looks a count up, nor in which switch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

LEADING_BITS = 9
"""Bits of a large count that are looked at, its leading one included: right to 0.1 %."""

_FRACTION = 32
"""Bits behind the binary point of a square root."""


@dataclass(frozen=True)
class Spacing:
    """Counts that share a spacing: those that are `value` in the bits of `mask`."""

    value: int
    mask: int
    nanoseconds: int


def spacing(interval: int, count: int) -> int:
    """INTERVAL / sqrt(count) in the unit of `interval`, rounded to the nearest, halves up.

    With x = interval / sqrt(count), floor(2 x) is the integer square root of the integer quotient
    4 interval^2 / count: no square lies between a number and its integer part.
    """
    return (isqrt(4 * interval * interval // count) + 1) // 2


def by_leading_bits(
    interval: int, first: int, width: int, bits: int = LEADING_BITS
) -> Iterator[Spacing]:
    """A value for each pattern of leading bits of a count of `width` bits, from `first` on.

    `first` is a power of two. The value of a group of counts is the one whose largest relative
    error is least, the harmonic mean of the group's ends: at most 1 / 2^(bits + 1), and the half
    nanosecond of rounding.
    """
    for exponent in range(first.bit_length() - 1, width):
        group = 1 << max(exponent - (bits - 1), 0)
        mask = (1 << width) - group
        for low in range(1 << exponent, 2 << exponent, group):
            yield Spacing(low, mask, _between(interval, low, low + group - 1))


def _between(interval: int, low: int, high: int) -> int:
    """2 interval / (sqrt(low) + sqrt(high)), rounded to the nearest."""
    roots = isqrt(low << 2 * _FRACTION) + isqrt(high << 2 * _FRACTION)
    return ((4 * interval << _FRACTION) // roots + 1) // 2
