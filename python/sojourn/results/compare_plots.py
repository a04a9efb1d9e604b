"""Comparison of runs as one picture: queue delay as overlaid curves and as boxes.

One panel for each AQM, one curve and one box for each set-up. Runs of a set-up that differ in the
seed lie over each other. Depends on results and on matplotlib.
"""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from sojourn.common.atomic_write import write_bytes
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError, output_error
from sojourn.results.compare import Setup
from sojourn.results.plots import Picture, plain_text
from sojourn.results.result import AqmResult
from sojourn.results.statistics import Distribution
from sojourn.results.style import COLOURS, RULE, delay_floor

_KINDS = ("png", "svg", "pdf")
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Percentiles of a box's whiskers, edges and middle."""


def write_comparison(found: Sequence[Setup], path: Path) -> None:
    """Draws the set-ups into the file at `path`, of the kind that its ending says."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in _KINDS:
        raise ScenarioError(f"{shown(path)}: a picture ends in .{', .'.join(_KINDS)}")
    drawn = BytesIO()
    with rc_context({"svg.hashsalt": "sojourn"}), plain_text():
        dated = {"Date": None} if kind == "svg" else {"CreationDate": None} if kind == "pdf" else {}
        comparison(found).savefig(drawn, format=kind, dpi=150, facecolor="white", metadata=dated)
    try:
        write_bytes(path, drawn.getvalue())
    except OSError as error:
        raise output_error(error, shown(path)) from error


def comparison(found: Sequence[Setup]) -> Figure:
    """The picture: curves above, boxes below, for each AQM."""
    labels = list(dict.fromkeys(n for setup in found for r in setup.results for n in r.aqms))
    figure = Picture(figsize=(max(3.4 * len(labels), 6.0), 2.9 + 0.34 * len(found)))
    panels = figure.subplots(
        2,
        len(labels),
        squeeze=False,
        sharex="all",
        height_ratios=[3.0, 0.5 + 0.5 * len(found)],
    )
    floor = delay_floor(*(r.scenario.target for setup in found for r in setup.results))
    for column, label in enumerate(labels):
        curves, boxes = panels[0][column], panels[1][column]
        for place, setup in enumerate(found):
            colour = COLOURS[place % len(COLOURS)]
            runs = [result.aqms[label] for result in setup.results if label in result.aqms]
            for number, run in enumerate(runs):
                name = setup.name if not number and not column else ""
                _curve(curves, run, colour, name, floor)
            for run in runs:
                _box(boxes, run, place, colour, 1 / max(len(runs), 1), floor)
        _style_axes(curves, boxes, label, [setup.name for setup in found], first=not column)
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    return figure


def _curve(axes: Axes, run: AqmResult, colour: str, name: str, floor: float) -> None:
    curve = run.findings.distribution
    delay = np.maximum(curve.delay / 1e6, floor)
    axes.plot(delay, 100 * curve.share, color=colour, linewidth=1.4, alpha=0.9, label=name or None)


def _box(axes: Axes, run: AqmResult, place: int, colour: str, alpha: float, floor: float) -> None:
    found = quantiles(run.findings.distribution)
    if found is None:
        return
    low, first, middle, third, high = np.maximum(np.array(found) / 1e6, floor)
    axes.plot([low, high], [place, place], color=colour, linewidth=1, alpha=max(alpha, 0.3))
    axes.barh(place, third - first, 0.6, first, color=colour, alpha=max(0.35 * alpha, 0.08))
    axes.plot([middle, middle], [place - 0.3, place + 0.3], color=colour, linewidth=2)


def quantiles(curve: Distribution) -> list[float] | None:
    """Percentiles 5, 25, 50, 75 and 95 of the delay, ns, from bins that are 2.3 % wide."""
    if not len(curve.share):
        return None
    places = np.minimum(np.searchsorted(curve.share, _SHARES), len(curve.delay) - 1)
    return [float(delay) for delay in curve.delay[places]]


def _style_axes(
    curves: Axes, boxes: Axes, label: str, names: Sequence[str], *, first: bool
) -> None:
    curves.set_title(label, loc="left", fontsize=10, fontweight="bold")
    curves.set_ylim(0, 101)
    boxes.set_ylim(len(names) - 0.4, -0.6)
    boxes.set_yticks(range(len(names)), names if first else [""] * len(names), fontsize=8)
    boxes.set_xlabel("queue delay, ms")
    boxes.set_xscale("log")
    boxes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    boxes.xaxis.set_minor_locator(NullLocator())
    if first:
        curves.set_ylabel("packets, %")
    for axes in (curves, boxes):
        axes.grid(color=RULE, linewidth=0.6)
        axes.set_axisbelow(True)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
