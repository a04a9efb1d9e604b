"""INTERVAL / sqrt(count) as the chip's math unit and a prefix table compute it, against the exact
one. Depends on the stateful ALU's model and on the shipped entries.
"""

import math
import re
from functools import cache

from sojourn.common.resources import programs_folder
from sojourn.errors import ScenarioError
from sojourn.studies.papers.computed.finding import Computed, Curve, CurvePlot
from sojourn.studies.papers.verdict import Found, Status
from sojourn.tools import stateful_alu

_INTERVAL = 100_000_000
_COUNTS = 100
"""Last count of the curves and of the means."""
_READINGS = {"paper": "paper's reading", "vendor": "vendor's reading"}


_Reading = tuple[str, str, Status]
"""Its name, the value under it, whether that is the paper's."""


@cache
def _unit() -> list[int]:
    """The table of P4-CoDel's math unit, entry 0 first, out of the shipped program."""
    path = programs_folder() / "tna" / "common" / "control_law.p4"
    found = re.search(r"CONTROL_LAW_UNIT true, -1, 20, \{([^}]*)\}", path.read_text("utf-8"))
    if found is None:
        raise ScenarioError(f"{path}: the math unit's table is not there")
    entries = [int(word, 16) for word in re.findall(r"0x[0-9a-f]+", found[1])]
    return entries[::-1]


@cache
def spacing(count: int, reading: str) -> int:
    """The math unit's output for `count`, ns, by the stateful ALU's own model."""
    off = {"op": 0, "arith": False, "predicate": 0, "a": "const", "b": "const", "const_src": 0,
           "const_from_regfile": False}  # fmt: skip
    # Opcode 10 passes operand B, which is the math unit's result; source 1 is memory as it was.
    result = off | {"op": 10, "predicate": 15, "a": "mem_lo"}
    setup = {
        "const_regfile": [0, 0, 0, 0],
        "math_table": _unit(),
        "math_unit": {"scale": 20, "invert": True, "shift": -1},
        "predicate_output": {"comb": 0, "psh": 0},
        "instructions": [
            {
                "width": 32,
                "dual": False,
                "lo2_b_is_math": True,
                "math_source": "mem_lo",
                "compare": [],
                "update": {"lo1": off, "lo2": result, "hi1": off, "hi2": off},
                "output": {"predicate": 15, "source": 1},
            }
        ],
    }
    case = {"instruction": 0, "bit_offset": 0, "phv": "0", "word": f"{count:x}"}
    word, _ = stateful_alu.run_salu(
        setup, case | ({"math_unit": reading} if reading != "vendor" else {})
    )
    return word & 0xFFFFFFFF


def _exact(count: float) -> float:
    return _INTERVAL / math.sqrt(count)


def _error(count: int, reading: str) -> float:
    """Of P4-CoDel, in per cent."""
    return 100 * (spacing(count, reading) / _exact(count) - 1)


def _doubled(drops: int, reading: str) -> float:
    """Of CoDel-ACT, in per cent: its count begins at 1 and grows by two a drop."""
    return 100 * (spacing(2 * drops - 1, reading) / _exact(drops) - 1)


def relative_error() -> Computed:
    """A2: Figure 6."""
    counts = range(1, _COUNTS + 1)
    curves: list[Curve] = []
    single: list[_Reading] = []
    double: list[_Reading] = []
    for reading, name in _READINGS.items():
        plain = [_error(count, reading) for count in counts]
        doubled = [_doubled(count, reading) for count in counts]
        low, high = min(plain), max(plain)
        near = abs(low - 42) < 1 and abs(high - 58) < 1
        single.append((name, f"{low:.1f} to {high:.1f} %", _status(near)))
        later = doubled[1:]
        mean, most = sum(map(abs, later)) / len(later), max(map(abs, later))
        near = abs(mean - 4) < 1 and abs(most - 15) < 1
        double.append((name, _doubled_error(mean, most, doubled[0]), _status(near)))
        x = tuple(map(float, counts))
        curves.append(Curve(f"P4-CoDel, {name}", x, tuple(plain)))
        curves.append(Curve(f"CoDel-ACT, {name}", x[1:], tuple(later)))
    found = (
        _by_reading("P4-CoDel's INTERVAL/sqrt(count) is too long", "42 to 58 %", single),
        _by_reading(
            "with the doubled count the error is small", "4 % on average, 15 % at most", double
        ),
    )
    figure = CurvePlot(
        "fig-6",
        "Figure 6",
        "Error of INTERVAL/sqrt(count) against the exact value",
        "count (drops of the cycle)",
        "error, %",
        tuple(curves),
    )
    return Computed(found, (figure,))


def _doubled_error(mean: float, most: float, first: float) -> str:
    later = f"{mean:.1f} % on average, {most:.1f} % at most from the second drop on"
    return f"{later}; {first:+.1f} % at the first"


