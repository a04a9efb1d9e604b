"""A run's plots and figures as files for a paper: SVG, PDF and CSV.

Stands on the plots and on the figures that `statistics` derived. Knows no terminal.
"""

from collections.abc import Iterable
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
from sojourn.results.plots import delay_over_time, distribution, plain_text
from sojourn.results.queues import plotted
from sojourn.results.result import Result
from sojourn.runtime.run_files import DELAY_PLOT, DISTRIBUTION_PLOT

Style = Literal["screen", "paper"]

_COLUMN = 7.0
"""Inches: a page's two columns together."""
_SETTINGS: dict[Style, dict[Any, Any]] = {
    "screen": {"svg.hashsalt": "sojourn"},
    "paper": {
        "svg.hashsalt": "sojourn",
        "font.family": "serif",
        # Text stays text: a journal asks for embedded TrueType, and an editor can change it.
        "pdf.fonttype": 42,
        "svg.fonttype": "none",
    },
}


def export(result: Result, folder: Path, style: Style = "screen") -> list[Path]:
    """Writes every plot as SVG and PDF and all figures as CSV into `folder`; returns the files.

    Times are in ns, rates in bit/s. `OutputError` if something cannot be written.
    """
    files: dict[str, bytes] = {"summary.csv": _csv(_summary(result))}
    with rc_context(_SETTINGS[style]), plain_text():
        for queue in plotted(result):
            ending = queue.bottleneck.ending
            for name, draw in ((DELAY_PLOT, delay_over_time), (DISTRIBUTION_PLOT, distribution)):
                figure = draw(result, queue)
                if style == "paper":
                    width, height = figure.get_size_inches()
                    figure.set_size_inches(_COLUMN, height * _COLUMN / width)
                for kind in ("svg", "pdf"):
                    files[f"{name}{ending}.{kind}"] = _picture(figure, kind)
            runs = [(run.label, run.findings) for run in queue.runs]
            files[f"{DELAY_PLOT}{ending}.csv"] = _csv(
                pa.table({"aqm": [label] * len(found.over_time.time), "time": found.over_time.time}
                         | {name: getattr(found.over_time, name) for name in _OVER_TIME})
                for label, found in runs
            )  # fmt: skip
            files[f"{DISTRIBUTION_PLOT}{ending}.csv"] = _csv(
                pa.table(
                    {"aqm": [label] * len(found.distribution.delay)} | vars(found.distribution)
                )
                for label, found in runs
            )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, data in files.items():
            write_bytes(folder / file, data)
    except OSError as error:
        raise output_error(error, shown(folder)) from error
    return [folder / file for file in files]


_OVER_TIME = ("low", "mean", "high", "drops", "marks")


def _summary(result: Result) -> Iterable[pa.Table]:
    for label, aqm in result.aqms.items():
        row = {"aqm": label, "complete": aqm.complete} | aqm.summary.as_dict()
        yield pa.table({name: [value] for name, value in row.items()})


def _csv(tables: Iterable[pa.Table]) -> bytes:
    whole = pa.concat_tables(list(tables), promote_options="permissive")
    sink = BytesIO()
    csv.write_csv(whole, sink)
    return sink.getvalue()


def _picture(figure: Figure, kind: str) -> bytes:
    picture = BytesIO()
    # Without the time of day, so that the same run gives the same file.
    undated = {"Date": None} if kind == "svg" else {"CreationDate": None}
    figure.savefig(picture, format=kind, facecolor="white", metadata=undated)
    return picture.getvalue()
