"""Quantities as people write them ("5 ms", "100 Mbit/s", "1 MiB") and as the engine holds them.

Inside Sojourn a time is a whole number of nanoseconds, a rate of bit/s, a size of bytes; decimal
fractions are converted exactly, never through a float. Depends on `suggest` alone.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from sojourn.common.suggest import did_you_mean

_NUMBER = re.compile(r"\d+(?:_\d+)*(?:\.\d+)?")
_LONGEST = 100
"""Characters of a number or a unit; longer ones are mistakes that a message does not repeat."""


@dataclass(frozen=True)
class Dimension:
    """A kind of quantity: its name, its units as multiples of the engine's own, an example."""

    name: str
    base: str
    units: dict[str, int]
    example: str

    def parse(self, text: object) -> int:
        """The quantity in the engine's unit; `ValueError` says what is wrong and what is right."""
        if not isinstance(text, str):
            raise ValueError(f'write a {self.name} as text with its unit, like "{self.example}"')
        text = text.strip()
        match = _NUMBER.match(text)
        number = match[0] if match else ""
        unit = text[len(number) :].strip()
        if not number or unit[:1].isdigit() or max(len(number), len(unit)) > _LONGEST:
            raise ValueError(f'not a {self.name}; write a number and a unit, like "{self.example}"')
        if not unit:
            raise ValueError(f"the unit is missing; use one of {', '.join(self.units)}")
        if unit not in self.units:
            hint = did_you_mean(unit, self.units)
            raise ValueError(f'unknown unit "{unit}"; use one of {", ".join(self.units)}{hint}')
        value = Fraction(number.replace("_", "")) * self.units[unit]
        if value.denominator != 1:
            raise ValueError(f"finer than one {self.base}, which is the smallest {self.name}")
        if value >= 2**63:
            raise ValueError(f"too large for a {self.name}")
        return value.numerator

    def format(self, value: int) -> str:
        """`value` in the largest unit that needs at most three decimals; `parse` reads it back."""
        for unit, factor in sorted(self.units.items(), key=lambda item: -item[1]):
            scaled = Fraction(value, factor)
            if scaled >= 1 and (scaled * 1000).denominator == 1:
                return f"{_decimal(scaled)} {unit}"
        return f"{value} {self.base}"


def _decimal(value: Fraction) -> str:
    thousandths = value * 1000
    whole, rest = divmod(thousandths.numerator, 1000)
    return f"{whole}.{rest:03d}".rstrip("0").rstrip(".")


TIME = Dimension(
    "time",
    "ns",
    {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9},
    "5 ms",
)
RATE = Dimension(
    "rate",
    "bit/s",
    {"bit/s": 1, "kbit/s": 10**3, "Mbit/s": 10**6, "Gbit/s": 10**9},
    "100 Mbit/s",
)
FREQUENCY = Dimension("frequency", "mHz", {"mHz": 1, "Hz": 10**3}, "0.125 Hz")
SIZE = Dimension(
    "size",
    "B",
    {"B": 1, "kB": 10**3, "KiB": 2**10, "MB": 10**6, "MiB": 2**20, "GB": 10**9, "GiB": 2**30},
    "1600 B",
)

_TIMES = """duration rtt start stop start_jitter at delay delay_back on off think every interval
jitter ingress_latency egress_latency recirculation_latency"""
_RATES = "rate rate_back rate_cap load access_rate port_speed pacing recirculation_rate"
_SIZES = "burst queue_limit packet_size min_size max_size request response block"
_DIMENSIONS = (
    dict.fromkeys(_TIMES.split(), TIME)
    | dict.fromkeys(_RATES.split(), RATE)
    | dict.fromkeys(_SIZES.split(), SIZE)
)
"""The kind of quantity of a scenario's key, by the last part of its name."""

_LIMITS = re.compile(r"\b(?P<key>\w+) = (?P<value>\d+): allowed is (?P<low>\d+) to (?P<high>\d+)\b")


def in_units(message: str) -> str:
    """What the engine says of a value and its limits, with the units that a scenario has."""

    def written(found: re.Match[str]) -> str:
        dimension = _DIMENSIONS.get(found["key"])
        if dimension is None:
            return found[0]
        value, low, high = (dimension.format(int(found[name])) for name in ("value", "low", "high"))
        return f"{found['key']} = {value}: allowed is {low} to {high}"

    return _LIMITS.sub(written, message)
