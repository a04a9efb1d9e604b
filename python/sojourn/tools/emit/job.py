"""A job for a real switch: a program, its control plane, the rates of ports.

Depends on the control plane as the simulation has it. Must not depend on targets.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.common.resources import programs_folder
from sojourn.control import ProgramDescription
from sojourn.control.file import ProgramChoice, read_control_plane


@dataclass(frozen=True)
class Shaper:
    """A rate that a port is held to."""

    port: int
    rate: int
    """bit/s"""
    burst: int
    """bytes"""


@dataclass(frozen=True)
class Job:
    """One program for one switch."""

    choice: ProgramChoice
    control: dict[str, Any]
    """The control plane with all its entries."""
    shapers: tuple[Shaper, ...] = ()

    @classmethod
    def of(cls, choice: ProgramChoice, shapers: tuple[Shaper, ...] = ()) -> "Job":
        """The job of a program with the control plane that it runs with in the simulation."""
        return cls(choice, read_control_plane(choice), shapers)

    @property
    def name(self) -> str:
        """The program's name: its file's, without ending."""
        return self.choice.program.stem

    @property
    def include_folders(self) -> list[Path]:
        """Include folders for a compiler, without the program's own folder and the folder of the
        architectures."""
        program = self.choice.program.resolve()
        files = [path.resolve() for path in self.choice.compiled.sources]
        folders = [Path(folder).resolve() for folder in self.choice.include_paths]
        return [
            folder
            for folder in folders
            if folder != programs_folder().resolve() / "include"
            and not program.is_relative_to(folder)
            and any(path.is_relative_to(folder) for path in files)
        ]

    @property
    def description(self) -> ProgramDescription:
        """The program's description."""
        return self.choice.declarations


@dataclass(frozen=True)
class Target:
    """A switch that files can be written for."""

    name: str
    architecture: str | None
    """Of the programs that it runs; none if it takes those of all."""
    summary: str
    files: Callable[[Job], Mapping[str, str | bytes]]
    """Name to text or bytes; raises `ControlError` for what the target has no words for."""
