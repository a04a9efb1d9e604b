"""What a P4 program declares for its control plane, read from its text without loading it.

Stands on the compiled program. Knows no entry.
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
