"""How the report's plots look, whatever they show.

Stands on the colours that all pictures share. Knows no plot.
"""

import re
from html import escape

from sojourn.style import INK, MUTED

_FONT = "system-ui, sans-serif"
_MARKUP = re.compile("[<&]")
_JOINER = "\u2060"
"""Takes no room."""
_PAPER = "#fdfdfe"
"""Under labels; the page has another for the dark."""


def text(label: str) -> str:
    """A label as text of a plot. Plotly reads tags and names of characters, in some places twice,
    so no `<` or `&` has the letter right behind it that would make it one."""
    return escape(_MARKUP.sub(f"\\g<0>{_JOINER}", label), quote=False)


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
