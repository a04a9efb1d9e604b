"""The report: one HTML page that needs nothing else, neither network nor server.

Stands on the figures that `statistics` derived and on plotly, whose script is part of the page.
Every number in it comes from the run's own rows.
"""

import json
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from string import Template

import numpy as np
import plotly.graph_objects as go
import plotly.io
from plotly.subplots import make_subplots

from sojourn.folder import REPORT, RunFolder
from sojourn.reading import remarks
from sojourn.result import AqmResult, Result
from sojourn.scenario.flows import (
    FlowGroup,
    IncastFlows,
    RequestFlows,
    TcpFlows,
    TransferFlows,
    UdpFlows,
)
from sojourn.scenario.network import Link, Switch, SwitchStep
from sojourn.statistics import Floats
from sojourn.style import (
    DELAY_FLOOR,
    INK,
    MUTED,
    RULE,
    TARGET_COLOUR,
    Look,
    looks,
    milliseconds,
)
from sojourn.table import BOTTLENECK_COLUMNS, COLUMNS, Column, bottleneck_rows
from sojourn.traffic.sections import Section, sections
from sojourn.units import RATE, SIZE, TIME

_FONT = "system-ui, sans-serif"
_CONFIG = {
    "displaylogo": False,
    "responsive": True,
    # The page talks to nobody.
    "modeBarButtonsToRemove": ["sendChartToCloud"],
    "plotlyServerURL": "",
}


def write_report(result: Result) -> None:
    """Writes the page into the run's folder."""
    (result.path / REPORT).write_text(page(result), encoding="utf-8")


def page(result: Result) -> str:
    """The page's text."""
    folder, scenario = result.folder, result.scenario
    template = Template(files("sojourn").joinpath("report.html").read_text(encoding="utf-8"))
    over_time, distribution = _over_time(result), _distribution(result)
    return template.substitute(
        title=escape(scenario.title or folder.name),
        description=escape(" ".join(scenario.description.split())),
        remarks="".join(f"<li>{escape(remark)}</li>" for remark in remarks(result)),
        table=_table(result),
        over_time=_embedded(over_time, "over-time", with_script=True),
        bin=TIME.format(_bin(result)),
        distribution=_embedded(distribution, "distribution", with_script=False),
        notes=_notes(scenario.notes),
        bottlenecks=_bottlenecks(result),
        traffic="".join(_section(section) for section in sections(result)),
        cycles=_cycles(result),
        synchronisation=_synchronisation(result),
        parameters=_parameters(result),
        programs=_programs(folder),
        provenance=_provenance(folder),
        scenario=escape(json.dumps(scenario.model_dump(mode="json", exclude_none=True), indent=2)),
    )


def _bin(result: Result) -> int:
    time = next(iter(result.aqms.values())).findings.over_time.time
    return int(time[1] - time[0])


def _embedded(figure: go.Figure, name: str, *, with_script: bool) -> str:
    html: str = plotly.io.to_html(
        figure, full_html=False, include_plotlyjs=with_script, config=_CONFIG, div_id=name
    )
    return html


def _table(result: Result) -> str:
    look = looks(result.folder.runs)
    rows = "".join(
        f'<tr><th style="color:{look[label].colour}">{escape(label)}</th>'
        + "".join(f"<td>{escape(column.cell(aqm.summary))}</td>" for column in COLUMNS)
        + "</tr>"
        for label, aqm in result.aqms.items()
    )
    return f"<table class=result><tr><th>AQM</th>{_heads(COLUMNS)}</tr>{rows}</table>"


def _heads(columns: Iterable[Column]) -> str:
    return "".join(
        f'<th title="{escape(column.meaning)}">{escape(column.name)}<br>{escape(column.unit)}</th>'
        for column in columns
    )


def _over_time(result: Result) -> go.Figure:
    shown = list(result.aqms.values())
    look = looks(result.folder.runs)
    figure = make_subplots(
        rows=len(shown),
        cols=1,
        shared_xaxes=True,
        shared_yaxes="all",
        vertical_spacing=0.18 / (len(shown) + 1),
        subplot_titles=[_panel_title(aqm, look[aqm.label]) for aqm in shown],
    )
    for row, aqm in enumerate(shown, start=1):
        for trace in _delay_traces(aqm, look[aqm.label]):
            figure.add_trace(trace, row=row, col=1)
    target = result.scenario.target / 1e6
    for row in range(1, len(shown) + 1):
        figure.add_hline(
            y=target,
            line={"color": TARGET_COLOUR, "width": 1, "dash": "dash"},
            row=row,
            col=1,
        )
    _mark_steps(figure, result, len(shown))
    highest = max((aqm.summary.max or 0) / 1e6 for aqm in shown)
    bounds = [np.log10(DELAY_FLOOR), np.log10(1.6 * max(highest, 2 * target))]
    figure.update_yaxes(
        type="log", range=bounds, dtick=1, tickformat="~g", gridcolor=RULE, zeroline=False
    )
    figure.update_xaxes(gridcolor=RULE, zeroline=False)
    figure.update_xaxes(title="time, s", row=len(shown), col=1)
    figure.update_annotations(x=0, xanchor="left", font={"size": 13})
    figure.update_layout(
        height=90 + 170 * len(shown), hovermode="x unified", **_common_layout(left=60)
    )
    return figure


