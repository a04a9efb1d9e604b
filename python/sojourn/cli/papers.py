"""`sojourn papers`: the papers that can be run."""

import json

from rich.table import Table
from rich.text import Text

from sojourn.cli.shared import Json, app, open_console
from sojourn.studies.papers.library import papers as known


@app.command()
def papers(as_json: Json = False) -> None:
    """List the papers whose figures and claims can be run, one line each."""
    found = known()
    if as_json:
        print(json.dumps([_as_dict(paper.name) for paper in found.values()], indent=2))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=False)
    for paper in found.values():
        table.add_row(paper.name, Text(paper.line), f"{len(paper.claims)} claims")
    console = open_console()
    console.print(table)
    console.print(
        Text("Others' programs: sojourn paper published --sources DIR (sojourn published)")
    )


def _as_dict(name: str) -> dict[str, object]:
    paper = known()[name]
    claims = [{"id": claim.id, "text": claim.text} for claim in paper.claims]
    return {"name": name, "line": paper.line, "title": paper.title, "claims": claims}
