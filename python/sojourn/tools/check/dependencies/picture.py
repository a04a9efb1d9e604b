"""Picture of state variables: the decisions that depend on them, and every access in order.

One column for each variable, those of one atomic block side by side; arcs above them, the program's
statements next to them. Depends on the canvas; must not depend on stages.
"""

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from sojourn.results.style import INK, MUTED, RULE
from sojourn.tools.check.drawing import (
    LINE,
    STATE_COLOURS,
    Canvas,
    Number,
    arrow_head,
    characters,
    circle,
    group,
    label,
    line,
    lines_of,
    mono_width,
    path,
    rectangle,
)

_MARGIN = 24.0
_LINE_NUMBERS = 40.0
_ROW = 19.0
_INDENT = 12.0
_CIRCLE = "#b91c1c"
_MOST_TEXT = 56
MOST_VARIABLES = 40
"""Columns at most; more are not to be drawn."""
MOST_STEPS = 400
"""Rows at most."""


@dataclass(frozen=True)
class _Column:
    """A variable's column."""

    name: str
    middle: float
    width: float
    colour: str
    block: int


def draw_dependencies(program: str | Path, data: dict[str, Any]) -> str:
    """The picture of an analysis: `data` as `dependencies` gives it."""
    name = Path(program).name
    layouts = [_layout(control) for control in data["controls"]]
    width = max([_right(columns) for columns in layouts] + [640.0]) + _MARGIN
    canvas = Canvas(width, f"state variables of {name}")
    label(canvas.root, _MARGIN, _MARGIN + 16, name, classes="title")
    y = _MARGIN + 36
    if not layouts:
        label(canvas.root, _MARGIN, y, "no state variables", classes="subtitle")
    for control, columns in zip(data["controls"], layouts, strict=True):
        y = _control(canvas.root, y, control, columns)
    return canvas.text(_legend(canvas.root, y + 12) + _MARGIN)


def _text_width(control: dict[str, Any]) -> float:
    longest = max((len(step["text"]) + 2 * step["depth"] for step in control["steps"]), default=0)
    return _LINE_NUMBERS + mono_width("x" * min(longest, _MOST_TEXT + 8)) + 24


def _layout(control: dict[str, Any]) -> list[_Column]:
    """Columns in the order of the blocks, each before those that it decides over."""
    x = _MARGIN + _text_width(control)
    columns: list[_Column] = []
    for block, each in enumerate(control["blocks"]):
        for name in each["variables"]:
            width = min(128.0, max(76.0, mono_width(name) + 18))
            colour = STATE_COLOURS[len(columns) % len(STATE_COLOURS)]
            columns.append(_Column(name, x + width / 2, width, colour, block))
            x += width
        x += 14
    return columns[:MOST_VARIABLES]


def _right(columns: list[_Column]) -> float:
    return columns[-1].middle + columns[-1].width / 2 + 10


def _control(root: Element, y: float, control: dict[str, Any], columns: list[_Column]) -> float:
    """One control; the answer is the y below it."""
    count = len(control["variables"])
    blocks = sum(len(block["variables"]) > 1 for block in control["blocks"])
    plural = "s" if count != 1 else ""
    text = f"{control['name']}: {count} state variable{plural}, " + _atomic(blocks)
    label(root, _MARGIN, y, text, classes="subtitle")
    hidden = count - len(columns)
    if hidden > 0:
        text = f"{hidden} more are not drawn"
        label(root, _MARGIN, y + 16, text, classes="small", style=f"fill:{_CIRCLE}")
    by_name = {column.name: column for column in columns}
    flows = [
        (by_name[flow["from"]], by_name[flow["to"]], flow)
        for flow in control["flows"]
        if flow["from"] in by_name and flow["to"] in by_name
    ]
    background, front = group(root), group(root)
    heads = y + 26 + _arc_room(flows)
    for start, end, flow in flows:
        _arc(front, heads, start, end, flow)
    top = heads + 34
    bottom = _steps(front, background, top, control, columns)
    _bands(background, heads, bottom, control, columns)
    _heads(front, heads, control, columns)
    label(root, _MARGIN, heads + 14, "line", classes="muted")
    words = "statement, in the order of the program"
    label(root, _MARGIN + _LINE_NUMBERS, heads + 14, words, classes="muted")
    return bottom + 30


