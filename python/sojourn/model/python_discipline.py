"""Queue disciplines that are Python classes: their protocol, their parameters, their registration.

A class comes from a file (`FILE.py:CLASS`), whose code passes the gate of `scenario_code`, or from
the caller's session (`given`). The engine holds each queue's packets and calls the class's object
for decisions. Must not depend on scenarios.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from sojourn import _core
from sojourn._core import QueuedPacket, QueueState
from sojourn.common.resources import shown
from sojourn.common.suggest import did_you_mean
from sojourn.common.textfile import read_text
from sojourn.errors import ScenarioError, UnknownAqmError
from sojourn.model.parameters import Kind, kind_named
from sojourn.model.scenario_code import admit
from sojourn.model.script_modules import ScriptModules, error_place, script_files
from sojourn.model.units import RATE, SIZE, TIME, Dimension

ENGINE_PREFIX = "python/"
"""Begins the engine's name of a class."""

_METHODS = ("enqueue", "dequeue")
_USE = re.compile(r"(?P<file>(?:.*\.py)?):(?P<name>\w+)")
_numbers = count(1)


class Decision(IntEnum):
    """Decision about a packet."""

    KEEP = 0
    """It stays in the queue, or leaves it to be sent."""
    DROP = 1
    MARK = 2
    """It gets Congestion Experienced; a packet of a transport without ECN is dropped."""


class Discipline(Protocol):
    """A queue's management. The queue is first in, first out; each queue has an object of its own.

    A subclass may leave one of the methods out, which then keeps every packet.
    """

    def enqueue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
        """Decides about a packet that arrives, at `now` ns; `queue` is without it."""
        return Decision.KEEP

    def dequeue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
        """Decides about the packet at the head; `queue` is what stays behind it."""
        return Decision.KEEP


class _Quantity(int):
    """A whole number in the engine's unit, written with a unit: the default of a parameter."""

    dimension: Dimension

    def __new__(cls, written: str | int) -> Self:
        return super().__new__(
            cls, cls.dimension.parse(written) if isinstance(written, str) else written
        )


class Time(_Quantity):
    """A span of time: `Time("5 ms")` is 5,000,000 ns."""

    dimension = TIME


class Size(_Quantity):
    """A size: `Size("1500 bytes")`."""

    dimension = SIZE


class Rate(_Quantity):
    """A rate in bit/s: `Rate("10 Mbit/s")`."""

    dimension = RATE


class OwnParameter(NamedTuple):
    """A keyword of a class's constructor."""

    name: str
    kind: Kind
    default: int
    """As the engine has it."""

    def value(self, number: int) -> int | float | bool:
        """Argument of the constructor for the engine's number."""
        if self.kind.name in ("probability", "switch"):
            return self.kind.format(number)  # type: ignore[return-value]
        return number


@dataclass(frozen=True)
class OwnDiscipline:
    """A class that `use` names."""

    use: str
    name: str
    summary: str
    file: Path | None
    given: type | None = None
    """The class itself, if the session has registered it."""

    def added(self) -> "Added":
        """The class, loaded and added to the engine under a name of its own; `ScenarioError` says
        what is wrong with it and where."""
        files: tuple[Path, ...] = ()
        found, own_files = self.given, []
        if self.file is not None:
            files = tuple(script_files(self.file))
            own_files = [str(file) for file in files]
        if found is None:
            assert self.file is not None, "a class comes from a file or from the session"
            admit(self.file, "a queue discipline in Python")
            found = _loaded(self.file, self.name, own_files)
        parameters = _parameters(found)
        engine_name = f"{ENGINE_PREFIX}{self.name}@{next(_numbers)}"
        _core.add_python_discipline(
            engine_name,
            [(one.name, one.kind.name, one.default) for one in parameters],
            _maker(found, parameters),
            _Explainer(found, own_files),
        )
        return Added(engine_name, parameters, files)


