"""Parameters of the native disciplines, and the notation of their values.

The engine's register lists a discipline's parameters by the names of its RFC. The engine holds each
value as a whole number and checks it. Depends on `units`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from sojourn import _core
from sojourn.model.units import FREQUENCY, RATE, SIZE, TIME, Dimension

_MILLION = 10**6
_LARGEST = 2**63


@dataclass(frozen=True)
class Kind:
    """A kind of value: what it is called, and the way between a scenario and the engine."""

    name: str
    parse: Callable[[object], int]
    """The engine's number; `ValueError` says what is wrong and what is right."""
    format: Callable[[int], str | int | float | bool]
    """As a scenario writes it; `parse` reads it back."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of a native discipline."""

    name: str
    of: str
    """The name of its kind, which says what the engine's number counts."""
    unit: str
    """Of that number: `ns`, `bytes`, `packets`, `bit/s`, `ppm`, `mHz`, `0/1`, or nothing."""
    default: int | None
    """In that unit; absent if the parameter is off unless it is given."""
    summary: str

    @property
    def kind(self) -> Kind:
        """The notation of its values."""
        return _KINDS[self.of]

    @property
    def written(self) -> str | int | float | bool | None:
        """The default as a scenario writes it."""
        return None if self.default is None else self.kind.format(self.default)


@dataclass(frozen=True)
class Discipline:
    """A native discipline as the engine registers it."""

    name: str
    summary: str
    parameters: tuple[Parameter, ...]

    def outside(self, given: Mapping[str, int]) -> tuple[Parameter, int, str] | None:
        """A parameter whose value is not allowed, given or by default, that value, and what is."""
        wrong = _core.check_discipline(self.name, dict(given))
        if wrong is None:
            return None
        name, value, least, most = wrong
        parameter = next(p for p in self.parameters if p.name == name)
        written = [_shown(parameter.kind.format(bound)) for bound in (least, most)]
        allowed = f"{written[0]} or more" if most >= _LARGEST else " to ".join(written)
        return parameter, value, f"allowed is {allowed}"


_MODULES = "codel@rom"
"""Under this name the engine has the parameters common to all hardware modules."""


def disciplines() -> list[Discipline]:
    """All native disciplines, in order of name; hardware modules, which the engine has under a name
    with an `@`, are not among them."""
    return [discipline for discipline in _registered() if "@" not in discipline.name]


def hardware_module() -> Discipline:
    """The parameters of every hardware module; a module without the port ignores one."""
    return next(discipline for discipline in _registered() if discipline.name == _MODULES)


def _registered() -> list[Discipline]:
    return [
        Discipline(name, summary, tuple(Parameter(*parameter) for parameter in parameters))
        for name, summary, parameters in sorted(_core.native_disciplines())
    ]


def kind_named(name: str) -> Kind:
    """The kind of values of that name."""
    return _KINDS[name]


def _shown(value: str | int | float | bool) -> str:
    """A value as a scenario writes it, in a sentence."""
    return f"{value:.6f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _quantity(dimension: Dimension) -> Kind:
    return Kind(dimension.name, dimension.parse, dimension.format)


def _count(name: str, what: str) -> Kind:
    def parse(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"write a whole number{what} without quotes or unit, like 100")
        if not 0 <= value < _LARGEST:
            raise ValueError("must be from 0 to 2^63 - 1")
        return value

    return Kind(name, parse, int)


def _parse_probability(value: object) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError("write a probability as a number from 0 to 1 without quotes, like 0.1")
    if not 0 <= value <= 1:
        raise ValueError("a probability is from 0 to 1")
    # A float's shortest text is what was typed, and that is what is converted exactly.
    millionths = Fraction(str(value)) * _MILLION
    if millionths.denominator != 1:
        raise ValueError("finer than one millionth, which is the smallest probability")
    return millionths.numerator


def _parse_switch(value: object) -> int:
    if not isinstance(value, bool):
        raise ValueError("must be true or false, without quotes")
    return int(value)


_KINDS = {
    kind.name: kind
    for kind in (
        _quantity(TIME),
        _quantity(SIZE),
        _quantity(RATE),
        _quantity(FREQUENCY),
        _count("packets", " of packets"),
        Kind("probability", _parse_probability, lambda value: value / _MILLION),
        Kind("switch", _parse_switch, bool),
        _count("number", ""),
    )
}
"""Notation of the register's kinds of values."""
