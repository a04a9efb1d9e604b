"""Diagnosis of runs and of groups of flows that delivered nothing; drops in the program's ingress.

A program whose tables are empty drops every packet in ingress, which looks like an AQM that drops
all. Depends on an AQM's counters and on the program's description in `run.json`. Must not depend on
a terminal.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

from sojourn.common.resources import shown
from sojourn.control.file import ProgramChoice, with_all_entries
from sojourn.errors import SojournError
from sojourn.model.scenario.groups import groups_of
from sojourn.results.result import AqmResult, Result

_PATIENCE = 500_000_000
"""ns after which a flow that has begun should have delivered something."""


def blocked(result: Result) -> dict[str, str]:
    """For each run in which nothing got through, or nothing of a group of flows: why, as far as it
    can be seen."""
    found = {}
    for label, aqm in result.aqms.items():
        if _nothing_came(aqm):
            found[label] = _why(aqm)
        elif dead := _dead_groups(result, aqm):
            found[label] = _why_groups(aqm, dead, all_of=len(dead) == len(result.scenario.flows))
    return found


def _dead_groups(result: Result, aqm: AqmResult) -> list[str]:
    """The groups that have begun and of which no receiver got anything."""
    counters = aqm.findings.counters
    waiting = {times.group for times in aqm.times if times.unfinished}
    exchanging = {times.group for times in aqm.times}
    dead = []
    for group in groups_of(result.scenario.flows):
        flows = counters["flows"][group.first : group.end]
        begun = [flow for flow in flows if _has_begun(flow, counters["simulated"])]
        idle = group.name in exchanging and group.name not in waiting
        if begun and not idle and not any(flow["delivered"] for flow in flows):
            dead.append(group.name)
    return dead


def _has_begun(flow: dict[str, Any], simulated: int) -> bool:
    started = flow.get("started")
    return isinstance(started, int) and simulated - started > _PATIENCE


def _why_groups(aqm: AqmResult, groups: list[str], *, all_of: bool) -> str:
    """The message for groups that got nothing though packets left the queue."""
    counters = aqm.findings.counters
    said = ["no receiver got anything" if all_of else f"no receiver of {', '.join(groups)} got any"]
    forward, reverse = counters.get("forward_packets"), counters.get("reverse_packets")
    if forward and reverse == 0:
        said.append(
            f"{forward} packets went to the receivers and none came back: the way from the "
            "receivers to the senders is missing"
        )
    if dropped := counters.get("ingress_drops"):
        said.append(f"the program's ingress dropped {dropped} packets")
    return "; ".join([*said, *_causes(aqm)])


def ingress_drops(result: Result) -> dict[str, str]:
    """For each other run whose program dropped packets in ingress: how many, and what that says."""
    return {
        label: f"{dropped} packets were dropped by the program's ingress, before any queue: its "
        "queue management decided so there, or it forwarded them nowhere"
        for label, aqm in result.aqms.items()
        if (dropped := aqm.summary.ingress_drops) and not _nothing_came(aqm)
    }


def _nothing_came(aqm: AqmResult) -> bool:
    sent = aqm.findings.counters.get("forward_packets", 1)
    return sent == 0 and aqm.summary.packets > 0


def _why(aqm: AqmResult) -> str:
    dropped = aqm.summary.ingress_drops
    causes = _causes(aqm)
    if dropped:
        causes.insert(0, f"all {dropped} drops are the program's ingress's, before any queue")
    elif (dropped := aqm.summary.aqm_drops) and aqm.run.aqm.get("kind") == "p4":
        causes.insert(
            0,
            f"the program's egress dropped all {dropped} packets that left the queue; perhaps its "
            "parser takes off a bridge header that ingress does not put in front (`sojourn trace` "
            "follows a packet)",
        )
    return "; ".join(["nothing got through", *causes])


def _causes(aqm: AqmResult) -> list[str]:
    """The missing parts of the program's control plane."""
    described = aqm.run.aqm
    if described.get("kind") != "p4":
        return []
    program, control = Path(str(described.get("program"))), described.get("control")
    choice = _choice(described, program)
    tables = _filled(control, choice) if isinstance(control, dict) else []
    filled = {str(table.get("name")) for table in tables if isinstance(table, dict)}
    empty = [
        name
        for name in _tables(choice)
        if not any(f".{name}".endswith(f".{given}") for given in filled)
    ]
    said = []
    if not tables:
        names = " nor ".join(shown(program.with_suffix(end)) for end in (".toml", ".txt"))
        said.append(
            f"it ran without a control plane (there is neither {names}, nor a key `control`)"
        )
    if empty:
        said.append(f"no entries for {', '.join(empty)}")
    return said


def _choice(described: dict[str, Any], program: Path) -> ProgramChoice | None:
    """The program as it was, if `described` can be believed."""
    try:
        return ProgramChoice(
            program,
            described.get("architecture"),
            tuple(map(str, described.get("include_paths", []))),
            {str(name): str(value) for name, value in described.get("defines", {}).items()},
        )
    except (TypeError, ValueError, AttributeError):
        return None


def _filled(control: dict[str, Any], choice: ProgramChoice | None) -> list[Any]:
    """The tables that the control plane gives something, those of its commands among them."""
    if choice is not None and "commands" in control:
        with suppress(SojournError, OSError, TypeError, ValueError):
            control = with_all_entries(control, choice)
    tables = control.get("tables", [])
    return tables if isinstance(tables, list) else []


def _tables(choice: ProgramChoice | None) -> list[str]:
    """The program's tables that take entries; none if it is no longer there."""
    if choice is None:
        return []
    with suppress(SojournError, OSError, TypeError, ValueError):
        return [
            table.name for table in choice.declarations.tables if table.keys and not table.entries
        ]
    return []
