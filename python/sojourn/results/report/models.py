"""BokehJS models as data, and the JSON document that holds them.

Bokeh's Python models need a second of processor time to import, so the documents are written
directly. BokehJS checks each attribute as it reads the document. Depends on no run and no page.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Keys: TypeAlias = dict[str, Any]
"""Attributes of a model by BokehJS's names."""

_NAN = {"type": "number", "value": "nan"}


@dataclass(frozen=True, eq=False)
class Model:
    """A BokehJS model. All attributes with the same instance refer to one model in the browser."""

    name: str
    attributes: Keys

    @classmethod
    def of(cls, name: str, /, **attributes: Any) -> "Model":
        """The model `name` with those attributes; all others have BokehJS's defaults."""
        return cls(name, attributes)


def source(columns: Mapping[str, np.ndarray[Any, Any]]) -> Model:
    """A data source with these columns."""
    entries = [[name, values] for name, values in columns.items()]
    return Model.of("ColumnDataSource", data={"type": "map", "entries": entries})


def field(column: str) -> Keys:
    """A glyph's attribute that takes a column of its data source."""
    return {"type": "field", "field": column}


def document(roots: Mapping[str, Model], version: str) -> Keys:
    """The document of these roots, whose keys are their identifiers, for BokehJS `version`.

    Models have numbers in order of appearance, so equal roots give equal documents.
    """
    writer = _Writer({id(model): name for name, model in roots.items()})
    written = [writer.plain(model) for model in roots.values()]
    config = writer.plain(Model.of("DocumentConfig"))
    return {"version": version, "title": "", "config": config, "roots": written}


class _Writer:
    def __init__(self, names: dict[int, str]) -> None:
        self._names = names
        self._written: set[str] = set()

    def plain(self, value: Any) -> Any:
        """The value as JSON has it: a model in full at first, by its identifier afterwards."""
        match value:
            case Model():
                return self._model(value)
            case dict():
                return {name: self.plain(one) for name, one in value.items()}
            case list() | tuple():
                return [self.plain(one) for one in value]
            case np.ndarray():
                return _numbers(value)
            case np.generic():
                return self.plain(value.item())
            case float() if not np.isfinite(value):
                return _NAN
        return value

    def _model(self, model: Model) -> Keys:
        name = self._names.setdefault(id(model), f"m{len(self._names)}")
        if name in self._written:
            return {"id": name}
        self._written.add(name)
        return {
            "type": "object",
            "name": model.name,
            "id": name,
            "attributes": self.plain(model.attributes),
        }


def _numbers(values: np.ndarray[Any, Any]) -> list[Any]:
    if values.dtype.kind != "f":
        return list(values.tolist())
    return [
        _NAN if one != one else int(one) if one.is_integer() else one for one in values.tolist()
    ]
