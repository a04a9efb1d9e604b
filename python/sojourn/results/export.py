"""A run's plots and figures as files for a paper: PNG, SVG, PDF and CSV.

Depends on the plots and on the figures of the run. Must not know a terminal.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from matplotlib import rc_context
from matplotlib.figure import Figure
from pyarrow import csv

from sojourn.common.atomic_write import write_bytes
from sojourn.common.resources import shown
from sojourn.errors import output_error
from sojourn.results.group_table import group_table
from sojourn.results.paper_plots import paper_figures
from sojourn.results.plots import as_png, delay_over_time, distribution, plain_text
from sojourn.results.queues import plotted
from sojourn.results.result import Result
from sojourn.results.slowdown_plot import slowdown_by_size
from sojourn.results.topology_plot import topology_loads
from sojourn.runtime.run_files import DELAY_PLOT, DISTRIBUTION_PLOT, SLOWDOWN_PLOT, TOPOLOGY_PLOT

Style = Literal["screen", "paper"]
Files = dict[str, bytes]
"""Contents by name."""

_WIDTHS = {1: 3.5, 2: 7.16}
"""Inches of one and of two columns of a page, as IEEE and ACM have them."""
_SETTINGS: dict[Style, dict[Any, Any]] = {
    "screen": {"svg.hashsalt": "sojourn"},
    "paper": {
        "svg.hashsalt": "sojourn",
        "font.family": "serif",
        "font.size": 8,
        "axes.labelsize": 8,
        "axes.titlesize": 8,
        # Text stays text: a journal asks for embedded TrueType, and an editor can change it.
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
    },
}


def width_of(style: Style, columns: int) -> float | None:
    """The width of a paper's picture over one or two columns, inches; nothing for the screen."""
    return _WIDTHS[columns] if style == "paper" else None


@contextmanager
def settings(style: Style) -> Iterator[None]:
    """Matplotlib's settings of a style."""
    with rc_context(_SETTINGS[style]), plain_text():
        yield


def export(result: Result, folder: Path, style: Style = "screen", columns: int = 2) -> list[Path]:
    """Writes every plot as PNG, SVG and PDF and all figures as CSV into `folder`; returns the
    files. With the style `paper` pictures are as wide as one or two `columns` of a page.

    Times are in ns, rates in bit/s. `OutputError` if something cannot be written.
    """
    files: Files = {"summary.csv": csv_of(_summary(result)), "groups.csv": csv_of(_groups(result))}
    files |= _traffic(result)
    width = width_of(style, columns)
    with settings(style):
        drawn = _screen_figures(result) if width is None else paper_figures(result, width)
        for name, figure in drawn:
            files |= pictures(name, figure)
        if by_size := slowdown_by_size(result):
            files |= pictures(SLOWDOWN_PLOT, by_size)
        if loads := topology_loads(result):
            files |= pictures(TOPOLOGY_PLOT, loads)
    for queue in plotted(result):
        ending = queue.bottleneck.ending
        runs = [(run.label, run.findings) for run in queue.runs]
        files[f"{DELAY_PLOT}{ending}.csv"] = csv_of(
            pa.table({"aqm": [label] * len(found.over_time.time), "time": found.over_time.time}
                     | {name: getattr(found.over_time, name) for name in _OVER_TIME})
            for label, found in runs
        )  # fmt: skip
        files[f"{DISTRIBUTION_PLOT}{ending}.csv"] = csv_of(
            pa.table({"aqm": [label] * len(found.distribution.delay)} | vars(found.distribution))
            for label, found in runs
        )
    return write_files(folder, files)


def write_files(folder: Path, files: Files) -> list[Path]:
    """Writes `files` into `folder`; `OutputError` if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            write_bytes(folder / file, data)
    except OSError as error:
        raise output_error(error, shown(folder)) from error
    return [folder / file for file in files]


def _screen_figures(result: Result) -> Iterator[tuple[str, Figure]]:
    for queue in plotted(result):
        ending = queue.bottleneck.ending
        yield f"{DELAY_PLOT}{ending}", delay_over_time(result, queue)
        yield f"{DISTRIBUTION_PLOT}{ending}", distribution(result, queue)


_OVER_TIME = ("low", "mean", "high", "drops", "marks")


def _summary(result: Result) -> Iterable[pa.Table]:
    for label, aqm in result.aqms.items():
        row = {"aqm": label, "complete": aqm.complete} | aqm.summary.as_dict()
        yield pa.table({name: [value] for name, value in row.items()})


def _groups(result: Result) -> Iterable[pa.Table]:
    yield group_table(result)


def _traffic(result: Result) -> Files:
    """Completion times, slowdowns and voices, if the scenario has such."""
    files: Files = {}
    kinds = {"completion_times": "times", "slowdown": "slowdowns", "voices": "voices"}
    for name, kind in kinds.items():
        rows = [
            {"aqm": label} | asdict(one)
            for label, aqm in result.aqms.items()
            for one in getattr(aqm, kind)
        ]
        if rows:
            files[f"{name}.csv"] = csv_of([pa.Table.from_pylist(rows)])
    return files


def csv_of(tables: Iterable[pa.Table]) -> bytes:
    """Tables below each other as CSV."""
    whole = pa.concat_tables(list(tables), promote_options="permissive")
    sink = BytesIO()
    csv.write_csv(whole, sink)
    return sink.getvalue()


def pictures(name: str, figure: Figure) -> Files:
    """A figure in every format."""
    files = {f"{name}.{kind}": _picture(figure, kind) for kind in ("svg", "pdf")}
    return files | {f"{name}.png": as_png(figure, dpi=300)}


def _picture(figure: Figure, kind: str) -> bytes:
    picture = BytesIO()
    # Without the time of day, so that the same run gives the same file.
    undated = {"Date": None} if kind == "svg" else {"CreationDate": None}
    figure.savefig(picture, format=kind, facecolor="white", metadata=undated)
    return picture.getvalue()
