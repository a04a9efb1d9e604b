"""Packets against patterns: whether one matches, which belongs to which, and how they differ.

A pattern is hexadecimal digits and `*`; a packet may be longer than its pattern unless that ends
in `$`. Uses no file and no switch.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from sojourn.tools.stf.statements import Expect

_ROW = 16
"""Bytes in a row of a dump."""


def matches(expect: Expect, packet: bytes) -> bool:
    """True if a packet is as expected."""
    return difference(expect, packet) is None


def difference(expect: Expect, packet: bytes) -> str | None:
    """The differences of a packet, in words; None if there are none."""
    pattern, digits = expect.pattern, packet.hex()
    if pattern is None:
        return None
    differing = _differing(pattern, digits)
    if differing:
        more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
        return f"byte {differing[0]}{more} differ{'' if more else 's'}"
    if len(digits) < len(pattern):
        return f"too short: {_bytes(len(digits))} instead of {_bytes(len(pattern))}"
    if expect.exact and len(digits) > len(pattern):
        return f"too long: {_bytes(len(digits))} instead of {_bytes(len(pattern))}"
    return None


def _bytes(nibbles: int) -> str:
    half = ".5" if nibbles % 2 else ""
    return f"{nibbles // 2}{half} byte{'' if nibbles == 2 else 's'}"


def _differing(pattern: str, digits: str) -> list[int]:
    """Bytes in which a packet is not as its pattern wants."""
    pairs = zip(pattern, digits, strict=False)
    return sorted({place // 2 for place, (a, b) in enumerate(pairs) if a not in ("*", b)})


def dump(expect: Expect, packet: bytes) -> tuple[str, ...]:
    """Pattern and packet row by row, differing digits marked; rows that agree are left out."""
    pattern, digits = expect.pattern or "", packet.hex()
    lines: list[str] = []
    left_out = 0
    for start in range(0, max(len(pattern), len(digits)), 2 * _ROW):
        wanted, found = pattern[start : start + 2 * _ROW], digits[start : start + 2 * _ROW]
        marks = _marks(wanted, found, expect.exact)
        if not marks.strip():
            left_out += 1
            continue
        offset = f"{start // 2:04x}"
        lines.append(f"expected  {offset}  {_spaced(wanted)}".rstrip())
        lines.append(f"received  {offset}  {_spaced(found)}".rstrip())
        lines.append(f"{'':16}{_spaced(marks)}".rstrip())
    if left_out:
        lines.append(f"({left_out} row{'' if left_out == 1 else 's'} of {_ROW} bytes agree)")
    return tuple(lines)


def _marks(wanted: str, found: str, exact: bool) -> str:
    """A `^` under each digit that is wrong, missing or too much."""
    marks = ""
    for place in range(max(len(wanted), len(found))):
        if place >= len(wanted):
            wrong = exact
        else:
            wrong = place >= len(found) or wanted[place] not in ("*", found[place])
        marks += "^" if wrong else " "
    return marks


def _spaced(digits: str) -> str:
    """Digits two by two, a wider gap after eight bytes."""
    pairs = [digits[at : at + 2].ljust(2) for at in range(0, len(digits), 2)]
    return " ".join(pairs[:8]) + ("  " + " ".join(pairs[8:]) if len(pairs) > 8 else "")


@dataclass(frozen=True)
class Pairing:
    """Pairs of packets and expectations, by their indices; None has no partner."""

    pairs: tuple[tuple[int | None, int | None], ...]


def pair(expects: Sequence[Expect], packets: Sequence[bytes]) -> Pairing:
    """Pairs in order. With as many of one as of the other, one by one; else as many as match."""
    if len(expects) == len(packets):
        return Pairing(tuple((at, at) for at in range(len(packets))))
    return Pairing(tuple(_align(expects, packets)))


def _align(
    expects: Sequence[Expect], packets: Sequence[bytes]
) -> list[tuple[int | None, int | None]]:
    @cache
    def same(e: int, p: int) -> bool:
        return matches(expects[e], packets[p])

    # best[e][p]: most matches among expectations from e on and packets from p on.
    best = [[0] * (len(packets) + 1) for _ in range(len(expects) + 1)]
    for e in reversed(range(len(expects))):
        for p in reversed(range(len(packets))):
            skip = max(best[e + 1][p], best[e][p + 1])
            best[e][p] = max(skip, best[e + 1][p + 1] + 1 if same(e, p) else 0)
    pairs: list[tuple[int | None, int | None]] = []
    e = p = 0
    while e < len(expects) or p < len(packets):
        inside = e < len(expects) and p < len(packets)
        if inside and same(e, p) and best[e][p] == best[e + 1][p + 1] + 1:
            pairs.append((e, p))
            e, p = e + 1, p + 1
        elif p == len(packets) or (e < len(expects) and best[e + 1][p] >= best[e][p + 1]):
            pairs.append((e, None))
            e += 1
        else:
            pairs.append((None, p))
            p += 1
    return pairs
