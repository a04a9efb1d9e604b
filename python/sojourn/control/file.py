"""The control plane of a P4 program: its file, as the engine takes it.

The file is TOML, or commands of bmv2's `simple_switch_CLI` (any other suffix than `.toml`), which
are handed on as text: the engine makes operations of either. What it returns is what a run starts
with and, with every entry written out by the engine, what `sojourn emit` writes for a switch. Knows
no switch and no scenario.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.common.resources import shown
from sojourn.common.textfile import read_text
from sojourn.control.description import ProgramDescription, read_description
from sojourn.control.route_entries import with_default_routes
from sojourn.control.schema import problems
from sojourn.errors import ConfigError, ControlPlaneError
from sojourn.model.programs import compiled
from sojourn.model.toml_location import line_of


@dataclass(frozen=True)
class ProgramChoice:
    """A program with all that decides what its text means."""

    program: Path
    architecture: str | None
    include_paths: tuple[str, ...]
    defines: dict[str, str] = field(default_factory=dict)
    control: Path | None = None
    """The control-plane file; if absent, the default one of the program, if there is one."""

    @cached_property
    def control_file(self) -> Path | None:
        """The file of its control plane: the named one, or the default one of the program."""
        return control_file(self.program, self.control)

    @cached_property
    def declarations(self) -> ProgramDescription:
        """The program's declarations, read on first access."""
        return read_description(self.compiled.declarations())

    @cached_property
    def compiled(self) -> _core.Program:
        """The program itself, compiled when first asked for."""
        return compiled(self.program, include_paths=self.include_paths, defines=self.defines)


def control_file(program: Path, named: Path | None = None) -> Path | None:
    """The file of a program's control plane: the named one, or the one next to the program. A
    scenario next to it does not count."""
    if named is not None:
        if not named.is_file():
            raise ControlPlaneError(f"{shown(named)}: no such control-plane file")
        if _is_scenario(named):
            raise ControlPlaneError(
                f"{shown(named)}: this is a scenario, and no control plane; `sojourn run` takes it"
            )
        return named
    beside = [program.with_suffix(suffix) for suffix in _SUFFIXES]
    found = [path for path in beside if path.is_file() and not _is_scenario(path)]
    if len(found) > 1:
        names = " and ".join(shown(path) for path in found)
        raise ControlPlaneError(f"{names}: two control planes beside one program; name one of them")
    return found[0] if found else None


_OF_SCENARIOS = re.compile(rb"^[ \t]*+(aqms[ \t]*+=|\[\[flows\]\])", re.MULTILINE)
"""Keys that every scenario has, and no control plane."""


def _is_scenario(path: Path) -> bool:
    if path.suffix != ".toml":
        return False
    try:
        text = path.read_bytes()
    except OSError:
        return False
    # Most control planes have neither word in their megabytes of entries.
    return (b"aqms" in text or b"[[flows]]" in text) and _OF_SCENARIOS.search(text) is not None


def read_control_plane(choice: ProgramChoice) -> dict[str, Any]:
    """The control plane of a program with all its entries written out."""
    return with_all_entries(plain(written_control_plane(choice)), choice)


def written_control_plane(choice: ProgramChoice) -> dict[str, Any]:
    """The control plane of a program as its file has it, which is what the engine takes; empty if
    there is none. What there may be much of, entries of a table and the text of commands, is the
    engine's own; `plain` makes data of it."""
    path = choice.control_file
    if path is None:
        return {"tables": [], "mirror_sessions": []}
    if path.suffix != ".toml":
        text = read_text(path, shown(path), ControlPlaneError)
        return {"commands": {"name": shown(path), "text": _core.Text(text)}}
    try:
        document = _document(path)
    except (OSError, ValueError) as error:
        raise ControlPlaneError(f"{shown(path)}: not a control-plane file: {error}") from error
    except RecursionError:
        raise ControlPlaneError(f"{shown(path)}: nested too deep for a control plane") from None
    if wrong := problems(document, shown(path), path.read_text(encoding="utf-8")):
        raise ControlPlaneError("\n".join(wrong))
    return document


