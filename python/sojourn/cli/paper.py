"""`sojourn paper`: a paper's figures and claims, with the reproduced ones."""

import json
import time
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from sojourn.backends.backend import ATTEMPTS
from sojourn.backends.linux.backend import linux
from sojourn.cli.shared import (
    AcceptDisturbed,
    Attempts,
    Cluster,
    Json,
    Kernel,
    Processes,
    Sources,
    app,
    open_console,
)
from sojourn.common.resources import shown
from sojourn.studies.papers.library import find_papers
from sojourn.studies.papers.page import PAGE, Report, tally
from sojourn.studies.papers.paper import run_paper, write_documents
from sojourn.studies.sweeps.scheduler import State
from sojourn.studies.sweeps.sweep import workers_for


@app.command()
def paper(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="As `sojourn papers` lists; or a file of your own; or all; or published.",
        ),
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Few seeds, short runs.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Where pages and runs are kept; papers/ if not given.")
    ] = None,
    on: Annotated[
        Literal["sim", "linux"],
        typer.Option(help="Linux columns of tables: simulated only, or the kernel's own as well."),
    ] = "sim",
    markdown: Annotated[
        Path | None,
        typer.Option(help="Also write the summary there, its pictures in a folder beside it."),
    ] = None,
    cluster: Cluster = None,
    processes: Processes = None,
    kernel: Kernel = "uml",
    accept_disturbed: AcceptDisturbed = False,
    attempts: Attempts = ATTEMPTS,
    sources: Sources = None,
    as_json: Json = False,
) -> None:
    """Run a paper's set-ups; draw its figures, ours beside its values; a verdict for each claim."""
    chosen = find_papers(name, sources)
    folder = out or Path("papers-quick" if quick else "papers")
    backend = None
    if on == "linux":
        backend = linux(kernel, accept_disturbed=accept_disturbed, attempts=attempts)
    start = time.perf_counter()
    console = open_console(stderr=True)
    reports = []
    for one in chosen:
        with console.status("") as status:

            def tell(part: str, state: State, what: str = one.name, line: Any = status) -> None:
                ended = state.found + state.done + len(state.failures)
                line.update(f"{what}, {part}: {ended} of {state.total} runs")

            reports.append(
                run_paper(
                    one,
                    folder / one.name,
                    quick=quick,
                    workers=workers_for(cluster, processes),
                    tell=tell,
                    linux=backend,
                )
            )
    write_documents(reports, folder, markdown)
    if as_json:
        print(json.dumps([_as_dict(report) for report in reports], indent=2))
        return
    for report in reports:
        _print(report)
    open_console().print(f"took    {time.perf_counter() - start:.1f} s")


def _print(report: Report) -> None:
    console = open_console()
    console.print(Text(f"\n{report.paper.title}", style="bold"))
    console.print(Text(tally(report)))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="")
    table.add_column("claim", no_wrap=True)
    table.add_column("what the paper says", ratio=1)
    for head in report.columns:
        table.add_column(head, ratio=1)
    for place, one in enumerate(report.claims):
        verdicts = [column.claims[place].verdict.text for column in report.columns.values()]
        table.add_row(one.claim.id, Text(one.claim.text), *map(Text, verdicts))
    console.print(table)
    for note in report.column_notes:
        console.print(Text(note), soft_wrap=True)
    for need in report.assessment.needs:
        console.print(Text(f"  {need.claim.id} holds {need.text}"), soft_wrap=True)
    for searched in report.searches:
        console.print(Text(searched.search.says))
        for outcome in searched.outcomes:
            line = f"  {outcome.claim} {outcome.check.says}: {outcome.decided}"
            console.print(Text(line), soft_wrap=True)
    console.print(Text(f"page    {shown(report.folder / PAGE)}"), soft_wrap=True)


def _as_dict(report: Report) -> dict[str, Any]:
    claims = [
        {
            "id": one.claim.id,
            "text": one.claim.text,
            "status": one.verdict.status.value,
            "verdict": one.verdict.text,
            "readings": {
                level: {
                    "levels": dict(best.levels),
                    "status": best.claims[place].verdict.status.value,
                    "verdict": best.claims[place].verdict.text,
                }
                for level, best in report.assessment.readings.items()
            },
            "found": [
                {
                    "says": found.says,
                    "paper": found.paper,
                    "ours": found.ours,
                    "status": found.status.value,
                    "note": found.note,
                }
                for found in one.found
            ],
        }
        for place, one in enumerate(report.claims)
    ]
    searches = [
        {"claim": o.claim, "says": o.check.says, "holds": sum(o.held), "settings": len(o.held),
         "decided": o.decided}
        for searched in report.searches
        for o in searched.outcomes
    ]  # fmt: skip
    page = str(report.folder / PAGE)
    return {"paper": report.paper.name, "page": page, "claims": claims, "searches": searches}
