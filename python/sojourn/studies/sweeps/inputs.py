"""Input files of a sweep's run besides its scenario, as they are sent to another machine.

Files that Sojourn ships are not sent, because an equal engine has them; their names and contents
are part of the digest. Depends on the run's list of inputs.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.common.resources import data_root, shown
from sojourn.errors import ScenarioError
from sojourn.model.inputs import Inputs, absolute, is_shipped
from sojourn.studies.sweeps.job import SHIPPED

_MOST = 64 << 20
"""Bytes of a file that is sent along."""


@dataclass(frozen=True)
class InputFiles:
    """The input files of one run besides its scenario."""

    digests: Mapping[str, str]
    """SHA-256 of every file, by the name that it has on every machine."""
    root: Path
    """The folder below which the user's own files are."""
    files: Mapping[str, str]
    """Text of those, by path below `root`."""

    def portable(self, path: Path) -> str | None:
        """The name of the file or folder at `path` on another machine; nothing for a folder that
        has none of the files."""
        path = absolute(path)
        if is_shipped(path):
            return _portable(path, self.root)
        holds = any(own == path or path in own.parents for own in self._own())
        return _portable(path, self.root) if holds else None

    def _own(self) -> Iterator[Path]:
        return (self.root / name for name in self.files)


def input_files(inputs: Inputs, executables: Inputs) -> InputFiles:
    """The files of a run with these inputs; the executables that it starts are not sent."""
    own = [path for path in inputs if not is_shipped(path)]
    root = Path(os.path.commonpath([path.parent for path in own])) if own else Path("/")
    digests = {str(_portable(path, root)): digest for path, digest in inputs.items()}
    digests |= {str(path): digest for path, digest in executables.items()}
    files = {str(path.relative_to(root)): _text(path, inputs[path]) for path in own}
    return InputFiles(dict(sorted(digests.items())), root, files)


def _portable(path: Path, root: Path) -> str | None:
    if is_shipped(path):
        return f"{SHIPPED}{path.relative_to(data_root())}"
    return str(path.relative_to(root)) if path.is_relative_to(root) else None


def with_portable_paths(scenario: dict[str, Any], reads: InputFiles) -> dict[str, Any]:
    """`scenario`, whose paths are absolute, with paths that mean the same on another machine."""
    portable: dict[str, Any] = json.loads(json.dumps(scenario))
    for table, key, front in paths_in(portable):
        path = Path(table[key].removeprefix(front))
        if path.is_absolute() and (name := reads.portable(path)):
            table[key] = front + name
    for choice in choices_in(portable):
        folders = [reads.portable(Path(folder)) for folder in choice.pop("include_paths", [])]
        if wanted := [folder for folder in folders if folder is not None]:
            choice["include_paths"] = wanted
    return portable


def paths_in(scenario: Mapping[str, Any]) -> Iterator[tuple[Any, Any, str]]:
    """Every value of a scenario that may be a file's path: its table or command, its key or index,
    and the text in front of the path (`--config=` in a controller's command)."""
    for choice in choices_in(scenario):
        keys = (key for key in ("use", "control") if isinstance(choice.get(key), str))
        yield from ((choice, key, "") for key in keys)
    control = scenario.get("control")
    if isinstance(control, dict) and isinstance(control.get("script"), str):
        yield control, "script", ""
    command = command_in(scenario)
    # The executable is not sent along: each machine has its own.
    for place, part in enumerate(command[1:], start=1):
        if not isinstance(part, str):
            continue
        option, equals, value = part.partition("=")
        for front, name in (("", part), (option + equals, value)):
            if Path(name).is_absolute() or name.startswith(SHIPPED):
                yield command, place, front
                break


def command_in(scenario: Mapping[str, Any]) -> list[Any]:
    """The command of a scenario's controller, if it has one."""
    control = scenario.get("control")
    command = control.get("process") if isinstance(control, dict) else None
    return command if isinstance(command, list) else []


def choices_in(scenario: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every AQM that a scenario chooses, as a table: the run's, those of single switches and the
    disciplines under programs."""
    aqms, switches = scenario.get("aqms"), scenario.get("switches")
    listed = list(aqms) if isinstance(aqms, list) else []
    for switch in switches if isinstance(switches, list) else []:
        listed += [switch.get("aqm")] if isinstance(switch, dict) else []
    for choice in listed:
        if isinstance(choice, dict):
            yield choice
            if isinstance(choice.get("discipline"), dict):
                yield choice["discipline"]


def _text(path: Path, digest: str) -> str:
    """The text of the file at `path`, which had `digest` when the run was planned."""
    try:
        if path.stat().st_size > _MOST:
            raise ScenarioError(f"{shown(path)}: larger than {_MOST >> 20} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != digest:
        raise ScenarioError(f"{shown(path)}: changed while the sweep was planned; try again")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{shown(path)}: not a text file in UTF-8") from None
