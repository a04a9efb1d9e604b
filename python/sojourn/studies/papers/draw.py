"""A paper's figures drawn again, in the paper's form, with our values.

Depends on measured set-ups, on intervals and matplotlib. Judges nothing.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sojourn.results.intervals import Interval, interval
from sojourn.results.plots import bare
from sojourn.results.style import COLOURS, INK, MUTED, RULE, TARGET_COLOUR
from sojourn.studies.papers.computed.finding import CurvePlot
from sojourn.studies.papers.measure import Measured
from sojourn.studies.papers.model import FigureSpec
from sojourn.studies.papers.traces import bins, read_trace, throughput

_TARGET: dict[str, Any] = {"color": TARGET_COLOUR, "linewidth": 0.9, "linestyle": (0, (5, 3))}
_GREY = "#7a7f87"
_BIN = 20_000_000
"""ns that a point of a delay over time stands for."""
_THROUGHPUT_BIN = 100_000_000
"""ns that a point of a throughput over time stands for."""
_BOX = ("p5", "p25", "median", "p75", "p95")
"""The percentiles of a box plot, from whisker to whisker."""
_LEAST = 0.1
"""Where the logarithmic axis of box plots begins; a percentile may be 0."""
_MOST_POINTS = 40_000
"""Of a packet each; longer traces are drawn by bins."""

_ROOM = 0.05
"""Of an axis, what the name of a place takes."""

Rows = tuple[tuple[str, ...], ...]


def draw(spec: FigureSpec, measured: Measured, folder: Path) -> str | None:
    """Writes the figure into `folder`; its file's name, or none if nothing was measured."""
    aqms = _aqms(spec, measured)
    if not aqms:
        return None
    match spec.kind:
        case "series":
            figure = _series(spec, measured, aqms)
        case "lines":
            figure = _lines(spec, measured, spec.series or aqms)
        case "boxes":
            figure = _boxes(spec, measured, aqms)
        case _:
            figure = _bars(spec, measured, aqms)
    return _save(figure, folder, f"{spec.name}.png")


def draw_curves(drawn: CurvePlot, folder: Path) -> str:
    """Writes a figure of computed curves into `folder`; its file's name."""
    figure = Figure(figsize=(7.4, 3.6), layout="constrained")
    panel = figure.subplots()
    place = -1
    for curve in drawn.curves:
        # What a paper published is dotted in the colour of ours, which comes before.
        place += not curve.published
        dash: Any = "-" if place % 4 < 2 else (0, (4, 2))
        panel.plot(
            curve.x,
            curve.y,
            color=COLOURS[place % len(COLOURS)],
            linestyle=(0, (1, 1.5)) if curve.published else dash,
            linewidth=1.5,
            label=curve.name,
        )
    bare(panel)
    panel.axhline(0, color=RULE, linewidth=0.8)
    panel.set_xlabel(drawn.x, fontsize=9, color=INK)
    panel.set_ylabel(drawn.y, fontsize=9, color=INK)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)
    return _save(figure, folder, f"{drawn.name}.png")


def _save(figure: Figure, folder: Path, name: str) -> str:
    figure.savefig(folder / name, dpi=130, facecolor="white", metadata={"Software": "sojourn"})
    return name


def _aqms(spec: FigureSpec, measured: Measured) -> list[str]:
    there = measured.labels()
    return [name for name in spec.aqms or there if name in there]


def colours(aqms: Sequence[str]) -> dict[str, str]:
    """A colour for each AQM; tail drop, the yardstick, is grey."""
    others = [name for name in aqms if name not in ("tail drop", "fifo")]
    found = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(others)}
    return {name: found.get(name, _GREY) for name in aqms}


def values(
    spec: FigureSpec, measured: Measured, aqm: str, x: Any = None, metric: str | None = None
) -> Interval | None:
    """A metric of an AQM, or of another curve, at a place of the axis, over the seeds."""
    where = spec.where | {spec.by: aqm}
    rows = measured.select(spec.table, where)
    if spec.x is not None and x is not None:
        rows = [row for row in rows if row[spec.x] == x]
    found = [row.get(metric or spec.metric) for row in rows]
    return interval([value / spec.scale for value in found if value is not None])


def places(spec: FigureSpec, measured: Measured) -> list[Any]:
    """The stored values along the axis, in the order in which they were run."""
    if spec.x is None:
        return [None]
    rows = measured.select(spec.table, spec.where)
    return list(dict.fromkeys(row[spec.x] for row in rows))


