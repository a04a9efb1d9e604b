"""P4 programs, compiled once: the object that runs, checks, tests, replays and emitted files share.

Uses the engine, which compiles. A program is compiled again when one of its files has changed.
Uses no scenario and no control plane.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock

from sojourn import _core
from sojourn.common.resources import programs_folder
from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.model.inputs import Inputs, absolute

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


def with_own_folder(
    include_paths: Sequence[str | Path] | None, program: str | Path | None = None
) -> tuple[str, ...]:
    """These folders, and behind them Sojourn's own: the architecture files, then the shipped
    programs, so that `program` can include `aqm/codel.p4` wherever it stands. Those of its own
    architecture come first, which it names in its first lines."""
    own = programs_folder()
    text = _text(program)
    folders = sorted(target_folders(), key=lambda folder: not _includes(text, folder))
    return (*map(str, include_paths or ()), *(str(own / name) for name in ("include", *folders)))


def refuse_unread_macros(
    programs: Sequence[_core.Program], defines: Mapping[str, str], where: str = "-D"
) -> None:
    """`ScenarioError` if a macro is read by none of `programs`: a result would not be of what was
    meant. `where` says where the macros were given."""
    if not defines:
        return
    if not programs:
        raise ScenarioError(f"{where} {', '.join(defines)}: there is no P4 program to read it")
    found = [unread_macros(program, defines) for program in programs]
    for name, hint in found[0].items():
        if all(name in unread for unread in found):
            raise ScenarioError(f"{where} {name}: no file of the program reads it{hint}")


def _includes(text: str, architecture: str) -> bool:
    return (
        re.search(rf'^[ \t]*+#[ \t]*+include[ \t]*+[<"]{architecture}\.p4[>"]', text, re.M)
        is not None
    )


def unread_macros(program: _core.Program, defines: Mapping[str, str]) -> dict[str, str]:
    """The macros of `defines` that none of the program's files reads, each with a suggestion: a
    name that the files test, or nothing."""
    texts = [_COMMENT.sub(" ", _text(path)) for path in program.sources]
    words = {word for text in texts for word in _WORD.findall(text)}
    asked = sorted({name for text in texts for name in _ASKED.findall(text)})
    named = {name: name.partition("(")[0] for name in defines}
    return {name: did_you_mean(name, asked) for name, plain in named.items() if plain not in words}


_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASKED = re.compile(
    r"^[ \t]*+#[ \t]*+(?:ifdef|ifndef|if[ \t]++!?[ \t]*+defined[ \t]*+\(?)[ \t]*+([A-Za-z_]\w*)",
    re.M,
)


def _text(path: str | Path | None) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace") if path else ""
    except OSError:
        return ""


def inputs_of(program: _core.Program) -> Inputs:
    """The files that a program was compiled from, with the SHA-256 of the texts."""
    return {absolute(path): digest for path, digest in program.sources.items()}


@lru_cache(maxsize=_MOST)
def doubt_of(program: _core.Program) -> str | None:
    """The reason that the program's chip may refuse it although it runs, or nothing."""
    return program.doubt()


@cache
def target_names() -> tuple[str, ...]:
    """The targets of programs."""
    return tuple(name for name, _ in _core.targets())


@cache
def target_folders() -> dict[str, str]:
    """Folder of `p4/` -> what its programs are for; of several chips the first."""
    found: dict[str, str] = {}
    for name, folder in _core.targets():
        found.setdefault(folder, name)
    return found
