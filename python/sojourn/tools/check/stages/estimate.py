"""The stage estimate of a P4 program, and the rules of the checker.

Depends on the engine, which makes both. Must not depend on traffic.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.errors import UnknownRuleError
from sojourn.model.programs import compiled, with_own_folder

NOT_SIMULATED = "T0804"
"""The rule about parts of the architecture that can be checked and not run."""


@dataclass(frozen=True)
class Stages:
    """The stages of a program, by estimate."""

    data: dict[str, Any]
    """Placement, resources, critical paths and totals."""
    text: str
    """The same as a table for a terminal of 100 columns."""


def estimate(
    program: str | Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
) -> Stages:
    """The stages of a program that the target can load."""
    paths = with_own_folder(include_paths, program)
    known = compiled(program, include_paths=paths, defines=defines)
    data, text = known.stages()
    return Stages(json.loads(data), text)


def explanation(code: str) -> str:
    """A rule, why the chip has it, what to do instead, and a program of either kind.

    Without a code: all rules, one a line.
    """
    if not code:
        return _core.rule_list()
    text = _core.explain(code)
    if text is None:
        raise UnknownRuleError(f"{code}: no such rule of the target\n\n{_core.rule_list()}")
    return text