def place_name(spec: FigureSpec, measured: Measured, x: Any) -> str:
    """The label of a position on the axis."""
    for axis in measured.axes:
        if axis.name == spec.x:
            return axis.shown(x)
    return "" if x is None else str(x)


def _bars(spec: FigureSpec, measured: Measured, aqms: list[str]) -> Figure:
    """Groups along the axis, a bar an AQM with its interval; a dash is the 99th percentile."""
    xs = places(spec, measured)
    if len(xs) == 1 and len(aqms) > len(COLOURS) + 1:
        return _named_bars(spec, measured, aqms)
    figure = Figure(
        figsize=(max(4.6, min(1.6 + 0.34 * len(xs) * len(aqms), 10)) + 1.8, 3.5),
        layout="constrained",
    )
    _bar_panel(spec, measured, aqms, figure.subplots())
    figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)
    return figure


def _boxes(spec: FigureSpec, measured: Measured, aqms: list[str]) -> Figure:
    """Bars of the means and, next to them, the distribution of the queue delay: a box from the
    25th to the 75th percentile with the median, whiskers to the 5th and the 95th; each percentile
    is the mean over the seeds."""
    xs = places(spec, measured)
    width = max(4.2, min(1.2 + 0.3 * len(xs) * len(aqms), 7.5))
    figure = Figure(figsize=(2 * width + 1.8, 3.6), layout="constrained")
    bars, boxes = figure.subplots(1, 2)
    _bar_panel(spec, measured, aqms, bars)
    colour = colours(aqms)
    room = 0.8 / len(aqms)
    for number, aqm in enumerate(aqms):
        for place, x in enumerate(xs):
            found = [values(spec, measured, aqm, x, name) for name in _BOX]
            if any(one is None for one in found):
                continue
            low, left, middle, right, high = (one.mean for one in found if one is not None)
            box = {"whislo": low, "q1": left, "med": middle, "q3": right, "whishi": high}
            boxes.bxp(
                [box],
                positions=[place + (number - (len(aqms) - 1) / 2) * room],
                widths=0.75 * room,
                showfliers=False,
                patch_artist=True,
                boxprops={"facecolor": colour[aqm], "alpha": 0.55, "edgecolor": colour[aqm]},
                medianprops={"color": INK, "linewidth": 1.2},
                whiskerprops={"color": colour[aqm]},
                capprops={"color": colour[aqm]},
                manage_ticks=False,
            )
    _finish_groups(spec, measured, boxes)
    if spec.log:
        for panel in (bars, boxes):
            panel.set_ylim(bottom=_LEAST)
    boxes.set_ylabel(f"5, 25, 50, 75 and 95 %, {spec.unit}", fontsize=9, color=INK)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)
    return figure


def _bar_panel(spec: FigureSpec, measured: Measured, aqms: list[str], panel: Axes) -> None:
    xs = places(spec, measured)
    width = 0.8 / len(aqms)
    colour = colours(aqms)
    for number, aqm in enumerate(aqms):
        label = aqm
        for place, x in enumerate(xs):
            found = values(spec, measured, aqm, x)
            if found is None:
                continue
            at = place + (number - (len(aqms) - 1) / 2) * width
            panel.bar(at, found.mean, 0.9 * width, color=colour[aqm], alpha=0.85, label=label)
            label = "_"
            if found.half is not None:
                panel.errorbar(at, found.mean, found.half, color=INK, linewidth=1, capsize=2)
            tail = values(spec, measured, aqm, x, "p99") if spec.metric == "mean" else None
            if tail is not None and spec.table == "runs":
                panel.plot([at - 0.4 * width, at + 0.4 * width], [tail.mean] * 2, color=colour[aqm])
    _finish_groups(spec, measured, panel)


def _finish_groups(spec: FigureSpec, measured: Measured, panel: Axes) -> None:
    """The axis of groups, and its names."""
    xs = places(spec, measured)
    panel.set_xticks(range(len(xs)), [place_name(spec, measured, x) for x in xs])
    bare(panel)
    _labels(spec, measured, panel)


