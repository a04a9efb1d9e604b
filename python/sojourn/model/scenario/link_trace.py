"""Recorded link traces in mahimahi's format: reading, writing, conversion and generation.

A file has one whole number a line, milliseconds from its start, not decreasing. Each line is an
opportunity to deliver 1,504 bytes: an IP packet of 1,500 and four bytes that mahimahi adds to each
packet. Several lines may have one millisecond. The file repeats, and its last line is its period.
Must not know what sends by a trace.
"""

import math
import random
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import groupby
from pathlib import Path

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.model.scenario.text_table import numbered_lines, text_of

OPPORTUNITY_BITS = 1_504 * 8
"""Bits of an opportunity, mahimahi's four bytes a packet included."""
MOST_MILLISECONDS = 2_000_000
"""Of a trace with opportunities."""
_LAST = 10**9
_MOST_LINES = 20_000_000
"""Opportunities of a trace that is written."""

Trace = list[tuple[int, int]]
"""Milliseconds that have opportunities, and how many."""


def read_trace(path: Path) -> Trace:
    """The trace in the file at `path`; `ScenarioError` names file, line and what would be right."""
    trace: Trace = []
    before = 0
    for number, line in enumerate(text_of(path).splitlines(), start=1):
        place, word = f"{shown(path)}:{number}", line.strip()
        if not (word.isascii() and word.isdigit()) or len(word) > 10 or int(word) > _LAST:
            raise ScenarioError(
                f"{place}: {word[:60]!r}: a line is a whole number of milliseconds up to {_LAST}"
            )
        at = int(word)
        if at < before:
            raise ScenarioError(f"{place}: {at} ms after {before} ms: milliseconds do not decrease")
        if trace and trace[-1][0] == at:
            trace[-1] = (at, trace[-1][1] + 1)
        else:
            trace.append((at, 1))
        before = at
    if not trace or trace[-1][0] == 0:
        raise ScenarioError(
            f"{shown(path)}: the last line is the period of the trace and must be above 0 ms"
        )
    if len(trace) > MOST_MILLISECONDS:
        raise ScenarioError(
            f"{shown(path)}: {len(trace)} milliseconds with opportunities; at most "
            f"{MOST_MILLISECONDS} are allowed"
        )
    return trace


Rates = Iterable[tuple[Fraction, Fraction]]
"""From when on, in seconds, which rate, in bit/s; the last one's rate is its end's."""


def opportunities(rates: Rates) -> Iterator[int]:
    """The milliseconds of a trace with these rates, each from its instant to the next one's.

    An opportunity comes when another 1,504 bytes have become due, at the end of its millisecond, so
    that no rounding accumulates. The trace ends with the last instant, in whole milliseconds, which
    is made its period by an opportunity there.
    """
    due, written = Fraction(0), 0
    points = iter(rates)
    since, rate = next(points)
    last = 0
    for until, following in points:
        span = until - since
        end = due + rate * span
        while written + 1 <= end / OPPORTUNITY_BITS:
            written += 1
            if written > _MOST_LINES:
                raise ScenarioError(f"a trace has at most {_MOST_LINES} opportunities")
            at = since + (written * OPPORTUNITY_BITS - due) / rate
            last = max(math.ceil(at * 1_000), 1)
            yield last
        due, since, rate = end, until, following
    period = math.ceil(since * 1_000)
    if period > last:
        yield period


def read_rates(path: Path) -> list[tuple[Fraction, Fraction]]:
    """The rates of a CSV file with lines of seconds and Mbit/s.

    Each rate holds until the next line; the last line ends the trace.
    """
    rates: list[tuple[Fraction, Fraction]] = []
    for place, (at, megabits) in numbered_lines(path, "seconds,Mbit/s", MOST_MILLISECONDS):
        if rates and at <= rates[-1][0]:
            raise ScenarioError(f"{place}: times increase from line to line")
        if at > _LAST // 1_000:
            raise ScenarioError(f"{place}: {at} s: a trace lasts up to {_LAST // 1_000} s")
        rates.append((at, megabits * 10**6))
    if len(rates) < 2:
        raise ScenarioError(f"{shown(path)}: a trace needs two lines: the last one is its end")
    start = rates[0][0]
    return [(at - start, rate) for at, rate in rates]


def markov_rates(
    levels: list[int], *, duration: int, hold: int, seed: int
) -> list[tuple[Fraction, Fraction]]:
    """Rates of a Markov chain that moves between neighbouring `levels` (bit/s).

    It stays at a level for an exponential time of mean `hold` (ns), then moves to the level above
    or below, each as likely; at the ends it moves inwards. `duration` is in ns.
    """
    draw = random.Random(seed)
    now, place = Fraction(0), len(levels) // 2
    end = Fraction(duration, 10**9)
    rates = []
    while now < end:
        rates.append((now, Fraction(levels[place])))
        stay = draw.expovariate(1.0) * hold
        now += Fraction(max(round(stay), 1_000_000), 10**9)
        place += 1 if place == 0 or (place < len(levels) - 1 and draw.random() < 0.5) else -1
        place = min(max(place, 0), len(levels) - 1)
    return [*rates, (end, rates[-1][1])]


def periodic_rates(
    levels: tuple[int, int], *, duration: int, period: int, outage: int, seed: int
) -> list[tuple[Fraction, Fraction]]:
    """Rates of a link that is reconfigured each `period`, as a satellite terminal is each 15 s.

    Each period has a rate of its own, uniform between the two `levels` (bit/s), and begins with an
    `outage` without opportunities. Times are in ns.
    """
    draw = random.Random(seed)
    rates: list[tuple[Fraction, Fraction]] = []
    for start in range(0, duration, period):
        if outage:
            rates.append((Fraction(start, 10**9), Fraction(0)))
        if start + outage < duration:
            rate = Fraction(draw.randint(*levels))
            rates.append((Fraction(start + outage, 10**9), rate))
    return [*rates, (Fraction(duration, 10**9), rates[-1][1])]


def as_lines(trace: Iterable[int]) -> Iterator[str]:
    """The trace as a file has it."""
    for at, same in groupby(trace):
        line = f"{at}\n"
        yield line * sum(1 for _ in same)
