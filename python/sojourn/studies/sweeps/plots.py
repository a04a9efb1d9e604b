"""Plots of a sweep: a metric against one axis as lines with bands, against two as heat maps, over
the seeds as boxes.

Depends on the table, the intervals and matplotlib. What is drawn is `drawings` to say.
"""

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from sojourn.results.intervals import over_seeds
from sojourn.results.metrics import GROUP_METRICS, METRICS
from sojourn.results.plots import as_png, bare
from sojourn.results.style import COLOURS, DASHES, INK, MUTED, RULE, TARGET_COLOUR
from sojourn.studies.sweeps.axes import Axis
from sojourn.studies.sweeps.distributions import pooled
from sojourn.studies.sweeps.drawings import Drawing
from sojourn.studies.sweeps.plan import SweepPlan
from sojourn.studies.sweeps.table import Tables, end_to_end

_MARKERS = "os^Dv*"
_MOST_PANELS = 12
"""Of one picture; of a sweep with more combinations of its other axes the first ones are drawn."""
_LEGEND = 1.6
"""Inches beside the panels, for the legend."""
_LETTERS = 12
"""Of a title in an inch."""


def write_plots(plan: SweepPlan, tables: Tables, folder: Path) -> list[tuple[str, str]]:
    """Draws all plots into `folder`; the title of each and the name of its file."""
    written = []
    for name, title, figure in figures(plan, tables):
        (folder / f"{name}.png").write_bytes(as_png(figure))
        written.append((title, f"{name}.png"))
    return written


def figures(
    plan: SweepPlan, tables: Tables, width: float | None = None
) -> Iterator[tuple[str, str, Figure]]:
    """All plots: a name, a title and the picture. With `width`, in inches, they are for a paper,
    whose caption has the title."""
    for drawing, table in _drawn(plan, tables):
        for place, (where, own) in enumerate(_places(drawing, table)):
            title, ending = f"{drawing.title}{where}", f"-{place + 1}" if place else ""
            figure = _figure(drawing, plan, own, width)
            yield f"{drawing.name}{ending}", title, _titled(figure, title, width)
    for name, title, figure in pooled(plan, tables.distributions, width):
        yield name, title, _titled(figure, title, width)


def _titled(figure: Figure, title: str, width: float | None) -> Figure:
    if width is None:
        style = {"color": INK, "fontsize": 11, "parse_math": False}
        room = int((figure.get_figwidth() - _LEGEND) * _LETTERS)
        figure.suptitle(textwrap.fill(title, room), x=0.01, ha="left", **style)
    return figure


def _drawn(plan: SweepPlan, tables: Tables) -> Iterator[tuple[Drawing, pa.Table]]:
    """What is drawn, each with its rows: a plot of what only single groups have for each group."""
    for drawing in plan.drawings:
        if not drawing.of_groups:
            # Runs without rows have no percentiles.
            if tables.runs.column(drawing.metric.name).null_count < len(tables.runs):
                yield drawing, tables.runs
            continue
        if tables.groups is None:
            continue
        names = dict.fromkeys(tables.groups.column("group").to_pylist())
        for name in [drawing.group] if drawing.group else names:
            own = _of_group(tables.groups, name)
            if drawing.to is not None:
                own = _over(own, _of_group(tables.groups, drawing.to), drawing.metric.name)
            if own.column(drawing.metric.name).null_count < len(own):
                yield drawing.of(name), own


def _of_group(table: pa.Table, name: str) -> pa.Table:
    return table.filter(pa.compute.equal(table.column("group"), name))


def _over(table: pa.Table, others: pa.Table, metric: str) -> pa.Table:
    """The table with a metric divided by that of the other group in the same run and queue."""
    place = ("run", "bottleneck")
    known = {tuple(row[name] for name in place): row[metric] for row in others.to_pylist()}
    ratios = []
    for row in table.to_pylist():
        other = known.get(tuple(row[name] for name in place))
        ratios.append(row[metric] / other if other and row[metric] is not None else None)
    column = pa.array(ratios, pa.float64())
    return table.set_column(table.schema.get_field_index(metric), metric, column)


