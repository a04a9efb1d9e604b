"""A program's interface to its control plane, and the resolution of names in a control-plane file.

Depends on the engine's description of a loaded program. A name may be given in full or by its end,
as p4c's drivers allow; a key by its field, with `$0` for `[0]` and `$valid$` for `isValid()`.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sojourn.common.suggest import did_you_mean
from sojourn.errors import ControlPlaneError


class ControlError(ControlPlaneError):
    """A request that does not fit the program; whoever reads a file adds file and line."""


class _Named(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=_Named)


@dataclass(frozen=True)
class Parameter:
    """A parameter of an action."""

    name: str
    width: int


@dataclass(frozen=True)
class Action:
    """An action of a table."""

    name: str
    parameters: tuple[Parameter, ...]
    default_only: bool

    def parameter(self, name: str) -> Parameter:
        """The parameter called `name`."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        known = [parameter.name for parameter in self.parameters]
        raise ControlError(
            f"action {self.name} has no parameter {name}{did_you_mean(name, known)} "
            f"(it has {', '.join(known) or 'none'})"
        )


@dataclass(frozen=True)
class Key:
    """A key element of a table."""

    name: str
    match_kind: str
    width: int

    @property
    def field(self) -> str:
        """Its name as p4c writes it: validity is a field of the header."""
        return self.name.replace(".isValid()", ".$valid$")


@dataclass(frozen=True)
class Table:
    """A table."""

    name: str
    keys: tuple[Key, ...]
    actions: tuple[Action, ...]
    size: int | None
    entries: int
    """The number of entries in the program; they have the first handles."""
    const_entries: bool
    const_default_action: bool
    implementation: str | None

    @property
    def ordered(self) -> bool:
        """True if entries can overlap, so that priorities decide."""
        return any(key.match_kind not in ("exact", "lpm", "selector") for key in self.keys)

    def action(self, name: str) -> Action:
        """The action that `name`, or the end of a name, means in this table."""
        return _find(f"table {self.name} has no action", name, self.actions)

    def key(self, name: str) -> Key:
        """The key element that `name` means, by the rules of p4c's drivers."""
        wanted = re.sub(r"\$(\d+)", r"[\1]", name)
        endings = [wanted, f"{wanted}$", f"{wanted}.$valid$"]
        if wanted == "valid" or wanted.endswith(".valid"):
            endings.append(f"{wanted.removesuffix('valid')}$valid$")
        for ending in endings:
            for key in self.keys:
                if ending in (key.field, key.name):
                    return key
        for ending in endings:
            found = [key for key in self.keys if key.field.endswith(f".{ending}")]
            if found:
                return found[-1]
        known = [key.name for key in self.keys]
        raise ControlError(
            f"table {self.name} has no key {name}{_hint(name, known)} "
            f"(its keys are {', '.join(known) or 'none'})"
        )


@dataclass(frozen=True)
class Object:
    """A register, counter or meter."""

    name: str
    of: str
    size: int | None


@dataclass(frozen=True)
class ValueSet:
    """A value set of a parser."""

    name: str
    widths: tuple[int, ...]
    """Of the parts of a member, bits."""


@dataclass(frozen=True)
class ProgramDescription:
    """Everything in a program that has a name for the control plane."""

    package: str
    pipelines: tuple[str, ...]
    """The names of the packages that `main` is made of; none for an architecture without."""
    tables: tuple[Table, ...]
    objects: tuple[Object, ...]
    constants: dict[str, int]
    """Those at the program's top level."""
    value_sets: tuple[ValueSet, ...]

    def table(self, name: str) -> Table:
        """The table that `name`, or the end of a name, means."""
        return _find("there is no table", name, self.tables)

    def constant(self, name: str) -> int:
        """The value of a constant at the program's top level."""
        if name not in self.constants:
            hint = did_you_mean(name, self.constants)
            raise ControlError(f"{name}: no such constant of the program{hint}")
        return self.constants[name]

    def object(self, kind: str, name: str) -> Object:
        """The object of a kind (`register`, `counter`, `meter`) that `name` means."""
        kinds = (kind, f"direct_{kind}", f"direct{kind}")
        objects = [found for found in self.objects if found.of.lower() in kinds]
        return _find(f"there is no {kind}", name, objects)

    def profile(self, name: str) -> Object:
        """The action profile or selector that `name` means."""
        kinds = ("action_profile", "action_selector", "actionprofile", "actionselector")
        objects = [found for found in self.objects if found.of.lower() in kinds]
        return _find("there is no action profile", name, objects)

    def value_set(self, name: str) -> ValueSet:
        """The value set that `name` means."""
        return _find("there is no value set", name, self.value_sets)

    def tables_of(self, profile: Object) -> list[Table]:
        """The tables that share an action profile."""
        return [table for table in self.tables if table.implementation == profile.name]


def _find(missing: str, name: str, known: Sequence[N]) -> N:
    """The one whose name is `name`, or ends in it: at a dot if there is one, else anywhere."""
    for thing in known:
        if thing.name == name:
            return thing
    for ending in (f".{name}", name):
        found = [thing for thing in known if thing.name.endswith(ending)]
        if len(found) == 1:
            return found[0]
        if found:
            raise ControlError(f"{name} could be {_listed(found)}; write more of the name")
    names = [thing.name for thing in known]
    raise ControlError(f"{missing} {name}{_hint(name, names)} (known: {_listed(known) or 'none'})")


def _hint(name: str, known: Sequence[str]) -> str:
    """The suggestion of a near name, by whole names or by their last parts."""
    return did_you_mean(name, [*(full.rpartition(".")[2] for full in known), *known])


def _listed(things: Iterable[_Named]) -> str:
    return ", ".join(thing.name for thing in things)


def read_description(text: str) -> ProgramDescription:
    """The description in the engine's JSON."""
    data = json.loads(text)
    return ProgramDescription(
        data["package"],
        tuple(data["pipelines"]),
        tuple(
            Table(
                table["name"],
                tuple(Key(**key) for key in table["keys"]),
                tuple(
                    Action(
                        action["name"],
                        tuple(Parameter(**parameter) for parameter in action["parameters"]),
                        action["default_only"],
                    )
                    for action in table["actions"]
                ),
                table["size"],
                table["entries"],
                table["const_entries"],
                table["const_default_action"],
                table["implementation"],
            )
            for table in data["tables"]
        ),
        tuple(Object(**described) for described in data["objects"]),
        {name: int(value) for name, value in data["constants"].items()},
        tuple(ValueSet(each["name"], tuple(each["widths"])) for each in data["value_sets"]),
    )
