"""A table of transfer sizes, of a workload or out of a CSV file: bytes and cumulative percentage.

Each line of a file has a size and the share of transfers that have at most that size, as
`10000,15`. Lines that begin with `#` are comments; a first line without numbers is a header. Must
not know what is drawn from the table.
"""

from pathlib import Path

from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.model.scenario.text_table import numbered_lines
from sojourn.model.scenario.workloads import WORKLOADS

_ALL = 10**9
"""All transfers, in the engine's unit."""
_MOST_POINTS = 100_000
_LARGEST = 1 << 40
"""Bytes of a transfer."""


def sizes_of(named: str, beside: Path) -> list[tuple[int, int]]:
    """The points of a workload, or of the file of that name in the folder `beside`."""
    if named in WORKLOADS:
        return [(size, round(percent * _ALL / 100)) for size, percent in WORKLOADS[named]]
    path = beside / named
    if not path.exists():
        known = ", ".join(WORKLOADS)
        hint = did_you_mean(named, WORKLOADS)
        raise ScenarioError(
            f"flows: sizes: {named}: no such file, and no workload{hint} (workloads: {known})"
        )
    return read_sizes(path)


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
