"""Panels that stand above each other on one time axis: what all plots over time have in common.

What the mouse points at is told of all panels, and zooming is in time alone, so that no panel loses
its curve. Stands on plain data for plotly.js. Knows no run and no page.
"""

from typing import Any

from sojourn.report.plain import Figure
from sojourn.report.style import common_layout
from sojourn.style import RULE, TARGET_COLOUR

_GAP = 0.22
"""Of a panel's height, above it: for its title."""

LOGARITHMIC = {"type": "log", "dtick": 1, "tickformat": "~g"}
"""Keys of an axis with a logarithmic scale."""


def panels(count: int) -> list[tuple[float, float]]:
    """From where to where each panel goes, the first one at the top; shares of the height."""
    lows = [place / count for place in reversed(range(count))]
    return [(low, low + (1 - _GAP) / count) for low in lows]


def add_panel(
    figure: Figure, panel: int, place: tuple[float, float], title: str, **axis: Any
) -> None:
    """A panel, counted from 1, at its place, with its title above it. `axis` has keys of its
    values' axis."""
    figure.axis("y", panel, domain=list(place), anchor="x", gridcolor=RULE, fixedrange=True, **axis)
    figure.add_annotation(
        text=title,
        font={"size": 13},
        showarrow=False,
        **{"xref": "paper", "x": 0, "xanchor": "left"},
        **{"yref": "paper", "y": place[1], "yanchor": "bottom"},
    )


def add_target(figure: Figure, panel: int, target: float) -> None:
    """A dashed line across a panel at `target`."""
    figure.add_shape(
        **{"type": "line", "xref": "x domain", "x0": 0, "x1": 1},
        **{"yref": f"y{panel}", "y0": target, "y1": target},
        line={"color": TARGET_COLOUR, "width": 1, "dash": "dash"},
    )


def hang(
    figure: Figure, panels: int, *, height: int, hover: str, until: float | None = None
) -> Figure:
    """Puts the time axis below the last of `panels` panels and sets the layout around them.

    `height` is in pixels; `hover` formats instants in s; `until`, in s, is where the axis ends, or
    else it ends with the curves.
    """
    ends = {} if until is None else {"range": [0, until]}
    figure.axis(
        "x", gridcolor=RULE, anchor=f"y{panels}", **ends, ticksuffix=" s", hoverformat=hover
    )
    return figure.update_layout(
        height=height, hovermode="x unified", hoversubplots="axis", **common_layout(left=60)
    )


def legend_below(figure: Figure, y: float) -> Figure:
    """The legend below the time axis, `y` panels' heights."""
    return figure.update_layout(legend={"orientation": "h", "x": 0, "y": y, "yanchor": "top"})
