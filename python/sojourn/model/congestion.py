"""The congestion controls that senders can have, by the names that scenarios give them.

Depends on the engine's register and on nothing else.
"""

from functools import cache

from sojourn import _core


@cache
def congestion_controls() -> dict[str, str]:
    """Name -> one line; the first is the one of flows that name none."""
    return {name: summary for name, summary, _ in _core.congestion_controls()}


@cache
def kernel_controls() -> dict[str, str]:
    """Name -> the Linux kernel's name, of those that it has."""
    return {name: linux for name, _, linux in _core.congestion_controls() if linux is not None}
