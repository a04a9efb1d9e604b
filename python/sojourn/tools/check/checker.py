"""Diagnostics of a P4 program, by the language's front end and by the target's loader.

Depends on the engine. Must not depend on traffic.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.errors import UnknownAqmError
from sojourn.model.programs import unread_macros, with_own_folder

UNREAD = "W0001"
"""The code of a macro that no file reads."""


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The outcome of a check; printed, it is what the terminal shows."""

    ok: bool
    """Whether there was no error; warnings leave it true."""
    rendered: str
    """The diagnostics with source excerpts, for a terminal."""
    diagnostics: list[dict[str, Any]]
    architecture: str | None = None
    """The target of a program that can run: `tofino1`, `v1model`."""
    program: _core.Program | None = None
    """The compiled program, if the language takes it and more than the language was asked."""
    stages: tuple[dict[str, Any], str] | None = None
    """Its stages as data and as text, if it fits a target that has stages."""

    @property
    def state(self) -> dict[str, Any] | None:
        """Its state variables and what they depend on, as `check --dependencies --json` has them;
        `None` for a program that the language does not take."""
        found: dict[str, Any] | None = None
        if self.program is not None:
            found = json.loads(self.program.dependencies()[0])
        return found

    def __str__(self) -> str:
        return self.rendered.rstrip("\n") or "no errors"

    def __repr__(self) -> str:
        kinds = [each["severity"] for each in self.diagnostics]
        counts = [(kinds.count(kind), kind) for kind in ("error", "warning")]
        words = [f"{count} {kind}{'' if count == 1 else 's'}" for count, kind in counts]
        return (
            f"<check: {', '.join([*words, *([self.architecture] if self.architecture else [])])}>"
        )


def check(
    program: str | Path,
    *,
    language_only: bool = False,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
    colour: bool = False,
    target: str | None = None,
) -> CheckResult:
    """Checks the P4 program in the file `program`.

    With `language_only` it stops after the type checker. Sojourn's own architecture files are found
    after those in `include_paths`; `defines` are macros, name to text, as `-D` takes them. With
    `colour` the diagnostics are drawn for a colour terminal. `target` names the target that the
    program is compiled for, with its macros; by default the program's own.

    What is wrong with the program is in the result, as are its stages. Raises `UnknownAqmError` if
    there is no such file.

    >>> from sojourn.common.resources import programs_folder
    >>> found = sojourn.check(programs_folder() / "tna/codel_act.p4", defines={"TARGET": "5000000"})
    >>> found
    <check: 0 errors, 0 warnings, tofino1>
    >>> found.stages[0]["stages_used"], sorted(found.state)
    (7, ['controls'])
    """
    path = Path(program)
    if not path.is_file():
        reason = "this is a folder" if path.is_dir() else "no such P4 program"
        raise UnknownAqmError(f"{program}: {reason}")
    paths = list(with_own_folder(include_paths, path))
    said = _core.check(str(path), language_only, paths, dict(defines or {}), colour, target)
    architecture = said.program.target if said.ok and said.program else None
    stages = (json.loads(said.stages[0]), said.stages[1]) if said.stages else None
    found = json.loads(said.diagnostics)
    rendered = said.rendered
    if said.program and defines:
        unread = unread_macros(said.program, defines)
        said_of = [_unread(name, hint) for name, hint in unread.items()]
        found += said_of
        rendered += "".join(f"warning: {each['message']}\n" for each in said_of)
    return CheckResult(said.ok, rendered, found, architecture, said.program, stages)


def _unread(name: str, hint: str) -> dict[str, Any]:
    """A warning in the form of the engine's, which has no place in a file."""
    empty: dict[str, Any] = {
        key: [] for key in ("expansions", "help", "included_from", "labels", "notes", "suggestions")
    }
    message = f"-D {name}: no file of the program reads it{hint}"
    warning = {
        "severity": "warning",
        "code": UNREAD,
        "message": message,
        "label": "",
        "place": None,
    }
    return empty | warning
