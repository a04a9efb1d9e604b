"""The style of AQMs in every plot: one colour for each family, one dash for each variant.

The colours are Okabe and Ito's, which readers who are blind to red or green can distinguish. Must
not depend on a plotting library.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sojourn.runtime.folder import RecordedRun

INK = "#1f2933"
MUTED = "#6b7280"
RULE = "#d9dee3"
TARGET_COLOUR = "#111827"

SHORT_DELAY = 0.2
"""ms; of no interest where the target is above it."""
_FLOOR_OF_TARGET = 1 / 25

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 2)),
    (0, (1, 1.2)),
    (0, (5, 1.5, 1, 1.5)),
    (0, (8, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)
"""Matplotlib's, for curves that are distinguishable in grey."""

_PLAIN = "#7a7f87"
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("solid", "dashed", "dotted", "dashdot")


def delay_floor(*targets: float) -> float:
    """Delay, ms, at which shorter ones are drawn, as a logarithmic scale has no zero.

    It is 0.2 ms, or less for a target below 5 ms. `targets` are in ns.
    """
    return min(SHORT_DELAY, *(_FLOOR_OF_TARGET * target / 1e6 for target in targets))


def decimals(floor: float) -> int:
    """Digits after the point that tell delays, ms, above `floor` apart."""
    return 1 - math.floor(math.log10(floor))


@dataclass(frozen=True)
class Look:
    """Colour and dash of one AQM, by names that matplotlib and Bokeh share."""

    colour: str
    dash: str


def looks(runs: Iterable[RecordedRun]) -> dict[str, Look]:
    """A look for each label. Tail drop, the yardstick, is grey."""
    colours = {"fifo": _PLAIN}
    variants: dict[str, int] = {}
    chosen = {}
    for run in runs:
        if run.family not in colours:
            colours[run.family] = COLOURS[(len(colours) - 1) % len(COLOURS)]
        index = variants[run.family] = variants.get(run.family, -1) + 1
        chosen[run.label] = Look(colours[run.family], _DASHES[index % len(_DASHES)])
    return chosen


def duration(nanoseconds: float | None) -> str:
    """A time in a sentence or a table of its own: three significant digits and a unit."""
    if nanoseconds is None:
        return "-"
    for factor, unit in ((10**9, "s"), (10**6, "ms"), (10**3, "us")):
        if nanoseconds >= factor:
            return f"{nanoseconds / factor:.3g} {unit}"
    return f"{nanoseconds:.3g} ns" if nanoseconds else "0"


def milliseconds(nanoseconds: float | None) -> str:
    """A delay for tables and labels: three significant digits are enough to compare by."""
    if nanoseconds is None:
        return "-"
    value = nanoseconds / 1e6
    if 0 < value < 0.01:
        return f"{value:.{decimals(value)}f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
