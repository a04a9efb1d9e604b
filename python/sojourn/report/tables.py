"""The report's tables: the result, every bottleneck, traffic, cycles, synchronisation.

Stands on the figures that `statistics` derived and on the columns that the terminal shows. Knows
no page.
"""

from collections.abc import Iterable
from html import escape

from sojourn.queues import drawn, queues
from sojourn.result import Result
from sojourn.style import looks, milliseconds
from sojourn.table import Column, bottleneck_columns, partly, result_columns
from sojourn.traffic.sections import Section


def result_table(result: Result) -> str:
    """A row an AQM."""
    look, columns = looks(result.folder.runs), result_columns(result)
    rows = "".join(
        f'<tr><th style="color:{look[label].colour}">{escape(label)}{partly(aqm)}</th>'
        + "".join(f"<td>{escape(column.cell(aqm.summary))}</td>" for column in columns)
        + "</tr>"
        for label, aqm in result.aqms.items()
    )
    return f"<table class=result><tr><th>AQM</th>{_heads(columns)}</tr>{rows}</table>"


def _heads(columns: Iterable[Column]) -> str:
    return "".join(
        f'<th title="{escape(column.meaning)}">{escape(column.name)}<br>{escape(column.unit)}</th>'
        for column in columns
    )


def section(section: Section) -> str:
    """What single transfers or voices got."""
    names = "".join(f'<th class="name">{escape(head)}</th>' for head in section.heads[:2])
    heads = names + "".join(
        f"<th>{escape(head).replace(chr(10), '<br>')}</th>" for head in section.heads[2:]
    )
    rows = "".join(
        f"<tr><th>{escape(what).replace('  ', '&emsp;')}</th><th>{escape(aqm)}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for what, aqm, *cells in section.rows
    )
    return (
        f"<h2>{escape(section.title)}</h2><p>{escape(section.text)}</p>"
        f'<div class="scroll"><table class=result><tr>{heads}</tr>{rows}</table></div>'
    )


def bottlenecks(result: Result) -> str:
    """Every measured queue, where there are several."""
    if len(result.scenario.bottlenecks) < 2:
        return ""
    columns = bottleneck_columns(result)
    rows = "".join(
        f"<tr><th>{escape(queue.bottleneck.name) if not place else ''}</th>"
        f"<th>{escape(run.label)}</th><td>{escape(run.aqm)}</td>"
        + "".join(f"<td>{escape(column.cell(run.summary))}</td>" for column in columns)
        + "</tr>"
        for queue in queues(result)
        for place, run in enumerate(queue.runs)
    )
    return (
        "<h2>Every bottleneck</h2><p>The figures above are of "
        f"{escape(result.scenario.bottlenecks[0].name)}. A packet has the same number in the rows "
        "of each queue that it passes. A queue without a packet is left out; one in which nobody "
        "waited has no plot.</p>"
        '<div class="scroll"><table class=result><tr><th>queue</th>'
        f'<th class="name">run</th><th>AQM<br>there</th>{_heads(columns)}</tr>'
        f"{rows}</table></div>"
    )


def cycles(result: Result) -> str:
    """How often the delay stood above the target, and how each controller began to drop."""
    rows = []
    several = len(result.scenario.bottlenecks) > 1
    for queue in drawn(result):
        name = escape(queue.title)
        for run in queue.runs:
            found = run.findings.cycles
            cells = (
                f"{found.count}",
                f"{found.without_drop}",
                milliseconds(found.longest),
                milliseconds(found.first_gap),
            )
            named = f"<th>{name}</th>" if several else ""
            rows.append(
                f"<tr>{named}<th>{escape(run.label)}</th>"
                + "".join(f"<td>{cell}</td>" for cell in cells)
                + "</tr>"
            )
            name = ""
    first = '<th>queue</th><th class="name">run</th>' if several else "<th>AQM</th>"
    heads = ("cycles", "without<br>a drop", "longest<br>ms", "first two drops<br>apart, ms")
    head = "".join(f"<th>{name}</th>" for name in heads)
    return (
        "<h2>Congestion cycles</h2><p>A cycle is a stretch of packets that all waited at least the "
        "target. A controller that remembers how often it had to drop begins a cycle with drops "
        "close together; one that has forgotten begins with drops an interval apart. The last "
        "column is the median over the cycles that have two drops.</p>"
        f'<div class="scroll"><table class=result><tr>{first}{head}</tr>'
        f"{''.join(rows)}</table></div>"
    )


def synchronisation(result: Result) -> str:
    """What it took to keep registers of different stages in step; nothing if nobody mirrored."""
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
        rows.append(
            f"<tr><th>{escape(label)}</th>" + "".join(f"<td>{escape(c)}</td>" for c in cells)
        )
    if not rows:
        return ""
    heads = (
        "mirrored<br>packets",
        "mirrored<br>packets/s",
        "recirculated<br>packets",
        "recirculated<br>bytes, %",
        "mirror<br>drops",
        "unsynchronised<br>in all, ms",
        "unsynchronised<br>longest, us",
    )
    head = "".join(f"<th>{name}</th>" for name in heads)
    return (
        "<h2>Synchronisation of registers</h2><p>A register belongs to one stage, so a value that "
        "two stages need is written by a mirrored packet that comes round again. Until it has, the "
        "registers disagree: that time is unsynchronised.</p>"
        f'<div class="scroll"><table class=result><tr><th>AQM</th>{head}</tr>'
        f"{''.join(rows)}</table></div>"
    )