class Added(NamedTuple):
    """A class that the engine has."""

    name: str
    """As the engine knows it."""
    parameters: tuple[OwnParameter, ...]
    files: tuple[Path, ...]
    """Its source files, by absolute paths."""

    def values(self, written: Mapping[str, Any], aqm: str) -> dict[str, int]:
        """The parameters that a scenario writes, as the engine takes them."""
        known = {one.name: one for one in self.parameters}
        found = {}
        for name, value in written.items():
            if name not in known:
                listed = f"it has {', '.join(known)}" if known else "its constructor has none"
                hint = did_you_mean(name, known)
                raise ScenarioError(f"aqms: {aqm}: no parameter {name}{hint}; {listed}")
            try:
                found[name] = known[name].kind.parse(value)
            except ValueError as error:
                raise ScenarioError(f"aqms: {aqm}: {name}: {value!r}: {error}") from None
        return found


_given: dict[str, OwnDiscipline] = {}


def is_class(name: str) -> bool:
    """True if `name` is that of a class: `FILE.py:CLASS`, or one of this session."""
    return _USE.fullmatch(name) is not None or name.endswith(".py")


def given(name: str, found: type) -> str:
    """Makes a class of the session known; the `use` by which it is found."""
    _check(found, name)
    _parameters(found)
    file = _file_of(found)
    use = f":{name}" if file is None else f"{file}:{found.__name__}"
    _given[use] = OwnDiscipline(use, found.__name__, _summary(found.__doc__), file, found)
    return use


def find_class(name: str, beside: Path) -> OwnDiscipline:
    """The class that `name` means, its file relative to the folder `beside`. Runs none of it."""
    match = _USE.fullmatch(name)
    if match is not None and not match["file"]:
        if name in _given:
            return _given[name]
        raise UnknownAqmError(
            f"{name}: a discipline in Python of another session; put the class into a file and "
            "name it FILE.py:CLASS"
        )
    written = name if match is None else match["file"]
    path = (beside / Path(written).expanduser()).absolute()
    if match is not None and (known := _given.get(f"{path}:{match['name']}")):
        return known
    if not path.is_file():
        raise UnknownAqmError(f"{written}: no such file of a discipline in Python")
    classes = _classes(path)
    wanted = None if match is None else match["name"]
    if wanted is None or wanted not in classes:
        hint = "" if wanted is None else did_you_mean(wanted, classes)
        listed = ", ".join(classes) or "none"
        said = "name its class" if wanted is None else f"no class {wanted}{hint}"
        raise UnknownAqmError(
            f"{shown(path)}: {said}, as in {written}:HeadDrop; its classes are {listed}"
        )
    return OwnDiscipline(f"{path}:{wanted}", wanted, _summary(classes[wanted]), path)


def _classes(path: Path) -> dict[str, str | None]:
    """The classes at the top of the file at `path` with their docstrings; none of a file with a
    syntax error, which loading reports."""
    try:
        tree = ast.parse(read_text(path, shown(path), ScenarioError))
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None)
        place = f"{shown(path)}:{line}" if line else shown(path)
        raise ScenarioError(f"{place}: {type(error).__name__}: {error}") from None
    return {
        node.name: ast.get_docstring(node) for node in tree.body if isinstance(node, ast.ClassDef)
    }


def _summary(docstring: str | None) -> str:
    text = " ".join((docstring or "").split())
    return text.split(". ")[0].rstrip(".") or "a discipline in Python"


def _file_of(found: type) -> Path | None:
    """The file that has the class at its top, if there is one."""
    try:
        path = Path(inspect.getfile(found)).absolute()
    except (TypeError, OSError):
        return None
    if path.suffix != ".py" or not path.is_file() or found.__qualname__ != found.__name__:
        return None
    return path if found.__name__ in _classes(path) else None


