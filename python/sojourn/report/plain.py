"""A plot as plotly.js takes it: traces and a layout, plain data that JSON can hold.

What plotly's Python package would check again is not checked here: the script in the page ignores
what it does not know, and every page that changes is looked at. Knows no run and no page.
"""

from collections.abc import Mapping
from typing import Any, Self, TypeAlias

import numpy as np

Keys: TypeAlias = dict[str, Any]
"""Keys of plotly.js, and what they are."""

_AXIS = {
    "automargin": True,
    "ticks": "",
    "zeroline": False,
    "title": {"standoff": 15},
}
"""What all axes have; a plot's own keys come on top."""

_LAYOUT = {
    "autotypenumbers": "strict",
    "hovermode": "closest",
    "hoverlabel": {"align": "left"},
    "annotationdefaults": {"arrowhead": 0, "arrowwidth": 1},
}


class Figure:
    """Traces in the order in which they are drawn, and the layout around them."""

    def __init__(self) -> None:
        self.data: list[Keys] = []
        self.layout: Keys = {"annotations": [], "shapes": []}

    def add_trace(self, trace: Keys, **more: Any) -> Self:
        """A trace of any kind that the page's script knows."""
        self.data.append(trace | more)
        return self

    def add_scatter(self, **trace: Any) -> Self:
        """A line or points."""
        return self.add_trace({"type": "scatter"}, **trace)

    def add_annotation(self, **note: Any) -> Self:
        """A text at a place."""
        self.layout["annotations"].append(note)
        return self

    def add_shape(self, **shape: Any) -> Self:
        """A line or rectangle."""
        self.layout["shapes"].append(shape)
        return self

    def axis(self, letter: str, panel: int = 1, /, **keys: Any) -> Self:
        """Keys of an axis, `x` or `y`, of one of the panels; what it had stays."""
        name = f"{letter}axis{panel if panel > 1 else ''}"
        self.layout[name] = _AXIS | self.layout.get(name, {}) | keys
        return self

    def update_layout(self, **keys: Any) -> Self:
        """Keys of the layout. Those that are tables are added to what is there."""
        for name, value in keys.items():
            known = self.layout.get(name)
            both = isinstance(known, dict) and isinstance(value, Mapping)
            self.layout[name] = known | value if both else value
        return self

    def as_json(self) -> Keys:
        """Lists for arrays, null for what is no number."""
        return {"data": _plain(self.data), "layout": _plain(_LAYOUT | self.layout)}


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {str(name): _plain(one) for name, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
        case np.ndarray():
            return _numbers(value)
        case np.generic():
            return _plain(value.item())
        case float() if not np.isfinite(value):
            return None
    return value


def _numbers(values: np.ndarray[Any, Any]) -> list[Any]:
    if values.dtype.kind != "f" or np.isfinite(values).all():
        return list(values.tolist())
    plain = values.astype(object)
    plain[~np.isfinite(values)] = None
    return list(plain.tolist())
