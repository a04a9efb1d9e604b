"""What a P4 program declares for its control plane, read from its text without loading it.

Stands on the engine, which compiles the program. Knows no entry.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn import _core
from sojourn.control import ProgramDescription, read_description

_MACROS = {"tofino1": {"__TARGET_TOFINO__": "1"}}
"""What an architecture defines before the first line."""


def read_declarations(
    program: Path,
    *,
    architecture: str | None = None,
    include_paths: Sequence[str] = (),
    defines: Mapping[str, str] | None = None,
) -> ProgramDescription:
    """The declarations of the program in the file `program`."""
    macros = _MACROS.get(architecture or "", {}) | dict(defines or {})
    return read_description(_core.declarations(str(program), list(include_paths), macros))