def _document(path: Path) -> dict[str, Any]:
    """The document of a TOML file. Entries by the thousand bypass the parser, which would take
    nearly all the time of a start for them."""
    left, taken = _core.take_entries(path.read_bytes())
    if any(taken):
        # Errors refer to the lines of the whole text.
        with suppress(tomllib.TOMLDecodeError):
            document = tomllib.loads(left)
            if _put_back(document.get("tables"), taken):
                return document
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _put_back(tables: Any, taken: Sequence[_core.Entries | None]) -> bool:
    """Gives tables the entries that were taken from their text, in front of those that they have;
    false if they are not the tables that the entries were taken from."""
    if not isinstance(tables, list) or len(tables) != len(taken):
        return False
    for table, entries in zip(tables, taken, strict=True):
        if entries is None:
            continue
        others = table.get("entries", [])
        if not isinstance(others, list):
            return False
        table["entries"] = [*json.loads(entries.json()), *others] if others else entries
    return True


def plain(control: Mapping[str, Any]) -> dict[str, Any]:
    """A control plane as data alone."""
    found = dict(control)
    for table, own in engine_parts(control):
        if isinstance(own, _core.Text):
            found["commands"] = found["commands"] | {"text": str(own)}
            continue
        if found["tables"] is control["tables"]:
            found["tables"] = list(control["tables"])
        found["tables"][table] = found["tables"][table] | {"entries": as_plain(own)}
    return found


def engine_parts(control: Mapping[str, Any]) -> Iterator[tuple[int, _core.Entries | _core.Text]]:
    """The engine's own parts of a control plane: entries with the position of their table, and the
    text of commands."""
    tables = control.get("tables")
    for place, table in enumerate(tables if isinstance(tables, list) else []):
        if isinstance(table, dict) and isinstance(table.get("entries"), _core.Entries):
            yield place, table["entries"]
    commands = control.get("commands")
    if isinstance(commands, dict) and isinstance(commands.get("text"), _core.Text):
        yield 0, commands["text"]


def as_plain(own: object) -> Any:
    """JSON of the engine's own objects (`default` of `json.dumps`)."""
    match own:
        case _core.Entries():
            return json.loads(own.json())
        case _core.Text():
            return str(own)
    raise TypeError(f"{type(own).__name__} is not data")


_KEYED = re.compile(r"(?P<list>\w+)\[(?P<index>\d+)\](?P<keys>(?:\.\w+)*): ")
"""The start of a message about a key of an item: `pktgen[0].app: `."""

_ABOUT = "control plane: "
"""The start of the engine's messages about a control plane."""


def in_its_file(message: str, path: Path | None) -> str | None:
    """The engine's message about a control plane, with the file and the first line that has the
    name it is about; nothing if it is about something else."""
    if path is None:
        return None
    if message.startswith(f"{shown(path)}:"):  # a line of commands says where it stands
        return message
    if not message.startswith(_ABOUT):
        return None
    return at_its_line(message.removeprefix(_ABOUT), path)


def at_its_line(reason: str, path: Path) -> str:
    """A fault of a control plane, with the file and the line of the key that it begins with, or the
    first line of the name it is about."""
    if reason.startswith(f"{shown(path)}:"):
        return reason
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    if keyed := _KEYED.match(reason):
        keys = (keyed["list"], int(keyed["index"]), *keyed["keys"].split(".")[1:])
        return f"{shown(path)}:{line_of(text, keys) or 1}: {reason}"
    lines = text.splitlines()
    names = re.findall(r"[`\"]([^`\"]+)[`\"]", reason)
    found = [number for number, line in enumerate(lines, 1) if any(n in line for n in names[:1])]
    place = f"{shown(path)}:{found[0]}" if found else shown(path)
    return f"{place}: {reason}"


def with_all_entries(control: dict[str, Any], choice: ProgramChoice) -> dict[str, Any]:
    """The control plane with the entries that `entries_from` or commands stand for in their place.

    `ControlPlaneError` if they cannot be had.
    """
    control = with_default_routes(control)
    tables = control.get("tables", [])
    computed = isinstance(tables, list) and any("entries_from" in table for table in tables)
    if not computed and "commands" not in control:
        return control
    try:
        whole = choice.compiled.expand_control_plane(json.dumps(control))
    except ConfigError as error:
        # A line of commands has its place already.
        where = "" if "commands" in control else f"{shown(choice.control_file or choice.program)}: "
        raise ControlPlaneError(f"{where}{error}") from error
    written: dict[str, Any] = json.loads(whole)
    return written


_SUFFIXES = (".toml", ".txt")
"""Suffixes of control-plane files."""
