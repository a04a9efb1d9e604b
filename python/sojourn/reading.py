"""What the figures say in words: each AQM against the target, and the readings of the math unit.

Stands on the figures that `statistics` derived. It compares what was measured; it explains no
cause.
"""

from sojourn.faults import faults
from sojourn.nothing_through import blocked, ingress_drops
from sojourn.result import AqmResult, Result
from sojourn.style import milliseconds
from sojourn.units import TIME

TOFINO = "tofino1"
"""The architecture that has a math unit."""


def remarks(result: Result) -> list[str]:
    """One sentence an AQM, what went wrong, then what the reader has to know to read them."""
    target = result.scenario.target
    lines = [_against_target(aqm, target) for aqm in result.aqms.values()]
    lines += [f"{label}: left no rows; the run ended before." for label in result.missing]
    told = {**blocked(result), **ingress_drops(result)}
    first = [*interruptions(result), *(f"{label}: {text}" for label, text in told.items())]
    lines = [*(f"{sentence}." for sentence in first), *lines]
    for label, aqm in result.aqms.items():
        lines += [f"{label}: {fault}." for fault in faults(aqm.findings.counters)]
    if any(run.aqm.get("architecture") == TOFINO for run in result.folder.runs):
        lines.append(
            "The math unit of Tofino's stateful ALU has two published readings: (vendor) is the "
            "vendor's reference model, (paper) the one that reproduces the CoDel-ACT paper's "
            "figures. They round the operand's exponent the opposite way, so INTERVAL/sqrt(count) "
            "comes out about sqrt(2) apart. Both run the same programs."
        )
    return lines


def interruptions(result: Result) -> list[str]:
    """A sentence for each run that did not come to the scenario's end."""
    whole = TIME.format(result.scenario.duration)
    return [
        f"{label}: interrupted after {simulated / 1e9:.3f} s of {whole}; the figures of all runs "
        f"are of their first {(result.compared or 0) / 1e9:.3f} s"
        for label, simulated in result.interrupted.items()
    ]


def _against_target(aqm: AqmResult, target: int) -> str:
    mean = aqm.summary.mean
    if mean is None:
        return f"{aqm.label}: no packet left the queue."
    return (
        f"{aqm.label}: mean queue delay {milliseconds(mean)} ms, {_against(mean, target)} the "
        f"target of {target / 1e6:g} ms; {100 * (aqm.summary.above_target or 0):.1f} % of "
        f"packets waited longer than the target."
    )


def _against(mean: float, target: int) -> str:
    """How a delay compares: in percent, or as a multiple where a percentage says little."""
    times = mean / target
    if times >= 2:
        return f"{times:.1f} times" if times < 10 else f"{times:.0f} times"
    return f"{100 * abs(times - 1):.0f} % {'below' if times < 1 else 'above'}"
