"""The pictures of each queue as PNG: its delay over time, a panel per AQM, and the distribution.

Depends on the figures that `statistics` derived and on matplotlib. Uses no rows.
"""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from sojourn.common.atomic_write import write_bytes
from sojourn.model.units import RATE
from sojourn.results.queues import Queue, QueueRun, heading, plotted, rates
from sojourn.results.result import Result
from sojourn.results.style import (
    INK,
    MUTED,
    RULE,
    TARGET_COLOUR,
    Look,
    delay_floor,
    looks,
    milliseconds,
)
from sojourn.runtime.run_files import DELAY_PLOT, DISTRIBUTION_PLOT

_LINES = {"solid": "-", "dashed": (0, (4, 2)), "dotted": (0, (1, 1.5)), "dashdot": "-."}


@contextmanager
def plain_text() -> Iterator[None]:
    """A context in which text is drawn as it is: a dollar sign does not start mathematics."""
    with rc_context({"text.parse_math": False}), warnings.catch_warnings():
        # A box stands for it in the picture; tables and page show it.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        yield


@plain_text()
def write_plots(result: Result) -> None:
    """Writes the plots of every queue into the run's folder."""
    for queue in plotted(result):
        ending = queue.bottleneck.ending
        _save(delay_over_time(result, queue), result.path / f"{DELAY_PLOT}{ending}.png")
        _save(distribution(result, queue), result.path / f"{DISTRIBUTION_PLOT}{ending}.png")


def _save(figure: Figure, path: Path) -> None:
    write_bytes(path, as_png(figure))


def as_png(figure: Figure, dpi: int = 150) -> bytes:
    """The picture as a file has it."""
    picture = BytesIO()
    figure.savefig(picture, dpi=dpi, facecolor="white", metadata={"Software": "sojourn"})
    return picture.getvalue()


class Picture(Figure):
    """A figure that a notebook shows, whether or not pyplot is there."""

    def _repr_png_(self) -> bytes:
        return as_png(self, dpi=90)


def named_legend(
    figure: Figure, lines: Sequence[Artist], names: Sequence[str], **look: Any
) -> Legend:
    """A legend of `lines`, whatever the names: matplotlib leaves those out that begin with `_`."""
    legend = figure.legend(lines, [f"line {place}" for place in range(len(names))], **look)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)
    return legend


def _title(result: Result) -> str:
    """The scenario's title, cut to the width of a picture."""
    return shorten(result.scenario.title or result.folder.name, 80, placeholder=" ...")


@plain_text()
def delay_over_time(result: Result, queue: Queue) -> Figure:
    """A panel per AQM, all on the same logarithmic scale, with the target drawn through each."""
    shown = queue.runs
    height = 1.0 + 1.55 * len(shown)
    figure = Picture(figsize=(10, height))
    panels = figure.subplots(
        len(shown),
        1,
        sharex=True,
        sharey=True,
        squeeze=False,
        gridspec_kw=_margins(figure, left=0.66, right=0.16, top=0.5, bottom=0.5) | {"hspace": 0.26},
    )[:, 0]
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    floor = delay_floor(result.scenario.target)
    steps = rates(result, queue)
    for panel, run in zip(panels, shown, strict=True):
        _delay_panel(panel, run, look[run.label], target, floor, steps)
    panels[0].set_ylim(floor, 1.6 * max(queue.highest, 2 * target))
    panels[0].set_xlim(0, result.scenario.duration / 1e9)
    panels[0].annotate(
        f"target {target:g} ms",
        (1, target),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 3),
        textcoords="offset points",
        ha="right",
        color=TARGET_COLOUR,
        fontsize=8,
    )
    panels[-1].set_xlabel("time, s", color=INK)
    figure.supylabel("queue delay, ms (log scale)", color=INK, fontsize=10, x=0.004)
    figure.suptitle(
        f"{_title(result)}: queue delay{heading(result, queue)}, "
        f"mean and range in each {_bin_ms(shown[0]):g} ms",
        x=0.01,
        y=1 - 0.08 / height,
        ha="left",
        va="top",
        color=INK,
        fontsize=11,
    )
    return figure


