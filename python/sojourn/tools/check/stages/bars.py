"""Bars of the picture: each stage's use of each resource, and the totals.

Depends on the columns and the canvas, and on resources only as names in the data.
"""

from typing import Any
from xml.etree.ElementTree import Element

from sojourn.results.style import MUTED, RULE
from sojourn.tools.check.drawing import group, label, line, rectangle
from sojourn.tools.check.stages.columns import MARGIN, Columns

_ROW = 18.0
_BAR = "#93b8dd"
_FULL = "#e07b54"
_NEARLY = 0.9
"""From this share on a bar has the colour of a full one."""


def draw_bars(parent: Element, columns: Columns, top: float, data: dict[str, Any]) -> float:
    """A row for each resource; the answer is the y below them."""
    y = top
    for total in data["totals"]:
        _row(parent, columns, y, total, data["stages"])
        y += _ROW
    return y


def _row(
    parent: Element,
    columns: Columns,
    y: float,
    total: dict[str, Any],
    stages: list[dict[str, Any]],
) -> None:
    limit = total["limit_per_stage"]
    row = group(parent, f"{total['name']}: {total['used']} of {total['limit']}")
    label(row, MARGIN, y + 12.5, total["name"], style=f"fill:{MUTED}" if not total["used"] else "")
    line(row, MARGIN, y + _ROW, columns.width - MARGIN, y + _ROW, stroke=RULE, stroke_width=0.5)
    for stage in stages:
        column = columns.of(stage["stage"])
        used = stage["used"][total["resource"]]
        if not column or not used or not column.used:
            continue
        room = column.width - 10
        share = min(1.0, used / limit)
        colour = _FULL if used / limit >= _NEARLY else _BAR
        rectangle(row, column.x + 5, y + 3, room, _ROW - 6, fill="#eef2f6")
        rectangle(row, column.x + 5, y + 3, max(1.0, room * share), _ROW - 6, fill=colour)
        number = f"{used} of {limit}"
        label(row, column.right - 9, y + 12.5, number, text_anchor="end", classes="mono")
    totals = f"{total['used']} of {total['limit']}"
    right = columns.width - MARGIN
    style = "" if total["used"] else f"fill:{MUTED}"
    label(row, right, y + 12.5, totals, text_anchor="end", classes="mono", style=style)


def draw_containers(parent: Element, columns: Columns, top: float, data: dict[str, Any]) -> float:
    """The packet header vector: containers by width; they run through all stages."""
    label(parent, MARGIN, top + 12.5, "packet header vector")
    room, gap = 230.0, 20.0
    x = columns.left + 5
    for each in data["containers"]:
        text = f"{each['width']}-bit containers: {each['used']} of {each['limit']}"
        share = min(1.0, each["used"] / each["limit"])
        rectangle(parent, x, top + 3, room, _ROW - 6, fill="#eef2f6")
        colour = _FULL if share >= _NEARLY else _BAR
        rectangle(parent, x, top + 3, max(1.0, room * share), _ROW - 6, fill=colour)
        label(parent, x + room - 6, top + 12.5, text, text_anchor="end", classes="mono")
        x += room + gap
    return top + _ROW
