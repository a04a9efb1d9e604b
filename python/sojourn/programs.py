"""P4 programs, compiled once: the object that runs, checks, tests, replays and emitted files share.

Stands on the engine, which compiles. A program is compiled again when one of its files has changed.
Knows no scenario and no control plane.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock

from sojourn import _core
from sojourn.layout import programs_folder, shown

_MOST = 64
"""Programs that are kept."""

_kept: dict[tuple[str, tuple[str, ...], tuple[tuple[str, str], ...]], _core.Program] = {}
_lock = Lock()


def compiled(
    program: str | Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
) -> _core.Program:
    """The program in the file `program`, compiled.

    `include_paths` are searched in order; `ProgramError` has what the language has against it.
    """
    paths, macros = [*map(str, include_paths)], dict(defines or {})
    key = (str(program), tuple(paths), tuple(sorted(macros.items())))
    with _lock:
        known = _kept.pop(key, None)
    if known is None or not known.is_current():
        known = _core.Program(str(program), paths, macros)
    with _lock:
        _kept[key] = known
        while len(_kept) > _MOST:
            del _kept[next(iter(_kept))]
    return known


def with_own_folder(include_paths: Sequence[str | Path] | None) -> tuple[str, ...]:
    """These folders, and behind them the one with Sojourn's own architecture files."""
    return (*map(str, include_paths or ()), str(programs_folder() / "include"))


def sources_of(program: _core.Program) -> dict[str, str]:
    """The files that a program was compiled from, each with its SHA-256."""
    found = {shown(path.resolve()): digest for path, digest in program.sources.items()}
    return dict(sorted(found.items()))


@cache
def target_names() -> tuple[str, ...]:
    """What a program can be for."""
    return tuple(name for name, _ in _core.targets())


@cache
def target_folders() -> dict[str, str]:
    """Folder of `p4/` -> what its programs are for."""
    return {folder: name for name, folder in _core.targets()}
