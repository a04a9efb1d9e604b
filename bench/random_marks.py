"""Window of a scalable sender under marks drawn at random, over that under evenly spaced marks.

    python bench/random_marks.py

Linux's DualPI2 draws each mark, as `dualpi2_linux` does; `sojourn paper dualpi2-2022` counts them.
The ratio bounds what that explains of its claims F1 and F2. Must not depend on Sojourn.
"""

import random

SHARES = (0.015, 0.02, 0.04, 0.06)
"""Shares of marked segments in the paper's set-ups."""


def window(share: float, *, drawn: bool) -> float:
    """Mean window of a sender that adds a segment a round trip and takes alpha / 2 in a marked one:
    marks drawn for each segment, or each 1 / share segments."""
    draws, size, alpha, due, total = random.Random(1), 50.0, share, 0.0, 0.0
    rounds = 20_000
    for number in range(rounds):
        segments = max(int(size), 1)
        if drawn:
            marked = sum(draws.random() < share for _ in range(segments))
        else:
            due += segments * share
            marked = int(due)
            due -= marked
        alpha += (marked / segments - alpha) / 16
        size = max(size * (1 - alpha / 2), 2.0) if marked else size
        size += 1 - marked / segments
        total += size if number >= rounds // 10 else 0.0
    return total / (rounds - rounds // 10)


if __name__ == "__main__":
    for share in SHARES:
        ratio = window(share, drawn=True) / window(share, drawn=False)
        print(f"{share:.1%} marked: {ratio:.3f}")
