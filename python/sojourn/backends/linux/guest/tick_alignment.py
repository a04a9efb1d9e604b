"""Alignment of a run's begin to the kernel's ticks, with a fresh timer wheel as in the simulator.

TCP's timers expire at ticks, those of 63 ticks and more at multiples of 8 or 64 of them. A run that
began in the middle of a tick would send a delayed acknowledgement up to a tick earlier or later
than the simulator, each time by the same distance, whatever the seed. Depends on `/proc`. Must not
depend on runs.
"""

import re
from pathlib import Path

TICK = 1_000_000
"""ns of the simulated TCP's tick; a kernel's may be longer."""
TURN = 512
"""Ticks after which the levels of the wheel that TCP's timers reach all begin anew."""
_TIMERS = Path("/proc/timer_list")
_NOW = re.compile(r"^now at (\d+) nsecs", re.MULTILINE)
_JIFFIES = re.compile(r"^\s*jiffies: (\d+)", re.MULTILINE)


def next_turn(instant: int) -> int:
    """The first instant from `instant` on at which a tick and a turn begin, both in ns on the
    monotonic clock."""
    try:
        timers = _TIMERS.read_text()
    except OSError:
        timers = ""
    return turn_from(instant, timers)


def turn_from(instant: int, timers: str) -> int:
    """The same by what `/proc/timer_list` says; where a tick begins if it does not tell."""
    ticks = -(-instant // TICK)
    now, jiffies = _NOW.search(timers), _JIFFIES.search(timers)
    if now and jiffies:
        ahead = int(jiffies[1]) - int(now[1]) // TICK
        ticks += -(ticks + ahead) % TURN
    return ticks * TICK
