"""The agreement as a page: HTML in the report's style, and Markdown for the documentation.

Stands on what was measured and on the verdicts. Every number in it is a cell's; it knows no run.
"""

from collections.abc import Sequence
from typing import Any

from sojourn.agree.measure import GROUNDS, KERNEL, Measured
from sojourn.agree.verdict import (
    DELAY_MS,
    DELAY_SHARE,
    LOSS_POINTS,
    LOSS_SHARE,
    UTILISATION_POINTS,
    Spread,
)
from sojourn.pages import render

TITLE = "How far simulation and kernel are apart"
FIGURES = {
    "mean": ("mean delay, ms", "{:.2f}"),
    "p95": ("p95 delay, ms", "{:.1f}"),
    "utilisation": ("utilisation, %", "{:.1f}"),
    "loss": ("loss, %", "{:.2f}"),
}
"""What is shown: head of the column and format."""
_TOLERANCES = (
    "Delays are of packets that were sent: when the kernel dropped one can only be inferred. "
    f"Tolerances: utilisation within {UTILISATION_POINTS:g} points, mean delay within "
    f"{100 * DELAY_SHARE:g} % or {DELAY_MS:g} ms, loss within {100 * LOSS_SHARE:g} % or "
    f"{LOSS_POINTS:g} points of the kernel's; the 95th percentile is shown and not judged."
)
_CLASSIC = ("cubic", "newreno")
_NAMES = {"sim": "the simulator", "live": "the live switch"}
_SHORT = {"sim": "sim", "live": "live", KERNEL: "kernel"}


def summary(measured: Sequence[Measured]) -> list[str]:
    """How many cells agree, in sentences."""
    lines = []
    for name, controls in (("CUBIC and NewReno", _CLASSIC), ("BBR", ("bbr",))):
        for ground in _grounds(measured):
            of = [m for m in measured if m.cell.congestion_control in controls]
            verdicts = [m.verdicts[ground] for m in of if ground in m.verdicts]
            if verdicts:
                good = sum(not verdict.outside for verdict in verdicts)
                share = 100 * good / len(verdicts)
                who = "" if ground == "sim" else f", {_NAMES[ground]}"
                lines.append(
                    f"{name}{who}: {good} of {len(verdicts)} judged cells within ({share:.0f} %)."
                )
    if disturbed := sum(bool(m.disturbed) for m in measured):
        lines.append(f"Cells not judged because the machine disturbed the kernel: {disturbed}.")
    if unsteady := sum(bool(m.unsteady) and not m.disturbed for m in measured):
        lines.append(
            "Cells not judged because the kernel's own runs are further apart than the tolerances: "
            f"{unsteady}."
        )
    if lacking := sum(not (m.verdicts or m.disturbed or m.unsteady) for m in measured):
        lines.append(f"Cells without figures of one ground: {lacking}.")
    return lines


def _grounds(measured: Sequence[Measured]) -> list[str]:
    """All but the kernel that one of them has."""
    return list(dict.fromkeys(name for m in measured for name in m.judged)) or list(GROUNDS[:1])


def heads(measured: Sequence[Measured]) -> str:
    """What is in front of the slashes and behind."""
    return " / ".join(_SHORT[name] for name in (*_grounds(measured), KERNEL))


def _setting(measured: Sequence[Measured], duration: int) -> list[str]:
    grounds = {(m.ground["kernel"], m.ground["clock"]) for m in measured if m.ground}
    kernels = " and ".join(f"Linux {kernel} in {clock} time" for kernel, clock in sorted(grounds))
    runs = sorted({len(m.runs[KERNEL]) for m in measured if m.runs[KERNEL]})
    repeats = " or ".join(map(str, runs)) or "0"
    others = ", ".join(_NAMES[name] for name in _grounds(measured))
    return [
        f"Each cell is one scenario, run for {duration / 1e9:g} s on each ground: {others}, and "
        f"{kernels or 'no kernel yet'}. Figures are of whole runs, slow start included; the median "
        f"of {repeats} runs with different seeds, and below it half the distance from the least to "
        "the most.",
        _TOLERANCES,
    ]


def markdown(measured: Sequence[Measured], duration: int, commands: Sequence[str]) -> str:
    """The page for `docs/`."""
    names = heads(measured)
    head = "| cell | " + " | ".join(f"{name}<br>{names}" for name, _ in FIGURES.values())
    lines = [f"# {TITLE}", "", "Made by", "", *(f"    {command}" for command in commands), ""]
    for text in (*_setting(measured, duration), *summary(measured)):
        lines += [text, ""]
    lines += [f"{head} | outside |", "|---|" + "---|" * (len(FIGURES) + 1)]
    for m in measured:
        cells = [_both(m, name) for name in FIGURES]
        lines.append(f"| {_name(m)} | " + " | ".join(cells) + f" | {remark(m)} |")
    return "\n".join(lines) + "\n"


def html(measured: Sequence[Measured], duration: int, commands: Sequence[str]) -> str:
    """The page on its own."""
    names = heads(measured)
    return render(
        "agree/page.html",
        title=TITLE,
        setting=_setting(measured, duration),
        summary=summary(measured),
        commands=commands,
        columns=[(name, names) for name, _ in FIGURES.values()],
        rows=[_row(m) for m in measured],
    )


def _row(m: Measured) -> dict[str, Any]:
    outside = {name for verdict in m.verdicts.values() for name in verdict.outside}
    return {
        "name": _name(m),
        "cells": [(medians(m, name), spans(m, name), name in outside) for name in FIGURES],
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
    """How far the repeats of each ground spread; nothing if none was repeated."""
    spreads = [m.spread(ground) for ground in m.runs]
    if not any(map(_repeated, spreads)):
        return ""
    return " / ".join(_span(spread, name) for spread in spreads)


def medians(m: Measured, name: str) -> str:
    """One figure of each ground."""
    return " / ".join(_one(m.spread(ground), name, "median") for ground in m.runs)


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
    """What is outside the tolerances and why, or why there is nothing to compare."""
    if m.disturbed:
        return f"not judged, disturbed: {m.disturbed[-1]}"
    if m.unsteady:
        runs = len(m.runs[KERNEL])
        return f"not judged: the kernel's own {runs} runs differ in {', '.join(m.unsteady)}"
    if not m.verdicts:
        return m.failed or "not measured"
    said = {
        name: f"{', '.join(verdict.outside)}: {verdict.why}"
        for name, verdict in m.verdicts.items()
        if verdict.outside
    }
    many = len(m.judged) > 1
    return "; ".join(f"{_NAMES[name]}: {text}" if many else text for name, text in said.items())
