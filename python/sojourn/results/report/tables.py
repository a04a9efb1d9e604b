"""The report's tables: the result, every bottleneck, traffic, cycles, synchronisation.

Depends on the figures that `statistics` derived and on the columns that the terminal shows. Knows
no page but `table.html`, which shows one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sojourn.results.pages import render
from sojourn.results.queues import plotted, queues
from sojourn.results.result import Result
from sojourn.results.style import looks, milliseconds
from sojourn.results.table import Column, bottleneck_columns, partly, result_columns
from sojourn.results.traffic.sections import Section, sections


@dataclass(frozen=True)
class Table:
    """A table of text. A head may have several lines."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    text: str = ""
    """Note for the reader."""
    names: int = 1
    """The number of leading columns that identify a row."""
    meanings: Sequence[str] = ()
    """Of the heads, shown where the mouse points."""
    colours: Sequence[str] = ()
    """Of the rows' names."""

    def __html__(self) -> str:
        """The table alone, for pages and notebooks."""
        return render("results/report/one_table.html", of=self).strip()


def result_table(result: Result) -> Table:
    """One row for each AQM."""
    look, columns = looks(result.folder.runs), result_columns(result)
    return Table(
        heads=["AQM", *_heads(columns)],
        rows=[
            [label + partly(aqm), *(column.cell(aqm.summary) for column in columns)]
            for label, aqm in result.aqms.items()
        ],
        meanings=["", *(column.meaning for column in columns)],
        colours=[look[label].colour for label in result.aqms],
    )


def _heads(columns: Sequence[Column]) -> list[str]:
    return [f"{column.name}\n{column.unit}" for column in columns]


def traffic(result: Result) -> list[Table]:
    """Tables of transfers, requests and voices, and of the phases between changes of a rate."""
    return [_traffic(section) for section in sections(result)]


def _traffic(section: Section) -> Table:
    rows = [(what.replace("  ", "\u2003"), *cells) for what, *cells in section.rows]
    return Table(section.heads, rows, section.title, section.text, names=2)


def bottlenecks(result: Result) -> Iterator[Table]:
    """Every measured queue, where there are several."""
    if len(result.scenario.bottlenecks) < 2:
        return
    columns = bottleneck_columns(result)
    yield Table(
        heads=["queue", "run", "AQM\nthere", *_heads(columns)],
        rows=[
            [
                "" if place else queue.bottleneck.name,
                run.label,
                run.aqm,
                *(column.cell(run.summary) for column in columns),
            ]
            for queue in queues(result)
            for place, run in enumerate(queue.runs)
        ],
        title="Every bottleneck",
        text=f"The figures above are of {result.scenario.bottlenecks[0].name}. A packet has the "
        "same number in the rows of each queue that it passes. A queue without a packet is left "
        "out; one in which nobody waited has no plot.",
        names=2,
        meanings=["", "", "", *(column.meaning for column in columns)],
    )


def cycles(result: Result) -> Iterator[Table]:
    """The number of times the delay stayed above the target, and the begin of dropping. Runs whose
    packets overtook each other have no table: cycles are of a single queue."""
    several = len(result.scenario.bottlenecks) > 1
    rows = []
    for queue in plotted(result):
        single = [run for run in queue.runs if run.findings.in_order]
        for place, run in enumerate(single):
            found = run.findings.cycles
            name = "" if place else queue.title
            cells = (
                f"{found.count}",
                f"{found.without_drop}",
                milliseconds(found.longest),
                milliseconds(found.first_gap),
            )
            rows.append([*([name] if several else []), run.label, *cells])
    names = ["queue", "run"] if several else ["AQM"]
    heads = ("cycles", "without\na drop", "longest\nms", "first two drops\napart, ms")
    if not rows:
        return
    yield Table(
        heads=[*names, *heads],
        rows=rows,
        title="Congestion cycles",
        text="A cycle is a stretch of packets that all waited at least the target. A controller "
        "that remembers how often it had to drop begins a cycle with drops close together; one "
        "that has forgotten begins with drops an interval apart. The last column is the median "
        "over the cycles that have two drops. Runs that part flows into queues have none.",
        names=len(names),
    )


def synchronisation(result: Result) -> Iterator[Table]:
    """The cost of synchronising registers of different stages; nothing without mirroring."""
    rows = []
    for label, aqm in result.aqms.items():
        counters = aqm.findings.counters
        if not counters["mirrored_packets"]:
            continue
        spans = counters["unsynchronised"]
        cells = (
            f"{counters['mirrored_packets']}",
            f"{counters['mirrored_packets'] * 1e9 / max(counters['simulated'], 1):.0f}",
            f"{counters['recirculated_packets'] + counters['recirculation_drops']}",
            f"{100 * aqm.summary.recirculated_share:.4f}",
            f"{counters['mirror_drops']}",
            f"{spans['total'] / 1e6:.3f}",
            f"{spans['max'] / 1e3:.2f}",
        )
        rows.append([label, *cells])
    heads = (
        "AQM",
        "mirrored\npackets",
        "mirrored\npackets/s",
        "recirculated\npackets",
        "recirculated\nbytes, %",
        "mirror\ndrops",
        "unsynchronised\nin all, ms",
        "unsynchronised\nlongest, us",
    )
    if rows:
        yield Table(
            heads=heads,
            rows=rows,
            title="Synchronisation of registers",
            text="A register belongs to one stage, so a value that two stages need is written by a "
            "mirrored packet that comes round again. Until it has, the registers disagree: that "
            "time is unsynchronised.",
        )
