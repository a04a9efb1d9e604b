"""Distributions of queue delay over all seeds of a sweep: pooled curves and boxes.

The pooled distribution counts the packets of all seeds alike. A band shows the least and the most
of the seeds at each delay; points beside a box are the seeds' medians. Depends on the sweep's table
of distributions and on matplotlib.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from sojourn.model.scenario.quantities import ALL_FLOWS
from sojourn.results.plots import bare, delay_axis, named_legend
from sojourn.results.statistics import EDGES, Floats
from sojourn.results.style import COLOURS, DASHES, INK, MUTED, TARGET_COLOUR, delay_floor
from sojourn.studies.sweeps.plan import SweepPlan

_MOST_PANELS = 12
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Whiskers, edges and middle of a box."""

Pooled = tuple[Floats, Floats, Floats]
"""Shares at `EDGES` of all seeds' packets, and the least and the most of the seeds."""


def pooled(
    plan: SweepPlan, table: pa.Table | None, width: float | None = None
) -> Iterator[tuple[str, str, Figure]]:
    """A picture for each bottleneck and group of flows: a name, a title and the figure."""
    if table is None or not len(table):
        return
    places = dict.fromkeys(
        zip(*(table.column(name).to_pylist() for name in ("bottleneck", "group")), strict=True)
    )
    queues = list(dict.fromkeys(queue for queue, _ in places))
    if len({group for _, group in places}) == 2:
        # A single group is all flows.
        places = {place: None for place in places if place[1] == ALL_FLOWS}
    for queue, group in places:
        own = _where(_where(table, "bottleneck", queue), "group", group)
        of = "" if group == ALL_FLOWS else f" of {group}"
        at = f" at {queue}" if len(queues) > 1 else ""
        name = "".join(c if c.isalnum() else "-" for c in f"{of}".removeprefix(" of "))
        number = f"-{queues.index(queue) + 1}" if queues.index(queue) else ""
        file = "-".join(filter(None, ("distribution", name))) + number
        title = f"queue delay{of}{at}, packets of all seeds; band and points: single seeds"
        yield file, title, _figure(plan, own, width)


def pool(rows: Sequence[dict[str, Any]]) -> Pooled:
    """The distributions of several seeds together."""
    curves = np.array([np.interp(EDGES, row["delay"], row["share"]) for row in rows])
    weights = np.array([row["queued"] for row in rows], np.float64)
    together = np.average(curves, axis=0, weights=weights)
    return together, curves.min(axis=0), curves.max(axis=0)


def quantiles(share: Floats, floor: float) -> Floats:
    """The delays of `_SHARES`, at least `floor`, ms."""
    places = np.minimum(np.searchsorted(share, _SHARES), len(EDGES) - 1)
    return np.maximum(EDGES[places] / 1e6, floor)


def _figure(plan: SweepPlan, table: pa.Table, width: float | None) -> Figure:
    names = [axis.name for axis in plan.axes]
    columns = [table.column(name).to_pylist() for name in names]
    points = list(dict.fromkeys(zip(*columns, strict=True)))[:_MOST_PANELS] if names else [()]
    aqms = list(dict.fromkeys(table.column("aqm").to_pylist()))
    across = min(len(points), 3 if width is None or width > 5 else 1)
    down = -(-len(points) // across)
    boxes = 0.5 + 0.24 * len(aqms)
    size = (5.6 * across, (3 + boxes) * down + 0.7)
    if width is not None:
        size = (width, (1.9 + boxes) * down + 0.5)
    figure = Figure(figsize=size, layout="constrained")
    grid = figure.subplots(
        2 * down, across, sharex=True, squeeze=False, height_ratios=[3, boxes] * down
    )
    for place, point in enumerate(points):
        own = table
        for name, value in zip(names, point, strict=True):
            own = _where(own, name, value)
        row, column = divmod(place, across)
        curves, below = grid[2 * row][column], grid[2 * row + 1][column]
        _panel(curves, below, own, aqms, plan.target / 1e6)
        text = ", ".join(
            f"{axis.name} {axis.shown(value)}" for axis, value in zip(plan.axes, point, strict=True)
        )
        curves.set_title(text, loc="left", fontsize=9, color=MUTED, parse_math=False)
        if not column:
            curves.set_ylabel("packets, %", color=INK)
    for place in range(len(points), across * down):
        row, column = divmod(place, across)
        for panel in (grid[2 * row][column], grid[2 * row + 1][column]):
            panel.set_visible(False)
    _legend(figure, aqms, width)
    return figure


def _legend(figure: Figure, aqms: Sequence[str], width: float | None) -> None:
    lines = [Line2D([], [], color=colour, linestyle=dash) for colour, dash in _looks(aqms)]
    most = 4 if width is None or width > 5 else 2
    legend = named_legend(
        figure, lines, aqms, loc="outside lower center", ncols=most, frameon=False, fontsize=8
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _looks(aqms: Sequence[str]) -> list[tuple[str, Any]]:
    """Colour and dash of each AQM's curve."""
    places = range(len(aqms))
    return [(COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]) for place in places]


def _panel(curves: Axes, boxes: Axes, table: pa.Table, aqms: Sequence[str], target: float) -> None:
    floor = delay_floor(1e6 * target)
    delays = np.maximum(EDGES / 1e6, floor)
    highest = 2 * target
    for place, (aqm, (colour, dash)) in enumerate(zip(aqms, _looks(aqms), strict=True)):
        rows = _where(table, "aqm", aqm).to_pylist()
        if not rows:
            continue
        share, low, high = pool(rows)
        highest = max(highest, float(delays[min(int((share < 0.9999).sum()), len(delays) - 1)]))
        curves.fill_between(delays, 100 * low, 100 * high, color=colour, alpha=0.2, linewidth=0)
        curves.plot(delays, 100 * share, color=colour, linestyle=dash, linewidth=1.5)
        first, lower, middle, upper, last = quantiles(share, floor)
        boxes.plot([first, last], [place, place], color=colour, linewidth=1)
        boxes.barh(place, upper - lower, 0.55, lower, color=colour, alpha=0.35)
        boxes.plot([middle, middle], [place - 0.28, place + 0.28], color=colour, linewidth=2)
        seeds = [quantiles(pool([row])[0], floor)[2] for row in rows]
        boxes.plot(seeds, [place + 0.4] * len(seeds), ".", color=INK, markersize=2.5)
    boxes.set_yticks(range(len(aqms)), aqms, fontsize=7)
    boxes.set_ylim(len(aqms) - 0.4, -0.6)
    for text in boxes.get_yticklabels():
        text.set_parse_math(False)
    curves.set_ylim(0, 101)
    for panel in (curves, boxes):
        bare(panel)
        panel.set_xscale("log")
        panel.set_xlim(floor, 1.3 * highest)
        panel.axvline(target, color=TARGET_COLOUR, linewidth=0.8, linestyle=(0, (5, 3)))
        delay_axis(panel.xaxis)
    curves.tick_params(labelbottom=False)
    boxes.tick_params(labelbottom=True)
    boxes.set_xlabel("queue delay, ms (log scale)", color=INK)


def _where(table: pa.Table, column: str, value: Any) -> pa.Table:
    return table.filter(pa.compute.equal(table.column(column), value))
