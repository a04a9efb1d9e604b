"""The report's plots: a queue's delay over time, a panel an AQM, and its distribution.

Stands on the figures that `statistics` derived and on plain data for plotly.js. Knows no page.
"""

import numpy as np

from sojourn.queues import Queue, QueueRun, rates
from sojourn.report.panels import LOGARITHMIC, add_panel, add_target, hang, panels
from sojourn.report.plain import Figure, Keys
from sojourn.report.style import common_layout, text
from sojourn.result import Result
from sojourn.statistics import Floats
from sojourn.style import (
    DELAY_FLOOR,
    MUTED,
    RULE,
    TARGET_COLOUR,
    Look,
    looks,
    milliseconds,
)
from sojourn.units import RATE


def over_time(result: Result, queue: Queue) -> Figure:
    """The delay of a queue, all runs on the same logarithmic scale, each in a panel of its own."""
    shown = queue.runs
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    bounds = [np.log10(DELAY_FLOOR), np.log10(1.6 * max(queue.highest, 2 * target))]
    figure = Figure()
    for panel, place in enumerate(panels(len(shown)), start=1):
        run = shown[panel - 1]
        for trace in _delay_traces(run, look[run.label]):
            figure.add_scatter(**trace, xaxis="x", yaxis=f"y{panel}")
        title = _panel_title(run, look[run.label])
        add_panel(figure, panel, place, title, range=bounds, **LOGARITHMIC)
        add_target(figure, panel, target)
    _mark_steps(figure, result, queue)
    until, height = result.scenario.duration / 1e9, 90 + 170 * len(shown)
    return hang(figure, len(shown), height=height, hover=".3f", until=until)


def _mark_steps(figure: Figure, result: Result, queue: Queue) -> None:
    """Where the link's rate changes, in every panel; the rates stand in the first one."""
    for at, rate in rates(result, queue):
        for panel in ("", *range(2, len(queue.runs) + 1)):
            figure.add_shape(
                **{"type": "line", "xref": "x", "x0": at / 1e9, "x1": at / 1e9},
                **{"yref": f"y{panel} domain", "y0": 0, "y1": 1},
                line={"color": MUTED, "width": 1, "dash": "dot"},
            )
        figure.add_annotation(
            **{"xref": "x", "x": at / 1e9, "xanchor": "left"},
            **{"yref": "y domain", "y": 1, "yanchor": "top"},
            text=RATE.format(rate),
            font={"size": 10, "color": MUTED},
            showarrow=False,
        )


def _panel_title(run: QueueRun, look: Look) -> str:
    summary = run.summary
    return (
        f'<b style="color:{look.colour}">{text(run.label)}</b>   '
        f"mean {milliseconds(summary.mean)} ms, "
        f"p99 {milliseconds(summary.p99)} ms, max {milliseconds(summary.max)} ms"
    )


def _delay_traces(run: QueueRun, look: Look) -> list[Keys]:
    over_time = run.findings.over_time
    time = np.round(over_time.time / 1e9, 6)
    low, mean, high = (_drawn(v) for v in (over_time.low, over_time.mean, over_time.high))
    return [
        Keys(
            **_outline(time, low, high),
            mode="lines",
            line={"width": 0, "color": look.colour},
            fill="toself",
            fillcolor=_pale(look.colour),
            hoverinfo="skip",
            showlegend=False,
        ),
        Keys(
            x=time,
            y=mean,
            mode="lines",
            name=text(run.label),
            line={"color": look.colour, "width": 1.4},
            customdata=np.stack([low, high], axis=1),
            hovertemplate="%{y:.2f} ms (%{customdata[0]:.2f} to %{customdata[1]:.2f} ms)",
            showlegend=False,
        ),
        *_events(run, time),
    ]


_DROP, _MARK = "#b91c1c", "#7c3aed"


def _events(run: QueueRun, time: Floats) -> list[Keys]:
    """Where packets were dropped or marked: a stroke at the foot of the panel for each bin."""
    found = []
    over_time = run.findings.over_time
    for what, counts, colour in (
        ("dropped", over_time.drops, _DROP),
        ("marked", over_time.marks, _MARK),
    ):
        some = counts > 0
        if not some.any():
            continue
        found.append(
            Keys(
                x=time[some],
                y=np.full(int(some.sum()), 1.25 * DELAY_FLOOR),
                mode="markers",
                name=f"{text(run.label)}, {what}",
                marker={"symbol": "line-ns", "size": 7, "line": {"width": 1, "color": colour}},
                customdata=counts[some],
                hovertemplate="%{customdata} packets",
                showlegend=False,
            )
        )
    return found


def _outline(time: Floats, low: Floats, high: Floats) -> dict[str, Floats]:
    """The band from `low` to `high` as polygons, one for each stretch without an empty bin."""
    full = np.flatnonzero(~np.isnan(low))
    stretches = np.split(full, np.flatnonzero(np.diff(full) > 1) + 1)
    gap = np.array([np.nan])
    x = [part for s in stretches for part in (time[s], time[s][::-1], gap)]
    y = [part for s in stretches for part in (high[s], low[s][::-1], gap)]
    return {"x": np.concatenate(x), "y": np.concatenate(y)}


def distribution(result: Result, queue: Queue) -> Figure:
    """Which share of a queue's packets waited at most how long."""
    look = looks(result.folder.runs)
    target = result.scenario.target / 1e6
    figure = Figure()
    for run in sorted(queue.runs, key=lambda run: run.summary.median or 0):
        curve = run.findings.distribution
        figure.add_scatter(
            x=_drawn(curve.delay),
            y=np.round(100 * curve.share, 4),
            mode="lines",
            name=f"{text(run.label)}<br>median {milliseconds(run.summary.median)} ms",
            line={"color": look[run.label].colour, "dash": look[run.label].dash, "width": 2.2},
            hovertemplate="%{y:.1f} % of packets have at most %{x:.3g} ms<extra></extra>",
        )
    figure.add_shape(
        **{"type": "line", "xref": "x", "x0": target, "x1": target},
        **{"yref": "y domain", "y0": 0, "y1": 1},
        line={"color": TARGET_COLOUR, "width": 1, "dash": "dash"},
    )
    figure.add_annotation(
        # On a logarithmic axis a place is told by its logarithm, to annotations only.
        **{"xref": "x", "x": np.log10(target), "xanchor": "left"},
        **{"yref": "y domain", "y": 1, "yanchor": "top"},
        text=f"target {target:g} ms",
        font={"size": 11},
        showarrow=False,
    )
    bounds = [np.log10(DELAY_FLOOR), np.log10(1.3 * max(queue.highest, 2 * target))]
    figure.axis(
        "x",
        **LOGARITHMIC,
        range=bounds,
        gridcolor=RULE,
        title={"text": "queue delay, ms (log scale)"},
    )
    figure.axis(
        "y",
        range=[0, 101],
        gridcolor=RULE,
        title={"text": "packets with at most this delay, %"},
    )
    figure.update_layout(height=460, **common_layout(left=70))
    return figure


def _drawn(values: Floats) -> Floats:
    """ns to ms, rounded to what can be seen, so that the page stays small."""
    return np.maximum(values / 1e6, DELAY_FLOOR).round(4)


def _pale(colour: str) -> str:
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.22)"
