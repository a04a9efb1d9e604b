"""`sojourn report`: table, plots and report again from recorded rows."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from sojourn.cli.shared import Json, app
from sojourn.cli.show import finish_with_status, show
from sojourn.common.atomic_write import locked
from sojourn.common.resources import shown
from sojourn.runtime.folder import RunFolder


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder of an earlier run.")],
    export: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also the plots as SVG and PDF, all figures as CSV."),
    ] = None,
    style: Annotated[
        Literal["screen", "paper"], typer.Option(help="Of the exported plots.")
    ] = "screen",
    as_json: Json = False,
) -> None:
    """Make table, plots and report again from the rows of an earlier run."""
    recorded = RunFolder.open(folder)
    with locked(folder):
        result = finish_with_status(recorded)
    show(result, as_json=as_json)
    if export is not None:
        # Imported here because drawing takes longer to load than a table to show.
        from sojourn.results.export import export as write

        written = write(result, export, style)
        if not as_json:
            print(f"files   {shown(export)}: {', '.join(path.name for path in written)}")
