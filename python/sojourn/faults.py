"""What went wrong in a run without ending it: sentences for the terminal, the report and JSON.

Stands on an AQM's counters (`counters.json`). A fault of the program, a packet that got lost on a
way that should lose none: what would otherwise be seen only as an odd figure. Knows no terminal.
"""

from collections.abc import Mapping
from typing import Any

_OF_THE_PROGRAM = {
    "second_access": (
        "{count} accesses to a register did nothing: it had been accessed before in the same "
        "pass, and its ALU runs once (T0705)"
    ),
    "failed_claim": "{count} packets were dropped because a claim of the program did not hold",
    "halted": "{count} packets were dropped because the program could not go on",
}
"""By the kind of fault, as the engine names it."""

_OF_PACKETS = {
    "parser_errors": "{count} packets ended a parser in an error",
    "unroutable_packets": "{count} packets were sent to a port or queue that does not exist",
    "mirror_drops": (
        "{count} mirrored copies were lost: no such session, or buffer or queue were full"
    ),
    "malformed_frames": (
        "{count} frames reached a host that could not read them: a wrong checksum or length"
    ),
    "stray_frames": "{count} frames reached no host: nobody has their addresses",
}
"""By the counter; each is 0 in a run in which nothing is amiss."""


def faults(counters: Mapping[str, Any]) -> list[str]:
    """One sentence for each kind of fault that `counters` tell of."""
    said = [_of_the_program(fault) for fault in counters.get("faults", [])]
    for counter, sentence in _OF_PACKETS.items():
        if count := counters.get(counter, 0):
            said.append(_counted(sentence, count))
    return said


def _of_the_program(fault: Mapping[str, Any]) -> str:
    place = f" at {fault['place']}" if fault["place"] else ""
    sentence = _counted(_OF_THE_PROGRAM[fault["kind"]], fault["count"])
    return f"{sentence}; first{place}: {fault['first']}"


def _counted(sentence: str, count: int) -> str:
    return sentence.format(count=count)
