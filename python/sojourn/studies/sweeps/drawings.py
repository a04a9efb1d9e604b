"""The plots of a sweep: those of its file, or a default for its axes.

Depends on the sweep file and the metrics. Draws nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.results.metrics import DRAWN, Metric, find_metric
from sojourn.studies.sweeps.axes import Axis
from sojourn.studies.sweeps.file import PlotRequest, SweepFile


@dataclass(frozen=True)
class Drawing:
    """A plot to draw."""

    metric: Metric
    against: tuple[Axis, ...]
    style: str
    log: bool = False

    @property
    def name(self) -> str:
        """Of its file."""
        axes = "-".join(axis.name for axis in self.against) or "seeds"
        return "".join(c if c.isalnum() or c in "-_" else "-" for c in f"{self.metric.name}-{axes}")

    @property
    def title(self) -> str:
        """Its title."""
        against = " and ".join(axis.name for axis in self.against)
        return f"{self.metric.meaning}, {self.metric.unit}" + (f", by {against}" if against else "")


def drawings(sweep: SweepFile, axes: tuple[Axis, ...]) -> tuple[Drawing, ...]:
    """The plots of the sweep file, or those that its axes suggest."""
    if sweep.plots:
        return tuple(_asked(request, axes) for request in sweep.plots)
    match axes:
        case ():
            return tuple(Drawing(metric, (), "box") for metric in DRAWN)
        case (first,):
            return tuple(Drawing(metric, (first,), _style((first,))) for metric in DRAWN)
        case _:
            pair = axes[:2]
            lines = [Drawing(metric, pair[:1], _style(pair[:1])) for metric in DRAWN]
            return (*lines, *(Drawing(metric, pair, "heat") for metric in DRAWN[:2]))


def _asked(request: PlotRequest, axes: tuple[Axis, ...]) -> Drawing:
    known = {axis.name: axis for axis in axes}
    for name in request.against:
        if name not in known:
            hint = did_you_mean(name, known)
            raise ScenarioError(f"plots: no axis {name!r}{hint} (axes: {', '.join(known)})")
    against = tuple(known[name] for name in request.against)
    style = request.style or _style(against)
    wanted = {"lines": 1, "heat": 2}.get(style)
    if wanted not in (None, len(against)):
        raise ScenarioError(f"plots: {style} is drawn against {wanted}, not {len(against)} axes")
    return Drawing(find_metric(request.metric), against, style, request.log)


def _style(against: Sequence[Axis]) -> str:
    if len(against) == 2:
        return "heat"
    return "lines" if against else "box"
