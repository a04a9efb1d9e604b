"""docs/prague.png: segments that Prague sends a round trip, over those of the reference.

    python bench/prague.py

Draws `docs/data/tcp-prague.csv`, which `cargo test -p sojourn-net --lib reference_has_it` prints.
Must not depend on a run.
"""

import csv
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from sojourn.results.plots import bare
from sojourn.results.style import COLOURS, INK, MUTED

DOCS = Path(__file__).resolve().parent.parent / "docs"
SPREADS = {"even": "every n-th packet marked", "random": "marks at random"}
TICKS = (1, 5, 10, 25, 200)
"""ms of round trips on the axis."""


def draw(rows: list[dict[str, str]]) -> Figure:
    """A panel for each way to spread marks, a line for each share of them."""
    shares = dict.fromkeys(row["marks, %"] for row in rows)
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    panels: list[Axes] = list(figure.subplots(1, len(SPREADS), sharey=True))
    for panel, (spread, title) in zip(panels, SPREADS.items(), strict=True):
        bare(panel)
        panel.axhline(1.0, color=MUTED, linewidth=1)
        for colour, share in zip(COLOURS, shares, strict=False):
            own = [row for row in rows if row["marks, %"] == share]
            ratios = [
                float(row[f"{spread}: ours"]) / float(row[f"{spread}: reference"]) for row in own
            ]
            times = [float(row["RTT, ms"]) for row in own]
            panel.plot(
                times, ratios, "o-", color=colour, linewidth=1.5, markersize=3.5, label=f"{share} %"
            )
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(FixedLocator(TICKS))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        panel.set_xlabel("round-trip time, ms", color=INK, fontsize=9)
        panel.set_title(title, loc="left", color=INK, fontsize=10)
    panels[0].set_ylabel("segments, ours / reference", color=INK, fontsize=9)
    panels[1].legend(title="marked", frameon=False, fontsize=8, title_fontsize=8, labelcolor=INK)
    return figure


if __name__ == "__main__":
    with (DOCS / "data" / "tcp-prague.csv").open(newline="") as file:
        figure = draw(list(csv.DictReader(file)))
    figure.savefig(DOCS / "prague.png", dpi=120, facecolor="white")
