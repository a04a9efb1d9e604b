"""Times, rates and sizes as a scenario writes them, and the strict model that they share.

Quantities are exact integers in the engine's units once read, and are written back with a unit.
"""

import math
import re
from fractions import Fraction
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
)

from sojourn.model.units import RATE, SIZE, TIME, Dimension


def _reads(dimension: Dimension, *, least: int = 0) -> BeforeValidator:
    def read(value: object) -> int:
        amount = dimension.parse(value)
        if amount < least:
            raise ValueError("must be more than zero")
        return amount

    return BeforeValidator(read)


def _writes(dimension: Dimension) -> PlainSerializer:
    return PlainSerializer(dimension.format, when_used="json")


def _schema(dimension: Dimension) -> dict[str, Any]:
    """The JSON schema of a quantity, for editors."""
    units = "|".join(re.escape(unit) for unit in dimension.units)
    pattern = rf"^\s*\d+(_\d+)*(\.\d+)?\s*({units})\s*$"
    return {"type": "string", "pattern": pattern, "examples": [dimension.example]}


def _tells(schema: dict[str, Any]) -> WithJsonSchema:
    return WithJsonSchema(schema, mode="validation")


_TIME = _tells(_schema(TIME))
Time = Annotated[int, _reads(TIME), _writes(TIME), _TIME]
PositiveTime = Annotated[int, _reads(TIME, least=1), _writes(TIME), _TIME]
Rate = Annotated[int, _reads(RATE, least=1), _writes(RATE), _tells(_schema(RATE))]
Size = Annotated[int, _reads(SIZE, least=1), _writes(SIZE), _tells(_schema(SIZE))]


_PARTS = 10**9
"""A share is held in parts of this."""


def _read_share(value: object) -> int:
    if isinstance(value, str) and (number := re.fullmatch(r"(\d{1,3}(\.\d{1,9})?) ?%", value)):
        share = Fraction(number[1]) / 100
    elif isinstance(value, int | float) and not isinstance(value, bool):
        share = Fraction(str(value)) if math.isfinite(value) else Fraction(-1)
    else:
        raise ValueError('write a share as a percentage or a number up to 1, like "1 %" or 0.01')
    if not 0 <= share <= 1:
        raise ValueError("a share is 0 to 1, or 0 % to 100 %")
    return round(share * _PARTS)


Share = Annotated[
    int,
    BeforeValidator(_read_share),
    PlainSerializer(lambda value: value / _PARTS, when_used="json"),
    _tells(
        {
            "anyOf": [
                {"type": "string", "pattern": r"^\d+(\.\d+)? ?%$", "examples": ["1 %"]},
                {"type": "number", "minimum": 0, "maximum": 1},
            ]
        }
    ),
]
"""A probability or a correlation, in parts of 10^9."""


_MOST_LOAD = 1_000
"""Per cent."""


def _read_load(value: object) -> int | str:
    if isinstance(value, str) and value.strip().endswith("%"):
        found = re.fullmatch(r"\s*(\d{1,4}(\.\d{1,6})?)\s*%\s*", value)
        if found is None or not 0 < Fraction(found[1]) <= _MOST_LOAD:
            raise ValueError(f"write a share of a link as more than 0 % to {_MOST_LOAD} %")
        return f"{found[1]} %"
    rate = RATE.parse(value)
    if rate < 1:
        raise ValueError("must be more than zero")
    return rate


Load = Annotated[
    int | str,
    BeforeValidator(_read_load),
    PlainSerializer(
        lambda value: value if isinstance(value, str) else RATE.format(value), when_used="json"
    ),
    _tells(
        {
            "anyOf": [
                _schema(RATE),
                {"type": "string", "pattern": r"^\d+(\.\d+)? ?%$", "examples": ["60 %"]},
            ]
        }
    ),
]
"""A rate, or a share of a link's rate as text with a percent sign."""


def load_share(load: int | str) -> Fraction | None:
    """The share of a link's rate that a load is, if it is no rate."""
    return Fraction(load.removesuffix(" %")) / 100 if isinstance(load, str) else None


def _read_pacing(value: object) -> bool | int:
    if isinstance(value, bool):
        return value
    try:
        return RATE.parse(value)
    except ValueError as error:
        raise ValueError(f"write true, false or the most that the rate may be: {error}") from None


def _write_pacing(value: bool | int) -> bool | str:
    return value if isinstance(value, bool) else RATE.format(value)


