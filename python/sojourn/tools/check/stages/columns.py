"""Columns of the picture: the parser, the stages, the deparser.

A used stage is wide, an unused one narrow. Depends on the estimate's data; draws only the columns'
heads and their light bands.
"""

from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element

from sojourn.results.style import INK, MUTED, RULE
from sojourn.tools.check.drawing import label, line, path, rectangle

MARGIN = 24.0
GUTTER = 136.0
_USED = 140.0
_UNUSED = 24.0
_END = 104.0
_TOTAL = 84.0
MOST_STAGES = 24
"""Columns at most; a program of hundreds of stages is not to be drawn."""

BEFORE = -1
"""The column of what comes with the packet."""


@dataclass(frozen=True)
class Column:
    """A column: its number, its left edge and its width in px."""

    number: int
    x: float
    width: float
    used: bool

    @property
    def middle(self) -> float:
        """The middle of the column."""
        return self.x + self.width / 2

    @property
    def right(self) -> float:
        """The right edge of the column."""
        return self.x + self.width


@dataclass(frozen=True)
class Columns:
    """All columns, from the parser's to the deparser's."""

    stages: list[Column]
    before: Column
    behind: Column
    available: int
    """Stages that the chip has."""
    hidden: int
    """Stages that are not drawn."""

    @property
    def left(self) -> float:
        """The left edge of the columns."""
        return self.before.x

    @property
    def right(self) -> float:
        """The right edge of the columns."""
        return self.behind.right

    @property
    def width(self) -> float:
        """Width of the whole picture."""
        return self.right + _TOTAL + MARGIN

    def of(self, stage: int | None, *, behind: bool = False) -> Column | None:
        """The column of a stage; without a stage the parser's, or the deparser's if `behind`."""
        if stage is None:
            return self.behind if behind else self.before
        return self.stages[stage] if stage < len(self.stages) else None


def columns(data: dict[str, Any]) -> Columns:
    """The columns for the stages of an estimate."""
    used = {stage["stage"] for stage in data["stages"] if stage["placed"]}
    wanted = max(data["stages_available"], data["stages_used"])
    count = min(wanted, max(MOST_STAGES, data["stages_available"]))
    inputs = (each for register in data["state"] for each in register["inputs"])
    outputs = (each for register in data["state"] for each in register["outputs"])
    x = MARGIN + GUTTER
    before = Column(BEFORE, x, _END if any(each["stage"] is None for each in inputs) else 0, True)
    x = before.right
    stages = []
    for number in range(count):
        column = Column(number, x, _USED if number in used else _UNUSED, number in used)
        stages.append(column)
        x = column.right
    leaves = any(each["stage"] is None for each in outputs)
    behind = Column(count, x, _END if leaves else 0, True)
    return Columns(stages, before, behind, data["stages_available"], wanted - count)


def draw_heads(parent: Element, columns: Columns, y: float) -> float:
    """The stages' numbers; the answer is the y below them."""
    label(parent, MARGIN, y + 17, "stage", classes="head")
    for column, name in ((columns.before, "parser"), (columns.behind, "deparser")):
        if column.width:
            label(parent, column.middle, y + 17, name, text_anchor="middle", classes="subtitle")
    for column in columns.stages:
        beyond = column.number >= columns.available
        fill = "#b91c1c" if beyond else INK if column.used else "#e5e7eb"
        colour = "#ffffff" if column.used or beyond else MUTED
        _chevron(parent, column, y, fill)
        number = str(column.number)
        label(
            parent,
            column.middle,
            y + 17,
            number,
            text_anchor="middle",
            classes="head",
            style=f"fill:{colour}",
        )
    return y + 26


def _chevron(parent: Element, column: Column, y: float, fill: str) -> None:
    """A block that points the way of the packet."""
    left, right, tip = column.x + 1, column.right - 1, 5.0
    path(
        parent, "M", left, y, "L", right - tip, y, "L", right, y + 12, "L", right - tip, y + 24,
        "L", left, y + 24, "L", left + tip, y + 12, "Z", fill=fill,
    )  # fmt: skip


def draw_rules(parent: Element, columns: Columns, top: float, bottom: float) -> None:
    """Thin lines between the columns, and a light background under those that are used."""
    for column in columns.stages:
        if column.used:
            rectangle(parent, column.x, top, column.width, bottom - top, fill="#f8fafc")
    edges = [column.x for column in columns.stages] + [columns.behind.x]
    for x in edges:
        line(parent, x, top, x, bottom, stroke=RULE, stroke_width=0.75)