def _delay_panel(
    panel: Axes,
    run: QueueRun,
    look: Look,
    target: float,
    floor: float,
    steps: list[tuple[int, int]],
) -> None:
    over_time = run.findings.over_time
    time = over_time.time / 1e9
    low, mean, high = (
        np.maximum(values / 1e6, floor)
        for values in (over_time.low, over_time.mean, over_time.high)
    )
    panel.set_yscale("log")
    panel.fill_between(time, low, high, color=look.colour, alpha=0.25, linewidth=0, step="mid")
    panel.plot(time, mean, color=look.colour, linewidth=1.1)
    for at, rate in steps:
        panel.axvline(at / 1e9, color=MUTED, linewidth=0.7, linestyle=(0, (2, 3)))
        panel.annotate(
            RATE.format(rate),
            (at / 1e9, 1),
            xycoords=("data", "axes fraction"),
            xytext=(3, -2),
            textcoords="offset points",
            va="top",
            color=MUTED,
            fontsize=7,
        )
    panel.axhline(target, color=TARGET_COLOUR, linewidth=0.9, linestyle=(0, (5, 3)))
    bare(panel)
    delay_axis(panel.yaxis)
    summary = run.summary
    # Where it stands is said, so that nothing has to be measured for it.
    place: dict[str, Any] = {"y": 1, "pad": 3}
    panel.set_title(run.label, loc="left", color=look.colour, fontsize=10, weight="bold", **place)
    panel.set_title(
        f"mean {milliseconds(summary.mean)} ms   p99 {milliseconds(summary.p99)} ms   "
        f"max {milliseconds(summary.max)} ms",
        loc="right",
        color=MUTED,
        fontsize=9,
        **place,
    )


@plain_text()
def distribution(result: Result, queue: Queue) -> Figure:
    """All AQMs' cumulative distributions, named at the side in the order of their medians."""
    figure = Picture(figsize=(10, 5))
    panel = figure.subplots()
    panel.set_xscale("log")
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    shown = sorted(queue.runs, key=lambda run: run.summary.median or 0)
    floor = delay_floor(result.scenario.target)
    lines = [line for run in shown for line in _cumulative(panel, run, look[run.label], floor)]
    _mark_target(panel, target)
    panel.set_xlim(floor, 1.3 * max(queue.highest, 2 * target))
    panel.set_ylim(0, 101)
    bare(panel)
    panel.grid(axis="x", color=RULE, linewidth=0.6)
    delay_axis(panel.xaxis)
    panel.set_xlabel("queue delay, ms (log scale)", color=INK)
    panel.set_ylabel("packets with at most this delay, %", color=INK)
    panel.set_title(
        f"{_title(result)}: distribution of queue delay{heading(result, queue)}",
        loc="left",
        color=INK,
        fontsize=11,
        y=1,
        pad=16,
    )
    legend = named_legend(
        figure,
        lines,
        [_median_and_tail(run) for run in shown],
        loc="upper right",
        bbox_to_anchor=(1, 0.96),
        frameon=False,
        fontsize=9,
        labelspacing=1.1,
        labelcolor=[look[run.label].colour for run in shown],
    )
    # The panel gets the width that the names leave.
    width = legend.get_window_extent().width / figure.dpi
    figure.subplots_adjust(
        **_margins(figure, left=0.62, right=min(width, 6) + 0.1, top=0.5, bottom=0.5)
    )
    return figure


def _cumulative(panel: Axes, run: QueueRun, look: Look, floor: float) -> list[Line2D]:
    """The curve of a run's distribution; shorter delays than `floor`, ms, are drawn there."""
    curve = run.findings.distribution
    return panel.plot(
        np.maximum(curve.delay / 1e6, floor),
        100 * curve.share,
        color=look.colour,
        linestyle=_LINES[look.dash],
        linewidth=2,
    )


def _median_and_tail(run: QueueRun) -> str:
    median, tail = milliseconds(run.summary.median), milliseconds(run.summary.p99)
    return f"{run.label}\n  median {median} ms, p99 {tail} ms"


def _mark_target(panel: Axes, target: float) -> None:
    """A vertical line at the target, ms, with its label above."""
    panel.axvline(target, color=TARGET_COLOUR, linewidth=0.9, linestyle=(0, (5, 3)))
    panel.annotate(
        f"target {target:g} ms",
        (target, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 3),
        textcoords="offset points",
        ha="center",
        color=TARGET_COLOUR,
        fontsize=8,
    )


def _margins(
    figure: Figure, *, left: float, right: float, top: float, bottom: float
) -> dict[str, float]:
    """Inches around the panels as shares of the picture; a layout engine draws all of it twice."""
    width, height = figure.get_size_inches()
    return {
        "left": left / width,
        "right": 1 - right / width,
        "top": 1 - top / height,
        "bottom": bottom / height,
    }


def bare(panel: Axes) -> None:
    """Leaves of a panel's frame what is needed to read it."""
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        panel.spines[side].set_color(RULE)
    panel.grid(axis="y", color=RULE, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(colors=MUTED, labelsize=8)


def delay_axis(axis: Axis) -> None:
    """Ticks of a logarithmic axis of delays: powers of ten as plain numbers."""
    axis.set_major_locator(LogLocator(10))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(NullLocator())


def _bin_ms(run: QueueRun) -> float:
    time = run.findings.over_time.time
    return float(time[1] - time[0]) / 1e6
