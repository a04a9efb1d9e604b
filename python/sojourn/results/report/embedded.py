"""The page's plots and BokehJS, compressed, as text of the page.

BokehJS is the file of the installed package `bokeh`, under the BSD licence. The browser unpacks
both (`DecompressionStream`) and draws without network access.
"""

import gzip
import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from sojourn.errors import OutputError
from sojourn.results.report.models import Model, document

_SCRIPT = "bokeh/server/static/js/bokeh.min.js"
_OLDEST, _END = (3, 9), (4, 0)
"""Versions that read the documents of `models`: from the first, before the second."""


def packed(roots: Mapping[str, Model]) -> tuple[str, str]:
    """BokehJS and the document of these roots, each compressed and in base64.

    An `OutputError` if the installed `bokeh` is missing, of another version or without its script.
    """
    version, script = bokeh_js()
    text = json.dumps(document(roots, version), separators=(",", ":"), allow_nan=False)
    return _script(script), _compressed(text.encode(), 6)


def packed_data(data: object) -> str:
    """Plain data of the page, compressed and in base64."""
    return _compressed(json.dumps(data, separators=(",", ":"), allow_nan=False).encode(), 6)


def bokeh_js() -> tuple[str, Path]:
    """The version of the installed `bokeh` and the path of its script; Bokeh is not imported."""
    wanted = 'a report needs bokeh>=3.9,<4: pip install "bokeh>=3.9,<4"'
    try:
        found = distribution("bokeh")
    except PackageNotFoundError:
        raise OutputError(f"bokeh is not installed; {wanted}") from None
    numbers = tuple(int(part) for part in found.version.split(".")[:2] if part.isdigit())
    if not _OLDEST <= numbers < _END:
        raise OutputError(f"bokeh {found.version} is installed; {wanted}")
    script = Path(str(found.locate_file(_SCRIPT)))
    if not script.is_file():
        raise OutputError(f"bokeh {found.version} has no {script}; {wanted} --force-reinstall")
    return found.version, script


@cache
def _script(path: Path) -> str:
    return _compressed(path.read_bytes(), 9)


def _compressed(content: bytes, level: int) -> str:
    # The time in the header is zero, so that the same run gives the same page.
    return b64encode(gzip.compress(content, level, mtime=0)).decode()
