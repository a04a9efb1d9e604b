"""`sojourn sweep`: a scenario with many seeds and values."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.console import JustifyMethod
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from sojourn.cli.shared import Cluster, Json, NoScripts, Processes, app, open_console
from sojourn.common.resources import shown
from sojourn.errors import EXIT_USER
from sojourn.model.scenario_code import refuse_if
from sojourn.studies.sweeps.page import PAGE, ended
from sojourn.studies.sweeps.plan import SweepPlan
from sojourn.studies.sweeps.scheduler import State, Workers
from sojourn.studies.sweeps.summary import Rows, group_summaries, summary
from sojourn.studies.sweeps.sweep import SweepResult, plan_file, run_sweep, workers_for
from sojourn.studies.sweeps.table import TABLE

_WIDEST = 400
"""Columns of the widest table."""

_EVERY = 10.0
"""Seconds between two lines where no terminal shows a bar."""
_MOST_ROWS = 60
"""Of the table in a terminal; the page has them all."""


@app.command()
def sweep(
    file: Annotated[Path, typer.Argument(help="A sweep file (docs/sweeps.md).")],
    out: Annotated[
        Path | None,
        typer.Option(help="The sweep's folder; one that is there is gone on with."),
    ] = None,
    cluster: Cluster = None,
    processes: Processes = None,
    no_scripts: NoScripts = False,
    as_json: Json = False,
) -> None:
    """Run a scenario with every combination of seeds and values; one table, plots and a page."""
    refuse_if(no_scripts)
    plan = plan_file(file)
    folder = out or Path("sweeps") / file.stem
    show_sweep(plan, folder, workers_for(cluster, processes), as_json=as_json)


def show_sweep(
    plan: SweepPlan, folder: Path, workers: Callable[[], Workers], *, as_json: bool
) -> None:
    """Runs `plan` with its progress shown, and shows what it came to. Status 2 if a run failed."""
    start = time.perf_counter()
    with _progress(len(plan.runs)) as tell:
        result = run_sweep(plan, folder, workers=workers, tell=tell)
    show_result(result, time.perf_counter() - start, as_json=as_json)
    if result.state.failures:
        sys.exit(EXIT_USER)


def show_result(result: SweepResult, seconds: float | None, *, as_json: bool) -> None:
    """Shows tables and files of a sweep; `seconds` is the time that its runs took."""
    rows = summary(result.plan, result.table)
    groups = group_summaries(result.plan, result.groups)
    if as_json:
        print(json.dumps(_as_json(result, rows, groups), indent=2))
    else:
        _print(result, [rows, *groups], seconds)


def _as_json(result: SweepResult, rows: Rows, groups: list[Rows]) -> dict[str, object]:
    return {
        "folder": str(result.folder),
        "runs": result.state.total,
        "found": result.state.found,
        "failures": [{"run": run, "message": one.message} for run, one in result.state.failures],
        "summary": rows.as_dicts(),
        "groups": {one.title: one.as_dicts() for one in groups},
    }


def _print(result: SweepResult, tables: list[Rows], seconds: float | None) -> None:
    console = open_console()
    console.print(f"\n[bold]{escape(result.plan.title)}[/bold]")
    for rows in tables:
        _print_rows(rows)
    for run, failure in result.state.failures[:8]:
        console.print(f"failed  {run}: {failure.message}", markup=False, soft_wrap=True)
    if (more := len(result.state.failures) - 8) > 0:
        console.print(f"        and {more} more in failures.json")
    console.print(f"page    {shown(result.folder / PAGE)}", soft_wrap=True, markup=False)
    console.print(f"table   {shown(result.folder / TABLE)}", soft_wrap=True, markup=False)
    if seconds is not None:
        console.print(f"took    {seconds:.1f} s for {ended(result.state)}")


def _print_rows(rows: Rows) -> None:
    console = open_console()
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, header_style="")
    table.title = rows.title or None
    heads = [head.replace("_", " ") if rows.title else head for head in rows.heads]
    for index, head in enumerate(heads):
        justify: JustifyMethod = "left" if index < rows.keys else "right"
        table.add_column(
            escape(head.replace(" ", "\n")),
            justify=justify,
            no_wrap=True,
        )
    for row in rows.rows[:_MOST_ROWS]:
        table.add_row(*map(escape, row))
    # A table that is too wide is broken by the terminal and loses nothing.
    needed = console.measure(table, options=console.options.update(max_width=_WIDEST)).maximum
    console.width = max(console.width, needed)
    console.print(table)
    if len(rows.rows) > _MOST_ROWS:
        console.print(f"... and {len(rows.rows) - _MOST_ROWS} more rows in the page")


@contextmanager
def _progress(total: int) -> Iterator[Callable[[State], None]]:
    """A bar with an estimate of the end; a line now and then where there is no terminal."""
    console = open_console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (
        TextColumn("runs"),
        BarColumn(bar_width=40),
        MofNCompleteColumn(),
        TextColumn("{task.fields[failed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bars:
        task = bars.add_task("runs", total=total, failed="")

        def tell(state: State) -> None:
            failed = f"{len(state.failures)} failed" if state.failures else ""
            came = state.found + state.done + len(state.failures)
            bars.update(task, completed=came, failed=failed)

        yield tell


class _Lines:
    """Plain lines for a log."""

    def __init__(self) -> None:
        self._start = self._last = time.monotonic()

    def __call__(self, state: State) -> None:
        now = time.monotonic()
        came = state.done + len(state.failures)
        if now - self._last < _EVERY or not came:
            return
        self._last = now
        missing = state.total - state.found - came
        left = (now - self._start) / came * missing
        print(f"{ended(state)}; about {_duration(left)} left", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return (
        f"{hours} h {minutes} min"
        if hours
        else f"{minutes} min {rest} s"
        if minutes
        else f"{rest} s"
    )