def _mark_steps(figure: go.Figure, result: Result, panels: int) -> None:
    """Where the bottleneck's rate changes, in every panel; the rates stand in the first one."""
    first = result.scenario.bottlenecks[0]
    for at, rate in [(0, first.rate), *first.steps] if first.steps else []:
        line = {"color": MUTED, "width": 1, "dash": "dot"}
        for row in range(1, panels + 1):
            figure.add_vline(x=at / 1e9, line=line, row=row, col=1)
        figure.add_scatter(
            x=[at / 1e9],
            y=[1.3 * max((aqm.summary.max or 0) / 1e6 for aqm in result.aqms.values())],
            mode="text",
            text=[RATE.format(rate)],
            textposition="bottom right",
            textfont={"size": 10, "color": MUTED},
            hoverinfo="skip",
            showlegend=False,
            row=1,
            col=1,
        )


def _panel_title(aqm: AqmResult, look: Look) -> str:
    summary = aqm.summary
    return (
        f'<b style="color:{look.colour}">{escape(aqm.label)}</b>   '
        f"mean {milliseconds(summary.mean)} ms, "
        f"p99 {milliseconds(summary.p99)} ms, max {milliseconds(summary.max)} ms"
    )


def _delay_traces(aqm: AqmResult, look: Look) -> list[go.Scatter]:
    over_time = aqm.findings.over_time
    time = np.round(over_time.time / 1e9, 6)
    low, mean, high = (_drawn(v) for v in (over_time.low, over_time.mean, over_time.high))
    return [
        go.Scatter(
            **_outline(time, low, high),
            mode="lines",
            line={"width": 0, "color": look.colour},
            fill="toself",
            fillcolor=_pale(look.colour),
            hoverinfo="skip",
            showlegend=False,
        ),
        go.Scatter(
            x=time,
            y=mean,
            mode="lines",
            name=aqm.label,
            line={"color": look.colour, "width": 1.4},
            customdata=np.stack([low, high], axis=1),
            hovertemplate="%{y:.2f} ms (%{customdata[0]:.2f} to %{customdata[1]:.2f})",
            showlegend=False,
        ),
    ]


def _outline(time: Floats, low: Floats, high: Floats) -> dict[str, Floats]:
    """The band from `low` to `high` as polygons, one for each stretch without an empty bin."""
    full = np.flatnonzero(~np.isnan(low))
    stretches = np.split(full, np.flatnonzero(np.diff(full) > 1) + 1)
    gap = np.array([np.nan])
    x = [part for s in stretches for part in (time[s], time[s][::-1], gap)]
    y = [part for s in stretches for part in (high[s], low[s][::-1], gap)]
    return {"x": np.concatenate(x), "y": np.concatenate(y)}


def _distribution(result: Result) -> go.Figure:
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    figure = go.Figure()
    for aqm in sorted(result.aqms.values(), key=lambda aqm: aqm.summary.median or 0):
        curve = aqm.findings.distribution
        figure.add_scatter(
            x=_drawn(curve.delay),
            y=np.round(100 * curve.share, 4),
            mode="lines",
            name=f"{escape(aqm.label)}<br>median {milliseconds(aqm.summary.median)} ms",
            line={"color": look[aqm.label].colour, "dash": look[aqm.label].dash, "width": 2.2},
            hovertemplate="%{y:.1f} % of packets have at most %{x:.3g} ms<extra></extra>",
        )
    figure.add_vline(
        x=target,
        line={"color": TARGET_COLOUR, "width": 1, "dash": "dash"},
        annotation_text=f"target {target:g} ms",
        annotation_font_size=11,
    )
    highest = max((aqm.summary.max or 0) / 1e6 for aqm in result.aqms.values())
    bounds = [np.log10(DELAY_FLOOR), np.log10(1.3 * max(highest, 2 * target))]
    figure.update_xaxes(
        type="log",
        range=bounds,
        dtick=1,
        tickformat="~g",
        gridcolor=RULE,
        title="queue delay, ms (log scale)",
    )
    figure.update_yaxes(
        range=[0, 101],
        gridcolor=RULE,
        zeroline=False,
        title="packets with at most this delay, %",
    )
    figure.update_layout(height=460, **_common_layout(left=70))
    return figure


