"""Cards of the picture: one for each table, gateway, register and action, in its stage's column.

The shape shows the kind; the colour of a register is that of its lane. A line joins the cards of
the critical path. Depends on the columns and the canvas. Must not depend on resources.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

from sojourn.results.style import INK, MUTED
from sojourn.tools.check.drawing import (
    LINE,
    Number,
    circle,
    group,
    label,
    lines_of,
    path,
    rectangle,
)
from sojourn.tools.check.stages.columns import MARGIN, Column, Columns

_GAP = 6.0
_SIDE = 5.0
_PAD = 9.0
_MOST_LINES = 3
MOST_CARDS = 40
"""Cards in a column at most."""

KIND_NAMES = {
    "table": "table",
    "gateway": "gateway",
    "stateful": "register",
    "action": "action",
    "switch": "switch",
}


@dataclass
class Place:
    """Position of a card."""

    left: float
    right: float
    middle: float


@dataclass
class Band:
    """The cards of a pass."""

    bottom: float
    places: dict[tuple[str, int], Place] = field(default_factory=dict)


def draw_band(
    parent: Element,
    columns: Columns,
    top: float,
    stages: list[dict[str, Any]],
    name: str,
    steps: list[dict[str, Any]],
    colours: dict[str, str],
) -> float:
    """The cards of ingress or egress, and its critical path; the answer is the y below them."""
    order = {step["id"]: at for at, step in enumerate(steps)}
    band = Band(top)
    layer = group(parent)
    for stage in stages:
        column = columns.of(stage["stage"])
        placed = _unique([each for each in stage["placed"] if each["pass"] == name])
        placed.sort(key=lambda each: order.get(each["id"], len(order)))
        if column and placed:
            _column(layer, column, top + _GAP, placed, order, colours, band)
    band.bottom = max(band.bottom, top + 34) + _GAP
    _critical_path(parent, band, steps)
    label(parent, MARGIN, top + 21, name.capitalize(), classes="head")
    return band.bottom


def _unique(placed: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Accesses to one register are one card, as they are one table next to one memory."""
    known: dict[tuple[str, str], dict[str, Any]] = {}
    for each in placed:
        key = each["name"].split(",")[0] if each["kind"] == "stateful" else each["id"]
        first = known.setdefault((each["kind"], key), each | {"ids": []})
        first["ids"].append(each["id"])
    return list(known.values())


def _column(
    parent: Element,
    column: Column,
    y: float,
    placed: list[dict[str, Any]],
    order: dict[str, int],
    colours: dict[str, str],
    band: Band,
) -> None:
    for each in placed[:MOST_CARDS]:
        bottom = _card(parent, column, y, each, any(i in order for i in each["ids"]), colours)
        place = Place(column.x + _SIDE, column.right - _SIDE, (y + bottom) / 2)
        for identity in each["ids"]:
            band.places[identity, column.number] = place
        y = bottom + _GAP
    if len(placed) > MOST_CARDS:
        more = f"and {len(placed) - MOST_CARDS} more"
        label(parent, column.middle, y + 9, more, text_anchor="middle", classes="small muted")
        y += LINE + _GAP
    band.bottom = max(band.bottom, y)


def hint(each: dict[str, Any]) -> str:
    """The tooltip of a card."""
    parts = [f"{KIND_NAMES[each['kind']]} {each['name']}"]
    if each["detail"]:
        parts.append(each["detail"])
    if each["at"]:
        parts.append(f"{each['at']['file']}:{each['at']['line']}")
    parts.extend(f"{wait['text']}" for wait in each["waits"] if wait["stages"])
    return "\n".join(parts)


def _card(
    parent: Element,
    column: Column,
    y: float,
    each: dict[str, Any],
    critical: bool,
    colours: dict[str, str],
) -> float:
    left, width = column.x + _SIDE, column.width - 2 * _SIDE
    lines = lines_of(each["name"], width - 2 * _PAD, _MOST_LINES)
    height = len(lines) * LINE + 8
    attributes = {"data-steps": " ".join(each["ids"]), "classes": "step"}
    card = group(parent, hint(each), **attributes)
    register = each["name"].split(",")[0].removesuffix(" (continued)")
    colour = colours.get(f"{each['pass']}.{register}", INK)
    edge = 1.8 if critical else 0.9
    {"gateway": _gateway, "switch": _gateway, "table": _table, "stateful": _register}.get(
        each["kind"], _action
    )(card, left, y, width, height, edge, colour)
    stateful = each["kind"] == "stateful"
    for number, text in enumerate(lines):
        label(
            card,
            left + _PAD,
            y + 4 + (number + 0.78) * LINE,
            text,
            classes="mono bold" if stateful and number == 0 else "mono",
            style=f"fill:{colour}" if stateful else "",
        )
    return y + height


def _gateway(
    card: Element, x: float, y: float, width: float, height: float, edge: float, _: str
) -> None:
    tip, middle, right = 6.0, y + height / 2, x + width
    path(
        card, "M", x, middle, "L", x + tip, y, "L", right - tip, y, "L", right, middle,
        "L", right - tip, y + height, "L", x + tip, y + height, "Z",
        fill="#fff7e0", stroke="#b45309", stroke_width=edge,
    )  # fmt: skip


def _table(
    card: Element, x: float, y: float, width: float, height: float, edge: float, _: str
) -> None:
    rectangle(card, x, y, width, height, fill="#eaf2fb", stroke="#1d4ed8", stroke_width=edge)
    rectangle(card, x, y, 4, height, fill="#1d4ed8")


def _register(
    card: Element, x: float, y: float, width: float, height: float, edge: float, colour: str
) -> None:
    rectangle(
        card, x, y, width, height, rx=6, fill="#ffffff", stroke=colour, stroke_width=edge + 0.7
    )
    rectangle(card, x, y, width, height, rx=6, fill=colour, fill_opacity=0.1)


def _action(
    card: Element, x: float, y: float, width: float, height: float, edge: float, _: str
) -> None:
    rectangle(card, x, y, width, height, fill="#ffffff", stroke=MUTED, stroke_width=edge)


def _critical_path(parent: Element, band: Band, steps: list[dict[str, Any]]) -> None:
    """From card to card; the last stage of a table that goes over several is where it leaves."""
    last: dict[str, int] = defaultdict(int)
    for identity, stage in band.places:
        last[identity] = max(last[identity], stage)
    first = {identity: min(s for i, s in band.places if i == identity) for identity in last}
    known = [step["id"] for step in steps if step["id"] in first]
    for before, after in pairwise(known):
        start = band.places[before, last[before]]
        end = band.places[after, first[after]]
        if start is end:
            continue
        look: dict[str, Number] = {
            "stroke": INK,
            "stroke_width": 1.6,
            "fill": "none",
            "classes": "critical",
        }
        if last[before] == first[after]:
            path(
                parent, "M", start.left - 1, start.middle, "h", -2, "V", end.middle, "h", 2, **look
            )
        else:
            bend = min(20.0, (end.left - start.right) / 2)
            path(
                parent, "M", start.right, start.middle, "C", start.right + bend, start.middle,
                end.left - bend, end.middle, end.left, end.middle, **look,
            )  # fmt: skip
        circle(parent, end.left, end.middle, 2.4, fill=INK)
