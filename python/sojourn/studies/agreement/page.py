"""Pages and the data file of an agreement: HTML in the report's style, Markdown, and CSV.

Every number is a cell's median or spread; this module reads no run.
"""

import csv
import io
from collections.abc import Sequence
from typing import Any

from sojourn.results.pages import render
from sojourn.studies.agreement.grid import MARKED, MIXED
from sojourn.studies.agreement.measure import BACKENDS, KERNEL, LIVE, SIM, Measured
from sojourn.studies.agreement.verdict import (
    DCTCP_POINTS,
    DELAY_MS,
    DELAY_SHARE,
    LOSS_POINTS,
    LOSS_SHARE,
    UTILISATION_POINTS,
    Spread,
)

FIGURES = {
    "mean": ("mean delay, ms", "{:.2f}"),
    "p95": ("p95 delay, ms", "{:.1f}"),
    "utilisation": ("utilisation, %", "{:.1f}"),
    "loss": ("loss, %", "{:.2f}"),
    "marks": ("marks, %", "{:.2f}"),
    "dctcp": ("DCTCP's share, %", "{:.1f}"),
}
"""Available columns: head and format."""
_TOLERANCES = (
    "Delays are of packets that were sent: when a kernel dropped one can only be inferred. "
    f"Tolerances: utilisation within {UTILISATION_POINTS:g} points, mean delay within "
    f"{100 * DELAY_SHARE:g} % or {DELAY_MS:g} ms, loss and marks within {100 * LOSS_SHARE:g} % or "
    f"{LOSS_POINTS:g} points of what it is judged by; the 95th percentile is shown and not judged."
)
_SHARED = (
    "A cell has that many flows of DCTCP and as many of CUBIC. DCTCP's share is of the bytes sent "
    f"and judged within {DCTCP_POINTS:g} points."
)
_CONTROLS = (
    ("CUBIC and NewReno", ("cubic", "newreno")),
    ("BBR", ("bbr",)),
    ("DCTCP", (MARKED,)),
    ("DCTCP with CUBIC", (MIXED,)),
)
_NAMES = {SIM: "the simulator", LIVE: "the live switch", KERNEL: "the kernel"}
_SHORT = {SIM: "sim", LIVE: "live", KERNEL: "kernel"}
_TITLES = {
    KERNEL: "How far simulation and kernel are apart",
    SIM: "How far live switch and simulation are apart",
}
"""By what the others are judged by."""


def summary(measured: Sequence[Measured]) -> list[str]:
    """The number of cells that agree, in sentences."""
    lines = []
    for name, controls in _CONTROLS:
        for backend in _backends(measured):
            of = [m for m in measured if m.cell.congestion_control in controls]
            verdicts = [m.verdicts[backend] for m in of if backend in m.verdicts]
            if verdicts:
                good = sum(not verdict.outside for verdict in verdicts)
                share = 100 * good / len(verdicts)
                who = "" if backend == "sim" else f", {_NAMES[backend]}"
                lines.append(
                    f"{name}{who}: {good} of {len(verdicts)} judged cells within ({share:.0f} %)."
                )
    if disturbed := sum(bool(m.disturbed) for m in measured):
        lines.append(f"Cells not judged because the machine disturbed a run: {disturbed}.")
    if unsteady := sum(bool(m.unsteady) and not m.disturbed for m in measured):
        lines.append(
            f"Cells not judged because {_NAMES[_reference(measured)]}'s own runs are further apart "
            "than the tolerances: "
            f"{unsteady}."
        )
    if lacking := sum(not (m.verdicts or m.disturbed or m.unsteady) for m in measured):
        lines.append(f"Cells without figures of one backend: {lacking}.")
    return lines


def _reference(measured: Sequence[Measured]) -> str:
    """The backend that the others are judged by."""
    return measured[0].reference if measured else KERNEL


def _backends(measured: Sequence[Measured]) -> list[str]:
    """The others that one of them has."""
    return list(dict.fromkeys(name for m in measured for name in m.judged)) or list(BACKENDS[:1])


def shown(measured: Sequence[Measured]) -> list[str]:
    """The figures that say something: marks where queues mark, DCTCP's share beside CUBIC."""
    controls = {m.cell.congestion_control for m in measured}
    without = {"marks"} if not controls & {MARKED, MIXED} else set()
    without |= {"dctcp"} if MIXED not in controls else set()
    return [name for name in FIGURES if name not in without]


def heads(measured: Sequence[Measured]) -> str:
    """The meaning of the values in front of the slashes and behind."""
    return " / ".join(_SHORT[name] for name in (*_backends(measured), _reference(measured)))


def _setting(measured: Sequence[Measured], duration: int) -> list[str]:
    backends = {(m.backend["kernel"], m.backend["clock"]) for m in measured if m.backend}
    kernels = " and ".join(f"Linux {kernel} in {clock} time" for kernel, clock in sorted(backends))
    reference = _reference(measured)
    theirs = (kernels or "no kernel yet") if reference == KERNEL else _NAMES[reference]
    runs = sorted({len(m.runs[reference]) for m in measured if m.runs[reference]})
    repeats = " or ".join(map(str, runs)) or "0"
    others = ", ".join(_NAMES[name] for name in _backends(measured))
    return [
        f"Each cell is one scenario, run for {duration / 1e9:g} s on each backend: {others}, and "
        f"{theirs}, by which they are judged. Figures are of whole runs, slow start included; the "
        f"median of {repeats} runs with different seeds, and after ± half the distance from the "
        "least to the most.",
        _TOLERANCES,
        *([_SHARED] if "dctcp" in shown(measured) else []),
    ]


