"""Groups of flows in several set-ups: figures and differences to the first set-up.

Depends on set-ups of `compare` and on the metrics that tables of groups have. Draws nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from sojourn.model.scenario.quantities import ALL_FLOWS
from sojourn.results.compare import Setup, differences
from sojourn.results.intervals import Interval, interval
from sojourn.results.metrics import SHOWN_OF_GROUPS, Metric


@dataclass(frozen=True)
class GroupLine:
    """A group of flows under an AQM in one set-up."""

    group: str
    aqm: str
    setup: str
    values: tuple[Interval | None, ...]
    differences: tuple[Interval | None, ...]
    """To the first set-up that has the group; none in that one."""

    def as_dict(self, metrics: Sequence[Metric]) -> dict[str, Any]:
        """For JSON, in ns, bit/s and shares of 1."""
        named: dict[str, Any] = {"group": self.group, "aqm": self.aqm, "setup": self.setup}
        for key, figures in (("figures", self.values), ("differences", self.differences)):
            named[key] = {
                metric.name: None if one is None else asdict(one)
                for metric, one in zip(metrics, figures, strict=True)
            }
        return named


def compare_groups(
    found: Sequence[Setup],
) -> Iterator[tuple[str, tuple[Metric, ...], list[GroupLine]]]:
    """A title, metrics and lines for each kind of figure that some group has."""
    names = _names(found)
    for title, metrics in SHOWN_OF_GROUPS.items():
        if title == next(iter(SHOWN_OF_GROUPS)) and len({group for group, _ in names}) < 3:
            # A single group is all flows, which `compare` has.
            continue
        lines = [line for group, aqm in names for line in _lines(found, group, aqm, metrics)]
        if lines:
            yield title, metrics, lines


def _names(found: Sequence[Setup]) -> list[tuple[str, str]]:
    """Each group with each AQM."""
    results = [result for setup in found for result in setup.results]
    groups = dict.fromkeys(
        row.group for result in results for aqm in result.aqms.values() for row in aqm.groups
    )
    labels = dict.fromkeys(label for result in results for label in result.aqms)
    ordered = sorted(groups, key=lambda name: name != ALL_FLOWS)
    return [(group, label) for group in ordered for label in labels]


def _lines(
    found: Sequence[Setup], group: str, aqm: str, metrics: Sequence[Metric]
) -> Iterator[GroupLine]:
    first: list[list[float]] | None = None
    for setup in found:
        rows = [
            row
            for result in setup.results
            if aqm in result.aqms
            for row in result.aqms[aqm].groups
            if row.group == group
        ]
        figures = [
            [value for row in rows if (value := getattr(row, metric.name)) is not None]
            for metric in metrics
        ]
        if not any(figures):
            continue
        apart = differences(first, figures)
        first = figures if first is None else first
        yield GroupLine(group, aqm, setup.name, tuple(map(interval, figures)), apart)
