"""The plots of a page and the script that draws them, compressed, as the page carries them.

Stands on plotly's own script, whose five megabytes are a third of that when packed. The browser
unpacks them (`DecompressionStream`) and draws; dark pages get the colours that are meant for them.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache

import plotly.graph_objects as go
from plotly.offline import get_plotlyjs

CONFIG = {
    "displaylogo": False,
    "responsive": True,
    # The page talks to nobody.
    "modeBarButtonsToRemove": ["sendChartToCloud"],
    "plotlyServerURL": "",
}


def packed(figures: Mapping[str, go.Figure]) -> tuple[str, str]:
    """The script and the figures by the names of their places, as text for the page."""
    drawn = {name: json.loads(figure.to_json()) for name, figure in figures.items()}
    plots = json.dumps({"figures": drawn, "config": CONFIG}, separators=(",", ":"))
    return _script(), _pack(plots)


@cache
def _script() -> str:
    return _pack(get_plotlyjs())


def _pack(text: str) -> str:
    # Without a time of day, so that the same run gives the same page.
    return b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()
