"""The round-trip times inside the guest: netem on the way from behind the bottleneck to the front.

One netem for each different round-trip time, found by the address of the host in front. Depends on
the address scheme and on the paths; runs nothing.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from sojourn.backends.linux.addresses import Block, prefixes
from sojourn.backends.linux.path import Path, path_behind
from sojourn.errors import ScenarioError

PORT = "p1"
"""The interface of the hosts behind the bottleneck: a host has one."""
MOST_DELAYS = 256
_BANDS = 16
_LIMIT = 1_000_000
"""Packets; what is in flight is never dropped for want of room."""
_FIXED: dict[str, Any] = {"delay": 0, "schedule": []}
"""A link without a delay of its own."""


def delays(
    flows: list[dict[str, Any]],
    crowds: dict[int, Block] | None = None,
    switch: dict[str, Any] = _FIXED,
    *,
    limit: int | None = None,
    to_behind: bool = False,
) -> list[str]:
    """The netems at the run's beginning; `crowds` has those flows' transfers that have some. Those
    of the hosts in front if they are on the way `to_behind`. Each drops what is above `limit`."""
    room = limit or _LIMIT
    paths = by_path(flows, crowds or {}, switch)
    if not any(delay for path in paths for _, delay in path.delays()):
        return []
    if len(paths) == 1:
        return [f"qdisc add dev {PORT} root {_netem(next(iter(paths)), room)}"]
    lines = [f"qdisc add dev {PORT} root handle 1: {_prio()}"]
    for (parent, path), blocks in zip(_places(paths), paths.values(), strict=True):
        group, _, band = parent.partition(":")
        above = f"1:{int(group, 16) - 1:x}"
        if band == "1":
            lines.append(f"qdisc add dev {PORT} parent {above} handle {group}: {_prio()}")
        lines.append(f"qdisc add dev {PORT} parent {parent} {_netem(path, room)}")
        for version, (first, count) in blocks:
            for prefix in prefixes(first, count, version, behind=to_behind):
                lines.append(_filter("1:", prefix, version, above))
                lines.append(_filter(f"{group}:", prefix, version, parent))
    return lines


def delay_changes(
    flows: list[dict[str, Any]], crowds: dict[int, Block], switch: dict[str, Any]
) -> list[tuple[int, str]]:
    """The times of a netem's changes of delay, each with its line for `tc`."""
    paths = by_path(flows, crowds, switch)
    places = [("root", path) for path in paths]
    if len(paths) > 1:
        places = [(f"parent {parent}", path) for parent, path in _places(paths)]
    return [
        (at, f"qdisc change dev {PORT} {parent} {_at(path, delay)}")
        for parent, path in places
        for at, delay in path.delays()[1:]
    ]


def by_path(
    flows: list[dict[str, Any]], crowds: dict[int, Block], switch: dict[str, Any]
) -> dict[Path, list[tuple[int, Block]]]:
    """Version and numbers of the flows that share a path, in the order of the round-trip times."""
    found: dict[Path, list[tuple[int, Block]]] = defaultdict(list)
    for number, flow in enumerate(flows):
        found[path_behind(flow, switch)].append(
            (flow["ip_version"], crowds.get(number, (number, 1)))
        )
    if len(found) > MOST_DELAYS:
        raise ScenarioError(
            f"{len(found)} different round-trip times: this backend has at most {MOST_DELAYS}"
        )
    return {path: found[path] for path in sorted(found, key=lambda path: path.rtt)}


def _places(paths: dict[Path, list[tuple[int, Block]]]) -> Iterator[tuple[str, Path]]:
    """The class that each path's netem is under."""
    for place, path in enumerate(paths):
        group, band = divmod(place, _BANDS)
        yield f"{group + 2:x}:{band + 1:x}", path


def _prio() -> str:
    return f"prio bands {_BANDS} priomap {' '.join('0' * 16)}"


def _netem(path: Path, limit: int) -> str:
    return _at(path, path.delays()[0][1], limit)


def _at(path: Path, delay: int, limit: int = _LIMIT) -> str:
    """With a rate, netem keeps the order when the delay becomes shorter; without, it does not."""
    keeps_order = " rate 100gbit" if len(path.steps) > 1 else ""
    return f"netem delay {delay / 1000:.3f}us limit {limit}{keeps_order}"


def _filter(parent: str, prefix: str, version: int, target: str) -> str:
    protocol, match = ("ip", "ip dst") if version == 4 else ("ipv6", "ip6 dst")
    return (
        f"filter add dev {PORT} parent {parent} protocol {protocol} prio {version} "
        f"u32 match {match} {prefix} flowid {target}"
    )
