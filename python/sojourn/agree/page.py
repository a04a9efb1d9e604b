"""The agreement as a page: HTML in the report's style, and Markdown for the documentation.

Stands on what was measured and on the verdicts. Every number in it is a cell's; it knows no run.
"""

import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files

from sojourn.agree.measure import GROUNDS, KERNEL, Measured
from sojourn.agree.verdict import (
    DELAY_MS,
    DELAY_SHARE,
    LOSS_POINTS,
    LOSS_SHARE,
    UTILISATION_POINTS,
    Side,
)

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
_STYLE = """
  .outside { color: #b3261e; font-weight: 600; }
  td small { color: #6b7280; font-weight: 400; }
  .result td, .result th { white-space: nowrap; vertical-align: top; }
  .result tr:first-child th:last-child { text-align: left; }
  .result td.why { text-align: left; white-space: normal; min-width: 13rem; }
"""
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
        cells = [_both(m, name, "<br>") for name in FIGURES]
        lines.append(f"| {_name(m)} | " + " | ".join(cells) + f" | {remark(m)} |")
    return "\n".join(lines) + "\n"


def html(measured: Sequence[Measured], duration: int, commands: Sequence[str]) -> str:
    """The page on its own."""
    paragraphs = "".join(f"<p>{escape(text)}</p>" for text in _setting(measured, duration))
    results = "".join(f"<li>{escape(text)}</li>" for text in summary(measured))
    names = heads(measured)
    columns = "".join(f"<th>{escape(name)}<br>{names}</th>" for name, _ in FIGURES.values())
    rows = "".join(_row(m) for m in measured)
    return (
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><title>{TITLE}</title>\n'
        f"<style>{_style()}{_STYLE}"
        f"</style>\n<h1>{TITLE}</h1>\n{paragraphs}<ul>{results}</ul>"
        f"<p>Made by</p><pre>{escape(chr(10).join(commands))}</pre>"
        f'<div class="scroll"><table class=result><tr><th>cell</th>{columns}<th>outside</th></tr>'
        f"{rows}</table></div></html>\n"
    )


def _style() -> str:
    """The report's own."""
    text = files("sojourn.report").joinpath("page.html").read_text(encoding="utf-8")
    found = re.search(r"<style>(.*?)</style>", text, re.DOTALL)
    return found[1] if found else ""


def _row(m: Measured) -> str:
    outside = {name for verdict in m.verdicts.values() for name in verdict.outside}
    cells = "".join(
        f'<td class="{"outside" if name in outside else ""}">{_both(m, name, "<br>")}</td>'
        for name in FIGURES
    )
    return f"<tr><th>{escape(_name(m))}</th>{cells}<td class=why>{escape(remark(m))}</td></tr>"


def _name(m: Measured) -> str:
    cell = m.cell
    flows = f"{cell.flows} {cell.congestion_control}"
    return f"{cell.aqm}, {flows}, {cell.rate // 10**6} Mbit/s, {cell.rtt // 10**6} ms"


def _both(m: Measured, name: str, line: str) -> str:
    sides = [m.side(ground) for ground in m.runs]
    spreads = " / ".join(_spread(side, name) for side in sides)
    shown = medians(m, name)
    return f"{shown}{line}<small>{spreads}</small>" if any(map(_repeated, sides)) else shown


def medians(m: Measured, name: str) -> str:
    """One figure of each ground."""
    return " / ".join(_one(m.side(ground), name, "median") for ground in m.runs)


def _repeated(side: Side | None) -> bool:
    return side is not None and side.runs > 1


def _one(side: Side | None, name: str, which: str) -> str:
    return "-" if side is None else FIGURES[name][1].format(getattr(getattr(side, which), name))


def _spread(side: Side | None, name: str) -> str:
    if side is None or side.runs < 2:
        return "-"
    half = (getattr(side.high, name) - getattr(side.low, name)) / 2
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