def _common_layout(*, left: int) -> dict[str, object]:
    return {
        "template": "plotly_white",
        "font": {"family": _FONT, "color": INK, "size": 12},
        "margin": {"l": left, "r": 20, "t": 40, "b": 50},
        "hoverlabel": {"font": {"family": _FONT, "color": INK}, "bordercolor": MUTED},
    }


def _drawn(values: Floats) -> Floats:
    """ns to ms, rounded to what can be seen, so that the page stays small."""
    return np.maximum(values / 1e6, DELAY_FLOOR).round(4)


def _pale(colour: str) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.22)"


def _notes(notes: str) -> str:
    """The scenario's own notes: paragraphs, parted by empty lines."""
    paragraphs = (" ".join(part.split()) for part in notes.split("\n\n"))
    return "".join(f"<p>{escape(part)}</p>" for part in paragraphs if part)


def _cycles(result: Result) -> str:
    """How often the delay stood above the target, and how each controller began to drop."""
    rows = []
    for label, aqm in result.aqms.items():
        cycles = aqm.findings.cycles
        cells = (
            f"{cycles.count}",
            f"{cycles.without_drop}",
            milliseconds(cycles.longest),
            milliseconds(cycles.first_gap),
        )
        rows.append(f"<tr><th>{escape(label)}</th>" + "".join(f"<td>{c}</td>" for c in cells))
    heads = ("cycles", "without<br>a drop", "longest<br>ms", "first two drops<br>apart, ms")
    head = "".join(f"<th>{name}</th>" for name in heads)
    return (
        "<h2>Congestion cycles</h2><p>A cycle is a stretch of packets that all waited at least the "
        "target. A controller that remembers how often it had to drop begins a cycle with drops "
        "close together; one that has forgotten begins with drops an interval apart. The last "
        "column is the median over the cycles that have two drops.</p>"
        f'<div class="scroll"><table class=result><tr><th>AQM</th>{head}</tr>'
        f"{''.join(rows)}</table></div>"
    )


def _synchronisation(result: Result) -> str:
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
            f"{aqm.summary.recirculated}",
            f"{100 * aqm.summary.recirculated_share:.4f}",
            f"{counters['mirror_drops']}",
            f"{spans['total'] / 1e6:.3f}",
            f"{spans['max'] / 1e3:.2f}",
        )
        rows.append(f"<tr><th>{escape(label)}</th>" + "".join(f"<td>{c}</td>" for c in cells))
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


def _parameters(result: Result) -> str:
    scenario = result.scenario
    rows = {
        **_between(result),
        "ran on": _ground(result.folder),
        "flows": "; ".join(_flow_text(group) for group in scenario.flows),
        "duration": TIME.format(scenario.duration),
        "target": TIME.format(scenario.target),
        "seed": str(scenario.seed),
    }
    return _definitions(rows)


def _between(result: Result) -> dict[str, str]:
    """What lies between the hosts."""
    scenario, switch = result.scenario, result.scenario.switch
    if switch is None:
        return {
            "switches": ", ".join(
                node.name + (f" ({node.aqm.use})" if node.aqm else "") for node in scenario.switches
            ),
            "links": "; ".join(_link_text(link) for link in scenario.links),
        }
    effective = next(iter(result.aqms.values())).findings.counters
    rows = {
        "bottleneck": f"{_limits(switch)}, queue of at most {SIZE.format(switch.queue_limit)}",
    }
    if switch.schedule:
        rows["then"] = _schedule_text(switch.schedule)
    elif effective["shaper_rate"]:
        rows["as the chip rounds it"] = (
            f"{effective['shaper_rate'] / 1e6:.3f} Mbit/s, burst {effective['shaper_burst']} B"
        )
    return rows | {
        "ports": RATE.format(switch.port_speed),
        "access links": RATE.format(scenario.access_rate),
    }


def _limits(switch: Switch) -> str:
    """What holds packets up at the bottleneck."""
    limits = []
    if switch.rate < switch.port_speed or switch.packets_per_second is None:
        limits.append(f"{RATE.format(switch.rate)}, burst {SIZE.format(switch.burst)}")
    if switch.packets_per_second is not None:
        limits.append(f"{switch.packets_per_second} packets/s")
    return ", ".join(limits)


def _link_text(link: Link) -> str:
    text = " - ".join(link.between)
    if link.rate is not None:
        text += f" {RATE.format(link.rate)}"
    if link.rate_back is not None:
        text += f" (back {RATE.format(link.rate_back)})"
    if link.packets_per_second is not None:
        text += f" {link.packets_per_second} packets/s"
    if link.delay:
        text += f" {TIME.format(link.delay)}"
    return text + (f", then {_schedule_text(link.schedule)}" if link.schedule else "")


