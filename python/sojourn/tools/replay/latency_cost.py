"""Cost of the delay of mirrored copies: wrong and missed drops of a program.

The reference is the same program over the same packets with copies that take no time. A packet
meets unsynchronised state if a copy is still under way when it arrives. A drop is wrong if only the
program with delay makes it, and missed if only the other one does. Depends on decisions alone.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sojourn.tools.replay.decisions import Decisions


@dataclass(frozen=True)
class Race:
    """The price of one latency."""

    latency: int
    """ns"""
    packets: int
    copies: int
    unsynchronised: int
    """Packets that met registers whose copy was under way."""
    drops: int
    wrong: int
    """Drops that the program without delay does not make."""
    wrong_at_once: int
    """Those of them at packets that met unsynchronised state; the others follow from it."""
    missed: int
    """Drops that only the program without delay makes."""
    missed_at_once: int
    """Those of them at packets that met unsynchronised state."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def race(latency: int, delayed: Decisions, immediate: Decisions) -> Race:
    """Holds a program whose copies take `latency` ns against itself without delay."""
    wrong = delayed.dropped & ~immediate.dropped
    missed = immediate.dropped & ~delayed.dropped

    def count(flags: np.ndarray[Any, Any]) -> int:
        return int(np.count_nonzero(flags))

    return Race(
        latency=latency,
        packets=len(delayed.dropped),
        copies=delayed.copies,
        unsynchronised=count(delayed.unsynchronised),
        drops=count(delayed.dropped),
        wrong=count(wrong),
        wrong_at_once=count(wrong & delayed.unsynchronised),
        missed=count(missed),
        missed_at_once=count(missed & delayed.unsynchronised),
    )
