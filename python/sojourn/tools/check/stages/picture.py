"""The picture of a program in the pipeline, as self-contained SVG.

From top to bottom, in the same columns: the placed elements of each stage, the path of each state
variable, each stage's use of each resource. Depends on the modules of the parts.
"""

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from sojourn.results.style import INK, MUTED, RULE
from sojourn.tools.check.drawing import (
    STATE_COLOURS,
    Canvas,
    circle,
    group,
    label,
    line,
    path,
    rectangle,
)
from sojourn.tools.check.stages.bars import draw_bars, draw_containers
from sojourn.tools.check.stages.cards import draw_band
from sojourn.tools.check.stages.columns import MARGIN, Columns, columns, draw_heads, draw_rules
from sojourn.tools.check.stages.lanes import draw_lanes


def draw_stages(program: str | Path, data: dict[str, Any]) -> str:
    """The picture of an estimate: `data` as `estimate` gives it."""
    places = columns(data)
    name = Path(program).name
    canvas = Canvas(places.width, f"{name} in the stages of {data['chip']}")
    root = canvas.root
    background = group(root)
    heading(root, name, data)
    y = draw_heads(root, places, MARGIN + 54)
    top = y
    colours = register_colours(data["state"])
    for each in data["passes"]:
        if each["stages"]:
            steps = each["critical_path"]
            y = draw_band(root, places, y, data["stages"], each["name"], steps, colours)
            line(root, MARGIN, y, places.right, y, stroke=RULE)
    if data["state"]:
        y = _section(root, y, "State variables", _STATE)
        y = draw_lanes(root, places, y, data["state"], colours)
    y = _section(root, y, "Resources", "used in each stage, of what a stage has")
    label(root, places.width - MARGIN, y - 8, "all stages", text_anchor="end", classes="muted")
    y = draw_bars(root, places, y, data)
    draw_rules(background, places, top, y)
    y = draw_containers(root, places, y + 4, data)
    y = _legend(root, y + 14, places)
    return canvas.text(y + MARGIN)


_STATE = (
    "each line runs from the fields that an access needs (# index, → operand, ? whether at all) "
    "to the register, and on to the steps that use its output"
)


def verdict(data: dict[str, Any]) -> str:
    """Whether it fits, in half a sentence."""
    used, available = data["stages_used"], data["stages_available"]
    word = "fits" if data["fits"] else "may not fit"
    if data["stages_at_least"] > available:
        word = "does not fit"
    if data["unplaced"]:
        steps = ", ".join(data["unplaced"][:3])
        return f"{word}: no stage of {data['chip']} for {steps} (estimate)"
    ingress, egress = (each["stages"] for each in data["passes"])
    return (
        f"{word}: {used} of {available} stages of {data['chip']} (estimate); "
        f"ingress {ingress}, egress {egress}"
    )


def register_colours(state: list[dict[str, Any]]) -> dict[str, str]:
    """A colour for each register, by pass and short name."""
    names = [f"{register['pass']}.{register['short']}" for register in state]
    return {name: STATE_COLOURS[at % len(STATE_COLOURS)] for at, name in enumerate(names)}


def heading(root: Element, name: str, data: dict[str, Any]) -> None:
    """Name and verdict."""
    label(root, MARGIN, MARGIN + 16, name, classes="title")
    colour = "" if data["fits"] else "fill:#b91c1c"
    label(root, MARGIN, MARGIN + 36, verdict(data), classes="subtitle", style=colour)


def _section(root: Element, y: float, name: str, text: str) -> float:
    label(root, MARGIN, y + 24, name, classes="head")
    label(root, MARGIN + 112, y + 24, text, classes="muted")
    return y + 32


def _legend(root: Element, y: float, places: Columns) -> float:
    """The legend of the shapes."""
    x = MARGIN
    for kind, text in (
        ("table", "table"),
        ("gateway", "gateway (condition)"),
        ("register", "register with its stateful ALU"),
        ("action", "action without a table"),
        ("path", "critical path"),
        ("input", "computed here for a register"),
        ("output", "uses a register's output"),
    ):
        _sign(root, x, y, kind)
        label(root, x + 26, y + 9, text, classes="small muted")
        x += 40 + len(text) * 5.4
    if places.hidden:
        text = f"{places.hidden} more stages are not drawn"
        label(root, MARGIN, y + 26, text, classes="small", style="fill:#b91c1c")
        return y + 30
    return y + 14


def _sign(root: Element, x: float, y: float, kind: str) -> None:
    middle = y + 6
    match kind:
        case "table":
            rectangle(root, x, y, 20, 11, fill="#eaf2fb", stroke="#1d4ed8", stroke_width=0.9)
            rectangle(root, x, y, 3, 11, fill="#1d4ed8")
        case "gateway":
            path(
                root, "M", x, middle, "l", 4, -5.5, "h", 12, "l", 4, 5.5, "l", -4, 5.5, "h", -12,
                "Z", fill="#fff7e0", stroke="#b45309", stroke_width=0.9,
            )  # fmt: skip
        case "register":
            colour = STATE_COLOURS[0]
            rectangle(
                root, x, y, 20, 11, rx=4, fill="#e7eff6", stroke=colour, stroke_width=1.6
            )  # fmt: skip
        case "action":
            rectangle(root, x, y, 20, 11, fill="#ffffff", stroke=MUTED, stroke_width=0.9)
        case "path":
            line(root, x, middle, x + 20, middle, stroke=INK, stroke_width=1.6)
            circle(root, x + 20, middle, 2.4, fill=INK)
        case "input":
            line(root, x + 10, middle, x + 20, middle, stroke=STATE_COLOURS[0], stroke_width=2)
            circle(
                root, x + 8, middle, 3.4, fill="#ffffff", stroke=STATE_COLOURS[0], stroke_width=1.8
            )  # fmt: skip
        case _:
            line(root, x, middle, x + 8, middle, stroke=STATE_COLOURS[0], stroke_width=2)
            circle(root, x + 12, middle, 3.6, fill=STATE_COLOURS[0])
