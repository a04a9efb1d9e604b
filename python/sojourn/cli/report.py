"""`sojourn report`: table, plots and report again from recorded rows."""

from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.shared import Json, app
from sojourn.cli.show import finish_with_status, show
from sojourn.folder import RunFolder
from sojourn.writing import held


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(help="The folder of an earlier run.")],
    as_json: Json = False,
) -> None:
    """Make table, plots and report again from the rows of an earlier run."""
    recorded = RunFolder.open(folder)
    with held(folder):
        result = finish_with_status(recorded)
    show(result, as_json=as_json)
