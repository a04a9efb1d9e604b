"""What a P4 program declares for its control plane, read from its text without loading it.

Stands on the engine, which compiles the program. Knows no entry.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn import _core
from sojourn.control import ProgramDescription, read_description

_MACROS = {"tofino1": {"__TARGET_TOFINO__": "1"}, "v1model": {"__TARGET_BMV2__": "1"}}
"""What an architecture's compiler defines before the first line."""


def target_macros(architecture: str | None) -> dict[str, str]:
    """What is defined before the first line of a program for `architecture`."""
    return _MACROS.get(architecture or "", {})


def read_declarations(
    program: Path,
    *,
    architecture: str | None = None,
    include_paths: Sequence[str] = (),
    defines: Mapping[str, str] | None = None,
) -> ProgramDescription:
    """The declarations of the program in the file `program`."""
    macros = target_macros(architecture) | dict(defines or {})
    return read_description(_core.declarations(str(program), list(include_paths), macros))
