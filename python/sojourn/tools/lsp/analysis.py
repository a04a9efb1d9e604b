"""Analysis of a program in an editor: diagnostics, and the symbol at a position.

Positions are the engine's: lines and columns from 1, columns in characters. Must not depend on the
protocol.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.model.programs import with_own_folder

_MAIN = re.compile(r"\bmain\s*+;")
_ARCHITECTURE = re.compile(r"^[ \t]*+#[ \t]*+include[ \t]*+<\w++\.p4>", re.M)
_INCLUDE = re.compile(r'^[ \t]*+#[ \t]*+include[ \t]*+["<]([^">\n]++)[">]', re.M)
_MOST_NEIGHBOURS = 200
"""Files that are read to find out whose part one is."""


@dataclass(frozen=True)
class Analysis:
    """A program with all that was found in it."""

    program: Path
    diagnostics: Sequence[Mapping[str, Any]]
    names: Sequence[Mapping[str, Any]]
    target: str | None
    stages: Mapping[str, Any] | None

    @property
    def files(self) -> set[Path]:
        """The files that it is made of, as far as names or mistakes are in them."""
        places = [name["at"] for name in self.names]
        places += [found["place"] for found in self.diagnostics if found["place"]]
        return {self.program, *(Path(place["path"]).resolve() for place in places)}

    def name_at(self, path: Path, line: int, column: int) -> Mapping[str, Any] | None:
        """The name at a place, or none."""
        for name in self._by_line.get((str(path), line), ()):
            if name["at"]["column"] <= column <= name["at"]["end_column"]:
                return name
        return None

    @cached_property
    def _by_line(self) -> dict[tuple[str, int], list[Mapping[str, Any]]]:
        found: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
        for name in self.names:
            at = name["at"]
            found.setdefault((str(Path(at["path"]).resolve()), at["line"]), []).append(name)
        return found

    def stages_at(self, path: Path, line: int) -> list[str]:
        """The placed elements of the line with their stages: `stage 3: table choose_count`."""
        return list(dict.fromkeys(text for at, text in self.placed(path) if at == line))

    def placed(self, path: Path) -> Iterator[tuple[int, str]]:
        """Lines of a file and what of them is placed where."""
        if self.stages is None:
            return
        for stage in self.stages["stages"]:
            for step in stage["placed"]:
                if Path(step["at"]["file"]).resolve() == path:
                    yield (
                        step["at"]["line"],
                        f"{step['pass']} stage {stage['stage']}: {step['kind']} {step['name']}",
                    )
        for state in self.stages["state"]:
            if Path(state["at"]["file"]).resolve() == path:
                size = f"{state['size']} x " if state["size"] else ""
                text = f"{state['pass']} stage {state['stage']}: {size}{state['entry']}"
                yield state["at"]["line"], text

    @property
    def fits(self) -> str:
        """The number of stages of each pass, in one line; empty if it has none."""
        if self.stages is None:
            return ""
        passes = ", ".join(f"{one['name']} {one['stages']}" for one in self.stages["passes"])
        available = self.stages["stages_available"]
        return f"{self.stages['stages_used']} of {available} stages ({passes}), by estimate"


def analyse(
    program: Path,
    texts: Mapping[Path, str],
    include_paths: Sequence[str] = (),
    defines: Mapping[str, str] | None = None,
) -> Analysis:
    """Looks at the program in the file `program`; `texts` stand in place of files."""
    paths = list(with_own_folder(include_paths, program))
    unsaved = {str(path): text for path, text in texts.items()}
    answer = json.loads(_core.inspect(str(program), paths, dict(defines or {}), unsaved))
    return Analysis(
        program, answer["diagnostics"], answer["names"], answer["target"], answer["stages"]
    )


def root_of(path: Path, texts: Mapping[Path, str]) -> Path:
    """The program that a file is a part of: itself if it is whole, else the nearest that includes
    it, in its folder or the one above, one of its name before others; itself if there is none."""
    seen, parts = {path}, [path]
    if _is_whole(path, texts):
        return path
    while parts:
        users = [
            other
            for other in _neighbours(path)
            if other not in seen and not _included(other, texts).isdisjoint(parts)
        ]
        whole = [user for user in users if _is_whole(user, texts)]
        if whole:
            return min(whole, key=lambda user: user.name != path.name)
        seen |= set(users)
        parts = users
    return path


def _is_whole(path: Path, texts: Mapping[Path, str]) -> bool:
    """True if a file, with what it includes, has an architecture and a `main`."""
    seen: set[Path] = set()
    waiting, text = [path], ""
    while waiting and len(seen) < _MOST_NEIGHBOURS:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            text += _text(one, texts)
            waiting += _included(one, texts)
    return _MAIN.search(text) is not None and _ARCHITECTURE.search(text) is not None


def _neighbours(path: Path) -> list[Path]:
    folders = [path.parent, path.parent.parent]
    found = [each.resolve() for folder in folders for each in sorted(folder.glob("*.p4"))]
    return found[:_MOST_NEIGHBOURS]


def _included(path: Path, texts: Mapping[Path, str]) -> set[Path]:
    """The files that a file includes, in its folder and in the folder above."""
    names = _INCLUDE.findall(_text(path, texts))
    folders = (path.parent, path.parent.parent)
    return {(folder / name).resolve() for name in names for folder in folders}


def _text(path: Path, texts: Mapping[Path, str]) -> str:
    if path in texts:
        return texts[path]
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
