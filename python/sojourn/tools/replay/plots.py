"""A study's pictures: distance of drops from RFC 8289's, and the cost of delayed copies.

Depends on figures and matplotlib. Uses no rows.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from sojourn.common.atomic_write import replacing
from sojourn.results.plots import bare, named_legend, plain_text
from sojourn.results.style import COLOURS, INK
from sojourn.tools.replay.compare import Comparison
from sojourn.tools.replay.latency_cost import Race

_NEAREST, _FURTHEST = 1, 10**9
"""ns; an error of less than the first is drawn there: it is none."""
_ABREAST = 4
"""Panels in a row."""
_UNITS = ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns"))

Pooled = dict[str, dict[str, list[Comparison]]]
"""Group of traces -> AQM -> its comparisons."""
Raced = dict[str, dict[str, list[list[Race]]]]
"""Group of traces -> AQM -> for each trace its races, in order of latency."""


@plain_text()
def write_equivalence(pooled: Pooled, path: Path) -> None:
    """A panel per group of traces: the share of the reference's drops matched within a time."""
    groups = list(pooled)
    wide = min(len(groups), _ABREAST)
    high = -(-len(groups) // wide)
    size = (max(2.6 * wide, 6), 1 + 2.6 * high)
    figure = Figure(figsize=size, layout="constrained")
    rows = figure.subplots(high, wide, sharex=True, sharey=True, squeeze=False)
    panels = list(rows.flat)
    for spare in panels[len(groups) :]:
        spare.remove()
    colours = _colours(pooled.values())
    named: dict[str, Artist] = {}
    grid = np.unique(np.logspace(0, 9, 400).astype(np.int64))
    for panel, group in zip(panels, groups, strict=False):
        lines: dict[str, Artist] = {}
        for label, comparisons in pooled[group].items():
            drops = sum(each.reference_drops for each in comparisons)
            errors = np.sort(np.abs(np.concatenate([each.errors for each in comparisons])))
            share = 100 * np.searchsorted(errors, grid, side="right") / max(drops, 1)
            [lines[label]] = panel.plot(grid, share, color=colours[label], linewidth=2)
        named = named or lines
        panel.set_xscale("log")
        panel.set_xlim(_NEAREST, _FURTHEST)
        panel.set_ylim(-2, 103)
        bare(panel)
        drops = max(
            (sum(c.reference_drops for c in each) for each in pooled[group].values()), default=0
        )
        panel.set_title(f"{group}\n{drops:,} drops", loc="left", color=INK, fontsize=9)
        panel.xaxis.set_major_formatter(FuncFormatter(_instant))
        panel.xaxis.set_minor_formatter(NullFormatter())
    figure.supylabel("RFC 8289's drops matched, %", color=INK, fontsize=9)
    figure.supxlabel(
        "within this time of its own (left edge: at the very same packet)", color=INK, fontsize=9
    )
    named_legend(
        figure,
        list(named.values()),
        list(named),
        loc="outside upper right",
        ncols=len(named),
        frameon=False,
        fontsize=9,
    )
    _save(figure, path)


@plain_text()
def write_race(raced: Raced, path: Path) -> None:
    """A column per group: packets that meet unsynchronised state, and what becomes of drops."""
    groups = list(raced)
    figure = Figure(figsize=(max(4.2 * len(groups), 6), 5.6), layout="constrained")
    panels = figure.subplots(2, len(groups), sharex=True, sharey="row", squeeze=False)
    colours = _colours(raced.values())
    named: dict[str, Artist] = {}
    for column, group in enumerate(groups):
        above, below = panels[0][column], panels[1][column]
        for label, traces in raced[group].items():
            latency = [each.latency / 1e3 for each in traces[0]]
            colour = colours[label]
            met = [
                _per(races, "unsynchronised", "packets", 100) for races in zip(*traces, strict=True)
            ]
            wrong = [_per(races, "wrong", "drops", 1000) for races in zip(*traces, strict=True)]
            missed = [_per(races, "missed", "drops", 1000) for races in zip(*traces, strict=True)]
            above.plot(latency, met, color=colour, marker="o", markersize=3)
            [line] = below.plot(latency, wrong, color=colour, marker="o", markersize=3)
            [dashed] = below.plot(
                latency, missed, color=colour, marker="o", markersize=3, linestyle="--"
            )
            if not column:
                named |= {f"{label}: wrong": line, f"{label}: missed": dashed}
        above.set_title(group, loc="left", color=INK, fontsize=10)
        for panel in (above, below):
            panel.set_xscale("symlog", linthresh=0.1)
            panel.set_xlim(left=0)
            panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            panel.xaxis.set_minor_formatter(NullFormatter())
            bare(panel)
        above.set_yscale("symlog", linthresh=0.001)
        below.set_yscale("symlog", linthresh=1)
        for panel in (above, below):
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            panel.yaxis.set_minor_formatter(NullFormatter())
            panel.set_ylim(bottom=0, top=1.3 * panel.get_ylim()[1])
    panels[0][0].set_ylabel("packets that meet\nunsynchronised state, %", color=INK, fontsize=9)
    panels[1][0].set_ylabel("drops per thousand", color=INK, fontsize=9)
    for panel in panels[1]:
        panel.set_xlabel("time that a mirrored copy takes, us", color=INK, fontsize=9)
    named_legend(
        figure,
        list(named.values()),
        list(named),
        loc="outside lower center",
        ncols=2,
        frameon=False,
        fontsize=9,
    )
    _save(figure, path)


def _per(races: Sequence[Race], what: str, of: str, scale: int) -> float:
    total = sum(getattr(race, of) for race in races)
    found: int = sum(getattr(race, what) for race in races)
    return scale * found / total if total else 0.0


def _colours(groups: Iterable[Iterable[str]]) -> dict[str, str]:
    """A colour for each AQM, the same in all groups."""
    labels = dict.fromkeys(label for group in groups for label in group)
    return {label: COLOURS[place % len(COLOURS)] for place, label in enumerate(labels)}


def _instant(value: float, _: int) -> str:
    if value <= _NEAREST:
        return "0"
    for factor, unit in _UNITS:
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} ns"


def _save(figure: Figure, path: Path) -> None:
    with replacing(path) as fresh:
        figure.savefig(
            fresh, format="png", dpi=150, facecolor="white", metadata={"Software": "sojourn"}
        )
