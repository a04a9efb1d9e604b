"""Where a P4 program goes in the chip's pipeline, stage by stage, and the rules it can break.

Stands on the engine, which makes the estimate and draws it. Knows nothing of traffic.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

from sojourn import _core
from sojourn.errors import UnknownAqmError
from sojourn.layout import programs_folder

_WIDTH = 100


@dataclass(frozen=True)
class Stages:
    """The stages of a program, by estimate."""

    data: dict[str, Any]
    """What is placed where, what it uses, the critical paths, the totals."""
    text: str
    """The same as a table for a terminal of 100 columns."""


def estimate(
    program: str | Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
) -> Stages:
    """The stages of a program that the target can load."""
    paths = [*map(str, include_paths), str(programs_folder() / "include")]
    data, text = _core.stages(str(program), paths, dict(defines or {}))
    return Stages(json.loads(data), text)


def explanation(code: str) -> str:
    """What the rule with this code says, why the chip has it, and what to do instead."""
    rule = _core.explain(code)
    if rule is None:
        raise UnknownAqmError(f"{code}: no such rule; the rules of the target are T0101 to T1202")
    code, title, reason, cure = rule
    parts = (f"{code}: {title}.", f"Why: {reason}.", f"Instead: {cure}.")
    return "\n\n".join(fill(part, _WIDTH, break_on_hyphens=False) for part in parts)
