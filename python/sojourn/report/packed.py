"""The plots of a page and the script that draws them, compressed, as the page carries them.

`plotly-basic.min.js.gz` is plotly.js's own bundle of lines, points and bars, a quarter of all:
`npm pack plotly.js-basic-dist-min@4.1.1`, then `gzip -9 -n` of its `plotly-basic.min.js`; its
licence stands beside it. The browser unpacks script and plots (`DecompressionStream`) and draws;
dark pages get the colours that are meant for them.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from sojourn.report.plain import Figure

SCRIPT = "plotly-basic.min.js.gz"

CONFIG = {
    "displaylogo": False,
    "responsive": True,
    # The page talks to nobody.
    "modeBarButtonsToRemove": ["sendChartToCloud"],
    "plotlyServerURL": "",
}


def packed(figures: Mapping[str, Figure]) -> tuple[str, str]:
    """The script and the figures by the names of their places, as text for the page."""
    drawn = {name: figure.as_json() for name, figure in figures.items()}
    plots = json.dumps({"figures": drawn, "config": CONFIG}, separators=(",", ":"), allow_nan=False)
    # Without a time of day, so that the same run gives the same page.
    return _script(), b64encode(gzip.compress(plots.encode(), 6, mtime=0)).decode()


@cache
def _script() -> str:
    return b64encode(files("sojourn.report").joinpath(SCRIPT).read_bytes()).decode()
