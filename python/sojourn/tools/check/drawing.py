"""A canvas for SVG pictures: shapes, text that is wrapped to a width, and the look of both.

Depends on the standard library's XML. Must not depend on what is drawn.
"""

from collections.abc import Mapping
from typing import TypeAlias
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from sojourn.results.style import INK, MUTED, RULE

MONO = 10.5
"""Size of the monospaced text, px."""
LINE = 13.0
"""Height of a line of it, px."""
_ADVANCE = 0.602
"""Width of a character over its size: DejaVu Sans Mono, Menlo and Courier; others are narrower."""

STATE_COLOURS = (
    "#0b5fa5",
    "#c2410c",
    "#047857",
    "#7e22ce",
    "#be185d",
    "#0e7490",
    "#854d0e",
    "#4338ca",
    "#4d7c0f",
    "#475569",
)
"""One for each state variable, in turn; all dark enough for text on white."""

_STYLE = f"""
text {{ font-family: "Helvetica Neue", Helvetica, Arial, "DejaVu Sans", sans-serif;
        font-size: 11px; fill: {INK}; }}
.mono {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {MONO}px; }}
.title {{ font-size: 18px; font-weight: 600; }}
.subtitle {{ font-size: 12px; fill: {MUTED}; }}
.head {{ font-size: 12px; font-weight: 600; }}
.muted {{ fill: {MUTED}; }}
.small {{ font-size: 10px; }}
.bold {{ font-weight: 700; }}
.rule {{ stroke: {RULE}; stroke-width: 1; fill: none; }}
"""

Number: TypeAlias = float | str


def characters(width: float, size: float = MONO) -> int:
    """The number of characters of monospaced text that fit into `width` px; one at least."""
    return max(1, int(width / (size * _ADVANCE) + 1e-6))


def mono_width(text: str, size: float = MONO) -> float:
    """Width of monospaced text, px."""
    return len(text) * size * _ADVANCE


def lines_of(text: str, width: float, most: int) -> list[str]:
    """The text in lines of at most `width` px; what does not fit into `most` lines is cut.

    A line ends at a space, or behind a dot, an underscore or a bracket if a name is too long.
    """
    room = characters(width)
    lines = [""]
    for word in text.split():
        joined = f"{lines[-1]} {word}".strip()
        if len(joined) <= room:
            lines[-1] = joined
            continue
        if len(word) <= room:
            lines.append(word)
        else:
            lines[-1:] = _pieces(joined, room)
    if len(lines) > most:
        rest = f"{lines[most - 1]} {lines[most]}"
        lines = [*lines[: most - 1], rest[: room - 1].rstrip(" ,") + "…"]
    return lines


def _pieces(word: str, room: int) -> list[str]:
    pieces = []
    while len(word) > room:
        at = max(word.rfind(sign, 0, room) for sign in "._( ") + 1
        at = at if at > 1 else room
        pieces.append(word[:at].rstrip())
        word = word[at:]
    return [*pieces, word]


class Canvas:
    """A picture that grows downwards; its height is set when it is done."""

    def __init__(self, width: float, title: str) -> None:
        self.width = width
        self.root = Element(
            "svg",
            {"xmlns": "http://www.w3.org/2000/svg", "role": "img", "aria-label": title},
        )
        SubElement(self.root, "title").text = title
        SubElement(self.root, "style").text = _STYLE
        self._paper = rectangle(self.root, 0, 0, width, 0, fill="#ffffff")

    def text(self, height: float) -> str:
        """The whole picture as XML."""
        self.root.set("viewBox", f"0 0 {_number(self.width)} {_number(height)}")
        self.root.set("width", _number(self.width))
        self.root.set("height", _number(height))
        self._paper.set("height", _number(height))
        ElementTree.indent(self.root, space=" ")
        return ElementTree.tostring(self.root, encoding="unicode") + "\n"


def group(parent: Element, hint: str | None = None, **attributes: Number) -> Element:
    """A group; `hint` is what a browser shows when the mouse rests on it."""
    made = SubElement(parent, "g", _attributes(attributes))
    if hint:
        SubElement(made, "title").text = hint
    return made


def rectangle(
    parent: Element, x: float, y: float, width: float, height: float, **attributes: Number
) -> Element:
    """A rectangle."""
    place = {"x": x, "y": y, "width": width, "height": height}
    return SubElement(parent, "rect", _attributes({**place, **attributes}))


def line(
    parent: Element, x1: float, y1: float, x2: float, y2: float, **attributes: Number
) -> Element:
    """A straight line."""
    place = {"x1": x1, "y1": y1, "x2": x2, "y2": y2}
    return SubElement(parent, "line", _attributes({**place, **attributes}))


def circle(parent: Element, x: float, y: float, radius: float, **attributes: Number) -> Element:
    """A circle."""
    place = {"cx": x, "cy": y, "r": radius}
    return SubElement(parent, "circle", _attributes({**place, **attributes}))


def path(parent: Element, *parts: Number, **attributes: Number) -> Element:
    """A path of commands and coordinates."""
    steps = " ".join(part if isinstance(part, str) else _number(part) for part in parts)
    return SubElement(parent, "path", _attributes({"d": steps, **attributes}))


def label(parent: Element, x: float, y: float, text: str, **attributes: Number) -> Element:
    """A line of text; `y` is its base line. `classes` are those of the style."""
    made = SubElement(parent, "text", _attributes({"x": x, "y": y, **attributes}))
    made.text = text
    return made


def arrow_head(
    parent: Element, x: float, y: float, dx: float, dy: float, colour: str, size: float = 5
) -> None:
    """The head of an arrow that ends in (x, y), pointing along the unit vector (dx, dy)."""
    back_x, back_y = x - dx * size, y - dy * size
    half = size * 0.55
    first = (back_x - dy * half, back_y + dx * half)
    second = (back_x + dy * half, back_y - dx * half)
    path(parent, "M", x, y, "L", *first, "L", *second, "Z", fill=colour)


def _attributes(given: Mapping[str, Number]) -> dict[str, str]:
    """Python's names to XML's: `stroke_width` is `stroke-width`, `classes` is `class`."""
    names = {"classes": "class"}
    return {
        names.get(name, name.replace("_", "-")): value if isinstance(value, str) else _number(value)
        for name, value in given.items()
    }


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