def absolute_error() -> Computed:
    """A3: Figure 11."""
    counts = range(1, 31)
    curves: list[Curve] = []
    single: list[_Reading] = []
    double: list[_Reading] = []
    for reading, name in _READINGS.items():
        # The raw count 2n - 1 stands for the n-th drop; the paper numbers by the raw count.
        plain = [(spacing(n, reading) - _exact(n)) / 1e6 for n in counts]
        doubled = [(spacing(2 * n - 1, reading) - _exact(n)) / 1e6 for n in counts]
        for errors, paper, step, into in ((plain, 30, 1, single), (doubled, 11, 2, double)):
            # At the first count both are what they are; the paper begins with the first increment.
            most = max(errors[1:], key=abs)
            at = errors.index(most)
            near = abs(most - paper) < 1 and at == 1
            into.append((name, f"{most:.1f} ms at count = {step * at + 1}", _status(near)))
        x = tuple(map(float, counts))
        curves.append(Curve(f"P4-CoDel, {name}", x, tuple(map(abs, plain))))
        curves.append(Curve(f"CoDel-ACT, {name}", x, tuple(map(abs, doubled))))
    found = (
        _by_reading("largest error of P4-CoDel's dropNext", "30 ms at count = 2", single),
        _by_reading("largest error of CoDel-ACT's dropNext", "11 ms at count = 3", double),
    )
    figure = CurvePlot(
        "fig-11",
        "Figure 11",
        "Absolute error of the time to the next drop",
        "drops of the cycle",
        "error, ms",
        tuple(curves),
    )
    return Computed(found, (figure,))


def _status(good: bool) -> Status:
    return Status.HOLDS if good else Status.FAILS


def _by_reading(says: str, paper: str, found: list[tuple[str, str, Status]]) -> Found:
    """The finding under the paper's reading of the math unit, with the vendor's for comparison."""
    (_, ours, status), *beside = found
    note = "with the paper's reading of the math unit"
    return Found(says, paper, ours, status, note, beside=tuple(beside))


_PAPER_TABLE = {1: 100_000, 2: 70_710, 4: 50_000, 8: 35_355, 16: 25_000, 32: 17_677}
"""Listing 2 of the 2018 paper, us by count."""


def prefix_table() -> Computed:
    """C2: the table of the 2018 program, entry by entry, and how far it is off between them; and
    the range match that the paper proposes."""
    entries = _prefixes()
    shipped = {count: entries.get(count, 0) for count in _PAPER_TABLE}
    same = shipped == _PAPER_TABLE
    counts = range(1, 65)
    prefix = [entries[1 << (count.bit_length() - 1)] * 1000 for count in counts]
    errors = [100 * (p / _exact(count) - 1) for p, count in zip(prefix, counts, strict=True)]
    found = (
        Found(
            "one entry for each number of leading zeros",
            "100000, 70710, 50000, 35355, 25000, 17677 us",
            ", ".join(str(shipped[count]) for count in _PAPER_TABLE) + " us",
            Status.HOLDS if same else Status.FAILS,
            f"between powers of two the table is up to {max(errors):.0f} % too long",
        ),
    )
    x = tuple(map(float, counts))
    curve = Curve("longest prefix", x, tuple(p / 1e6 for p in prefix))
    ranges = Curve("ranges (section III.A)", x, tuple(_by_range(count) / 1e6 for count in counts))
    exact = Curve("exact", x, tuple(_exact(count) / 1e6 for count in counts))
    figure = CurvePlot(
        "listing-2",
        "Listing 2",
        "INTERVAL/sqrt(count) by longest-prefix match, and by the range match of section III.A",
        "count",
        "time to the next drop, ms",
        (curve, ranges, exact),
    )
    return Computed(found, (figure,))


def _by_range(count: int) -> float:
    """Of the table of ranges, ns: a count below 16, or the middle of an eighth of an octave."""
    if count < 16:
        return _exact(count)
    octave = count.bit_length() - 1
    eighth = count >> octave - 3
    return _exact((2 * eighth + 1) * 2.0 ** (octave - 4))


@cache
def _prefixes() -> dict[int, int]:
    """The shipped table: the least count of each entry -> us, rounded down as the paper's are.

    An entry names a power of two; its value is INTERVAL times a fraction in 2^-60.
    """
    path = programs_folder() / "v1model" / "common" / "control_law.p4"
    odd = re.search(r"AT_ODD_POWER\(k\)\s+SPACING\((\d+) >>", path.read_text("utf-8"))
    entries = re.findall(r": AT_(EVEN|ODD)_POWER\((\d+)\);", path.read_text("utf-8"))
    if odd is None or not entries:
        raise ScenarioError(f"{path}: the control law's entries are not there")
    found = {}
    for kind, number in entries:
        power = int(number)
        one = 1 << 60 if kind == "EVEN" else int(odd[1])
        found[1 << power] = ((_INTERVAL * (one >> power // 2) + (1 << 59)) >> 60) // 1000
    return found
