"""Changes to an input: bytes, words, lines, numbers, and pieces of other inputs.

Must not know of what kind an input is.
"""

import random
import re
from collections.abc import Sequence

Random = random.Random

_NUMBER = re.compile(rb"\d+")
_NUMBERS = [
    b"0", b"1", b"-1", b"7", b"64", b"65", b"128", b"255", b"256", b"65535", b"65536", b"1048576",
    b"1048577", b"2147483648", b"4294967295", b"4294967296", b"18446744073709551552",
    b"18446744073709551615", b"18446744073709551616", b"340282366920938463463374607431768211456",
    b"1" + 400 * b"0", b"0.0000000001", b"1e999", b"nan",
]  # fmt: skip
_LARGEST = 1 << 18
"""Bytes of an input."""


def mutated(data: bytes, others: Sequence[bytes], words: Sequence[bytes], chance: Random) -> bytes:
    """The input with one to eight changes."""
    for _ in range(1 + int(chance.expovariate(0.5)) % 8):
        data = chance.choice(_CHANGES)(data, others, words, chance)[:_LARGEST]
    return data


def _bytes(data: bytes, others: Sequence[bytes], words: Sequence[bytes], chance: Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    length = chance.choice((0, 1, 1, 2, 4))
    return data[:at] + chance.randbytes(chance.choice((0, 1, 1, 2, 4))) + data[at + length :]


def _number(data: bytes, others: Sequence[bytes], words: Sequence[bytes], chance: Random) -> bytes:
    found = list(_NUMBER.finditer(data))
    if not found:
        return _bytes(data, others, words, chance)
    place = chance.choice(found)
    return data[: place.start()] + chance.choice(_NUMBERS) + data[place.end() :]


def _word(data: bytes, others: Sequence[bytes], words: Sequence[bytes], chance: Random) -> bytes:
    pieces = re.split(rb"(\W)", data)
    pieces[chance.randrange(len(pieces))] = chance.choice(words or pieces)
    return b"".join(pieces)


def _repeat(data: bytes, others: Sequence[bytes], words: Sequence[bytes], chance: Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((1, 2, 8, 40, 200)))
    times = chance.choice((2, 2, 3, 10, 100, 1000))
    return data[:start] + data[start:end] * times + data[end:]


def _lines(data: bytes, others: Sequence[bytes], words: Sequence[bytes], chance: Random) -> bytes:
    lines = data.split(b"\n")
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            del lines[one]
        case 1:
            lines[one], lines[other] = lines[other], lines[one]
        case _:
            lines.insert(other, lines[one])
    return b"\n".join(lines)


def _splice(data: bytes, others: Sequence[bytes], words: Sequence[bytes], chance: Random) -> bytes:
    other = chance.choice(others)
    start, at = chance.randrange(len(other) + 1), chance.randrange(len(data) + 1)
    length = chance.choice((4, 16, 64, 400))
    return data[:at] + other[start : start + length] + data[at:]


_CHANGES = (_bytes, _number, _number, _word, _word, _repeat, _lines, _splice)
