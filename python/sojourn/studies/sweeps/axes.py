"""The cells of a sweep: every combination of its axes, each with its changes of the scenario.

Depends on a sweep file. Must not depend on the meaning of a scenario's keys.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from sojourn.errors import ScenarioError
from sojourn.model.units import FREQUENCY, RATE, SIZE, TIME, Dimension
from sojourn.studies.sweeps.file import SweepFile

_DIMENSIONS = (TIME, RATE, SIZE, FREQUENCY)


@dataclass(frozen=True)
class Axis:
    """One key that varies."""

    name: str
    """Its column."""
    key: str
    values: tuple[Any, ...]

    @property
    def dimension(self) -> Dimension | None:
        """Of what its values are quantities, if all are of the same."""
        for dimension in _DIMENSIONS:
            try:
                for value in self.values:
                    dimension.parse(value)
            except ValueError:
                continue
            return dimension
        return None

    def stored(self, value: Any) -> int | float | bool | str:
        """`value` as its column has it: a quantity as a whole number of its unit."""
        if dimension := self.dimension:
            return dimension.parse(value)
        kinds = {type(one) for one in self.values}
        if kinds <= {int, float} and len(kinds) == 2:
            return float(value)
        if len(kinds) == 1 and kinds <= {int, float, bool, str}:
            plain: int | float | bool | str = value
            return plain
        return str(value)

    def shown(self, stored: Any) -> str:
        """A value from its column, as a person writes it."""
        return self.dimension.format(stored) if self.dimension else f"{stored}"

    @property
    def is_number(self) -> bool:
        """True if its values have an order and distances."""
        kinds = {type(self.stored(value)) for value in self.values}
        return kinds <= {int, float}


@dataclass(frozen=True)
class Cell:
    """One combination: each axis's value, by the axis's name."""

    values: Mapping[str, Any]
    changes: Mapping[str, Any]
    """Dotted keys of the scenario and their values."""


def axes_of(sweep: SweepFile, taken: frozenset[str]) -> tuple[Axis, ...]:
    """The axes in the file's order. `taken` are columns that no axis may be called."""
    given = [*sweep.grid.items(), *(item for group in sweep.zip for item in group.items())]
    keys = [key for key, _ in given]
    for key in keys:
        if keys.count(key) > 1:
            raise ScenarioError(f"{key}: an axis twice; a key belongs to grid or to one zip")
    for key in sweep.names:
        if key not in keys:
            known = ", ".join(keys) or "none"
            raise ScenarioError(f"names: {key} is no axis of this sweep (axes: {known})")
    for number, group in enumerate(sweep.zip):
        lengths = {key: len(values) for key, values in group.items()}
        if len(set(lengths.values())) > 1:
            counted = ", ".join(f"{key} has {length}" for key, length in lengths.items())
            raise ScenarioError(
                f"zip[{number}]: lists that go together are equally long; {counted}"
            )
    names = _names(keys, sweep.names, taken)
    return tuple(Axis(names[key], key, tuple(values)) for key, values in given)


def _names(keys: list[str], given: Mapping[str, str], taken: frozenset[str]) -> dict[str, str]:
    """The name of each axis: the file's, or its last part where that is unique."""
    last = [key.rpartition(".")[2] for key in keys]
    found = {}
    for key, short in zip(keys, last, strict=True):
        plain = last.count(short) == 1 and short not in taken and not short.isdecimal()
        found[key] = given.get(key, short if plain else key)
    for key, name in found.items():
        if name in taken:
            raise ScenarioError(f"names: {key}: {name!r} is a column of the table already")
        if list(found.values()).count(name) > 1:
            raise ScenarioError(f"names: two axes are called {name!r}")
    return found


def count_cells(sweep: SweepFile) -> int:
    """The number of combinations."""
    zipped = (len(next(iter(group.values()))) for group in sweep.zip if group)
    return prod(map(len, sweep.grid.values())) * prod(zipped)


def cells(sweep: SweepFile, axes: tuple[Axis, ...]) -> Iterator[Cell]:
    """All combinations; what is named last varies fastest."""
    name = {axis.key: axis.name for axis in axes}
    lists: list[list[dict[str, Any]]] = [
        [{key: value} for value in values] for key, values in sweep.grid.items()
    ]
    for group in sweep.zip:
        columns = zip(*group.values(), strict=True)
        lists.append([dict(zip(group, row, strict=True)) for row in columns])
    for parts in product(*lists):
        changes = {key: value for part in parts for key, value in part.items()}
        yield Cell({name[key]: value for key, value in changes.items()}, changes)
