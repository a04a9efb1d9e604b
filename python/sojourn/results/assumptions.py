"""Assumptions about the chip that a run used where the vendor publishes nothing, in words.

Depends on a result. The counters of a run say which parts were used and with which settings.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from sojourn.model.units import TIME
from sojourn.results.result import Result


def assumptions(result: Result) -> dict[str, list[str]]:
    """For each run that used such a part: the assumptions."""
    found = {}
    for label, aqm in result.aqms.items():
        if texts := of_counters(aqm.findings.counters):
            found[label] = texts
    return found


_CHANGES = {
    "any": (
        "each queue reports each change (on the chip only with depth_report_enable and mode ANY)"
    ),
    "color": "assumed that mode COLOR reports changes across a queue's limit for a colour",
}


def of_counters(counters: Mapping[str, Any]) -> list[str]:
    """The assumptions that a run with these counters used."""
    return [*_of_ghost(counters), *_of_flow_control(counters)]


def _of_ghost(counters: Mapping[str, Any]) -> Iterator[str]:
    reports = counters.get("depth_reports")
    if reports is None:
        return
    delay, interval = (TIME.format(reports[key]) for key in ("delay", "interval"))
    yield (
        f"ghost: {reports['delivered']} depth reports reached it, {reports['lost']} were lost; "
        f"{_CHANGES[reports['mode']]}"
    )
    yield f"ghost: assumed that a report takes {delay} and follows the one before by {interval}"
    yield (
        f"ghost: assumed that one unit of qlength is {reports['cells']} cells, that the word has "
        f"the order of the {reports['order']}, and that ingress reads the word of the last report"
    )


def _of_flow_control(counters: Mapping[str, Any]) -> Iterator[str]:
    control = counters.get("flow_control")
    if control is None:
        return
    yield (
        f"flow control: {control['paused']} pauses and {control['resumed']} resumptions took "
        f"effect; assumed mode XOFF and {TIME.format(control['delay'])} from deparser to effect"
    )
    if control["no_queue"]:
        yield f"flow control: {control['no_queue']} requests named a queue that does not exist"
