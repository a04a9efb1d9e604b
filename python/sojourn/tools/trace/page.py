"""A traced packet as a page: a tree that is opened by hand, without a script.

Depends on the lines of `tree.py`. The page needs nothing from anywhere.
"""

from collections.abc import Iterable, Sequence
from html import escape

from sojourn.tools.trace.steps import Traced
from sojourn.tools.trace.tree import Line, lines_of

STYLE = """
.trace, .trace details, .trace p { font: 13px/1.5 ui-monospace, monospace; margin: 0; }
.trace summary { cursor: pointer; overflow-wrap: anywhere; }
.trace p { padding-left: 1.05em; overflow-wrap: anywhere; }
.trace details > * + * { margin-left: 1.1em; }
.trace i { font-style: normal; opacity: .6; margin-left: .8em; white-space: nowrap; }
.trace .pass, .trace .end { font-weight: 600; }
.trace .table { color: var(--trace-table, #1a5fb4); }
.trace .register { color: var(--trace-register, #a04000); }
"""

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --trace-table: #8ab4f8; --trace-register: #f0a060; background: #16181c; color: #ddd; }}
}}
body {{ max-width: 70rem; margin: 1rem auto; padding: 0 1rem; font: 15px/1.5 system-ui; }}
h1 {{ font-size: 1.2rem; overflow-wrap: anywhere; }} h2 {{ font-size: 1rem; }}
{style}</style>
<h1>{title}</h1>
{body}
</html>
"""


def trace_page(title: str, ways: Sequence[Traced]) -> str:
    """All of `ways` on one page."""
    body = "\n".join(
        f"<h2>{escape(way.title)}</h2>\n{trace_section(lines_of(way.passes))}" for way in ways
    )
    return _PAGE.format(title=escape(title), style=STYLE, body=body)


def trace_section(lines: Iterable[Line]) -> str:
    """The lines as elements to open: passes and blocks are open, what is inside is not."""
    return f'<div class="trace">{"".join(map(_element, lines))}</div>'


def _element(line: Line) -> str:
    place = f"<i>{escape(line.place)}</i>" if line.place else ""
    text = f"{escape(line.text)}{place}"
    if not line.below:
        return f'<p class="{line.kind}">{text}</p>'
    is_open = " open" if line.kind in ("pass", "block", "table") else ""
    inner = "".join(map(_element, line.below))
    return f'<details{is_open}><summary class="{line.kind}">{text}</summary>{inner}</details>'
