"""A study's figures as text for a terminal and as Markdown for a page.

Depends on outcomes; must not depend on files.
"""

from collections.abc import Iterable, Sequence

from sojourn.model.units import TIME
from sojourn.results.style import duration
from sojourn.tools.replay.study import Outcome, TraceOutcome

Row = Sequence[str]

COMPARED = (
    "AQM", "drops", "equal %", "same %", "<1 us %", "missed", "extra", "median", "p99", "max",
)  # fmt: skip
LEGEND = """\
equal: packets decided as RFC 8289 decides. same, <1 us: its drops made at the very same packet, or
within 1 us. missed, extra: its drops and the program's without a partner in time. median, p99, max:
how far away in time the partners of its drops are."""
RACED = (
    "AQM", "copies take", "copies", "unsynchronised", "drops",
    "wrong", "at once", "missed", "at once",
)  # fmt: skip
RACE_LEGEND = """\
unsynchronised: packets that came while a copy was under way. wrong: drops that the program does not
make if copies take no time; missed: drops that it makes only then. at once: at such a packet; the
others follow from those."""


def comparison_row(outcome: Outcome, *, several: bool) -> Row:
    """A program over a trace against the reference; named with its latency if there are several."""
    figures = outcome.comparison
    label = outcome.subject.label
    return (
        f"{label}, {TIME.format(outcome.latency)}" if several else label,
        f"{figures.drops:,}",
        _percent(figures.equal),
        _percent(figures.same_share),
        _percent(figures.near_share),
        f"{figures.missed:,}",
        f"{figures.extra:,}",
        *(duration(figures.error(percent)) for percent in (50, 99, 100)),
    )


def race_row(outcome: Outcome) -> Row:
    """A program over a trace against itself without delay."""
    figures = outcome.race
    assert figures is not None, "asked for only if there is one"
    return (
        outcome.subject.label,
        TIME.format(figures.latency),
        f"{figures.copies:,}",
        f"{figures.unsynchronised:,}",
        f"{figures.drops:,}",
        f"{figures.wrong:,}",
        f"{figures.wrong_at_once:,}",
        f"{figures.missed:,}",
        f"{figures.missed_at_once:,}",
    )


def headline(found: TraceOutcome) -> str:
    """A trace and what the reference does with it."""
    drops = int(found.reference.dropped.sum())
    seconds = (int(found.rows.time[-1]) - int(found.rows.time[0])) / 1e9
    return (
        f"{found.trace.name}: {len(found.rows):,} packets in {seconds:.3g} s; "
        f"RFC 8289 drops {drops:,}"
    )


def text(header: Row, parts: Iterable[tuple[str, Sequence[Row]]], legend: str) -> str:
    """Lines of at most 100 columns: a header, then each part's headline and rows."""
    parts = list(parts)
    rows = [header, *(row for _, rows in parts for row in rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(header))]
    lines = [_line(header, widths)]
    for title, part in parts:
        lines += ["", title, *(_line(row, widths) for row in part)]
    return "\n".join([*lines, "", legend])


def markdown(header: Row, parts: Iterable[tuple[str, Sequence[Row]]]) -> str:
    """One table, the part in its first column."""
    lines = ["| trace | " + " | ".join(header) + " |", "|---" * (len(header) + 1) + "|"]
    for title, part in parts:
        lines += ["| " + " | ".join((title, *row)) + " |" for row in part]
    return "\n".join(lines) + "\n"


def _line(row: Row, widths: Sequence[int]) -> str:
    first, *rest = (
        cell.rjust(width) if index else cell.ljust(width)
        for index, (cell, width) in enumerate(zip(row, widths, strict=True))
    )
    return ("  " + "  ".join([first, *rest])).rstrip()


def _percent(share: float | None) -> str:
    if share is None:
        return "-"
    # 100 stands for all of them and not for nearly all.
    return "100" if share == 1 else f"{min(100 * share, 99.999):.3f}"
