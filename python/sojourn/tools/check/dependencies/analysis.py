"""Analysis of a program's state variables.

It covers programs that no target accepts. Depends on the engine alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.model.programs import compiled, with_own_folder


@dataclass(frozen=True)
class Dependencies:
    """The state variables of a program and what they depend on."""

    data: dict[str, Any]
    """By control: variables, steps in order, flows, blocks."""
    text: str
    """The same for a terminal of 100 columns."""


def dependencies(
    program: str | Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
) -> Dependencies:
    """The state variables of a program that the language accepts."""
    paths = with_own_folder(include_paths, program)
    known = compiled(program, include_paths=paths, defines=defines)
    data, text = known.dependencies()
    return Dependencies(json.loads(data), text)
