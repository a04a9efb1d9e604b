"""The path of each state variable: one lane a register, through the columns of the stages.

To the left of the register's box stand the fields that its access needs, in the stages that compute
them; to the right the steps that use its output. Depends on the columns and the canvas.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any
from xml.etree.ElementTree import Element

from sojourn.results.style import MUTED, RULE
from sojourn.tools.check.drawing import (
    LINE,
    Number,
    arrow_head,
    circle,
    group,
    label,
    line,
    lines_of,
    mono_width,
    rectangle,
)
from sojourn.tools.check.stages.columns import GUTTER, MARGIN, Column, Columns

_BOX = 24.0
_PAD = 8.0

ROLES = {"index": "#", "operand": "→", "condition": "?"}
"""Signs of what a field is for an access."""
USES = {
    "condition": "?",
    "key": "key of",
    "index": "index of",
    "operand": "→",
    "state": "→",
    "hash": "hash",
    "packet": "",
}


@dataclass
class Cell:
    """A lane's text in one column: above the line and below it."""

    above: list[str] = field(default_factory=list)
    below: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)


def short(name: str) -> str:
    """The last part of a field's name, with its bits; a condition without its brackets."""
    if name.startswith("if ("):
        return name.removeprefix("if (").removesuffix(")")
    return name.rsplit(".", 1)[-1]


def draw_lanes(
    parent: Element,
    columns: Columns,
    top: float,
    state: list[dict[str, Any]],
    colours: dict[str, str],
) -> float:
    """All lanes, one below the other; the answer is the y below them."""
    y = top
    for register in state:
        column = columns.of(register["stage"])
        if column:
            colour = colours[f"{register['pass']}.{register['short']}"]
            y = _lane(parent, columns, y, register, column, colour)
    return y


def _cells(columns: Columns, register: dict[str, Any]) -> dict[int, Cell]:
    cells: dict[int, Cell] = defaultdict(Cell)
    for each in register["inputs"]:
        column = columns.of(each["stage"])
        if column:
            text = f"{ROLES[each['role']]} {short(each['field'])}"
            _add(cells[column.number].above, text)
            cells[column.number].steps.extend(filter(None, [each["step"]]))
    for each in register["outputs"]:
        column = columns.of(each["stage"], behind=True)
        if column:
            cell = cells[column.number]
            _add(cell.above, short(each["field"]))
            if column is not columns.behind:
                _add(cell.below, f"{USES[each['role']]} {_user(each)}")
            cell.steps.extend(filter(None, [each["step"]]))
    return cells


def _user(output: dict[str, Any]) -> str:
    """The user of an output: of several fields or registers of one action the first."""
    name = str(output["name"])
    return short(name) if output["role"] == "condition" else name


def _add(list_of: list[str], text: str) -> None:
    if text not in list_of:
        list_of.append(text)


def _hint(register: dict[str, Any]) -> str:
    size = f"{register['size']} entries of " if register["size"] else ""
    words = {(True, True): "read and written", (True, False): "read", (False, True): "written"}
    accesses = [
        f"{words.get((each['reads'], each['writes']), 'touched')} by {each['action']}"
        + (f", line {each['at']['line']}" if each["at"] else "")
        for each in register["accesses"]
    ]
    return "\n".join([register["name"], f"{size}{register['entry']}", *accesses])