def _atomic(blocks: int) -> str:
    if blocks == 0:
        return "each by itself"
    return "one atomic block" if blocks == 1 else f"{blocks} atomic blocks"


def _arc_room(flows: list[tuple[_Column, _Column, dict[str, Any]]]) -> float:
    return max([_height(start, end) for start, end, _ in flows if start is not end] + [26.0]) + 12


def _height(start: _Column, end: _Column) -> float:
    return min(110.0, 24 + 0.18 * abs(start.middle - end.middle))


def _arc(parent: Element, y: float, start: _Column, end: _Column, flow: dict[str, Any]) -> None:
    """From the variable that decides to the one that is written."""
    place = f"line {flow['at']['line']}: " if flow["at"] else ""
    arc = group(parent, f"{flow['from']} decides over {flow['to']}, {place}{flow['text']}")
    colour = _CIRCLE if start.block == end.block and start is not end else "#94a3b8"
    look: dict[str, Number] = {"fill": "none", "stroke": colour, "stroke_width": 1.5}
    if start is end:
        x = start.middle
        path(arc, "M", x - 6, y, "C", x - 16, y - 22, x + 16, y - 22, x + 6, y, **look)
        arrow_head(arc, x + 6, y, -0.35, 0.94, colour, 6)
        return
    # What goes right leaves at the right of the head, so that the two ways do not cross.
    side = 12 if end.middle > start.middle else -12
    x1, x2 = start.middle + side, end.middle - side
    rise = _height(start, end)
    if side < 0:
        rise *= 0.72
    path(arc, "M", x1, y, "C", x1, y - rise * 1.3, x2, y - rise * 1.3, x2, y, **look)
    arrow_head(arc, x2, y, 0, 1, colour, 6)


def _bands(
    background: Element, top: float, bottom: float, control: dict[str, Any], columns: list[_Column]
) -> None:
    """Behind the columns of an atomic block."""
    for number, block in enumerate(control["blocks"]):
        mine = [column for column in columns if column.block == number]
        if not mine:
            continue
        left = mine[0].middle - mine[0].width / 2
        right = mine[-1].middle + mine[-1].width / 2
        atomic = len(block["variables"]) > 1
        look = {"fill": "#fdf1f0", "stroke": "#e9a8a3"} if atomic else {"fill": "#f6f8fa"}
        rectangle(background, left, top - 4, right - left, bottom - top + 8, rx=8, **look)
        if atomic:
            label(
                background, (left + right) / 2, bottom + 20, "one atomic block",
                text_anchor="middle", classes="bold small", style=f"fill:{_CIRCLE}",
            )  # fmt: skip


def _heads(parent: Element, y: float, control: dict[str, Any], columns: list[_Column]) -> None:
    known = {variable["name"]: variable for variable in control["variables"]}
    for column in columns:
        variable = known[column.name]
        size = f"{variable['size']} entries of " if variable["size"] else ""
        place = f"\nline {variable['at']['line']}" if variable["at"] else ""
        head = group(parent, f"{variable['register']}\n{size}{variable['type']}{place}")
        width = column.width - 8
        rectangle(head, column.middle - width / 2, y, width, 22, rx=6, fill=column.colour)
        text = lines_of(column.name, width - 6, 1)[0]
        label(
            head, column.middle, y + 15, text, text_anchor="middle", classes="mono bold",
            style="fill:#ffffff",
        )  # fmt: skip


def _steps(
    front: Element,
    background: Element,
    top: float,
    control: dict[str, Any],
    columns: list[_Column],
) -> float:
    """A row for each statement; the answer is the y below them."""
    steps = control["steps"][:MOST_STEPS]
    bottom = top + len(steps) * _ROW + 6
    for column in columns:
        line(
            front, column.middle, top - 10, column.middle, bottom, stroke=column.colour,
            stroke_width=1, stroke_opacity=0.35,
        )  # fmt: skip
    y = top
    for step in steps:
        _step(front, background, y, step, columns)
        y += _ROW
    if len(control["steps"]) > MOST_STEPS:
        text = f"{len(control['steps']) - MOST_STEPS} more statements are not drawn"
        label(front, _MARGIN, bottom + 8, text, classes="small", style=f"fill:{_CIRCLE}")
    return bottom


