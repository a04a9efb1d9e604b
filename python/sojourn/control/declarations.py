"""A P4 program's declarations for its control plane, read from its text without loading it.

Depends on the compiled program. Must not depend on entries.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from sojourn.control import ProgramDescription, read_description
from sojourn.model.programs import compiled


def read_declarations(
    program: Path,
    *,
    include_paths: Sequence[str] = (),
    defines: Mapping[str, str] | None = None,
) -> ProgramDescription:
    """The declarations of the program in the file `program`."""
    known = compiled(program, include_paths=include_paths, defines=defines)
    return read_description(known.declarations())
