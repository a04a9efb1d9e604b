"""The report's plots of registers over time, a panel a register.

Stands on the rows of `registers.parquet` and on plain data for plotly.js. Knows no page.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sojourn.record import rows_table
from sojourn.report.panels import add_panel, hang, panels
from sojourn.report.plain import Figure
from sojourn.report.style import text
from sojourn.result import Result
from sojourn.run_files import REGISTERS, journal_of
from sojourn.statistics import Floats
from sojourn.style import looks

_SHOWN = 16
"""Registers that a plot has room for."""
_BINS = 1_000

Series = dict[str, tuple[Floats, Floats]]
"""By a register's name: instants in s, and the value from each on."""


def register_plots(result: Result) -> Iterator[tuple[str, Figure, int]]:
    """For each AQM with traced registers its name, the plot, and how many more there are than are
    drawn."""
    look = looks(result.folder.runs)
    for label, aqm in result.aqms.items():
        series = read_registers(aqm.folder)
        if series:
            drawn = dict(list(series.items())[:_SHOWN])
            until = max(aqm.ran, 1) / 1e9
            yield label, _plot(drawn, look[label].colour, until), len(series) - len(drawn)


def read_registers(folder: Path) -> Series:
    """The traced registers of a run, in the order in which they first had a value."""
    path = folder / REGISTERS
    if not path.exists() and not path.with_name(journal_of(REGISTERS)).exists():
        return {}
    table = rows_table(path)
    names = np.asarray(table["register"].cast("string").to_pylist(), dtype=object)
    time, value = (table[name].to_numpy() for name in ("time", "value"))
    series = {}
    for name in dict.fromkeys(names):
        own = names == name
        series[str(name)] = (time[own] / 1e9, value[own].astype(np.float64))
    return series


def _plot(series: Series, colour: str, until: float) -> Figure:
    figure = Figure()
    for panel, (place, (name, (time, value))) in enumerate(
        zip(panels(len(series)), series.items(), strict=True), start=1
    ):
        at, of = _thinned(time, value)
        figure.add_scatter(
            # A value stays until the next one, and the last one to the end.
            x=np.round(np.append(at, until), 6),
            y=np.append(of, of[-1:]),
            mode="lines",
            name=text(name),
            showlegend=False,
            line={"color": colour, "width": 1.3, "shape": "hv"},
            hovertemplate="%{y}",
            xaxis="x",
            yaxis=f"y{panel}",
        )
        add_panel(figure, panel, place, text(name), exponentformat="SI")
    height = 100 + 130 * len(series)
    return hang(figure, len(series), height=height, hover=".4f", until=until)


def _thinned(time: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Of many values the first, least, most and last of each bin: the drawn line stays the same."""
    if len(time) <= 4 * _BINS:
        return time, value
    bounds = np.linspace(time[0], time[-1], _BINS + 1)
    kept: set[int] = set()
    for low, high in zip(
        np.searchsorted(time, bounds[:-1]), np.searchsorted(time, bounds[1:], "right"), strict=True
    ):
        if low < high:
            part = value[low:high]
            kept |= {int(low), int(high) - 1, int(low + part.argmin()), int(low + part.argmax())}
    places = np.array(sorted(kept))
    return time[places], value[places]
