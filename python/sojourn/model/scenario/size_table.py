"""A table of transfer sizes out of a CSV file: bytes and the cumulative percentage.

Each line has a size and the share of transfers that have at most that size, as `10000,15`. Lines
that begin with `#` are comments; a first line without numbers is a header. Must not know what is
drawn from the table.
"""

from pathlib import Path

from sojourn.errors import ScenarioError
from sojourn.model.scenario.text_table import numbered_lines

_ALL = 10**9
"""All transfers, in the engine's unit."""
_MOST_POINTS = 100_000
_LARGEST = 1 << 40
"""Bytes of a transfer."""


def read_sizes(path: Path) -> list[tuple[int, int]]:
    """The points of the file at `path`: bytes, and the share up to them in parts of 10^9.

    `ScenarioError` names file, line, value and what would be right.
    """
    points: list[tuple[int, int]] = []
    for place, (size, percent) in numbered_lines(path, "bytes,percent", _MOST_POINTS):
        if size.denominator != 1 or not 1 <= size <= _LARGEST:
            raise ScenarioError(f"{place}: a size is a whole number of bytes, 1 to 2^40")
        if not 0 <= percent <= 100:
            raise ScenarioError(f"{place}: a cumulative percentage is 0 to 100")
        point = size.numerator, round(percent * _ALL / 100)
        if points and (point[0] <= points[-1][0] or point[1] < points[-1][1]):
            raise ScenarioError(f"{place}: sizes increase, and their percentages do not decrease")
        points.append(point)
    if not points or points[-1][1] != _ALL:
        raise ScenarioError(f"{path.name}: the last line has 100 percent")
    return points
