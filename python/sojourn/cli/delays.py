"""`sojourn delays`: queue delays out of a capture, as a program has written them into packets."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table

from sojourn.cli.shared import Json, app, open_console
from sojourn.common.atomic_write import write_named
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError, output_error
from sojourn.results.style import milliseconds
from sojourn.tools.delays.payload_delays import MeasuredDelay, read_delays

_PERCENTILES = {"median": 50, "p95": 95, "p99": 99}


@app.command()
def delays(
    capture: Annotated[Path, typer.Argument(help="A pcapng or pcap file.")],
    out: Annotated[
        Path | None, typer.Option("--csv", help="Also every packet: time, flow, delay in ns.")
    ] = None,
    least: Annotated[
        int,
        typer.Option(
            "--payload", min=4, help="Only packets with so many bytes, as MEASURED_PAYLOAD has it."
        ),
    ] = 4,
    as_json: Json = False,
) -> None:
    """Read back the queue delays that queue_measurement.p4 has written into TCP payloads."""
    if not capture.is_file():
        raise ScenarioError(f"{capture}: no such capture")
    delays = read_delays(capture, least)
    found = list(delays)
    if not found:
        lines = [f"no TCP packet over IPv4 with a payload of {least} bytes", *delays.skipped]
        raise ScenarioError("\n".join(f"{shown(capture)}: {line}" for line in lines))
    for line in delays.skipped:
        print(f"warning {shown(capture)}: {line}", file=sys.stderr)
    if out is not None:
        _write(found, out)
    flows = sorted({each.flow for each in found})
    rows = {flow: _figures([e.delay for e in found if e.flow == flow]) for flow in flows}
    rows = {"all": _figures([each.delay for each in found])} | rows
    if as_json:
        print(json.dumps({"capture": str(capture), "flows": rows}, indent=2))
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("flow")
    for name in ("packets", "mean ms", "median ms", "p95 ms", "p99 ms", "max ms"):
        table.add_column(name, justify="right")
    for flow, figures in rows.items():
        cells = [milliseconds(figures[key]) for key in ("mean", *_PERCENTILES, "max")]
        table.add_row(flow, str(figures["packets"]), *cells)
    open_console().print(table)


def _figures(values: list[int]) -> dict[str, Any]:
    """A flow's delays in ns; a percentile is the least value that so many are not above."""
    ordered = np.sort(np.array(values, np.int64))
    ranks = {
        name: int(ordered[-(-len(ordered) * percent // 100) - 1])
        for name, percent in _PERCENTILES.items()
    }
    mean = float(ordered.mean())
    return {"packets": len(values), "mean": mean, **ranks, "max": int(ordered[-1])}


def _write(found: list[MeasuredDelay], path: Path) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(["time_ns", "flow", "delay_ns"])
    writer.writerows((each.time, each.flow, each.delay) for each in found)
    try:
        write_named(path, text.getvalue())
    except OSError as error:
        raise output_error(error, shown(path)) from error
