"""How the report's plots look, whatever they show.

Stands on the colours that all pictures share. Knows no plot.
"""

from html import escape

from sojourn.style import INK, MUTED

_FONT = "system-ui, sans-serif"
_PAPER = "#fdfdfe"
"""Under labels; the page has another for the dark."""


def text(label: str) -> str:
    """A label as plotly shows it: it takes a few tags, and knows few names of characters."""
    return escape(label, quote=False)


def common_layout(*, left: int) -> dict[str, object]:
    """Keys of every plot's layout; `left` is its margin there, in pixels."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": MUTED, "activecolor": INK},
        "font": {"family": _FONT, "color": INK, "size": 12},
        "margin": {"l": left, "r": 20, "t": 40, "b": 50},
        "hoverlabel": {
            "font": {"family": _FONT, "color": INK},
            "bordercolor": MUTED,
            "bgcolor": _PAPER,
        },
    }
