"""Congestion cycles: their begin and end are independent of how the rows are divided."""

import numpy as np
import pytest

from sojourn.results.congestion_cycles import Cycles, CycleTally

MS = 1_000_000
TARGET = 5 * MS


def cycles_of(delay: list[int], dropped: list[int], piece: int) -> Cycles:
    """Rows one millisecond apart; `dropped` are the places of drops; `piece` rows at a time."""
    time = np.arange(len(delay), dtype=np.int64) * MS
    drops = np.isin(np.arange(len(delay)), dropped)
    tally = CycleTally(TARGET)
    for start in range(0, len(delay), piece):
        part = slice(start, start + piece)
        tally.add(time[part], np.array(delay[part], np.int64) * MS, drops[part])
    return tally.finish()


@pytest.mark.parametrize("piece", [1, 2, 3, 100])
def test_a_cycle_begins_at_the_target_and_ends_with_the_first_packet_below(piece: int) -> None:
    delay = [1, 5, 6, 6, 4, 4, 7, 7, 1, 9, 9, 9, 9]
    found = cycles_of(delay, [2, 3, 9, 12], piece)
    assert found == Cycles(count=3, without_drop=1, longest=3 * MS, first_gap=2 * MS)


def test_a_drop_below_the_target_belongs_to_no_cycle() -> None:
    assert cycles_of([1, 1, 6, 1], [0, 1], 100) == Cycles(1, 1, 0, None)


def test_a_run_without_packets_has_no_cycles() -> None:
    assert cycles_of([], [], 1) == Cycles(0, 0, 0, None)
