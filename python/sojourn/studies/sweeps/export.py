"""A sweep's plots and tables as files for a paper: PNG, SVG, PDF and CSV.

Depends on the sweep's tables and plots and on the settings of a run's export.
"""

from pathlib import Path
from typing import Any

from sojourn.results.export import Files, Style, csv_of, pictures, settings, width_of, write_files
from sojourn.results.intervals import CONFIDENCE
from sojourn.studies.sweeps.plots import figures
from sojourn.studies.sweeps.summary import Rows, group_summaries, summary
from sojourn.studies.sweeps.sweep import SweepResult
from sojourn.studies.sweeps.table import read_list


def export_sweep(
    result: SweepResult, folder: Path, style: Style = "screen", columns: int = 2
) -> list[Path]:
    """Writes every plot and table of a sweep into `folder`; returns the files.

    `means.csv` and the like have mean, half of the 95 % interval and number of seeds in ns, bit/s
    and shares of 1; the other tables have a row per run.
    """
    files: Files = {"runs.csv": csv_of([result.table])}
    for name in ("groups", "times", "voices", "phases"):
        table = read_list(result.folder, name)
        if table is not None:
            files[_FILES.get(name, f"{name}.csv")] = csv_of([table])
    for rows in (summary(result.plan, result.table), *group_summaries(result.plan, result.groups)):
        title = rows.title.lower().replace(" ", "_")
        files[f"means_{title}.csv" if title else "means.csv"] = _means(rows)
    with settings(style):
        drawn = figures(result.plan, result.tables, width_of(style, columns))
        for name, _, figure in drawn:
            files |= pictures(name, figure)
    return write_files(folder, files)


_FILES = {"times": "completion_times.csv"}
"""Tables whose file is called otherwise in an export."""


def _means(rows: Rows) -> bytes:
    import pyarrow as pa

    columns: dict[str, list[Any]] = {
        name: [row.names[place] for row in rows.found] for place, name in enumerate(rows.names)
    }
    columns["runs"] = [row.runs for row in rows.found]
    for place, metric in enumerate(rows.metrics):
        figures = [row.figures[place] for row in rows.found]
        columns[metric.name] = [None if one is None else one.mean for one in figures]
        half = [None if one is None else one.half for one in figures]
        columns[f"{metric.name}_half_{round(100 * CONFIDENCE)}"] = half
    return csv_of([pa.table(columns)])
