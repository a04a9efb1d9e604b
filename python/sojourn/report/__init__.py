"""The report: one HTML page that needs nothing else, neither network nor server.

Stands on the figures that `statistics` derived and on plotly, whose script is part of the page.
Every number in it comes from the run's own rows.
"""

import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from string import Template

import plotly.graph_objects as go
import plotly.io

from sojourn.queues import Queue, drawn, heading
from sojourn.reading import remarks
from sojourn.report import figures, tables, what_was_run
from sojourn.result import Result
from sojourn.run_files import REPORT
from sojourn.traffic.sections import sections
from sojourn.units import TIME
from sojourn.writing import write_text

_CONFIG = {
    "displaylogo": False,
    "responsive": True,
    # The page talks to nobody.
    "modeBarButtonsToRemove": ["sendChartToCloud"],
    "plotlyServerURL": "",
}
_OVER_TIME = (
    "One panel an AQM, all on the same logarithmic scale. The line is the mean queue delay of the "
    "packets that left the queue in each {bin}; the shade reaches from the least to the most. The "
    "dashed line is the target. Point at an instant to read all of them; drag sideways to zoom in "
    "time, double-click to zoom out."
)
_DISTRIBUTION = (
    "The further left a curve, the shorter the wait; where it crosses the dashed line is the share "
    "of packets within the target. A curve that stays flat and then rises at the right has a long "
    "tail."
)


def write_report(result: Result) -> None:
    """Writes the page into the run's folder."""
    write_text(result.path / REPORT, page(result))


def page(result: Result) -> str:
    """The page's text."""
    folder, scenario = result.folder, result.scenario
    template = Template(files("sojourn.report").joinpath("page.html").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(scenario.title or folder.name),
        description=escape(" ".join(scenario.description.split())),
        look_at=_look_at(scenario.look_at),
        remarks="".join(f"<li>{escape(remark)}</li>" for remark in remarks(result)),
        table=tables.result_table(result),
        notes=_notes(scenario.notes),
        bottlenecks=tables.bottlenecks(result),
        traffic="".join(tables.section(section) for section in sections(result)),
        plots="".join(_plots(result)),
        cycles=tables.cycles(result),
        synchronisation=tables.synchronisation(result),
        parameters=what_was_run.parameters(result),
        programs=what_was_run.programs(folder),
        provenance=what_was_run.provenance(folder),
        scenario=escape(json.dumps(scenario.model_dump(mode="json", exclude_none=True), indent=2)),
    )


def _plots(result: Result) -> Iterator[str]:
    """Both plots of each queue; how to read them is said once."""
    for place, queue in enumerate(drawn(result)):
        where = escape(heading(result, queue))
        how = [_OVER_TIME.format(bin=TIME.format(_bin(queue))), _DISTRIBUTION]
        over_time, distribution = (f"<p>{text}</p>" if not place else "" for text in how)
        yield f"<h2>Queue delay over time{where}, in ms</h2>{over_time}"
        yield _embedded(
            figures.over_time(result, queue), f"over-time-{place}", with_script=not place
        )
        yield f"<h2>Distribution of queue delay{where}</h2>{distribution}"
        yield _embedded(
            figures.distribution(result, queue), f"distribution-{place}", with_script=False
        )


def _bin(queue: Queue) -> int:
    time = queue.runs[0].findings.over_time.time
    return int(time[1] - time[0])


def _embedded(figure: go.Figure, name: str, *, with_script: bool) -> str:
    html: str = plotly.io.to_html(
        figure, full_html=False, include_plotlyjs=with_script, config=_CONFIG, div_id=name
    )
    return html


def _look_at(text: str) -> str:
    return f'<p class="look">Look at {escape(" ".join(text.split()))}</p>' if text else ""


def _notes(notes: str) -> str:
    """The scenario's own notes: paragraphs, parted by empty lines."""
    paragraphs = (" ".join(part.split()) for part in notes.split("\n\n"))
    return "".join(f"<p>{escape(part)}</p>" for part in paragraphs if part)
