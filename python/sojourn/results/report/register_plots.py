"""The report's plots of registers over time, one panel for each register.

Depends on the rows of `registers.parquet` and on `panels`, not on the page.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sojourn.results.report.panels import Entry, Figure, Reading, Scale
from sojourn.results.result import Result
from sojourn.results.statistics import Floats
from sojourn.results.style import looks
from sojourn.runtime.arrow_tables import rows_table
from sojourn.runtime.run_files import REGISTERS, journal_of

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
    figure = Figure(Scale(0, until, "time, s"), panel_height=125, decimals=4)
    for name, (time, value) in series.items():
        at, of = _thinned(time, value)
        figure.add_panel(name, Scale()).add_line(
            # A value stays until the next one, and the last one to the end.
            np.round(np.append(at, until), 6),
            np.append(of, of[-1:]),
            Entry(name, colour),
            Reading("", 0, last=True),
            width=1.3,
            steps=True,
        )
    return figure


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