def _places(drawing: Drawing, table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """The bottlenecks of which there is a picture each, as a title names them, with their rows."""
    if drawing.metric.name in GROUP_METRICS:
        yield "", end_to_end(table)
        return
    names = list(dict.fromkeys(table.column("bottleneck").to_pylist()))
    for name in names:
        own = table.filter(pa.compute.equal(table.column("bottleneck"), name))
        yield f" at {name}" if len(names) > 1 else "", own


def _figure(
    drawing: Drawing, plan: SweepPlan, table: pa.Table, width: float | None = None
) -> Figure:
    if drawing.style == "heat":
        return _heat_maps(drawing, table, width)
    panels = list(_panels(drawing, plan, table))
    across = min(len(panels), 3 if width is None or width > 5 else 1)
    down = -(-len(panels) // across)
    size = (
        (4.2 * across + _LEGEND, 3.2 * down + 0.5) if width is None else (width, 2.1 * down + 0.4)
    )
    figure = Figure(figsize=size, layout="constrained")
    grid = list(figure.subplots(down, across, sharey=True, squeeze=False).flat)
    aqms = list(dict.fromkeys(table.column("aqm").to_pylist()))
    for panel, (heading, own) in zip(grid, panels, strict=False):
        draw = _lines if drawing.style == "lines" else _boxes
        draw(panel, drawing, own, aqms)
        if width is not None:
            panel.set_ylabel(drawing.label)
        panel.set_title(heading, loc="left", fontsize=9, color=MUTED, parse_math=False)
        bare(panel)
        _target(panel, drawing, plan)
    for panel in grid[len(panels) :]:
        panel.set_visible(False)
    if drawing.style == "lines" and not drawing.log:
        # The panels share their scale: it is set once all of them are drawn.
        first = next(iter(figure.axes))
        first.set_ylim(0, 1.04 * max(panel.dataLim.y1 for panel in figure.axes))
    if drawing.style == "lines":
        handles, labels = next(iter(figure.axes)).get_legend_handles_labels()
        place: dict[str, Any] = {"loc": "outside right upper", "fontsize": 9}
        if width is not None:
            place = {"loc": "outside lower center", "ncols": 4 if width > 5 else 2, "fontsize": 8}
        legend = figure.legend(handles, labels, frameon=False, **place)
        for text in legend.get_texts():
            text.set_parse_math(False)
    return figure


def _panels(drawing: Drawing, plan: SweepPlan, table: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    """A panel for each combination of the axes that are not drawn against."""
    others = _deciding(drawing, plan, table)
    columns = [table.column(axis.name).to_pylist() for axis in others]
    points = list(dict.fromkeys(zip(*columns, strict=True))) if others else [()]
    for point in points[:_MOST_PANELS]:
        own = table
        for axis, value in zip(others, point, strict=True):
            own = own.filter(pa.compute.equal(own.column(axis.name), value))
        named = (
            f"{axis.name} {axis.shown(value)}" for axis, value in zip(others, point, strict=True)
        )
        yield ", ".join(named), own


def _deciding(drawing: Drawing, plan: SweepPlan, table: pa.Table) -> list[Axis]:
    """The axes that are not drawn against, without those whose value others decide: axes that go
    together are one."""
    columns = [table.column(axis.name).to_pylist() for axis in drawing.against]
    found = []
    for axis in (axis for axis in plan.axes if axis not in drawing.against):
        more = [*columns, table.column(axis.name).to_pylist()]
        if columns and len(set(zip(*more, strict=True))) == len(set(zip(*columns, strict=True))):
            continue
        columns = more
        found.append(axis)
    return found


def _lines(panel: Axes, drawing: Drawing, table: pa.Table, aqms: Sequence[str]) -> None:
    (axis,) = drawing.against
    found = over_seeds(table, ["aqm", axis.name], drawing.metric.name)
    scale = drawing.metric.scale
    stored = list(dict.fromkeys(axis.stored(value) for value in axis.values))
    place = {value: value if axis.is_number else index for index, value in enumerate(stored)}
    for index, aqm in enumerate(aqms):
        points = sorted((place[x], one) for (name, x), one in found.items() if name == aqm)
        if not points:
            continue
        where = [x for x, _ in points]
        mean = np.array([one.mean for _, one in points]) / scale
        half = np.array([one.half or 0.0 for _, one in points]) / scale
        colour = COLOURS[index % len(COLOURS)]
        panel.fill_between(where, mean - half, mean + half, color=colour, alpha=0.2, linewidth=0)
        # Markers and dashes tell curves apart where there is no colour.
        mark: dict[str, Any] = {
            "marker": _MARKERS[index % len(_MARKERS)],
            "linestyle": DASHES[index % len(DASHES)],
        }
        panel.plot(where, mean, color=colour, markersize=3.5, linewidth=1.4, label=aqm, **mark)
    _value_axis(panel, axis, stored, place)
    panel.set_xlabel(axis.name, fontsize=9, color=INK, parse_math=False)
    if drawing.log:
        panel.set_yscale("log")


def _value_axis(panel: Axes, axis: Axis, stored: Sequence[Any], place: dict[Any, Any]) -> None:
    """Ticks at the values that were run; evenly in the logarithm where they span more than a
    decade."""
    spots = [place[value] for value in stored]
    if axis.is_number and len(spots) > 1 and min(spots) > 0 and max(spots) / min(spots) > 10:
        panel.set_xscale("log")
    panel.xaxis.set_major_locator(FixedLocator(spots))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.xaxis.set_minor_formatter(NullFormatter())
    names = {spot: axis.shown(value) for value, spot in place.items()}
    panel.xaxis.set_major_formatter(FuncFormatter(lambda spot, _: names.get(spot, f"{spot:g}")))
    if sum(map(len, names.values())) > 34:
        panel.tick_params(axis="x", rotation=30)


def _boxes(panel: Axes, drawing: Drawing, table: pa.Table, aqms: Sequence[str]) -> None:
    """A box for each AQM, or for each value of the axis and AQM: quartiles, whiskers to the
    farthest within one and a half times their distance, every run beyond as a point."""
    names = [axis.name for axis in drawing.against]
    columns = [table.column(name).to_pylist() for name in ("aqm", *names)]
    values = table.column(drawing.metric.name).to_pylist()
    groups: dict[tuple[Any, ...], list[float]] = {}
    for *point, value in zip(*columns, values, strict=True):
        if value is not None:
            groups.setdefault(tuple(point), []).append(value / drawing.metric.scale)
    labels = [
        "\n".join([aqm, *(a.shown(v) for a, v in zip(drawing.against, point, strict=True))])
        for aqm, *point in groups
    ]
    drawn = panel.boxplot(list(groups.values()), tick_labels=labels, patch_artist=True, widths=0.5)
    for (aqm, *_), box in zip(groups, drawn["boxes"], strict=True):
        box.set(facecolor=COLOURS[aqms.index(aqm) % len(COLOURS)], alpha=0.35)
    for line in drawn["medians"]:
        line.set(color=INK)
    for text in panel.get_xticklabels():
        text.set_parse_math(False)
    if drawing.log:
        panel.set_yscale("log")


def _target(panel: Axes, drawing: Drawing, plan: SweepPlan) -> None:
    if drawing.metric.unit == "ms" and drawing.metric.name in METRICS:
        height = plan.target / drawing.metric.scale
        panel.axhline(height, color=TARGET_COLOUR, linewidth=0.8, linestyle=(0, (5, 3)))


def _heat_maps(drawing: Drawing, table: pa.Table, width: float | None = None) -> Figure:
    """A map for each AQM on one scale of colours, the mean over seeds written into each field."""
    across, up = drawing.against
    found = over_seeds(table, ["aqm", across.name, up.name], drawing.metric.name)
    aqms = list(dict.fromkeys(aqm for aqm, *_ in found))
    columns, rows = (
        list(dict.fromkeys(axis.stored(value) for value in axis.values)) for axis in (across, up)
    )
    maps = np.full((len(aqms), len(rows), len(columns)), np.nan)
    for (aqm, x, y), one in found.items():
        spot = aqms.index(aqm), rows.index(y), columns.index(x)
        maps[spot] = one.mean / drawing.metric.scale
    low, high = np.nanmin(maps), np.nanmax(maps)
    wide, tall = 1.8 + len(aqms) * (1.2 + 0.72 * len(columns)), 1.7 + 0.42 * len(rows)
    figure = Figure(figsize=(wide if width is None else width, tall), layout="constrained")
    panels = figure.subplots(1, len(aqms), sharey=True, squeeze=False)[0]
    for panel, aqm, values in zip(panels, aqms, maps, strict=True):
        image = panel.imshow(values, cmap="cividis", vmin=low, vmax=high, aspect="auto")
        panel.set_title(aqm, loc="left", fontsize=10, color=INK, parse_math=False)
        panel.set_xticks(range(len(columns)), [across.shown(one) for one in columns])
        panel.set_yticks(range(len(rows)), [up.shown(one) for one in rows])
        panel.tick_params(colors=MUTED, labelsize=8, length=0)
        if sum(len(across.shown(one)) for one in columns) > 5 * len(columns):
            panel.tick_params(axis="x", rotation=30)
        panel.set_xlabel(across.name, fontsize=9, color=INK, parse_math=False)
        for (row, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                dark = value < (low + high) / 2
                text = drawing.metric.show(value * drawing.metric.scale)
                panel.text(
                    column,
                    row,
                    text,
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="white" if dark else INK,
                )
        for side in panel.spines.values():
            side.set_color(RULE)
    panels[0].set_ylabel(up.name, fontsize=9, color=INK, parse_math=False)
    figure.colorbar(image, ax=list(panels), shrink=0.9).ax.tick_params(labelsize=8, colors=MUTED)
    return figure
