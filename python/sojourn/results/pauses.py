"""Pauses that priority flow control would have made: the counters of a run, and their table's rows.

Depends on counters alone. A run counts if a switch of its scenario has `pfc`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.model.scenario import Scenario
from sojourn.results.style import milliseconds


@dataclass(frozen=True)
class LinkPauses:
    """One direction of a link that would have been paused."""

    link: str
    pauses: int
    paused: int
    """For how long together, ns."""
    beyond_headroom: int
    """Frames that would have found the headroom full."""


@dataclass(frozen=True)
class Pauses:
    """The pauses of a run."""

    simulated: int
    """The time in which they were counted, ns."""
    links: tuple[LinkPauses, ...]
    """The longest paused first."""


def read_pauses(scenario: Scenario, counters: Mapping[str, Any]) -> Pauses | None:
    """The pauses of a run; `None` if the scenario does not count them."""
    if all(switch.pfc is None for switch in scenario.switches):
        return None
    found = [
        LinkPauses(
            f"{one['from']}>{one['to']}",
            one["pauses"],
            one.get("paused", 0),
            one.get("beyond_headroom", 0),
        )
        for one in counters.get("link_loads", [])
        if one.get("pauses", 0)
    ]
    found.sort(key=lambda one: one.paused, reverse=True)
    return Pauses(counters["simulated"], tuple(found))


def pause_rows(pauses: Pauses) -> Iterator[tuple[str, ...]]:
    """All links together, and the one that would have been paused the longest."""
    links = pauses.links
    yield (
        "all",
        f"{len(links)}",
        f"{sum(one.pauses for one in links)}",
        milliseconds(sum(one.paused for one in links)),
        "-",
        f"{sum(one.beyond_headroom for one in links)}",
    )
    for one in links[:1]:
        share = 100 * one.paused / max(pauses.simulated, 1)
        figures = (f"{one.pauses}", milliseconds(one.paused), f"{share:.1f}")
        yield (f"  {one.link}", "1", *figures, f"{one.beyond_headroom}")
