"""`sojourn report`: table, plots and report again from recorded rows."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sojourn.cli.shared import Json, app
from sojourn.cli.show import finish_with_status, show
from sojourn.common.atomic_write import locked
from sojourn.common.resources import shown
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.queue_totals import no_rows
from sojourn.studies.sweeps.folder import is_sweep


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder of a run, of --seeds or of a sweep.")],
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also plots as PNG, SVG, PDF, all figures as CSV."),
    ] = None,
    style: Annotated[
        Literal["screen", "paper"], typer.Option(help="Of the exported plots.")
    ] = "screen",
    columns: Annotated[
        int, typer.Option(min=1, max=2, help="Of a page: the width of a plot for a paper.")
    ] = 2,
    as_json: Json = False,
) -> None:
    """Make table, plots and report again from the rows of an earlier run."""
    if is_sweep(folder):
        _report_sweep(folder, export, style, columns, as_json=as_json)
        return
    recorded = RunFolder.open(folder)
    if not recorded.scenario.rows:
        raise no_rows(folder, "a report")
    with locked(folder):
        result = finish_with_status(recorded)
    show(result, as_json=as_json)
    if export is not None:
        # Imported here because drawing takes longer to load than a table to show.
        from sojourn.results.export import export as write

        _list(export, write(result, export, style, columns), as_json=as_json)


def _report_sweep(
    folder: Path,
    export: Path | None,
    style: Literal["screen", "paper"],
    columns: int,
    *,
    as_json: bool,
) -> None:
    """Tables, plots and page of a sweep again from what it kept."""
    from sojourn.cli.sweep import show_result
    from sojourn.studies.sweeps.folder import open_sweep
    from sojourn.studies.sweeps.sweep import draw

    result = open_sweep(folder)
    draw(result)
    show_result(result, None, as_json=as_json)
    if export is not None:
        from sojourn.studies.sweeps.export import export_sweep

        _list(export, export_sweep(result, export, style, columns), as_json=as_json)


def _list(folder: Path, written: list[Path], *, as_json: bool) -> None:
    if not as_json:
        print(f"files   {shown(folder)}: {', '.join(path.name for path in written)}")
