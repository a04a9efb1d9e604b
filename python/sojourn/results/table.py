"""The result table, one row for each AQM: its columns, and how a terminal shows them.

Depends on the figures that `statistics` derived and on rich. The report shows the same columns.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from sojourn.results.queues import queues
from sojourn.results.result import AqmResult, Result
from sojourn.results.statistics import Summary
from sojourn.results.style import milliseconds
from sojourn.results.traffic.sections import Section, sections


@dataclass(frozen=True)
class Column:
    """A column: its name and unit, its meaning, and its cell for one AQM."""

    name: str
    unit: str
    meaning: str
    cell: Callable[[Summary], str]
    worth: Callable[[Summary], bool] = lambda _: True
    """Whether an AQM's cell is a reason to show the column."""


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _megabits(rate: float) -> str:
    return f"{rate / 1e6:.1f}"


def _delay(name: str, meaning: str, cell: Callable[[Summary], float | None]) -> Column:
    return Column(name, "ms", f"{meaning} queue delay, ms", lambda s: milliseconds(cell(s)))


COLUMNS = (
    _delay("mean", "mean", lambda s: s.mean),
    _delay("median", "median", lambda s: s.median),
    _delay("p95", "95th percentile of", lambda s: s.p95),
    _delay("p99", "99th percentile of", lambda s: s.p99),
    _delay("max", "largest", lambda s: s.max),
    Column(
        ">target",
        "%",
        "packets whose queue delay exceeds the target, %",
        lambda s: _percent(s.above_target),
    ),
    Column(
        "goodput", "Mbit/s", "payload that receivers got, Mbit/s", lambda s: _megabits(s.goodput)
    ),
    Column(
        "util.",
        "%",
        "frames sent, without FCS, over the shaper's rate, %",
        lambda s: _percent(s.utilisation),
    ),
    Column("aqm", "drops", "packets that the AQM dropped at its queue", lambda s: f"{s.aqm_drops}"),
    Column("tail", "drops", "packets that found the queue full", lambda s: f"{s.tail_drops}"),
    Column(
        "ingress",
        "drops",
        "packets that the program's ingress dropped, before any queue: as its queue management "
        "decided, or because it forwarded them nowhere",
        lambda s: f"{s.ingress_drops}",
        lambda s: s.ingress_drops > 0,
    ),
    Column("CE", "marks", "packets marked instead of dropped", lambda s: f"{s.marks}"),
    Column(
        "recirc.",
        "packets",
        "packets that took the recirculation port",
        lambda s: "-" if s.recirculated is None else f"{s.recirculated}",
    ),
)


BOTTLENECK_COLUMNS = tuple(
    column for column in COLUMNS if column.name not in (">target", "goodput", "recirc.")
)
"""Columns for each of several bottlenecks, without those of the whole run."""


def _worth_showing(columns: Sequence[Column], summaries: Iterable[Summary]) -> list[Column]:
    """`columns` without those that say nothing about any of `summaries`."""
    known = list(summaries)
    return [column for column in columns if any(map(column.worth, known))]


def result_columns(result: Result) -> list[Column]:
    """The result table's columns."""
    return _worth_showing(COLUMNS, (aqm.summary for aqm in result.aqms.values()))


def bottleneck_columns(result: Result) -> list[Column]:
    """The columns of the table of every bottleneck."""
    summaries = (run.summary for queue in queues(result) for run in queue.runs)
    return _worth_showing(BOTTLENECK_COLUMNS, summaries)


def result_tables(result: Result, width: int) -> list[Table]:
    """The tables for a terminal of `width` columns. One that is too wide comes in pieces below each
    other, each of them with the names of its rows."""
    tables = _fitting(_table(result), result_columns(result), width)
    bottlenecks = result.scenario.bottlenecks
    if len(bottlenecks) > 1:
        tables[0].title = f"at {bottlenecks[0].name}"
        tables += _fitting(_bottleneck_table(result), bottleneck_columns(result), width)
    for section in sections(result):
        tables += _fitting(_section_table(section), range(2, len(section.heads)), width)
    return tables


_Part = TypeVar("_Part")


def _fitting(
    table: Callable[[Sequence[_Part]], Table], columns: Sequence[_Part], width: int
) -> list[Table]:
    """The table that `table` makes of `columns`, or several if it is wider than `width`."""
    whole = table(columns)
    measuring = Console(width=10 * width)
    wanted = Measurement.get(measuring, measuring.options, whole).maximum
    if wanted <= width or len(columns) < 2:
        return [whole]
    half = (len(columns) + 1) // 2
    parts = _fitting(table, columns[:half], width) + _fitting(table, columns[half:], width)
    for later in parts[1:]:
        later.title = None
    return parts


def _section_table(section: Section) -> Callable[[Sequence[int]], Table]:
    def made(places: Sequence[int]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
        table.title = section.title
        what, aqm = section.heads[:2]
        table.add_column(what, style="bold", overflow="fold", max_width=28)
        table.add_column(aqm, overflow="fold", max_width=18)
        for place in places:
            table.add_column(section.heads[place], justify="right", no_wrap=True)
        for row in section.rows:
            table.add_row(*map(Text, (*row[:2], *(row[place] for place in places))))
        return table

    return made


def _bottleneck_table(result: Result) -> Callable[[Sequence[Column]], Table]:
    def made(columns: Sequence[Column]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False, title="every bottleneck")
        table.add_column("queue", style="bold", overflow="fold", max_width=22)
        table.add_column("run", overflow="fold", max_width=12)
        table.add_column("AQM\nthere", overflow="fold", max_width=12)
        for column in columns:
            table.add_column(f"{column.name}\n{column.unit}", justify="right", no_wrap=True)
        for queue in queues(result):
            name = queue.bottleneck.name
            for run in queue.runs:
                cells = (column.cell(run.summary) for column in columns)
                table.add_row(*map(Text, (name, run.label, run.aqm, *cells)))
                name = ""
        return table

    return made


def _table(result: Result) -> Callable[[Sequence[Column]], Table]:
    def made(columns: Sequence[Column]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
        table.add_column("AQM", style="bold", overflow="fold", max_width=22)
        for column in columns:
            table.add_column(f"{column.name}\n{column.unit}", justify="right", no_wrap=True)
        for label, aqm in result.aqms.items():
            cells = (column.cell(aqm.summary) for column in columns)
            table.add_row(*map(Text, (f"{label}{partly(aqm)}", *cells)))
        return table

    return made


def partly(aqm: AqmResult) -> str:
    """A mark for a run that did not come to its end."""
    return "" if aqm.complete else " (partial)"
