"""Faults that occur in a run without ending it, in words for the terminal, the report and JSON.

Examples are a fault of the program, or a packet lost on a path that should lose none, which would
otherwise show only as an odd figure. Depends on an AQM's counters (`counters.json`) and on the
results of packet tests and replays. Must not depend on a terminal.
"""

from collections.abc import Iterable, Mapping
from typing import Any

_OF_THE_PROGRAM = {
    "second_access": (
        "accesses to a register that did nothing, because the packet had accessed it before in the "
        "same pass (T0705)"
    ),
    "invalid_read": "reads of fields of headers that were not valid",
    "failed_claim": "packets dropped because a claim of the program did not hold",
    "lost_update": "writes over what another thread had changed since this one read it",
    "deadlock": "packets dropped because their threads would have waited for themselves",
    "overrun": "packets dropped because no thread was free and the input buffer was full",
    "refused": "batches of operations that the running switch refused",
    "halted": "packets dropped because the program could not go on",
    "rounds": (
        "packets dropped because more were copied, resubmitted or recirculated than the switch can "
        "run: a program that does so for ever"
    ),
    "module_hung": "the hardware module hung and was not asked again",
    "module_unknown": "the hardware module's answer was undefined, and it was not asked again",
    "module_wrong": "the hardware module said what cannot be and was not asked again",
    "module_ended": "the hardware module ended itself and was not asked again",
}
"""By the kind of fault, as the engine names it."""

_OF_PACKETS = {
    "parser_errors": "packets that ended a parser in an error",
    "unroutable_packets": "packets for a port or queue that does not exist",
    "mirror_drops": "mirrored copies lost (no such session, or buffer or queue full)",
    "malformed_frames": "frames that their host could not read (a wrong checksum or length)",
    "stray_frames": "frames for addresses that nobody has",
    "frames_into_down_links": "frames sent into links that were down",
    "host_drops": "packets dropped on their host (the sender's shaper, or netem, was full)",
}
"""By the counter; each is 0 in a run in which nothing is amiss."""


def faults(counters: Mapping[str, Any]) -> list[str]:
    """One clause for each kind of fault that `counters` tell of, with how many there were."""
    said = of_program(counters.get("faults", []))
    counted = [(what, counters.get(counter, 0)) for counter, what in _OF_PACKETS.items()]
    firsts = {_OF_PACKETS["unroutable_packets"]: counters.get("unroutable_first")}
    return said + [_counted(what, count, firsts.get(what)) for what, count in counted if count]


def _counted(what: str, count: int, first: str | None) -> str:
    if not first:
        return f"{what}: {count}"
    cure = " (a port has as many as priority_queues or fair_queues of the control plane say)"
    return f"{what}: {count}; the first: {first}{cure if ' has no queue ' in first else ''}"


def of_program(counted: Iterable[Mapping[str, Any]]) -> list[str]:
    """One clause for each kind of fault of a program, from the engine's counters."""
    return [_of_the_program(fault) for fault in counted]


def _of_the_program(fault: Mapping[str, Any]) -> str:
    what, place = _OF_THE_PROGRAM[fault["kind"]], fault["place"]
    first = f"{fault['first']} at {place}" if place else fault["first"]
    return f"{what}: {fault['count']}; the first: {first}"
