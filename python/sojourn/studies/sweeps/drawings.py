"""The plots of a sweep: those of its file, or a default for its axes.

Depends on the sweep file and the metrics. Draws nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.results.metrics import DRAWN, GROUP_METRICS, IN_GROUPS, Metric, find_metric
from sojourn.studies.sweeps.axes import Axis
from sojourn.studies.sweeps.file import PlotRequest, SweepFile


@dataclass(frozen=True)
class Drawing:
    """A plot to draw."""

    metric: Metric
    against: tuple[Axis, ...]
    style: str
    log: bool = False
    group: str | None = None
    """The group of flows, if it is of one."""
    to: str | None = None
    """The group over whose metric that of `group` is drawn, if it is a ratio."""

    @property
    def of_groups(self) -> bool:
        """Whether it is of groups of flows and not of a queue."""
        return self.group is not None or self.metric.name in GROUP_METRICS

    def of(self, group: str) -> "Drawing":
        """The same of one group."""
        return replace(self, group=group)

    @property
    def name(self) -> str:
        """Of its file."""
        axes = "-".join(axis.name for axis in self.against) or "seeds"
        parts = [self.metric.name, *filter(None, (self.group, self.to)), axes]
        return "".join(c if c.isalnum() or c in "-_" else "-" for c in "-".join(parts))

    @property
    def label(self) -> str:
        """Of the axis on which the metric is drawn."""
        if self.to:
            return f"{self.metric.meaning}, ratio"
        unit = f", {self.metric.unit}" if self.metric.unit else ""
        return f"{self.metric.meaning}{unit}"

    @property
    def title(self) -> str:
        """Its title."""
        against = " and ".join(axis.name for axis in self.against)
        unit = f", {self.metric.unit}" if self.metric.unit and not self.to else ""
        of = f" of {self.group}" if self.group else ""
        of += f" over that of {self.to}" if self.to else ""
        return f"{self.metric.meaning}{of}{unit}" + (f", by {against}" if against else "")


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
    metric = find_metric(request.metric)
    if request.group is not None and metric.name not in (*GROUP_METRICS, *IN_GROUPS):
        raise ScenarioError(
            f"plots: {metric.name} is of the whole run, not of a group "
            f"(of groups: {', '.join((*IN_GROUPS, *GROUP_METRICS))})"
        )
    if request.to is not None:
        if request.group is None:
            raise ScenarioError(f"plots: to = {request.to}: `group` says what is over it")
        metric = replace(metric, scale=1.0)
    return Drawing(metric, against, style, request.log, request.group, request.to)


def _style(against: Sequence[Axis]) -> str:
    if len(against) == 2:
        return "heat"
    return "lines" if against else "box"
