"""The picture of slowdown by size: median and 99th percentile of twenty bins, a colour an AQM.

Depends on the bins and on matplotlib. Uses no rows.
"""

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from sojourn.common.atomic_write import write_bytes
from sojourn.model.units import SIZE
from sojourn.results.plots import Picture, as_png, bare, named_legend, plain_text
from sojourn.results.result import Result
from sojourn.results.slowdown_bins import SlowdownBin
from sojourn.results.style import INK, looks
from sojourn.runtime.run_files import SLOWDOWN_PLOT

_HEIGHT = 3.2
"""Inches of a group's panels."""


def write_slowdown_plot(result: Result) -> None:
    """Writes the picture into the run's folder, if a group has bins."""
    if figure := slowdown_by_size(result):
        write_bytes(result.path / f"{SLOWDOWN_PLOT}.png", as_png(figure))


@plain_text()
def slowdown_by_size(result: Result) -> Figure | None:
    """A row of panels a group; nothing if no group has bins."""
    bins = {
        label: [one for one in aqm.slowdowns if one.bins == "hpcc"]
        for label, aqm in result.aqms.items()
    }
    groups = list(dict.fromkeys(one.group for found in bins.values() for one in found))
    if not groups:
        return None
    look = looks(result.folder.runs)
    figure = Picture(figsize=(10, _HEIGHT * len(groups) + 0.6))
    panels = figure.subplots(len(groups), 2, squeeze=False, sharex="row")
    lines: dict[str, Line2D] = {}
    for group, row in zip(groups, panels, strict=True):
        for panel, name, title in zip(
            row, ("p50", "p99"), ("median", "99th percentile"), strict=True
        ):
            for label, found in bins.items():
                sizes, values = _curve([one for one in found if one.group == group], name)
                (lines[label],) = panel.plot(
                    sizes, values, marker="o", markersize=3, color=look[label].colour,
                    linestyle=look[label].dash, linewidth=1.4,
                )  # fmt: skip
            panel.set_xscale("log")
            panel.set_yscale("log")
            bare(panel)
            for axis, form in ((panel.xaxis, _size), (panel.yaxis, _number)):
                axis.set_major_formatter(FuncFormatter(form))
                axis.set_minor_formatter(NullFormatter())
            panel.set_title(f"{group}: {title}", loc="left", color=INK, fontsize=10)
            panel.set_xlabel("largest transfer of the bin", color=INK)
            panel.set_ylabel("slowdown", color=INK)
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.4 / figure.get_size_inches()[1]))
    named_legend(
        figure, list(lines.values()), list(lines), loc="upper right", ncols=4, frameon=False,
        fontsize=9,
    )  # fmt: skip
    return figure


def _curve(bins: list[SlowdownBin], name: str) -> tuple[list[int], list[float]]:
    return [one.largest for one in bins], [getattr(one, name) for one in bins]


def _size(value: float, _: object) -> str:
    return SIZE.format(round(value)) if value >= 1 else ""


def _number(value: float, _: object) -> str:
    return f"{value:g}"