Pacing = Annotated[
    bool | int,
    BeforeValidator(_read_pacing),
    PlainSerializer(_write_pacing, when_used="json"),
    _tells({"anyOf": [{"type": "boolean"}, _schema(RATE)]}),
]
"""Whether segments are spaced, or the most that their rate may be."""


def _read_spread(value: object) -> tuple[int, int]:
    if isinstance(value, list):
        if len(value) != 2:
            raise ValueError('write one time, or two to spread evenly, like ["5 ms", "10 ms"]')
        low, high = (TIME.parse(part) for part in value)
        if low > high:
            raise ValueError("the first time of a range must not be the longer one")
        return low, high
    single = TIME.parse(value)
    return single, single


def _write_spread(value: tuple[int, int]) -> str | list[str]:
    low, high = value
    return TIME.format(low) if low == high else [TIME.format(low), TIME.format(high)]


Spread = Annotated[
    tuple[int, int],
    BeforeValidator(_read_spread),
    PlainSerializer(_write_spread, when_used="json"),
    _tells(
        {
            "anyOf": [
                _schema(TIME),
                {"type": "array", "items": _schema(TIME), "minItems": 2, "maxItems": 2},
            ]
        }
    ),
]
"""One time for all flows of a group, or two between which they are spread evenly."""


_MOST_BYTES = 64


def _read_bytes(value: object) -> bytes:
    digits = value[2:] if isinstance(value, str) and value.startswith("0x") else ""
    if not re.fullmatch(r"([0-9a-fA-F]{2})+", digits):
        raise ValueError('write bytes as hexadecimal digits in quotes, two for each, like "0x2323"')
    if len(digits) > 2 * _MOST_BYTES:
        raise ValueError(f"{len(digits) // 2} bytes; at most {_MOST_BYTES} are allowed")
    return bytes.fromhex(digits)


HexBytes = Annotated[
    bytes,
    BeforeValidator(_read_bytes),
    PlainSerializer(lambda value: f"0x{value.hex()}", when_used="json"),
]
"""Bytes of a packet."""


def _printable(text: str) -> str:
    """A terminal obeys control characters, and a path ends at a NUL."""
    for char in text:
        if not char.isprintable():
            raise ValueError(f"holds a character that cannot be shown, U+{ord(char):04X}")
    return text


def _paragraphs(text: str) -> str:
    _printable(re.sub(r"[\n\t\r\u00a0]", " ", text))
    return text


Label = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_printable)]
"""A label in tables and plots."""


def _plain_name(text: str) -> str:
    if text != text.strip() or not re.fullmatch(r"[^\W_](?:[\w +-]*[\w+])?", text):
        raise ValueError(
            "a group's name begins with a letter or digit; letters, digits, spaces, _, + and - "
            "may follow"
        )
    if text.isdecimal() or text.casefold() in _RESERVED_NAMES:
        raise ValueError("this means something else already; give another name")
    return text


ALL_FLOWS = "all flows"
"""The name of the row of a queue as a whole."""
_RESERVED_NAMES = (ALL_FLOWS, "all")
GroupName = Annotated[str, Field(min_length=1, max_length=60), AfterValidator(_plain_name)]
"""The name of a group of flows: in tables, in JSON and in dotted keys."""
Title = Annotated[str, Field(max_length=1_000), AfterValidator(_paragraphs)]
Paragraphs = Annotated[str, Field(max_length=100_000), AfterValidator(_paragraphs)]
RegisterName = Annotated[
    str, Field(min_length=1, max_length=300), Field(pattern=r"^[\w.$]+(\[\d+(\.\.\d+)?\])?$")
]
"""A register of a program, or cells of it."""
FilePath = Annotated[str, Field(min_length=1, max_length=4_096), AfterValidator(_printable)]
"""Of a file, or another name."""
Argument = Annotated[str, Field(max_length=4_096), AfterValidator(_printable)]
"""Of a command."""


_HOST_NAME = r"^[A-Za-z*][A-Za-z0-9_*]*$"
HostName = Annotated[str, Field(max_length=1_000, pattern=_HOST_NAME)]
HostNames = str | Annotated[list[HostName], Field(min_length=1, max_length=10_000)]
"""A host, or several: a name in which `*` stands for any letters, or a list of names."""


class Strict(BaseModel):
    """Unknown keys and values of another kind are mistakes.

    What stands below a field is its description in the schema, for which `json_schema.py` reads it.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        serialize_by_alias=True,
        # Most are read as part of another: a schema of their own would be made for nothing.
        defer_build=True,
    )