def _schedule_text(schedule: Sequence[SwitchStep]) -> str:
    return ", ".join(
        " ".join(
            [
                *([RATE.format(step.rate)] if step.rate is not None else []),
                *([f"delay {TIME.format(step.delay)}"] if step.delay is not None else []),
                f"from {TIME.format(step.at)}",
            ]
        )
        for step in schedule
    )


def _section(section: Section) -> str:
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


def _bottlenecks(result: Result) -> str:
    """Every measured queue, where there are several."""
    if len(result.scenario.bottlenecks) < 2:
        return ""
    rows = "".join(
        f"<tr><th>{escape(name)}</th><th>{escape(label)}</th><td>{escape(own)}</td>"
        + "".join(f"<td>{escape(column.cell(summary))}</td>" for column in BOTTLENECK_COLUMNS)
        + "</tr>"
        for name, label, own, summary in bottleneck_rows(result)
    )
    return (
        "<h2>Every bottleneck</h2><p>The figures above and the plots below are of "
        f"{escape(result.scenario.bottlenecks[0].name)}. A packet has the same number in the rows "
        "of each queue that it passes. A queue without a packet is left out.</p>"
        '<div class="scroll"><table class=result><tr><th>queue</th>'
        f'<th class="name">run</th><th>AQM<br>there</th>{_heads(BOTTLENECK_COLUMNS)}</tr>'
        f"{rows}</table></div>"
    )


def _ground(folder: RunFolder) -> str:
    """Where the rows come from, in words."""
    ground = folder.ground
    if ground["name"] == "sim":
        return "the simulator, in virtual time"
    disturbed = [label for label, about in ground["runs"].items() if about["disturbed"]]
    marked = f"; disturbed by the machine: {', '.join(disturbed)}" if disturbed else ""
    return f"Linux {ground['kernel']}, {ground['clock']} time; per AQM in run.json{marked}"


def _flow_text(group: FlowGroup) -> str:
    low, high = group.rtt or (0, 0)
    rtt = TIME.format(low) if low == high else f"{TIME.format(low)} to {TIME.format(high)}"
    where = f", {group.from_} to {group.to}" if group.from_ is not None else ""
    where += ", backwards" if group.reverse else ""
    return f"{group.count} {_traffic_text(group)}, RTT {rtt}{where}"


def _traffic_text(group: FlowGroup) -> str:
    match group:
        case TcpFlows():
            cap = f", at most {RATE.format(group.rate_cap)} each" if group.rate_cap else ""
            return f"TCP ({group.congestion_control}{cap})"
        case UdpFlows() if group.on is not None and group.off is not None:
            spans = f"{TIME.format(group.on)} on, {TIME.format(group.off)} off, {group.spans}"
            return f"UDP at {RATE.format(group.rate)} each ({spans})"
        case UdpFlows():
            return f"UDP at {RATE.format(group.rate)} each"
        case TransferFlows():
            sizes = f"{SIZE.format(group.min_size)} to {SIZE.format(group.max_size)}"
            load = RATE.format(group.load)
            return f"source of transfers ({group.congestion_control}, {load} each, {sizes})"
        case RequestFlows():
            return f"clients ({group.congestion_control}, {SIZE.format(group.response)} a response)"
        case IncastFlows():
            every = f"each {TIME.format(group.every)}"
            return f"servers that answer at once ({SIZE.format(group.response)} {every})"
        case _:
            return f"voices ({group.payload} B each {TIME.format(group.interval)})"


def _programs(folder: RunFolder) -> str:
    hashes = {path: digest for run in folder.runs for path, digest in run.sources.items()}
    if not hashes:
        return "<p>No P4 program was run.</p>"
    rows = "".join(
        f"<tr><td><code>{escape(path)}</code></td><td><code>{digest[:16]}</code></td></tr>"
        for path, digest in sorted(hashes.items())
    )
    return f"<table><tr><th>file</th><th>SHA-256, first 16 digits</th></tr>{rows}</table>"


def _provenance(folder: RunFolder) -> str:
    libraries = folder.provenance["libraries"]
    rows = {
        "sojourn": folder.provenance["sojourn"],
        "python": folder.provenance["python"],
        "libraries": ", ".join(f"{name} {number}" for name, number in libraries.items()),
        "rows": f"beside this page, in {', '.join(f'{run.folder}/' for run in folder.runs)}",
    }
    return _definitions(rows)


def _definitions(rows: dict[str, str]) -> str:
    lines = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in rows.items()
    )
    return f"<dl>{lines}</dl>"
