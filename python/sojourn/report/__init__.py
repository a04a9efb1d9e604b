"""The report: one HTML page that needs nothing else, neither network nor server.

Stands on the figures that `statistics` derived and on plotly.js, which is part of the page.
Every number in it comes from the run's own rows.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from string import Template

from sojourn.queues import Queue, drawn, heading
from sojourn.reading import reading, remarks
from sojourn.report import figures, over_flows, over_queue, registers, tables, what_was_run
from sojourn.report.packed import packed
from sojourn.report.plain import Figure
from sojourn.result import Result
from sojourn.run_files import REPORT
from sojourn.traffic.sections import sections
from sojourn.units import TIME
from sojourn.writing import write_text

_OVER_TIME = (
    "One panel an AQM, all on the same logarithmic scale. The line is the mean queue delay of the "
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
_SINGLE = "The first twelve flows; the menu chooses the AQM."


def write_report(result: Result) -> None:
    """Writes the page into the run's folder."""
    write_text(result.path / REPORT, page(result))


def page(result: Result) -> str:
    """The page's text."""
    folder, scenario = result.folder, result.scenario
    template = Template(files("sojourn.report").joinpath("page.html").read_text(encoding="utf-8"))
    plots = list(_plots(result))
    flows, flow_plots = _flows(result)
    courses, course_plots = _courses(result)
    told, told_plots = _registers(result)
    script, figures = packed(
        dict(plot.figure for plot in [*plots, *course_plots, *flow_plots, *told_plots])
    )
    return template.substitute(
        title=escape(scenario.title or folder.name),
        description=escape(" ".join(scenario.description.split())),
        look_at=_look_at(scenario.look_at),
        remarks=_list(remarks(result)),
        table=tables.result_table(result),
        first=plots[0].html,
        notes=_notes(scenario.notes) + _notes(reading(result)),
        bottlenecks=tables.bottlenecks(result),
        traffic="".join(tables.section(section) for section in sections(result)),
        plots="".join(plot.html for plot in plots[1:]),
        courses=courses,
        flows=flows,
        registers=told,
        cycles=tables.cycles(result),
        synchronisation=tables.synchronisation(result),
        parameters=what_was_run.parameters(result),
        programs=what_was_run.programs(folder),
        provenance=what_was_run.provenance(folder),
        scenario=escape(json.dumps(scenario.model_dump(mode="json", exclude_none=True), indent=2)),
        script=script,
        figures=figures,
    )


@dataclass(frozen=True)
class _Plot:
    """A plot with what stands above it."""

    name: str
    drawing: Figure
    heading: str
    text: str = ""

    @property
    def figure(self) -> tuple[str, Figure]:
        """Its place in the page and what is drawn there."""
        return self.name, self.drawing

    @property
    def html(self) -> str:
        """Heading, a place as high as the plot, and how to read it."""
        said = f"<p>{self.text}</p>" if self.text else ""
        height = self.drawing.layout["height"]
        return (
            f"<h2>{self.heading}</h2>"
            f'<div class="plot" id="{self.name}" style="height:{height}px"></div>{said}'
        )


def _plots(result: Result) -> Iterator[_Plot]:
    """Both plots of each queue; how to read them is said once."""
    for place, queue in enumerate(drawn(result)):
        where = escape(heading(result, queue))
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


def _courses(result: Result) -> tuple[str, list[_Plot]]:
    """How each queue went on."""
    found = [
        _Plot(
            f"course-{place}",
            over_queue.over_queue(result, queue),
            f"The queue over time{escape(heading(result, queue))}",
            "" if place else _COURSE,
        )
        for place, queue in enumerate(drawn(result))
    ]
    return "".join(plot.html for plot in found), found


def _registers(result: Result) -> tuple[str, list[_Plot]]:
    """What registers held that the scenario has traced."""
    found = []
    for place, (label, drawing, more) in enumerate(registers.register_plots(result)):
        said = _REGISTERS if not place else ""
        said += f" {more} more are in the rows." if more else ""
        heading_ = f"Registers of {escape(label)}"
        found.append(_Plot(f"registers-{place}", drawing, heading_, said.strip()))
    return "".join(plot.html for plot in found), found


def _flows(result: Result) -> tuple[str, list[_Plot]]:
    """What the flows did; nothing if a run has no samples of them."""
    series = over_flows.series_of(result)
    if not series:
        return "", []
    found = [
        _Plot("shares", over_flows.shares(result, series), "Goodput and fairness", _SHARES),
        _Plot("flows", over_flows.single(series), "Each flow", _SINGLE),
    ]
    return "".join(plot.html for plot in found), found


def _list(lines: list[str]) -> str:
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f"<ul>{items}</ul>" if lines else ""


def _bin(queue: Queue) -> int:
    time = queue.runs[0].findings.over_time.time
    return int(time[1] - time[0])


def _look_at(text: str) -> str:
    return f'<p class="look">Look at {escape(" ".join(text.split()))}</p>' if text else ""


def _notes(notes: str) -> str:
    """The scenario's own notes: paragraphs, parted by empty lines."""
    paragraphs = (" ".join(part.split()) for part in notes.split("\n\n"))
    return "".join(f"<p>{escape(part)}</p>" for part in paragraphs if part)
