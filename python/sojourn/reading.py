"""What a reader has to be told beside the figures: what went wrong, the readings of the math unit.

Stands on a result. It explains no cause.
"""

from sojourn.doubts import doubts
from sojourn.faults import faults
from sojourn.nothing_through import blocked, ingress_drops
from sojourn.result import Result
from sojourn.units import TIME

_READINGS = ("vendor", "paper")
"""Of the math unit, as labels name them."""


def remarks(result: Result) -> list[str]:
    """What went wrong."""
    lines = [f"{label}: left no rows; the run ended before." for label in result.missing]
    remarks = {**blocked(result), **ingress_drops(result)}
    first = [*interruptions(result), *(f"{label}: {text}" for label, text in remarks.items())]
    lines = [*(f"{sentence}." for sentence in first), *lines]
    lines += [f"{label}: {text}." for label, texts in doubts(result).items() for text in texts]
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


def reading(result: Result) -> str:
    """What the reader has to know to read the figures, or nothing."""
    if not any(run.variant in _READINGS for run in result.folder.runs):
        return ""
    return (
        "The math unit of Tofino's stateful ALU has two published readings: (vendor) is the "
        "vendor's reference model, (paper) the one that reproduces the CoDel-ACT paper's "
        "figures. They round the operand's exponent the opposite way, so INTERVAL/sqrt(count) "
        "comes out about sqrt(2) apart. Both run the same programs."
    )


def interruptions(result: Result) -> list[str]:
    """A sentence for each run that did not come to the scenario's end."""
    whole = TIME.format(result.scenario.duration)
    return [
        f"{label}: interrupted after {simulated / 1e9:.3f} s of {whole}; the figures of all runs "
        f"are of their first {(result.compared or 0) / 1e9:.3f} s"
        for label, simulated in result.interrupted.items()
    ]
