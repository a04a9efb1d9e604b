"""Remarks on a result: faults, and the reading of the math unit.

Depends on a result. Explains no cause.
"""

from sojourn.model.units import TIME
from sojourn.results.assumptions import assumptions
from sojourn.results.faults import faults
from sojourn.results.may_not_fit import programs_that_may_not_fit
from sojourn.results.no_traffic_diagnosis import blocked, ingress_drops
from sojourn.results.result import Result

_READINGS = ("vendor", "paper")
"""Of the math unit, as labels name them."""


def remarks(result: Result) -> list[str]:
    """The faults of a result."""
    lines = [f"{label}: left no rows; the run ended before." for label in result.missing]
    remarks = {**blocked(result), **ingress_drops(result), **unmeasured(result)}
    first = [
        *warm_up(result),
        *interruptions(result),
        *(f"{label}: {text}" for label, text in remarks.items()),
    ]
    lines = [*(f"{sentence}." for sentence in first), *lines]
    lines += [
        f"{label}: {text}."
        for label, texts in programs_that_may_not_fit(result).items()
        for text in texts
    ]
    lines += [f"{label}: {text}." for label, texts in assumptions(result).items() for text in texts]
    for label, aqm in result.aqms.items():
        lines += [f"{label}: {fault}." for fault in faults(aqm.findings.counters)]
    return [*lines, *(f"{sentence}." for sentence in random_links(result))]


def random_links(result: Result) -> list[str]:
    """A sentence for each direction of a link that lost, duplicated or reordered packets at random,
    as the scenario asks for; drops of queues are not among them."""
    sentences = []
    for label, aqm in result.aqms.items():
        for link in aqm.findings.counters.get("links", []):
            frames = link["frames"]
            did = (("lost", link["lost"]), ("duplicated", link["duplicated"]))
            counted = [
                f"{what} {count} ({count / frames:.2%})"
                for what, count in (*did, ("reordered", link["reordered"]))
                if count
            ]
            if counted:
                sentences.append(
                    f"{label}: the link {link['from']}>{link['to']} {', '.join(counted)} of "
                    f"{frames} packets at random"
                )
    return sentences


def unmeasured(result: Result) -> dict[str, str]:
    """For each run whose senders asked for telemetry and got none: what is missing."""
    found = {}
    for label, aqm in result.aqms.items():
        telemetry = aqm.findings.counters.get("telemetry")
        if telemetry and not telemetry["hops"]:
            found[label] = (
                f"hpcc: {telemetry['returned']} acknowledgements returned no hop, and windows "
                "stayed as they began: a program in the switches must write INT, as v1model/hpcc "
                "and scenarios/hpcc/hpcc.p4 do"
            )
    return found


def reader_note(result: Result) -> str:
    """The note that the reader needs for the figures, or nothing."""
    if not any(run.variant in _READINGS for run in result.folder.runs):
        return ""
    return (
        "The math unit of Tofino's stateful ALU has two published readings: (vendor) is the "
        "vendor's reference model, (paper) the one that reproduces the CoDel-ACT paper's "
        "figures. They round the operand's exponent the opposite way, so INTERVAL/sqrt(count) "
        "comes out about sqrt(2) apart. Both run the same programs."
    )


def warm_up(result: Result) -> list[str]:
    """A sentence on the part of the run that no figure is of, if there is one."""
    excluded = result.scenario.warm_up
    if not excluded:
        return []
    if any(aqm.summary.since != excluded for aqm in result.aqms.values()):
        return [
            f"The warm-up of {TIME.format(excluded)} is in all figures, for a run was interrupted "
            "within it"
        ]
    rest = "; rows and courses over time include it" if result.scenario.rows else ""
    return [f"Figures exclude the first {TIME.format(excluded)}, the warm-up{rest}"]


def interruptions(result: Result) -> list[str]:
    """A sentence for each run that did not come to the scenario's end."""
    whole = TIME.format(result.scenario.duration)
    compared = result.compared
    of = (
        "its figures are of that"
        if compared is None
        else f"the figures of all runs are of their first {compared / 1e9:.3f} s"
    )
    return [
        f"{label}: interrupted after {simulated / 1e9:.3f} s of {whole}; {of}"
        for label, simulated in result.interrupted.items()
    ]