def _loaded(path: Path, name: str, files: Iterable[str]) -> type:
    try:
        module = ScriptModules(path).load()
    except Exception as error:
        place = error_place(error, list(files)) or shown(path)
        raise ScenarioError(f"{place}: {_said(error)}") from error
    found = getattr(module, name, None)
    _check(found, f"{shown(path)}:{name}")
    assert isinstance(found, type)
    return found


def _check(found: object, name: str) -> None:
    if not isinstance(found, type):
        raise ScenarioError(f"{name}: a discipline is a class with enqueue and dequeue")
    missing = [method for method in _METHODS if not callable(getattr(found, method, None))]
    if missing:
        raise ScenarioError(
            f"{name}: the class has no {' and no '.join(missing)}; it needs enqueue(packet, queue, "
            "now) and dequeue(packet, queue, now), or inherits one from sojourn.Discipline"
        )


def _parameters(found: type) -> tuple[OwnParameter, ...]:
    """The keywords of the constructor: each needs a default, which says of what kind it is."""
    if found.__init__ is object.__init__ or found.__init__ is Discipline.__init__:  # type: ignore[misc]
        return ()
    parameters = []
    for name, one in list(inspect.signature(found.__init__).parameters.items())[1:]:  # type: ignore[misc]
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        place = f"{found.__name__}.__init__: {name}"
        if one.default is one.empty:
            raise ScenarioError(f"{place}: a parameter of a discipline needs a default")
        kind = _kind_of(one.default)
        if kind is None:
            raise ScenarioError(
                f"{place}: the default {one.default!r} is of no kind of a parameter; write "
                'Time("5 ms"), Size("1500 bytes"), Rate("1 Mbit/s"), a whole number, True or '
                "False, or a probability from 0.0 to 1.0"
            )
        try:
            default = kind.parse(int(one.default) if kind.name == "number" else one.default)
        except ValueError as error:
            raise ScenarioError(f"{place}: {one.default!r}: {error}") from None
        parameters.append(OwnParameter(name, kind, default))
    return tuple(parameters)


def _kind_of(default: object) -> Kind | None:
    if isinstance(default, _Quantity):
        return _of_quantity(kind_named(default.dimension.name))
    if isinstance(default, bool):
        return kind_named("switch")
    if isinstance(default, int):
        return kind_named("number")
    return kind_named("probability") if isinstance(default, float) else None


def _of_quantity(kind: Kind) -> Kind:
    """The kind, which takes its own quantities as they are."""

    def parse(value: object) -> int:
        return int(value) if isinstance(value, _Quantity) else kind.parse(value)

    return Kind(kind.name, parse, kind.format)


def _maker(
    found: type, parameters: tuple[OwnParameter, ...]
) -> Callable[[Mapping[str, int]], tuple[object, object]]:
    """Turns the engine's numbers into an object's methods; `None` for one that only keeps."""

    def make(settings: Mapping[str, int]) -> tuple[object, object]:
        made = found(**{one.name: one.value(settings[one.name]) for one in parameters})
        enqueue, dequeue = (
            None if getattr(found, method) is getattr(Discipline, method) else getattr(made, method)
            for method in _METHODS
        )
        return enqueue, dequeue

    return make


class _Explainer:
    """Describes an exception of a class: file, line, packet number and method."""

    def __init__(self, found: type, files: list[str]) -> None:
        self._class, self._files = found, files

    def __call__(self, error: BaseException, at: tuple[int, str] | None) -> str:
        method = "__init__" if at is None else at[1]
        code = getattr(getattr(self._class, method, None), "__code__", None)
        start = "" if code is None else f"{shown(Path(code.co_filename))}:{code.co_firstlineno}"
        files = self._files or [getattr(code, "co_filename", "")]
        where = error_place(error, files) or start
        call = f"{self._class.__name__}.{method}"
        packet = f"{call}: " if at is None else f"packet {at[0]}, {call}: "
        return f"{where}: {packet}{_said(error)}"


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
