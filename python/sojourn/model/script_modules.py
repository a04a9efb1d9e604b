"""The modules of a user's script: the script and its imports from its folder.

Each run loads modules of its own, because runs go on at the same time in one process. The files are
known from the import statements before any of the code runs. Must not depend on switches or runs.
"""

import ast
import builtins
import traceback
from collections.abc import Collection, Iterator, Mapping, Sequence
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from sojourn.common.resources import shown
from sojourn.common.textfile import read_text
from sojourn.errors import ScenarioError

_SCRIPT = "controller"
"""The name under which the script itself runs."""


def script_files(script: Path, folder: Path | None = None, package: str = "") -> list[Path]:
    """The script and the modules that its import statements name in `folder`, and theirs.

    `folder` is the script's own if absent; `package` is the package that the script belongs to.
    """
    folder = script.parent if folder is None else folder
    found: dict[Path, None] = {}
    waiting = [(script, package)]
    while waiting:
        path, package = waiting.pop()
        if path in found:
            continue
        found[path] = None
        for name in _imported(path, package):
            for dotted in _prefixes(name):
                if (module := _find(folder, dotted)) is not None:
                    waiting.append((module, _package(module, dotted)))
    return list(found)


def error_place(error: BaseException, files: Collection[str]) -> str:
    """`FILE:LINE` of the innermost traceback entry in `files`; empty if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [(frame.filename, frame.lineno) for frame in frames if frame.filename in files]
    if isinstance(error, SyntaxError) and error.filename in files:
        own.append((str(error.filename), error.lineno))
    if not own:
        return ""
    file, line = own[-1]
    return f"{shown(Path(file))}:{line}" if line else shown(Path(file))


def module_file(folder: Path, dotted: str) -> Path | None:
    """The file that `python -m` runs for a module below `folder`, if it is there."""
    found = _find(folder, dotted)
    if found is None or found.name == "__init__.py":
        return _find(folder, f"{dotted}.__main__")
    return found


class ScriptModules:
    """The modules of one run's script."""

    def __init__(self, script: Path) -> None:
        self._folder = script.parent
        self._loaded: dict[str, ModuleType] = {}
        self._builtins = vars(builtins) | {"__import__": self._import}
        self.files: list[Path] = []
        """Of the modules that are loaded, in the order of loading."""
        self._script = script

    def load(self) -> ModuleType:
        """Runs the script; raises what the script raises."""
        return self._executed(ModuleType(_SCRIPT), self._script, "")

    def _executed(self, module: ModuleType, path: Path, package: str) -> ModuleType:
        text = read_text(path, shown(path), ScenarioError)
        self.files.append(path)
        vars(module).update(__file__=str(path), __package__=package, __builtins__=self._builtins)
        exec(compile(text, str(path), "exec"), vars(module))
        return module

    def _module(self, dotted: str) -> ModuleType | None:
        """The module `dotted` of the folder, loaded if it is not."""
        if dotted in self._loaded:
            return self._loaded[dotted]
        path = _find(self._folder, dotted)
        if path is None:
            return None
        module = self._loaded[dotted] = ModuleType(dotted)
        if path.name == "__init__.py":
            module.__path__ = [str(path.parent)]
        try:
            self._executed(module, path, _package(path, dotted))
        except BaseException:
            del self._loaded[dotted]
            raise
        parent, _, name = dotted.rpartition(".")
        if parent in self._loaded:
            setattr(self._loaded[parent], name, module)
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """`__import__` of the script: modules of its folder come before installed ones."""
        package = (globals or {}).get("__package__") or ""
        dotted = resolve_name("." * level + name, package) if level else name
        if _find(self._folder, dotted.partition(".")[0]) is None:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        modules = [self._module(prefix) for prefix in _prefixes(dotted)]
        first, last = modules[0], modules[-1]
        if first is None or last is None:
            raise ModuleNotFoundError(f"No module named {dotted!r}", name=dotted)
        if not fromlist:
            return first
        for part in fromlist:
            if not hasattr(last, part):
                self._module(f"{dotted}.{part}")
        return last


def _find(folder: Path, dotted: str) -> Path | None:
    """The file of the module `dotted` below `folder`, if it is there."""
    base = folder.joinpath(*dotted.split("."))
    for path in (base / "__init__.py", base.with_name(base.name + ".py")):
        if path.is_file() and path.resolve().is_relative_to(folder.resolve()):
            return path
    return None


def _package(path: Path, dotted: str) -> str:
    return dotted if path.name == "__init__.py" else dotted.rpartition(".")[0]


def _prefixes(dotted: str) -> list[str]:
    """`a`, `a.b`, `a.b.c` of `a.b.c`."""
    parts = dotted.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def _imported(path: Path, package: str) -> Iterator[str]:
    """The modules that import statements of the file at `path` may mean."""
    try:
        tree = ast.parse(read_text(path, shown(path), ScenarioError))
    except (SyntaxError, ValueError, RecursionError):
        return  # reported when the script runs
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            try:
                base = resolve_name("." * node.level + (node.module or ""), package)
            except ImportError:
                continue
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")
