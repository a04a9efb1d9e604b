"""Terminal view of a live switch: the figures of the watch page, redrawn twice a second.

Knows only what `live_stats` knows.
"""

import contextlib
import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from sojourn import _core
from sojourn.backends.live.live_stats import LiveStats
from sojourn.model.units import RATE
from sojourn.results.style import duration

_EACH = 0.5
_BARS = " ▁▂▃▄▅▆▇█"
_COLUMNS = 24
"""Of the drawing of delays: a minute of moments, several in each."""
_CELLS = 16
"""Registers and counters that are listed; a screen has no room for more."""
_LATELY = 4
"""Moments that figures are of: a second."""


def view(shown: Mapping[str, Any]) -> Group:
    """The terminal's view of `LiveStats.shown`."""
    ports = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for head in ("port", "rate", "delay", "99 %", "drops/s", "marks/s"):
        ports.add_column(head, justify="right", no_wrap=True)
    minutes = []
    for port, moments in shown["moments"].items():
        rate = shown["rates"][port]
        ports.add_row(f"{port}, {RATE.format(rate)}", *_figures(moments))
        if bars := bars_of(moments):
            minutes.append(Text(f" the delay at port {port}, the last minute: {bars}"))
    wires = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for head in ("interface", "frames in", "out", "lost", "not taken", "failures"):
        wires.add_column(head, justify="right", no_wrap=True)
    for one in shown["interfaces"]:
        keys = ("received", "sent", "lost", "not_sent", "failures")
        wires.add_row(f"{one['port']} = {one['interface']}", *(f"{one[key]:,}" for key in keys))
    late = shown["lateness"]
    lines = [
        Text(
            f"{shown['program']}, {shown['now']:.0f} s; departures late by "
            f"{duration(late['median'])} (median), {duration(late['p99'])} (99 %)"
        )
    ]
    for fault in shown["faults"]:
        lines.append(Text(f"{fault['count']:,} times: {fault['first']}"))
    cells = [
        Text(f"{one['name']}[{one['index']}] = {', '.join(map(str, one['values']))}")
        for one in shown["cells"][:_CELLS]
    ]
    if more := len(shown["cells"]) - len(cells):
        cells.append(Text(f"and {more} more"))
    return Group(*lines, ports, *minutes, wires, *cells)


def _figures(moments: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    lately = moments[-_LATELY:]
    seconds = sum(one["seconds"] for one in lately)
    sent = sum(one["sent"] for one in lately)
    waited = sum(one["mean"] * one["sent"] for one in lately if one["sent"])
    longest = max((one["p99"] for one in lately if one["sent"]), default=0.0)
    carried = sum(one["rate"] * one["seconds"] for one in lately)
    yield f"{carried / seconds / 1e6:.2f} Mbit/s" if seconds else "-"
    yield f"{waited / sent:.2f} ms" if sent else "-"
    yield f"{longest:.2f} ms" if sent else "-"
    for key in ("drops", "marks"):
        yield f"{sum(one[key] for one in lately) / seconds:,.0f}" if seconds else "-"


def bars_of(moments: Sequence[Mapping[str, Any]]) -> str:
    """Mean delays as bars, the highest as high as a line, and how high that is."""
    step = max(-(-len(moments) // _COLUMNS), 1)
    groups = [moments[at : at + step] for at in range(0, len(moments), step)]
    means = [max((one["mean"] or 0.0 for one in group), default=0.0) for group in groups]
    top = max(means, default=0.0)
    if not top:
        return ""
    bars = "".join(_BARS[math.ceil(mean / top * (len(_BARS) - 1))] for mean in means)
    return f"{bars} {top:.1f} ms"


@contextlib.contextmanager
def drawn_live(observed: LiveStats, console: Console) -> Iterator[None]:
    """Draws it while it holds."""
    over = threading.Event()

    def draw(live: Live) -> None:
        # A switch that has ended has nothing more to say.
        with contextlib.suppress(_core.SojournError):
            while not over.wait(_EACH):
                live.update(view(observed.shown(0)), refresh=True)

    with Live(console=console, auto_refresh=False, screen=False) as live:
        thread = threading.Thread(target=draw, args=(live,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
