"""JSON schemas of models, with the text below each field as its description.

Reads the models' source only when a schema is made, because reading a scenario does not need it.
Must not depend on a particular model.
"""

import ast
import inspect
from collections.abc import Iterator
from itertools import pairwise
from textwrap import dedent
from typing import Any

from sojourn.model.scenario.quantities import Strict


def json_schema(model: type[Strict], **options: Any) -> dict[str, Any]:
    """The schema of what a file may say."""
    schema = model.model_json_schema(mode="validation", **options)
    models = {one.__name__: one for one in _family(Strict)}
    for name, of in {model.__name__: schema, **schema.get("$defs", {})}.items():
        if name in models:
            _describe(of, models[name])
    return schema


def _family(model: type[Strict]) -> Iterator[type[Strict]]:
    for child in model.__subclasses__():
        yield child
        yield from _family(child)


def _describe(schema: dict[str, Any], model: type[Strict]) -> None:
    texts: dict[str, str] = {}
    for owner in reversed(model.__mro__):
        if issubclass(owner, Strict):
            texts |= _docstrings(owner)
    for name, field in model.model_fields.items():
        key = schema.get("properties", {}).get(field.alias or name)
        if key is not None and name in texts:
            key.setdefault("description", texts[name])


def _docstrings(model: type[Strict]) -> dict[str, str]:
    """The text below each field of the class itself."""
    (body,) = ast.parse(dedent(inspect.getsource(model))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, text in pairwise(body.body):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(said))),
            ):
                found[name] = inspect.cleandoc(said)
    return found
