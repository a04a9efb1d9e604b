"""`sojourn compare`: a comparison of runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from sojourn.cli.shared import Json, app, open_console
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.results.compare import Line, Setup
from sojourn.results.compare import compare as compared
from sojourn.results.compare_groups import GroupLine, compare_groups
from sojourn.results.intervals import Interval
from sojourn.results.metrics import SHOWN, Metric
from sojourn.results.remarks import interruptions
from sojourn.results.result import Result, read_result
from sojourn.runtime.folder import RunFolder


@app.command()
def compare(
    runs: Annotated[list[Path], typer.Argument(help="Folders; the first is the yardstick.")],
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also draw curves and boxes: .png, .svg or .pdf."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show runs beside each other: what differs, each AQM's figures, differences with intervals.

    Runs that differ in the seed alone count as one set-up, and give it its confidence interval.
    """
    if len(runs) < 2:
        raise ScenarioError("sojourn compare: name two runs at least; one is `sojourn report`")
    results = [(shown(run), read_result(RunFolder.open(run))) for run in runs]
    found, lines = compared(results)
    if plot is not None:
        # Imported here because matplotlib takes longer to load than all the rest.
        from sojourn.results.compare_plots import write_comparison

        write_comparison(found, plot)
    if as_json:
        print(json.dumps(_as_dict(found, lines), indent=2))
        return
    _print(found, lines, [result for _, result in results])


def _print(found: list[Setup], lines: list[Line], results: list[Result]) -> None:
    console = open_console()
    for setup in found:
        seeds = ", ".join(str(result.scenario.seed) for result in setup.results)
        console.print(Text(f"{setup.name}: seed {seeds}"), soft_wrap=True)
        for text in setup.differs[:12]:
            console.print(Text(f"    {text}"), soft_wrap=True)
        if len(setup.differs) > 12:
            console.print(Text(f"    and {len(setup.differs) - 12} keys more"))
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("AQM", overflow="fold", max_width=18)
    table.add_column("run", overflow="fold", max_width=22)
    for metric in SHOWN:
        table.add_column(f"{metric.name}\n{metric.unit}", justify="right", overflow="fold")
    before = ""
    for line in lines:
        cells = [_cell(place, value) for place, value in enumerate(line.values)]
        table.add_row(*map(Text, ("" if line.aqm == before else line.aqm, line.setup, *cells)))
        before = line.aqm
        if any(line.differences):
            differences = (
                _cell(place, value, True) for place, value in enumerate(line.differences)
            )
            table.add_row(*(Text(cell, style="dim") for cell in ("", "  difference", *differences)))
    console.print(table)
    for title, metrics, rows in compare_groups(found):
        console.print(_group_table(title, metrics, rows))
    if all(len(setup.results) < 2 for setup in found):
        console.print("One seed each: how far the figures scatter is not known (--seeds 1..10).")
    for result in results:
        for sentence in interruptions(result):
            console.print(Text(f"warning {shown(result.path)}: {sentence}"), soft_wrap=True)


def _group_table(title: str, metrics: Sequence[Metric], rows: Sequence[GroupLine]) -> Table:
    """What each group of flows got."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, title=title)
    for head, width in (("group", 18), ("AQM", 14), ("run", 18)):
        table.add_column(head, overflow="fold", max_width=width)
    for metric in metrics:
        head = f"{metric.name}\n{metric.unit}".replace("_", "\n", 1)
        table.add_column(head, justify="right", overflow="fold")
    before: tuple[str, str] = ("", "")
    for line in rows:
        cells = (_shown(metric, one) for metric, one in zip(metrics, line.values, strict=True))
        names = ("", "") if (line.group, line.aqm) == before else (line.group, line.aqm)
        table.add_row(*map(Text, (*names, line.setup, *cells)))
        before = (line.group, line.aqm)
        if any(line.differences):
            apart = zip(metrics, line.differences, strict=True)
            cells = (_shown(metric, one, signed=True) for metric, one in apart)
            table.add_row(*(Text(cell, style="dim") for cell in ("", "", "  difference", *cells)))
    return table


def _cell(place: int, value: Interval | None, signed: bool = False) -> str:
    return _shown(SHOWN[place], value, signed=signed)


def _shown(metric: Metric, value: Interval | None, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    sign = "+" if signed and value.mean > 0 else ""
    return sign + metric.show(value.mean, value.half)


def _as_dict(found: list[Setup], lines: list[Line]) -> dict[str, Any]:
    def figures(values: tuple[Interval | None, ...]) -> dict[str, Any]:
        return {
            metric.name: None if one is None else {"mean": one.mean, "half": one.half}
            for metric, one in zip(SHOWN, values, strict=True)
        }

    return {
        "setups": [
            {
                "name": setup.name,
                "seeds": [result.scenario.seed for result in setup.results],
                "differs": list(setup.differs),
            }
            for setup in found
        ],
        "lines": [
            {
                "aqm": line.aqm,
                "setup": line.setup,
                "figures": figures(line.values),
                "differences": figures(line.differences) if any(line.differences) else None,
            }
            for line in lines
        ],
        "groups": {
            title: [line.as_dict(metrics) for line in rows]
            for title, metrics, rows in compare_groups(found)
        },
    }
