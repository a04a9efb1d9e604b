"""`sojourn agree`: simulation, live switch and kernel side by side."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sojourn.backends.backend import ATTEMPTS, Backend
from sojourn.backends.linux.backend import linux
from sojourn.backends.live.backend import live
from sojourn.backends.sim import SIMULATOR
from sojourn.cli.options import grouped
from sojourn.cli.shared import AcceptDisturbed, Attempts, Json, Kernel, app, open_console
from sojourn.common.atomic_write import write_named, write_text
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError, output_error
from sojourn.model.units import RATE, TIME
from sojourn.studies.agreement import page
from sojourn.studies.agreement.grid import Cell, cells
from sojourn.studies.agreement.measure import (
    BACKENDS,
    KERNEL,
    LIVE,
    SAMPLE,
    SIM,
    Bench,
    Measured,
    reference_of,
)

_LIST = "Comma-separated; all if not given."


@dataclass(frozen=True)
class CellOptions:
    """The options that choose cells of the grid."""

    aqm: Annotated[
        str, typer.Option(help=f"fifo, codel, fq_codel, red, pie. {_LIST} Also dualpi2.")
    ] = ""
    flows: Annotated[str, typer.Option(help=f"1, 3, 10, 30. {_LIST}")] = ""
    rate: Annotated[str, typer.Option(help=f"10 Mbit/s, 100 Mbit/s. {_LIST}")] = ""
    rtt: Annotated[str, typer.Option(help=f"10 ms, 100 ms. {_LIST}")] = ""
    cc: Annotated[
        str,
        typer.Option(
            help="cubic, newreno, bbr; dctcp, below queues that mark; dctcp+cubic, as many flows "
            "of each, below dualpi2. The first three if not given."
        ),
    ] = ""
    switches: Annotated[
        str,
        typer.Option(help="1, 2: a network of two with the bottleneck between. 1 if not given."),
    ] = ""

    def cells(self) -> list[Cell]:
        """The chosen cells."""
        return list(
            cells(
                _words(self.aqm),
                _numbers("flows", self.flows),
                _quantities(self.rate, RATE),
                _quantities(self.rtt, TIME),
                _words(self.cc),
                _numbers("switches", self.switches),
            )
        )


@app.command()
@grouped
def agree(
    chosen: CellOptions,
    duration: Annotated[str, typer.Option(help="Of each run.")] = "10 s",
    repeat: Annotated[int, typer.Option(min=1, help="Runs of a cell, each with a seed.")] = 1,
    up_to: Annotated[
        int,
        typer.Option(min=0, help="Runs of a cell whose runs scatter beyond the tolerances."),
    ] = 0,
    backends: Annotated[
        str,
        typer.Option(
            "--backends",
            "--grounds",
            help="Two or three of sim, live and linux; judged by linux, else by sim.",
        ),
    ] = "sim,linux",
    out: Annotated[Path, typer.Option(help="Where figures are kept.")] = Path("agreement"),
    markdown: Annotated[Path | None, typer.Option(help="Also write the page there.")] = None,
    table: Annotated[
        Path | None,
        typer.Option(
            "--csv", help="Also write the table there; the page of --markdown refers to it."
        ),
    ] = None,
    kernel: Kernel = "uml",
    accept_disturbed: AcceptDisturbed = False,
    attempts: Attempts = ATTEMPTS,
    as_json: Json = False,
) -> None:
    """Run cells of a grid in the simulator, through the live switch and on Linux, side by side.

    Cells that the output folder has already are not run again, and its page shows them too.
    """
    if 0 < up_to < repeat:
        raise ScenarioError(f"--up-to {up_to}: less than --repeat {repeat}")
    wanted = chosen.cells()
    compared = _backends(backends)
    length = _quantity(duration, TIME)
    known: dict[str, Callable[[], Backend]] = {
        SIM: lambda: SIMULATOR,
        LIVE: lambda: live(accept_disturbed=accept_disturbed, attempts=attempts),
        KERNEL: lambda: replace(
            linux(kernel, accept_disturbed=accept_disturbed, attempts=attempts), sample=SAMPLE
        ),
    }
    bench = Bench(out, {name: known[name]() for name in compared}, length, repeat, up_to)
    console = open_console(stderr=True)
    measured = []
    for number, cell in enumerate(wanted, start=1):
        with _progress(console, f"{number} of {len(wanted)}: ") as tell:
            measured.append(bench.measure(cell, tell))
    runs = f"--repeat {repeat}" + (f" --up-to {up_to}" if up_to > repeat else "")
    runs += "" if compared == BACKENDS else f" --backends {','.join(compared)}"
    command = _command(asdict(chosen), duration, runs, kernel if KERNEL in compared else "uml")
    _write_pages(bench, markdown, table, measured, command)
    _show(measured, out, as_json=as_json)


@contextmanager
def _progress(console: Console, before: str) -> Iterator[Callable[[str], None]]:
    """Progress: a line that changes on a terminal, else a plain line for each run,
    as a log has them."""
    if console.is_terminal:
        with console.status("") as status:
            yield lambda text: status.update(Text(before + text))
    else:
        yield lambda text: print(before + text, file=sys.stderr, flush=True)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _backends(text: str) -> tuple[str, ...]:
    """The backends in a fixed order, the reference last."""
    found = {*_words(text)}
    if len(found) < 2 or not found <= {SIM, LIVE, KERNEL}:
        raise ScenarioError(f"--backends {text}: write two or three of sim, live, linux")
    reference = reference_of(found)
    return *(name for name in (SIM, LIVE) if name in found - {reference}), reference


def _numbers(option: str, text: str) -> list[int]:
    words = _words(text)
    for word in words:
        if not word.isdigit():
            raise ScenarioError(f"--{option} {word}: write numbers of {option}, like 1,2")
    return [int(word) for word in words]


def _quantities(text: str, dimension: Any) -> list[int]:
    return [_quantity(word, dimension) for word in _words(text)]


def _quantity(word: str, dimension: Any) -> int:
    try:
        value: int = dimension.parse(word)
    except ValueError as error:
        raise ScenarioError(f'"{word}": {error}') from None
    return value


def _command(given: dict[str, str], duration: str, runs: str, kernel: str) -> str:
    """The command line that makes the same page."""
    if kernel != "uml":
        given["kernel"] = Path(kernel).name
    words = [f'--{name} "{text}"' for name, text in given.items() if text]
    return " ".join(["sojourn agree", *words, f'--duration "{duration}"', runs])


def _write_pages(
    bench: Bench,
    markdown: Path | None,
    table: Path | None,
    measured: list[Measured],
    command: str,
) -> None:
    """The pages, of all that the folder has: what was asked for now, and what earlier."""
    asked = {m.cell: m for m in measured}
    all_cells = [asked.pop(m.cell, m) for m in bench.all_kept()] + list(asked.values())
    try:
        bench.folder.mkdir(parents=True, exist_ok=True)
        commands = _remember(bench.folder / "commands.txt", command)
        text = page.html(all_cells, bench.duration, commands)
        write_text(bench.folder / "agreement.html", text)
        if table is not None:
            table.parent.mkdir(parents=True, exist_ok=True)
            write_named(table, page.table(all_cells))
        if markdown is not None:
            file = os.path.relpath(table, markdown.parent) if table else ""
            write_named(markdown, page.markdown(all_cells, bench.duration, commands, file))
    except OSError as error:
        raise output_error(error, shown(bench.folder)) from error


def _remember(path: Path, command: str) -> list[str]:
    """The commands that filled the folder, this one included."""
    before = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    commands = [*before, *([] if command in before else [command])]
    write_text(path, "".join(f"{line}\n" for line in commands))
    return commands


_HEADS = {
    "mean": "mean\nms",
    "p95": "p95\nms",
    "utilisation": "util.\n%",
    "loss": "loss\n%",
    "marks": "marks\n%",
    "dctcp": "dctcp\n%",
}
"""Of the columns of figures."""


def _show(measured: list[Measured], out: Path, *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"folder": str(out), "cells": [_as_dict(m) for m in measured]}, indent=2))
        return
    console = open_console()
    table = Table(box=box.SIMPLE_HEAD, padding=0, pad_edge=False)
    table.add_column(f"cell\n({page.heads(measured)})")
    columns = page.shown(measured)
    for name in columns:
        table.add_column(_HEADS[name], justify="right", no_wrap=True)
    table.add_column("outside", overflow="fold", max_width=30)
    for m in measured:
        figures = [page.medians(m, name) for name in columns]
        table.add_row(m.cell.name, *figures, Text(page.remark(m)))
    console.print(table)
    for line in page.summary(measured):
        console.print(Text(line))
    console.print(Text(f"page    {shown(out / 'agreement.html')}"), soft_wrap=True)


def _as_dict(m: Measured) -> dict[str, Any]:
    return {
        "cell": vars(m.cell),
        "runs": {name: [run.as_dict() for run in runs] for name, runs in m.runs.items()},
        "ground": m.backend,
        "disturbed": m.disturbed,
        "outside": {name: list(verdict.outside) for name, verdict in m.verdicts.items()},
        "why": page.remark(m),
    }
