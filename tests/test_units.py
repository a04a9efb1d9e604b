"""Quantities: their notation becomes exact integers; ambiguous notation is refused with a
correction."""

import re

import pytest

from sojourn.model.units import RATE, SIZE, TIME, Dimension


@pytest.mark.parametrize(
    ("dimension", "text", "value"),
    [
        (TIME, "5 ms", 5_000_000),
        (TIME, "0.000001 ms", 1),
        (TIME, "2min", 120_000_000_000),
        (TIME, "0 s", 0),
        (RATE, "100 Mbit/s", 100_000_000),
        (RATE, "2.5 Gbit/s", 2_500_000_000),
        (SIZE, "1 MiB", 1_048_576),
        (SIZE, "1.94 MB", 1_940_000),
        (SIZE, "1_600 B", 1600),
    ],
)
def test_a_quantity_is_read_exactly(dimension: Dimension, text: str, value: int) -> None:
    assert dimension.parse(text) == value


@pytest.mark.parametrize("value", [0, 1, 999, 1600, 1_940_000, 5_000_000, 123_456_789, 10**12 + 1])
@pytest.mark.parametrize("dimension", [TIME, RATE, SIZE])
def test_a_written_file_is_read_back_unchanged(dimension: Dimension, value: int) -> None:
    assert dimension.parse(dimension.format(value)) == value


@pytest.mark.parametrize(
    ("dimension", "value", "reason"),
    [
        (TIME, 5, "as text with its unit"),
        (TIME, "5", "the unit is missing"),
        (TIME, "-5 ms", "not a time"),
        (TIME, "5 sec", 'unknown unit "sec"'),
        (TIME, "0.5 ns", "finer than one ns"),
        (TIME, "99999999999999 s", "too large"),
        (RATE, "100 mbit/s", 'did you mean "Mbit/s"?'),
        (RATE, "100 Mbps", "use one of bit/s, kbit/s, Mbit/s, Gbit/s"),
        (SIZE, "1 mib", 'did you mean "MiB"?'),
        (TIME, "5 1 ms", "not a time"),
        (TIME, "1 a" + 200_000 * " " + "\n", "unknown unit"),
        (TIME, "1" + 200_000 * " " + "\n" + "x", "unknown unit"),
        (TIME, 200_000 * " ", "not a time"),
        (TIME, "1 " + 200_000 * "a", "not a time"),
        (TIME, 200_000 * "1" + " s", "not a time"),
        (RATE, 200_000 * "1_" + " bit/s", "not a rate"),
    ],
)
def test_an_unclear_quantity_is_refused_with_the_reason(
    dimension: Dimension, value: object, reason: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        dimension.parse(value)
