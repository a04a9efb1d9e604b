"""The control plane of a P4 program: its file, with the entries that are computed written out.

The file is TOML, or commands of bmv2's `simple_switch_CLI` (any other suffix than `.toml`). Stands
on the program's declarations and on `runtime_cli`. What it returns is what the engine installs
before the first packet and what `sojourn emit` writes for a switch: the same entries, which the
engine computes in both cases. Knows no switch and no scenario.
"""

import json
import re
import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.control import ProgramDescription, control_plane, read_description
from sojourn.errors import ConfigError, ControlPlaneError
from sojourn.layout import shown
from sojourn.programs import compiled
from sojourn.runtime_cli import read_commands, try_commands


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
        return read_description(self.compiled.declarations())

    @cached_property
    def compiled(self) -> _core.Program:
        """The program itself, compiled when first asked for."""
        return compiled(self.program, include_paths=self.include_paths, defines=self.defines)


def read_control_plane(choice: ProgramChoice) -> dict[str, Any]:
    """The control plane of a program with all its entries written out."""
    return _with_computed_entries(written_control_plane(choice), choice)


def written_control_plane(choice: ProgramChoice) -> dict[str, Any]:
    """The control plane of a program as its file has it, which is what the engine takes; empty if
    there is none."""
    path = choice.control_file
    if path is None:
        return {"tables": [], "mirror_sessions": []}
    if path.suffix != ".toml":
        return _commands(path, choice)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ControlPlaneError(f"{shown(path)}: not a control-plane file: {error}") from error
    except RecursionError:
        raise ControlPlaneError(f"{shown(path)}: nested too deep for a control plane") from None


_ABOUT = "control plane: "
"""How the engine begins what it says of a control plane."""


def in_its_file(message: str, path: Path | None) -> str | None:
    """What the engine says of a control plane, with the file that it stands in and the first line
    that has the name it is about; nothing if it is about something else."""
    if path is None or not message.startswith(_ABOUT):
        return None
    reason = message.removeprefix(_ABOUT)
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    names = re.findall(r"[`\"]([^`\"]+)[`\"]", reason)
    found = [number for number, line in enumerate(lines, 1) if any(n in line for n in names[:1])]
    place = f"{shown(path)}:{found[0]}" if found else shown(path)
    return f"{place}: {reason}"


def _with_computed_entries(control: dict[str, Any], choice: ProgramChoice) -> dict[str, Any]:
    """The control plane with every `entries_from` replaced by the entries it stands for."""
    tables = control.get("tables", [])
    if not isinstance(tables, list) or not any("entries_from" in table for table in tables):
        return control
    try:
        whole = choice.compiled.written_out(json.dumps(control))
    except ConfigError as error:
        where = shown(choice.control_file or choice.program)
        raise ControlPlaneError(f"{where}: {error}") from error
    written: dict[str, Any] = json.loads(whole)
    return written


def _commands(path: Path, choice: ProgramChoice) -> dict[str, Any]:
    """What a file of commands leaves behind, tried out line by line on the program itself."""
    placed = read_commands(path, shown(path), choice.declarations)
    try_commands(placed, shown(path), _core.PacketSwitch(choice.compiled))
    return control_plane(item.operation for item in placed)


_SUFFIXES = (".toml", ".txt")
"""Of control-plane files beside a program."""
