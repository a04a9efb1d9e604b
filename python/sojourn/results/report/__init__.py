"""The report: one HTML page that needs nothing else, neither network nor server.

Depends on the figures that `statistics` derives and on BokehJS, which is part of the page.
Every number in it comes from the run's own rows.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sojourn.common.atomic_write import write_text
from sojourn.model.units import TIME
from sojourn.results.flow_series import FlowSeries
from sojourn.results.pages import render
from sojourn.results.queues import Queue, heading, plotted
from sojourn.results.remarks import reader_note, remarks
from sojourn.results.report import (
    figures,
    flow_plots,
    queue_plots,
    register_plots,
    run_description,
    tables,
)
from sojourn.results.report.embedded import packed, packed_data
from sojourn.results.report.panels import Figure
from sojourn.results.result import Result
from sojourn.results.topology_plot import topology_svg
from sojourn.results.traffic.curves import completion_curves, voice_curves
from sojourn.runtime.run_files import REPORT

_OVER_TIME = (
    "A panel per AQM, all on the same logarithmic scale. The line is the mean queue delay of the "
    "packets that left the queue in each {bin}; the shade reaches from the least to the most. The "
    "dashed line is the target; red strokes at the foot are drops, violet ones "
    "marks. Point at an instant to read all of them; drag sideways to zoom in "
    "time, double-click to zoom out."
)
_DISTRIBUTION = (
    "The further left a curve, the shorter the wait; where it crosses the dashed line is the share "
    "of packets within the target. A curve that stays flat and then rises at the right has a long "
    "tail."
)
_SHARES = (
    "Payload that all receivers got, and how evenly it went to the flows: Jain's index is 1 if "
    "each got the same and 1/n if one of n got all."
)
_COURSE = (
    "In 200 steps of the run: half, and 99 in 100, of the packets that left in a step had waited "
    "no longer than the first two curves say; what was in the queue at its end; and the share of "
    "the link that was used."
)
_REGISTERS = (
    "A value stands until the next pass that changes it; all changes are in registers.parquet."
)
_SINGLE = (
    "The menu chooses the AQM. A click on a flow in the table draws it or takes it away, up to "
    "twelve at once; a click on a head sorts by that column."
)
_COMPLETION = (
    "The share of each group's exchanges that were complete within a time. Those that the end of "
    "the run cut short are not among them."
)
_LOADS = (
    "Share of its rate that each direction of a link carried during the whole run, by colour and "
    "width. Traffic keeps to the right: of two lines between nodes, one is each way."
)
_VOICE = "The share of each group's datagrams that arrived within a time."


def write_report(result: Result) -> None:
    """Writes the page into the run's folder."""
    write_text(result.path / REPORT, page(result))


def page(result: Result) -> str:
    """The page's text."""
    folder, scenario = result.folder, result.scenario
    series = flow_plots.series_of(result)
    plots = [
        *_plots(result),
        *_courses(result),
        *_traffic(result),
        *_flows(result, series),
        *_registers(result),
    ]
    script, drawings = packed({plot.name: plot.figure.model() for plot in plots})
    return render(
        "results/report/page.html",
        title=scenario.title or folder.name,
        description=_prose(scenario.description),
        look_at=_prose(scenario.look_at),
        remarks=[_prose(remark) for remark in remarks(result)],
        result=tables.result_table(result),
        notes=[*_paragraphs(scenario.notes), *_paragraphs(reader_note(result))],
        traffic=[*tables.traffic(result), *tables.bottlenecks(result)],
        plots=plots,
        topology=topology_svg(result),
        loads=_LOADS,
        internals=[*tables.cycles(result), *tables.synchronisation(result)],
        parameters=run_description.parameters(result),
        programs=run_description.programs(folder),
        provenance=run_description.provenance(folder),
        scenario=json.dumps(scenario.model_dump(mode="json", exclude_none=True), indent=2),
        script=script,
        figures=drawings,
        flows=packed_data(flow_plots.each_flow(result, series)) if series else "",
    )


@dataclass(frozen=True)
class _Plot:
    """A plot with what stands above it."""

    name: str
    figure: Figure
    heading: str
    text: str = ""


def _plots(result: Result) -> Iterator[_Plot]:
    """Both plots of each queue; how to read them is said once."""
    for place, queue in enumerate(plotted(result)):
        where = heading(result, queue)
        how = [_OVER_TIME.format(bin=TIME.format(_bin(queue))), _DISTRIBUTION]
        over_time, distribution = how if not place else ("", "")
        yield _Plot(
            f"over-time-{place}",
            figures.over_time(result, queue),
            f"Queue delay over time{where}, in ms",
            over_time,
        )
        yield _Plot(
            f"distribution-{place}",
            figures.distribution(result, queue),
            f"Distribution of queue delay{where}",
            distribution,
        )


def _courses(result: Result) -> Iterator[_Plot]:
    """Plots over time of each queue."""
    for place, queue in enumerate(plotted(result)):
        yield _Plot(
            f"course-{place}",
            queue_plots.queue_course(result, queue),
            f"The queue over time{heading(result, queue)}",
            "" if place else _COURSE,
        )


def _registers(result: Result) -> Iterator[_Plot]:
    """Plots of traced registers."""
    for place, (label, figure, more) in enumerate(register_plots.register_plots(result)):
        said = _REGISTERS if not place else ""
        said += f" {more} more are in the rows." if more else ""
        yield _Plot(f"registers-{place}", figure, f"Registers of {label}", said.strip())


def _traffic(result: Result) -> Iterator[_Plot]:
    """Distributions of completion times and of voices' delays, one panel for each group."""
    for name, title, text, axis, panels in (
        ("completion", "Completion times", _COMPLETION, "completion time", completion_curves),
        ("voice", "Delay of voice", _VOICE, "one-way delay", voice_curves),
    ):
        if groups := list(panels(result)):
            yield _Plot(name, figures.traffic(result, groups, axis), title, text)


def _flows(result: Result, series: Mapping[str, FlowSeries]) -> Iterator[_Plot]:
    """Plots of the flows; nothing if a run has no samples of them."""
    if series:
        yield _Plot("shares", flow_plots.shares(result, series), "Goodput and fairness", _SHARES)
        yield _Plot("flows", flow_plots.single(series), "Each flow", _SINGLE)


def _bin(queue: Queue) -> int:
    time = queue.runs[0].findings.over_time.time
    return int(time[1] - time[0])


def _prose(text: str) -> str:
    """A paragraph as a page shows it, without the marks of code in plain text."""
    return " ".join(text.replace("`", "").split())


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a text, separated by empty lines."""
    paragraphs = map(_prose, text.split("\n\n"))
    return [part for part in paragraphs if part]