def _named_bars(spec: FigureSpec, measured: Measured, aqms: list[str]) -> Figure:
    """More AQMs than colours: each is named at its bar."""
    (x,) = places(spec, measured)
    figure = Figure(figsize=(7.6, 0.9 + 0.28 * len(aqms)), layout="constrained")
    panel = figure.subplots()
    for place, aqm in enumerate(aqms):
        found = values(spec, measured, aqm, x)
        if found is None:
            continue
        colour = colours([aqm])[aqm]
        half = found.half or 0.0
        if spec.log:
            # A bar has to begin at zero.
            panel.errorbar(found.mean, place, xerr=half, color=colour, fmt="o", capsize=2)
        else:
            panel.barh(place, found.mean, 0.7, xerr=half, color=colour, alpha=0.85)
        tail = values(spec, measured, aqm, x, "p99") if spec.metric == "mean" else None
        if tail is not None and spec.table == "runs":
            panel.plot([tail.mean] * 2, [place - 0.3, place + 0.3], color=colour)
    panel.set_yticks(range(len(aqms)), aqms, fontsize=8.5)
    panel.invert_yaxis()
    bare(panel)
    if spec.log:
        panel.set_xscale("log")
    if spec.unit == "ms" and spec.table in ("runs", "rows"):
        panel.axvline(measured.target / 1e6, **_TARGET)
    panel.set_xlabel(_metric_name(spec), fontsize=9, color=INK)
    return figure


def _lines(spec: FigureSpec, measured: Measured, aqms: list[str]) -> Figure:
    xs = places(spec, measured)
    figure = Figure(figsize=(7.6, 3.5), layout="constrained")
    panel = figure.subplots()
    colour = colours(aqms)
    numeric = all(isinstance(x, int | float) for x in xs)
    for aqm in aqms:
        found = [(x, values(spec, measured, aqm, x)) for x in xs]
        points = [(x, one) for x, one in found if one is not None]
        at = [x if numeric else xs.index(x) for x, _ in points]
        mean = np.array([one.mean for _, one in points])
        half = np.array([one.half or 0.0 for _, one in points])
        panel.fill_between(at, mean - half, mean + half, color=colour[aqm], alpha=0.2, linewidth=0)
        panel.plot(at, mean, color=colour[aqm], marker="o", markersize=3, linewidth=1.3, label=aqm)
        if reported := spec.published.get(aqm):
            along = xs if numeric else range(len(xs))
            look: dict[str, Any] = {"linestyle": "none", "marker": "x", "markersize": 6}
            panel.plot(along, reported, color=colour[aqm], label=f"{aqm}, published", **look)
    at = list(xs) if numeric else list(range(len(xs)))
    named = _with_room(at)
    names = [
        place_name(spec, measured, x) if here in named else ""
        for here, x in zip(at, xs, strict=True)
    ]
    panel.set_xticks(at, names, rotation=30)
    bare(panel)
    _labels(spec, measured, panel)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)
    return figure


def _with_room(at: list[Any]) -> set[Any]:
    """The places of an axis whose names do not lie on each other: the last, and from there down
    each that is far enough from the one above it. All have their tick."""
    least = _ROOM * (max(at) - min(at))
    found: list[Any] = []
    for place in sorted(at, reverse=True):
        if not found or found[-1] - place >= least:
            found.append(place)
    return set(found)


def _labels(spec: FigureSpec, measured: Measured, panel: Axes) -> None:
    if spec.log:
        panel.set_yscale("log")
    else:
        panel.set_ylim(bottom=0)
    if spec.unit == "ms" and spec.table in ("runs", "rows"):
        panel.axhline(measured.target / 1e6, **_TARGET)
    if spec.x is not None:
        panel.set_xlabel(spec.x, fontsize=9, color=INK)
    panel.set_ylabel(_metric_name(spec), fontsize=9, color=INK)


def _metric_name(spec: FigureSpec) -> str:
    return f"{spec.label or spec.metric.replace('_', ' ')}, {spec.unit}"


def _series(spec: FigureSpec, measured: Measured, aqms: list[str]) -> Figure:
    """The delay over time of each AQM's first seed, and what its queue sent if that is wanted."""
    if spec.throughput:
        return _with_throughput(spec, measured, aqms)
    panels_wanted = 1 if spec.together else len(aqms)
    figure = Figure(
        figsize=(8.6, 0.9 + (2.9 if spec.together else 1.5 * len(aqms))), layout="constrained"
    )
    panels = figure.subplots(panels_wanted, 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    colour = colours(aqms)
    for number, aqm in enumerate(aqms):
        panel = panels[0 if spec.together else number]
        folder = _trace_of(spec, measured, aqm)
        if folder is None:
            continue
        _plot_delay(spec, folder, panel, colour[aqm], aqm)
        if not spec.together:
            panel.set_title(aqm, loc="left", fontsize=9, color=colour[aqm], pad=2)
    for panel in panels:
        _finish_delay(spec, measured, panel)
    panels[-1].set_xlabel("time, s", fontsize=9, color=INK)
    figure.supylabel("queue delay, ms", fontsize=9, color=MUTED)
    if spec.together:
        figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)
    return figure


