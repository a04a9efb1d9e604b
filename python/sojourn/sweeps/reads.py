"""What a scenario's AQMs read from files: P4 texts, control planes, hardware modules. They are
named and sent along.

Stands on the scenario's plan. A file that Sojourn ships is not sent: an equal engine has it.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.aqms import find_aqm
from sojourn.errors import ScenarioError
from sojourn.hardware.verilator import sources
from sojourn.layout import data_root, hardware_folder, programs_folder, shown
from sojourn.scenario import AqmChoice, PlannedRun
from sojourn.scenario.plan import program_choice
from sojourn.sweeps.job import SHIPPED

_MOST = 64 << 20
"""Bytes of a file that is sent along."""


@dataclass(frozen=True)
class Reads:
    """What one run reads beside its scenario."""

    digests: tuple[str, ...]
    """SHA-256 of every file, in order; where the files are does not matter."""
    root: Path
    """The folder below which the user's own files are."""
    files: Mapping[str, str]
    """Text of those, by path below `root`."""

    def portable(self, path: Path) -> str | None:
        """What `path` is called on another machine; nothing for a folder that has none of the
        files."""
        if _is_shipped(path):
            return f"{SHIPPED}{path.relative_to(data_root())}"
        if path.is_relative_to(self.root):
            return str(path.relative_to(self.root))
        return None


def reads_of(planned: PlannedRun, choices: list[AqmChoice]) -> Reads:
    """What `planned` reads; `choices` are its AQM and those of single switches."""
    paths = [_source(name, digest) for name, digest in planned.sources.items()]
    paths += [path for choice in choices if (path := _control_file(choice)) is not None]
    paths += [path for choice in choices for path in _module_files(choice)]
    texts = {path: _bytes(path) for path in dict.fromkeys(paths)}
    own = {path: data for path, data in texts.items() if not _is_shipped(path)}
    root = Path(os.path.commonpath([path.parent for path in own])) if own else Path("/")
    digests = sorted(hashlib.sha256(data).hexdigest() for data in texts.values())
    files = {str(path.relative_to(root)): _text(path, data) for path, data in own.items()}
    return Reads(tuple(digests), root, files)


def _source(name: str, digest: str) -> Path:
    """The file that a plan calls `name`, which had `digest` when it was planned."""
    for base in (Path.cwd(), data_root()):
        path = (base / name).absolute()
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest:
            return path
    raise ScenarioError(f"{name}: changed while the sweep was planned; try again")


def _control_file(choice: AqmChoice) -> Path | None:
    aqm = find_aqm(choice.use)
    if aqm.program is None:
        return None
    path = program_choice(choice, aqm.program, aqm, None).control_file
    return path.absolute() if path is not None else None


def _module_files(choice: AqmChoice) -> list[Path]:
    """The files of which a hardware module is made: its own and those that it may use."""
    module = find_aqm(choice.use).module
    return [] if module is None else sources(module.absolute())


def with_portable_paths(scenario: dict[str, Any], reads: Reads) -> dict[str, Any]:
    """`scenario`, whose paths are absolute, with paths that mean the same on another machine."""
    portable: dict[str, Any] = json.loads(json.dumps(scenario))
    for choice in choices_in(portable):
        for key in ("use", "control"):
            if key in choice and Path(choice[key]).is_absolute():
                choice[key] = reads.portable(Path(choice[key]))
        folders = [reads.portable(Path(folder)) for folder in choice.pop("include_paths", [])]
        if wanted := [folder for folder in folders if folder is not None]:
            choice["include_paths"] = wanted
    return portable


def choices_in(scenario: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Every AQM that a scenario chooses, as a table: the run's and those of single switches."""
    yield from scenario["aqms"]
    for switch in scenario.get("switches", []):
        if isinstance(switch.get("aqm"), dict):
            yield switch["aqm"]


def _is_shipped(path: Path) -> bool:
    return path.is_relative_to(programs_folder()) or path.is_relative_to(hardware_folder())


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST:
            raise ScenarioError(f"{shown(path)}: larger than {_MOST >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(f"{shown(path)}: not a text file in UTF-8") from None