def markdown(
    measured: Sequence[Measured], duration: int, commands: Sequence[str], table: str = ""
) -> str:
    """The page for `docs/`, with the table in it, or with a reference to the CSV file `table`."""
    lines = [
        f"# {_TITLES[_reference(measured)]}",
        "",
        "Made by",
        "",
        *(f"    {command}" for command in commands),
        "",
    ]
    for text in (*_setting(measured, duration), *summary(measured)):
        lines += [text, ""]
    lines += _reference_to(table) if table else _markdown_table(measured)
    return "\n".join(lines) + "\n"


def _reference_to(table: str) -> list[str]:
    """The columns of a CSV file in words, and the directive that renders it."""
    return [
        f"The file `{table}` has a row for each cell. Columns of ± stand at the right; an empty "
        "field has no value.",
        "",
        "```{csv-table}",
        f":file: {table}",
        ":header-rows: 1",
        "```",
    ]


def _markdown_table(measured: Sequence[Measured]) -> list[str]:
    names, columns = heads(measured), shown(measured)
    titles = [FIGURES[name][0] for name in columns]
    head = "| cell | " + " | ".join(f"{title}<br>{names}" for title in titles)
    lines = [f"{head} | outside |", "|---|" + "---|" * (len(columns) + 1)]
    for m in measured:
        cells = [_both(m, name) for name in columns]
        lines.append(f"| {_name(m)} | " + " | ".join(cells) + f" | {remark(m)} |")
    return lines


def table(measured: Sequence[Measured]) -> str:
    """The figures as CSV: medians, then what is outside, then spreads, each number in a field.

    The numbers are those of the Markdown table, digit by digit.
    """
    backends = [*_backends(measured), _reference(measured)]
    pairs = [(name, backend) for name in shown(measured) for backend in backends]
    titles = [f"{_SHORT[backend]} {FIGURES[name][0]}" for name, backend in pairs]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["cell", *titles, "outside", *(f"± {title}" for title in titles)])
    for m in measured:
        spreads = {
            backend: m.spread(backend) if backend in m.runs else None for backend in backends
        }
        middle = [_one(spreads[backend], name, "median") for name, backend in pairs]
        spans = [_span(spreads[backend], name).lstrip("±") for name, backend in pairs]
        fields = (*middle, remark(m), *spans)
        writer.writerow([_name(m), *("" if field == "-" else field for field in fields)])
    return out.getvalue()


def html(measured: Sequence[Measured], duration: int, commands: Sequence[str]) -> str:
    """The page on its own."""
    names, columns = heads(measured), shown(measured)
    return render(
        "studies/agreement/page.html",
        title=_TITLES[_reference(measured)],
        setting=_setting(measured, duration),
        summary=summary(measured),
        commands=commands,
        columns=[(FIGURES[name][0], names) for name in columns],
        rows=[_row(m, columns) for m in measured],
    )


def _row(m: Measured, columns: Sequence[str]) -> dict[str, Any]:
    outside = {name for verdict in m.verdicts.values() for name in verdict.outside}
    return {
        "name": _name(m),
        "cells": [(medians(m, name), spans(m, name), name in outside) for name in columns],
        "remark": remark(m),
    }


def _name(m: Measured) -> str:
    cell = m.cell
    flows = f"{cell.flows} {cell.congestion_control}"
    between = f", {cell.switches} switches" if cell.switches > 1 else ""
    return f"{cell.aqm}, {flows}, {cell.rate // 10**6} Mbit/s, {cell.rtt // 10**6} ms{between}"


def _both(m: Measured, name: str) -> str:
    """Medians and, below them, how far the repeats spread, for Markdown."""
    found = spans(m, name)
    return medians(m, name) + (f"<br><small>{found}</small>" if found else "")


def spans(m: Measured, name: str) -> str:
    """The spread of each backend's repeats; nothing if none was repeated."""
    spreads = [m.spread(backend) for backend in m.runs]
    if not any(map(_repeated, spreads)):
        return ""
    return " / ".join(_span(spread, name) for spread in spreads)


def medians(m: Measured, name: str) -> str:
    """One figure of each backend."""
    return " / ".join(_one(m.spread(backend), name, "median") for backend in m.runs)


def _repeated(spread: Spread | None) -> bool:
    return spread is not None and spread.runs > 1


def _one(spread: Spread | None, name: str, which: str) -> str:
    return "-" if spread is None else FIGURES[name][1].format(getattr(getattr(spread, which), name))


def _span(spread: Spread | None, name: str) -> str:
    if spread is None or spread.runs < 2:
        return "-"
    half = (getattr(spread.high, name) - getattr(spread.low, name)) / 2
    return f"±{FIGURES[name][1].format(half)}"


def remark(m: Measured) -> str:
    """The figures outside the tolerances with the reason, or the reason that there is no
    comparison."""
    if m.disturbed:
        return f"not judged, disturbed: {m.disturbed[-1]}"
    if m.unsteady:
        runs = len(m.runs[m.reference])
        return (
            f"not judged: {_NAMES[m.reference]}'s own {runs} runs differ in {', '.join(m.unsteady)}"
        )
    if not m.verdicts:
        return m.failed or "not measured"
    said = {
        name: f"{', '.join(verdict.outside)}: {verdict.why}"
        for name, verdict in m.verdicts.items()
        if verdict.outside
    }
    many = len(m.judged) > 1
    return "; ".join(f"{_NAMES[name]}: {text}" if many else text for name, text in said.items())