def _trace_of(spec: FigureSpec, measured: Measured, aqm: str) -> Path | None:
    """The folder of the first seed of an AQM whose rows are kept."""
    for row in measured.select("runs", spec.where | {"aqm": aqm}):
        if row["run"] in measured.traces:
            return measured.traces[row["run"]]
    return None


def _plot_delay(spec: FigureSpec, folder: Path, panel: Axes, colour: str, label: str) -> None:
    time, delay, _ = read_trace(folder)
    if spec.until is not None:
        early = time < spec.until * 1e9
        time, delay = time[early], delay[early]
    if len(time) > _MOST_POINTS:
        at, mean = bins(time, delay, _BIN)
    else:
        at, mean = time.astype(np.float64), delay.astype(np.float64)
    panel.plot(at / 1e9, np.maximum(mean / 1e6, 0.01), color=colour, linewidth=0.8, label=label)


def _finish_delay(spec: FigureSpec, measured: Measured, panel: Axes) -> None:
    panel.axhline(measured.target / 1e6, **_TARGET)
    if spec.log:
        panel.set_yscale("log")
    else:
        panel.set_ylim(bottom=0)
    bare(panel)


def _with_throughput(spec: FigureSpec, measured: Measured, aqms: list[str]) -> Figure:
    """Delay and throughput over one time axis."""
    figure = Figure(figsize=(8.6, 4.6), layout="constrained")
    delays, sent = figure.subplots(2, 1, sharex=True)
    colour = colours(aqms)
    for aqm in aqms:
        folder = _trace_of(spec, measured, aqm)
        if folder is None:
            continue
        _plot_delay(spec, folder, delays, colour[aqm], aqm)
        at, rate = throughput(folder, _THROUGHPUT_BIN)
        early = at < (np.inf if spec.until is None else spec.until * 1e9)
        sent.plot(at[early] / 1e9, rate[early] / 1e6, color=colour[aqm], linewidth=1, label="_")
    _finish_delay(spec, measured, delays)
    bare(sent)
    sent.set_ylim(bottom=0)
    delays.set_ylabel("queue delay, ms", fontsize=9, color=INK)
    sent.set_ylabel("throughput, Mbit/s", fontsize=9, color=INK)
    sent.set_xlabel("time, s", fontsize=9, color=INK)
    figure.legend(loc="outside right upper", frameon=False, fontsize=8.5)
    return figure


def table(spec: FigureSpec, measured: Measured) -> tuple[tuple[str, ...], Rows]:
    """A table's heads and rows: ours over the paper's where the paper has a value."""
    xs = places(spec, measured)
    columns = [(x, *_metric(text, spec)) for x in xs for text in spec.metrics or [spec.metric]]
    heads = [""]
    for x, name, unit, _ in columns:
        place = place_name(spec, measured, x)
        metric = name.replace("_", " ") + (f", {unit}" if unit else "")
        heads.append(f"{spec.x} {place}: {metric}" if place else metric)
    rows = []
    aqms = _aqms(spec, measured)
    missing = [note.partition(":")[0] for note in measured.missing]
    for aqm in [*aqms, *(name for name in spec.paper if name not in aqms)]:
        cells = [aqm]
        for number, (x, name, _, scale) in enumerate(columns):
            scaled = spec.model_copy(update={"scale": scale})
            found = values(scaled, measured, aqm, x, name) if aqm in aqms else None
            ours = "not in this version" if aqm in missing else "-"
            if found is not None:
                half = "" if found.half is None else f" ± {_digits(found.half, found.mean)}"
                ours = f"{_digits(found.mean, found.mean)}{half}"
            theirs = spec.paper.get(aqm, [])
            note = f" (paper: {theirs[number]})" if number < len(theirs) else ""
            cells.append(f"{ours}{note}")
        rows.append(tuple(cells))
    return tuple(heads), tuple(rows)


def _metric(text: str, spec: FigureSpec) -> tuple[str, str, float]:
    name, _, rest = text.partition(":")
    unit, _, scale = rest.partition(":")
    return name, unit or ("" if rest else spec.unit), float(scale) if scale else spec.scale


def _digits(value: float, like: float) -> str:
    size = abs(like)
    return f"{value:.{0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 3}f}"
