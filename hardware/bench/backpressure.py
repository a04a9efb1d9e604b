"""Backpressure in a bench: the cycles in which a module's output is ready."""

import random
from collections.abc import Callable
from typing import Protocol

WIDTH = 32
"""Bytes of a word."""


class Sink(Protocol):
    """What a bench has to count."""

    taken: int
    """Bytes that have left, with 24 for each frame: FCS, gap and preamble."""


Ready = Callable[[Sink], bool]


def at_random(rng: random.Random) -> Ready:
    """Now and then, and at times not for long."""
    wait = [0]

    def ready(bench: Sink) -> bool:
        if wait[0]:
            wait[0] -= 1
            return False
        if rng.random() < 0.002:
            wait[0] = rng.randrange(400)
        return rng.random() < 0.5

    return ready


def wire(rate: float) -> Ready:
    """A port of `rate` Gbit/s, with room for one word besides the one that it sends."""
    sent = [0.0]

    def ready(bench: Sink) -> bool:
        sent[0] = min(sent[0] + rate * 5 / 8, bench.taken)
        return bench.taken - sent[0] <= WIDTH

    return ready