def _step(
    front: Element, background: Element, y: float, step: dict[str, Any], columns: list[_Column]
) -> None:
    middle = y + _ROW / 2
    row = group(front, _hint(step))
    number = str(step["at"]["line"]) if step["at"] else ""
    label(
        row, _MARGIN + 26, middle + 4, number, text_anchor="end", classes="mono",
        style=f"fill:{MUTED}",
    )  # fmt: skip
    x = _MARGIN + _LINE_NUMBERS + step["depth"] * _INDENT
    room = columns[0].middle - columns[0].width / 2 - x - 10
    text = step["text"]
    cut = text if mono_width(text) <= room else text[: characters(room) - 1] + "…"
    style = f"fill:{_CIRCLE}" if step["drops"] else ""
    label(row, x, middle + 4, cut, classes="mono", style=style)
    line(
        background, _MARGIN, y + _ROW, _right(columns) - 10, y + _ROW, stroke=RULE, stroke_width=0.5
    )
    _marks(row, middle, step, columns)


def _hint(step: dict[str, Any]) -> str:
    parts = [step["text"]]
    if step["reads"]:
        parts.append("reads " + ", ".join(step["reads"]))
    if step["uses"]:
        parts.append("depends on " + ", ".join(step["uses"]))
    for written in step["writes"]:
        parts.append(f"writes {written['name']}, decided by {', '.join(written['from']) or 'none'}")
    return "\n".join(parts)


def _marks(row: Element, y: float, step: dict[str, Any], columns: list[_Column]) -> None:
    """r, w and the dots of a row, joined by a line from the first to the last."""
    written = {each["name"] for each in step["writes"]}
    reads, uses = set(step["reads"]), set(step["uses"])
    marked = [column for column in columns if column.name in reads | uses | written]
    for left, right in pairwise(marked):
        line(row, left.middle, y, right.middle, y, stroke=MUTED, stroke_width=1)
    for column in marked:
        r, w = column.name in reads, column.name in written
        if r and w:
            _letter(row, column.middle - 8, y, "r", column.colour, filled=False)
            _letter(row, column.middle + 8, y, "w", column.colour, filled=True)
        elif w:
            _letter(row, column.middle, y, "w", column.colour, filled=True)
        elif r:
            _letter(row, column.middle, y, "r", column.colour, filled=False)
        else:
            circle(row, column.middle, y, 3, fill=column.colour)


def _letter(parent: Element, x: float, y: float, letter: str, colour: str, *, filled: bool) -> None:
    circle(
        parent, x, y, 7, fill=colour if filled else "#ffffff", stroke=colour, stroke_width=1.6
    )  # fmt: skip
    label(
        parent, x, y + 3.4, letter, text_anchor="middle", classes="mono bold",
        style=f"fill:{'#ffffff' if filled else colour}",
    )  # fmt: skip


def _legend(root: Element, y: float) -> float:
    x, colour = _MARGIN, STATE_COLOURS[0]
    _letter(root, x + 8, y, "r", colour, filled=False)
    x = _say(root, x + 20, y, "read")
    _letter(root, x + 8, y, "w", colour, filled=True)
    x = _say(root, x + 20, y, "written")
    circle(root, x + 8, y, 3, fill=colour)
    x = _say(root, x + 18, y, "depends on it")
    path(root, "M", x, y + 4, "C", x, y - 9, x + 22, y - 9, x + 22, y + 2, fill="none", stroke=INK)
    arrow_head(root, x + 22, y + 4, 0, 1, INK)
    x = _say(root, x + 30, y, "decides what is written there, or whether")
    path(
        root, "M", x, y + 4, "C", x, y - 9, x + 22, y - 9, x + 22, y + 2, fill="none",
        stroke=_CIRCLE,
    )  # fmt: skip
    arrow_head(root, x + 22, y + 4, 0, 1, _CIRCLE)
    text = "in a circle: all of them read and written in one step"
    _say(root, x + 30, y, text)
    return y + LINE


def _say(root: Element, x: float, y: float, text: str) -> float:
    label(root, x, y + 4, text, classes="small muted")
    return x + len(text) * 5.4 + 14
