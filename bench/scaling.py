"""bench/scaling.svg: cost of a packet with 10 to 10,000 flows.

Usage: bench/scaling.py [PRINTED]

Runs the benchmark `scaling` and draws its tables over the number of flows, with a line of its own
for ten flows at 1 Mbit/s each; or draws what it has PRINTED earlier.
"""

import subprocess
import sys
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from machine import machine
from sojourn.results.plots import bare
from sojourn.results.style import COLOURS, INK, MUTED

HERE = Path(__file__).resolve().parent
BENCH = ("cargo", "bench", "--locked", "--quiet", "-p", "sojourn-bench", "--bench", "scaling")
TEN = ("10", "10", "20000")
"""Flows, Mbit/s and ms of a line that the tables do not have: they simulate equally long, in which
so few flows send too little to be measured."""

SHARED = 10_000
"""Mbit/s of the table in which flows share a rate."""
TICKS = (10, 100, 1_000, 10_000)


class Line(NamedTuple):
    """A line of a table."""

    flows: int
    mbit: int
    cost: int
    """ns a packet."""


def main() -> None:
    if len(sys.argv) > 1:
        printed = Path(sys.argv[1]).read_text("utf-8")
    else:
        printed = "".join(_benchmark(words) for words in ((), ("--", *TEN)))
        print(printed)
    # Text stays text, and the same figures give the same bytes.
    rcParams["svg.fonttype"], rcParams["svg.hashsalt"] = "none", "sojourn"
    figure = draw(list(lines(printed)))
    figure.savefig(HERE / "scaling.svg", facecolor="white", metadata={"Date": None})


def _benchmark(words: tuple[str, ...]) -> str:
    command = [*BENCH, *words]
    return subprocess.run(
        command, cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def lines(printed: str) -> list[Line]:
    """The lines of all tables."""
    words = [line.split() for line in printed.splitlines()]
    rows = [row for row in words if len(row) >= 7 and row[0].isdigit()]
    return [Line(int(flows), int(mbit), int(cost)) for flows, mbit, _, _, _, cost, *_ in rows]


def draw(measured: list[Line]) -> Figure:
    """Two series, and how the first may grow if time is to grow no faster than n log n."""
    # Of 10,000 flows at 10 Gbit/s the first table has the longer run, and it comes first.
    each = {one.flows: one.cost for one in reversed(measured) if one.flows == one.mbit}
    shared = {one.flows: one.cost for one in measured if one.mbit == SHARED}
    figure = Figure(figsize=(7.2, 4.0), layout="constrained")
    panel: Axes = figure.subplots()
    bare(panel)
    _series(panel, "10 Gbit/s for all together", shared, each, COLOURS[0])
    _series(panel, "1 Mbit/s for each", each, shared, COLOURS[1])
    _bound(panel, each)
    panel.set_xscale("log")
    panel.set_xlim(7, 14_000)
    panel.set_ylim(0, 1.1 * max(one.cost for one in measured))
    panel.xaxis.set_major_locator(FixedLocator(TICKS))
    panel.xaxis.set_minor_locator(NullLocator())
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    panel.set_xlabel("flows", color=INK, fontsize=9)
    panel.set_ylabel("processor time a packet, ns", color=INK, fontsize=9)
    title = "What a packet costs: CUBIC flows behind one CoDel, RTT 50 to 100 ms"
    panel.set_title(title, loc="left", color=INK, fontsize=11)
    panel.legend(loc="upper left", frameon=False, fontsize=9, labelcolor=INK)
    figure.supxlabel(machine(), x=0.99, ha="right", color=MUTED, fontsize=7)
    return figure


def _series(
    panel: Axes, name: str, costs: dict[int, int], others: dict[int, int], colour: str
) -> None:
    """A line with its figures, on the side that the other series is not on."""
    flows = sorted(costs)
    panel.plot(
        flows,
        [costs[n] for n in flows],
        "o-",
        color=colour,
        linewidth=1.8,
        markersize=5,
        label=name,
    )
    for n in flows:
        below = costs[n] < others.get(n, 0)
        panel.annotate(
            f"{costs[n]:,}",
            (n, costs[n]),
            xytext=(0, -7 if below else 7),
            textcoords="offset points",
            ha="center",
            va="top" if below else "bottom",
            color=colour,
            fontsize=8,
        )


def _bound(panel: Axes, costs: dict[int, int]) -> None:
    """Packets grow with flows, so that n log n is log n for a packet; from where the benchmark's
    table begins, which judges by it."""
    first = min(n for n in costs if n > TICKS[0])
    flows = np.geomspace(first, max(costs), 100)
    allowed = [costs[first] * log(n) / log(first) for n in flows]
    name = f"n log n, from {first} flows at 1 Mbit/s"
    panel.plot(
        flows, allowed, color=MUTED, linewidth=1, linestyle=(0, (2, 3)), label=name, zorder=1
    )


if __name__ == "__main__":
    main()
