"""What a P4 program declares for its control plane: tables, keys, actions, constants.

Stands on the engine, which reads the program. Knows no entry.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sojourn import _core
from sojourn.errors import ControlPlaneError
from sojourn.suggest import did_you_mean

_Declared = TypeVar("_Declared", "Key", "Action", "Table")

_MACROS = {"tofino1": {"__TARGET_TOFINO__": "1"}}
"""What an architecture defines before the first line."""


@dataclass(frozen=True)
class Key:
    """A key element of a table."""

    name: str
    match_kind: str
    width: int


@dataclass(frozen=True)
class Action:
    """An action of a table."""

    name: str
    parameters: tuple[str, ...]
    default_only: bool


@dataclass(frozen=True)
class Table:
    """A table, with the name that the control plane has for it."""

    name: str
    keys: tuple[Key, ...]
    actions: tuple[Action, ...]
    size: int | None
    const_entries: bool

    def key(self, wanted: str) -> Key:
        """The key element that a name, or the end of one, means."""
        return _find(wanted, self.keys, f"key of table {self.name}")

    def action(self, wanted: str) -> Action:
        """The action that a name, or the end of one, means."""
        return _find(wanted, self.actions, f"action of table {self.name}")


@dataclass(frozen=True)
class Declarations:
    """The declarations of one program."""

    tables: tuple[Table, ...]
    constants: dict[str, int]

    def table(self, wanted: str) -> Table:
        """The table that a name, or the end of one, means."""
        return _find(wanted, self.tables, "table of the program")

    def constant(self, name: str) -> int:
        """The value of a constant at the program's top level."""
        if name not in self.constants:
            raise ControlPlaneError(
                f"{name}: no such constant of the program{did_you_mean(name, self.constants)}"
            )
        return self.constants[name]


def read_declarations(
    program: Path,
    *,
    architecture: str | None = None,
    include_paths: Sequence[str] = (),
    defines: Mapping[str, str] | None = None,
) -> Declarations:
    """The declarations of the program in the file `program`."""
    macros = _MACROS.get(architecture or "", {}) | dict(defines or {})
    read = json.loads(_core.declarations(str(program), list(include_paths), macros))
    return Declarations(
        tuple(_table(table) for table in read["tables"]),
        {name: int(value) for name, value in read["constants"].items()},
    )


def _table(table: dict[str, Any]) -> Table:
    return Table(
        table["name"],
        tuple(Key(**key) for key in table["keys"]),
        tuple(
            Action(a["name"], tuple(a["parameters"]), a["default_only"]) for a in table["actions"]
        ),
        table["size"],
        table["const_entries"],
    )


def _find(wanted: str, known: Sequence[_Declared], what: str) -> _Declared:
    """The one whose name is `wanted` or ends in it, as the P4 specification has it (18.3.3)."""
    named = [one for one in known if one.name == wanted]
    ending = named or [one for one in known if one.name.endswith("." + wanted)]
    if len(ending) == 1:
        return ending[0]
    names = [one.name for one in known]
    if ending:
        names = [one.name for one in ending]
        raise ControlPlaneError(f"{wanted}: which {what}? It may be {' or '.join(names)}")
    raise ControlPlaneError(f"{wanted}: no such {what}{did_you_mean(wanted, names)}")
