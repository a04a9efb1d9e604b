"""`dualpi2` of the engine as the kernel's `sch_dualpi2`: its parameters as netlink attributes.

`tc` of Debian 12 does not know the qdisc's options, so they are numbers of <linux/pkt_sched.h>, in
its units: us, Hz / 256, percent. Runs nothing.
"""

from collections.abc import Mapping
from typing import NamedTuple

MODULE = "sch_dualpi2"
KIND = "dualpi2"
FIRST_KERNEL = "6.17"
_PROTECTION = 10
"""Percent of the turns for Classic, the kernel's default."""
_TWO_MTU = 2 * 1514
_LARGEST_BUFFER = 16384
"""Bytes of the kernel's memory that a full frame takes at most: packets shall be the limit."""
_LAST = (1 << 32) - 1


class Option(NamedTuple):
    """A netlink attribute."""

    name: str
    number: int
    size: int
    """Bytes of the value."""
    value: int


_NUMBERS = {
    "limit": (1, 4),
    "memlimit": (2, 4),
    "target": (3, 4),
    "tupdate": (4, 4),
    "alpha": (5, 4),
    "beta": (6, 4),
    "step_thresh": (8, 4),
    "min_qlen_step": (9, 4),
    "coupling_factor": (10, 1),
    "drop_on_overload": (11, 1),
    "classic_protection": (13, 1),
    "ecn_mask": (14, 1),
}


def options(values: Mapping[str, int], limit: int) -> tuple[Option, ...]:
    """The attributes for the engine's parameters (ns, mHz, ppm) and a limit in packets."""
    chosen = {
        "limit": limit,
        "memlimit": min(limit * _LARGEST_BUFFER, _LAST),
        "target": values["target"] // 1000,
        "tupdate": values["t_update"] // 1000,
        "alpha": round(values["alpha"] * 256 / 1000),
        "beta": round(values["beta"] * 256 / 1000),
        "step_thresh": _step(values) // 1000,
        "min_qlen_step": values.get("th_len", 0),
        "coupling_factor": values["k"],
        "drop_on_overload": values["drop_on_overload"],
        "classic_protection": _protection(values),
        "ecn_mask": 3 if values["any_ect"] else 1,
    }
    return tuple(Option(name, *_NUMBERS[name], value) for name, value in chosen.items())


def _step(values: Mapping[str, int]) -> int:
    """The middle of the ramp."""
    return values["min_th"] + values["range"] // 2


def _protection(values: Mapping[str, int]) -> int:
    share = values.get("classic_protection")
    return _PROTECTION if share is None else round(share / 10_000)


def differences(values: Mapping[str, int]) -> tuple[str, ...]:
    """Settings that the kernel implements otherwise."""
    found = []
    if values["range"]:
        found.append(
            f"range is 0: the kernel has a step, here at {_step(values) / 1000:g} us, the middle"
        )
    if values.get("classic_protection") is None:
        found.append(
            f"classic_protection is {_PROTECTION} %: the kernel has no time-shifted FIFO (tshift)"
        )
    if values["min_backlog"] != _TWO_MTU:
        found.append(f"min_backlog is {_TWO_MTU} B: the kernel has no option for it")
    if not values["random"]:
        found.append("random is on: the kernel draws each signal of its controller")
    if values.get("l4s_dscp") is not None:
        found.append("l4s_dscp has no effect: the kernel classifies by the ECN field")
    return tuple(found)
