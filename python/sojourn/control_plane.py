"""The control plane of a P4 program: its file, with the entries that are computed written out.

The file is TOML, or commands of bmv2's `simple_switch_CLI` (any other suffix than `.toml`). Stands
on the program's declarations, on `control_law` and `runtime_cli`. What it returns is what the
engine installs before the first packet and what `sojourn emit` writes for a switch: the same
entries. Knows no switch and no scenario.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn import _core, control_law
from sojourn.control import ProgramDescription, Table, control_plane
from sojourn.declarations import read_declarations
from sojourn.errors import ControlPlaneError
from sojourn.layout import shown
from sojourn.runtime_cli import read_commands, try_commands
from sojourn.suggest import did_you_mean


@dataclass(frozen=True)
class ProgramChoice:
    """A program with all that decides what its text means."""

    program: Path
    architecture: str | None
    include_paths: tuple[str, ...]
    defines: dict[str, str] = field(default_factory=dict)
    control: Path | None = None
    """The control-plane file; if absent, the one beside the program, if there is one."""

    @cached_property
    def control_file(self) -> Path | None:
        """Where its control plane stands: in the file that is named, or in one beside it."""
        if self.control is not None:
            if not self.control.is_file():
                raise ControlPlaneError(f"{shown(self.control)}: no such control-plane file")
            return self.control
        beside = [self.program.with_suffix(suffix) for suffix in _SUFFIXES]
        found = [path for path in beside if path.is_file()]
        if len(found) > 1:
            names = " and ".join(shown(path) for path in found)
            raise ControlPlaneError(
                f"{names}: two control planes beside one program; name one of them"
            )
        return found[0] if found else None

    @cached_property
    def declarations(self) -> ProgramDescription:
        """What the program declares, read when first asked for."""
        return read_declarations(
            self.program,
            architecture=self.architecture,
            include_paths=self.include_paths,
            defines=self.defines,
        )


def read_control_plane(choice: ProgramChoice) -> dict[str, Any]:
    """The control plane of a program with all its entries, as the engine takes it."""
    return with_computed_entries(written_control_plane(choice), choice)


def written_control_plane(choice: ProgramChoice) -> dict[str, Any]:
    """The control plane of a program as its file has it; empty if there is none."""
    path = choice.control_file
    if path is None:
        return {"tables": [], "mirror_sessions": []}
    if path.suffix != ".toml":
        return _commands(path, choice)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ControlPlaneError(f"{shown(path)}: not a control-plane file: {error}") from error


def with_computed_entries(control: dict[str, Any], choice: ProgramChoice) -> dict[str, Any]:
    """The control plane with every `entries_from` replaced by the entries it stands for.

    Only what is computed is looked at; whether the rest fits is the engine's to say.
    """
    tables = control.get("tables", [])
    if not isinstance(tables, list):
        return control
    return control | {"tables": [_written_out(table, choice) for table in tables]}


def _commands(path: Path, choice: ProgramChoice) -> dict[str, Any]:
    """What a file of commands leaves behind, tried out line by line on the program itself."""
    placed = read_commands(path, shown(path), choice.declarations)
    switch = _core.PacketSwitch(
        str(choice.program), list(choice.include_paths), dict(choice.defines)
    )
    try_commands(placed, shown(path), switch)
    return control_plane(item.operation for item in placed)


def _written_out(table: Any, choice: ProgramChoice) -> Any:
    """The table with its computed entries behind those that are written."""
    if not isinstance(table, dict) or "entries_from" not in table:
        return table
    name = str(table.get("name"))
    try:
        computed = _computed(name, table["entries_from"], choice)
    except ControlPlaneError as error:
        where = shown(choice.control_file or choice.program)
        raise ControlPlaneError(f"{where}: table {name}: {error}") from error
    rest = {key: value for key, value in table.items() if key != "entries_from"}
    return rest | {"entries": [*table.get("entries", []), *computed]}


def _computed(name: str, source: Any, choice: ProgramChoice) -> Iterable[dict[str, Any]]:
    if not isinstance(source, dict) or len(source) != 1:
        raise ControlPlaneError(
            "entries_from names one generator, as in "
            'entries_from = { control_law = { interval = "INTERVAL", counts = [1, 1023] } }'
        )
    [(generator, options)] = source.items()
    if generator not in _GENERATORS:
        hint = did_you_mean(generator, _GENERATORS)
        raise ControlPlaneError(f"entries_from: no generator {generator!r}{hint}")
    declarations = choice.declarations
    return list(_GENERATORS[generator](declarations.table(name), options, declarations))


def _control_law(
    table: Table, options: Any, declarations: ProgramDescription
) -> Iterator[dict[str, Any]]:
    """INTERVAL / sqrt(count): `interval` names a constant of the program, `counts` is [from, to].

    A table with an exact key gets an entry a count, one with a ternary key an entry for each
    pattern of leading bits. The interval is the program's own constant and no number, so that
    program and table cannot differ.
    """
    interval, first, last = _control_law_options(options, declarations)
    if len(table.keys) != 1:
        raise ControlPlaneError(f"control_law wants a key of one field, not of {len(table.keys)}")
    [key] = table.keys
    actions = [action for action in table.actions if not action.default_only]
    if len(actions) != 1 or len(actions[0].parameters) != 1:
        raise ControlPlaneError("control_law wants a table with one action with one parameter")
    if last >= 1 << key.width:
        raise ControlPlaneError(f"counts end at {last}, but the key has {key.width} bits")
    [action] = actions
    if key.match_kind == "exact":
        for count in range(first, last + 1):
            argument = control_law.spacing(interval, count)
            yield _entry(key.name, count, action.name, action.parameters[0].name, argument)
    elif key.match_kind == "ternary":
        if first & (first - 1) or last + 1 != 1 << key.width:
            raise ControlPlaneError(
                f"for a ternary key counts go from a power of two to {(1 << key.width) - 1}"
            )
        for each in control_law.by_leading_bits(interval, first, key.width):
            match = {"value": each.value, "mask": each.mask}
            yield _entry(key.name, match, action.name, action.parameters[0].name, each.nanoseconds)
    else:
        raise ControlPlaneError(f"control_law has no entries for a {key.match_kind} key")


def _control_law_options(options: Any, declarations: ProgramDescription) -> tuple[int, int, int]:
    if not isinstance(options, dict) or set(options) != {"interval", "counts"}:
        raise ControlPlaneError(
            "control_law takes interval, a constant's name, and counts, like { interval = \""
            'INTERVAL", counts = [1, 1023] }'
        )
    interval, counts = options["interval"], options["counts"]
    if not isinstance(interval, str) or not interval.isidentifier():
        raise ControlPlaneError(
            f"interval = {interval!r}: name a constant of the program, so that the table and the "
            "program cannot have different intervals"
        )
    if (
        not isinstance(counts, list)
        or len(counts) != 2
        or not all(type(count) is int for count in counts)
        or not 1 <= counts[0] <= counts[1]
    ):
        raise ControlPlaneError("counts are the first and the last count, like [1, 1023]")
    return declarations.constant(interval), counts[0], counts[1]


def _entry(
    key: str, match: int | dict[str, int], action: str, parameter: str, argument: int
) -> dict[str, Any]:
    return {"match": {key: match}, "action": action, "args": {parameter: argument}}


_SUFFIXES = (".toml", ".txt")
"""Of control-plane files beside a program."""

_GENERATORS: dict[str, Callable[[Table, Any, ProgramDescription], Iterator[dict[str, Any]]]] = {
    "control_law": _control_law,
}
"""What `entries_from` may name."""