def _lane(
    parent: Element,
    columns: Columns,
    top: float,
    register: dict[str, Any],
    home: Column,
    colour: str,
) -> float:
    cells = _cells(columns, register)
    widths = {columns.before.number: columns.before.width, columns.behind.number: 0.0}
    widths |= {column.number: column.width for column in columns.stages}
    widths[columns.behind.number] = columns.behind.width
    cells.setdefault(home.number, Cell())
    texts = {
        number: (_wrapped(cell.above, widths[number]), _wrapped(cell.below, widths[number]))
        for number, cell in cells.items()
    }
    above = max(
        len(lines) * LINE + (_BOX / 2 + 6 if number == home.number else 7)
        for number, (lines, _) in texts.items()
    )
    below = max(len(lines) for _, lines in texts.values())
    middle = top + 4 + max(above, _BOX / 2 + 4)
    bottom = middle + max(below * LINE + 9, _BOX / 2 + 4, top + 50 - middle) + 5
    hint = _hint(register)
    data = {"data-register": register["name"], "data-hint": hint}
    lane = group(parent, hint, classes="lane", **data)
    # The whole lane takes the mouse.
    rectangle(lane, MARGIN, top, columns.right - MARGIN, bottom - top, fill="#ffffff", opacity=0)
    line(lane, MARGIN, bottom, columns.right, bottom, stroke=RULE, stroke_width=0.75)
    _line(lane, columns, cells, home, middle, colour)
    for number, (over, under) in texts.items():
        column = _column(columns, number)
        lift = _BOX / 2 + 6 if number == home.number else 7
        _write(lane, column, middle - lift - (len(over) - 1) * LINE, over, colour)
        _write(lane, column, middle + 16, under, MUTED)
    _box(lane, home, middle, register, colour)
    _name(lane, top + 8, register, colour)
    return bottom


def _wrapped(texts: list[str], width: float) -> list[str]:
    return [each for text in texts for each in lines_of(text, width - _PAD - 3, 2)]


def _column(columns: Columns, number: int) -> Column:
    ends = {columns.before.number: columns.before, columns.behind.number: columns.behind}
    return ends.get(number) or columns.stages[number]


def _line(
    lane: Element,
    columns: Columns,
    cells: dict[int, Cell],
    home: Column,
    y: float,
    colour: str,
) -> None:
    """From the first column that the lane touches to the last, with a mark in each."""
    marks = [_column(columns, number) for number in cells if number != home.number]
    before = [column for column in marks if column.x < home.x]
    behind = [column for column in marks if column.x > home.x]
    box_left, box_right = home.x + 5, home.right - 5
    look: dict[str, Number] = {"stroke": colour, "stroke_width": 2.0}
    if before:
        line(lane, min(column.x for column in before) + _PAD, y, box_left - 4, y, **look)
        arrow_head(lane, box_left, y, 1, 0, colour, 8)
    if behind:
        last = max(behind, key=lambda column: column.x)
        line(lane, box_right, y, last.x + _PAD - 2, y, **look)
        arrow_head(lane, last.x + _PAD + 4, y, 1, 0, colour, 8)
        for column in behind:
            if column is not last:
                circle(lane, column.x + _PAD, y, 3.6, fill=colour)
    for column in before:
        circle(
            lane, column.x + _PAD, y, 3.4, fill="#ffffff", stroke=colour, stroke_width=1.8
        )  # fmt: skip


def _write(lane: Element, column: Column, y: float, lines: list[str], colour: str) -> None:
    for number, text in enumerate(lines):
        label(
            lane,
            column.x + _PAD,
            y + number * LINE,
            text,
            classes="mono",
            style=f"fill:{colour}",
        )


def _box(lane: Element, home: Column, y: float, register: dict[str, Any], colour: str) -> None:
    rectangle(
        lane, home.x + 5, y - _BOX / 2, home.width - 10, _BOX, rx=6, fill=colour
    )  # fmt: skip
    name = lines_of(register["short"], home.width - 18, 1)[0]
    label(
        lane,
        home.middle,
        y + 4,
        name,
        text_anchor="middle",
        classes="mono bold",
        style="fill:#ffffff",
    )


def _name(lane: Element, y: float, register: dict[str, Any], colour: str) -> None:
    name = lines_of(register["short"], GUTTER - 12, 1)[0]
    label(lane, MARGIN, y + 10, name, classes="mono bold", style=f"fill:{colour}")
    rows = [part.strip() for part in register["entry"].split(",")]
    if register["size"]:
        rows[-1] += f" x {register['size']}"
    for number, text in enumerate(rows):
        cut = text if mono_width(text, 9.5) < GUTTER - 8 else text[:20] + "…"
        label(
            lane, MARGIN, y + 23 + number * 12, cut, classes="mono muted", style="font-size:9.5px"
        )  # fmt: skip
