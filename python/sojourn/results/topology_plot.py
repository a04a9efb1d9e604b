"""The picture of a network with the load of each direction of each link, one panel for each AQM.

Depends on the loads and on matplotlib. Uses no rows.
"""

from collections.abc import Sequence
from io import StringIO
from math import hypot, sqrt

from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from sojourn.common.atomic_write import write_bytes
from sojourn.results.counters import read_counters
from sojourn.results.link_loads import LinkLoad, Places, link_loads, places
from sojourn.results.plots import Picture, as_png, plain_text
from sojourn.results.result import Result
from sojourn.results.style import INK, MUTED
from sojourn.runtime.run_files import TOPOLOGY_PLOT

_SCALE = LinearSegmentedColormap.from_list("load", ["#9aa3ad", "#E69F00", "#C1121F"])
"""From an idle link to a full one, visible on white and on black."""
_WIDTHS = (0.8, 3.2)
"""Points, of an idle and of a full link: the load without colours."""
_WIDTH, _ROW_HEIGHT = 10.0, 0.95
"""Inches, of the picture and of a row of nodes."""
_MOST_NAMES = {"below": 40, "left": 12, "above": 40}
"""Names in a row, by their side."""
_MOST_IN_PAGE = 2_000
"""Links of a picture that a page contains."""
_UNKNOWN = MUTED


def write_topology_plot(result: Result) -> None:
    """Writes the picture into the run's folder, if the run counted the loads of links."""
    if figure := topology_loads(result):
        write_bytes(result.path / f"{TOPOLOGY_PLOT}.png", as_png(figure))


def topology_svg(result: Result) -> str:
    """The picture for a page, in its colour of text; empty without loads, or if it is large."""
    if len(result.scenario.links) > _MOST_IN_PAGE:
        return ""
    figure = topology_loads(result)
    if figure is None:
        return ""
    text = StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    drawing = text.getvalue()
    return drawing[drawing.index("<svg") :].replace(INK, "currentColor")


@plain_text()
def topology_loads(result: Result) -> Figure | None:
    """One panel for each AQM; nothing if no run counted the loads of links."""
    scenario = result.scenario
    loads = {
        label: found
        for label, aqm in result.aqms.items()
        if (found := link_loads(scenario, read_counters(aqm.folder)))
    }
    if not loads:
        return None
    nodes = places(scenario)
    height = _ROW_HEIGHT * max(len(nodes.rows), 2) + 0.35
    figure = Picture(figsize=(_WIDTH, height * len(loads) + 0.7))
    panels = figure.subplots(len(loads), 1, squeeze=False)[:, 0]
    for panel, (label, found) in zip(panels, loads.items(), strict=True):
        _draw(panel, nodes, found)
        panel.set_title(f"{label}   {_fullest(found)}", loc="left", color=INK, fontsize=10)
    total = figure.get_size_inches()[1]
    figure.subplots_adjust(
        left=0.01, right=0.99, top=1 - 0.3 / total, bottom=0.72 / total, hspace=0.35 / height
    )
    bar = figure.add_axes((0.3, 0.42 / total, 0.4, 0.1 / total))
    shades = ScalarMappable(Normalize(0, 100), _SCALE)
    figure.colorbar(shades, cax=bar, orientation="horizontal", label="load of a link, %")
    bar.tick_params(colors=INK, labelsize=8)
    bar.xaxis.label.set(color=INK, size=9)
    bar.spines[:].set_visible(False)
    return figure


def _fullest(loads: Sequence[LinkLoad]) -> str:
    """The link with the highest load, in words."""
    known = [(one.utilisation, one) for one in loads if one.utilisation is not None]
    if not known:
        return ""
    share, one = max(known, key=lambda pair: pair[0])
    return f"fullest: {one.start} to {one.end}, {100 * share:.0f} %"


def _draw(panel: Axes, nodes: Places, loads: Sequence[LinkLoad]) -> None:
    panel.set_axis_off()
    panel.set_xlim(0, 1)
    panel.set_ylim(-0.16, 1.12)
    # Inches of a step of one, for lines beside each other.
    wide, high = _WIDTH, _ROW_HEIGHT * max(len(nodes.rows) - 1, 1)
    lines, colours, widths = [], [], []
    seen = dict[tuple[str, str], int]()
    for one in sorted(loads, key=lambda load: load.utilisation or 0):
        ends = (one.start, one.end)
        seen[ends] = seen.get(ends, -1) + 1
        lines.append(_line(nodes, one, seen[ends], wide, high))
        share = min(one.utilisation or 0.0, 1.0)
        colours.append(_UNKNOWN if one.utilisation is None else _SCALE(share))
        widths.append((_WIDTHS[0] + share * (_WIDTHS[1] - _WIDTHS[0])) * _thinner(nodes))
    panel.add_collection(
        LineCollection(lines, colors=colours, linewidths=widths, capstyle="round", zorder=1)
    )
    for row, sides in zip(nodes.rows, _sides(len(nodes.rows)), strict=True):
        _draw_row(panel, nodes, row, sides)


def _thinner(nodes: Places) -> float:
    """A factor for widths where many nodes stand in a row."""
    return min(1.0, sqrt(60 / max(len(row) for row in nodes.rows)))


def _line(
    nodes: Places, one: LinkLoad, place: int, wide: float, high: float
) -> list[tuple[float, float]]:
    """A direction's line, at the right of the way: the other direction has the other side."""
    (x0, y0), (x1, y1) = nodes.at[one.start], nodes.at[one.end]
    along, up = (x1 - x0) * wide, (y1 - y0) * high
    length = hypot(along, up) or 1.0
    apart = (0.022 + 0.05 * place) * _thinner(nodes)
    right, down = up / length * apart / wide, -along / length * apart / high
    return [(x0 + right, y0 + down), (x1 + right, y1 + down)]


def _sides(rows: int) -> list[str]:
    """The sides of names, from the lowest row up: where no lines are."""
    return ["below", *["left"] * (rows - 2), "above"][:rows]


_OFFSETS = {
    "below": ((0, -7), "center", "top"),
    "left": ((-6, 0), "right", "center"),
    "above": ((0, 7), "center", "bottom"),
}
"""Points from a node to its name, and the alignment of the name."""


def _draw_row(panel: Axes, nodes: Places, row: Sequence[str], side: str) -> None:
    spots = [nodes.at[name] for name in row]
    marker, most = ("o", 30.0) if side == "below" else ("s", 70.0)
    across, up = [x for x, _ in spots], [y for _, y in spots]
    panel.scatter(
        across, up, s=min(most, 3_000 / len(row)), marker=marker, color=INK, zorder=2,
        clip_on=False,
    )  # fmt: skip
    if len(row) > _MOST_NAMES[side]:
        return
    offset, aligned, along = _OFFSETS[side]
    for name, spot in zip(row, spots, strict=True):
        panel.annotate(
            name, spot, xytext=offset, textcoords="offset points", ha=aligned, va=along, color=INK,
            fontsize=8 if len(row) <= 20 else 6,
        )  # fmt: skip
