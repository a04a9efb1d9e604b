"""`sojourn int`: the collector of In-band Network Telemetry."""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import typer
from rich.table import Table

from sojourn.cli.shared import Json, app, open_console
from sojourn.common.atomic_write import replacing
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError, output_error
from sojourn.results.style import milliseconds
from sojourn.runtime.folder import RunFolder
from sojourn.tools.telemetry.collector import Collected, collect
from sojourn.tools.telemetry.headers import INT_PORT, REPORT_PORT

_FILE = "int.parquet"
_PERCENTILES = {"median": 50, "p99": 99}


@app.command("int")
def collect_telemetry(
    source: Annotated[
        Path,
        typer.Argument(metavar="RUN|CAPTURE", help="A run's folder, or a pcapng or pcap file."),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The Parquet file of a capture; a run has int.parquet in each AQM's folder.",
        ),
    ] = None,
    int_port: Annotated[
        int, typer.Option(min=1, max=65535, help="UDP port of packets with INT.")
    ] = INT_PORT,
    report_port: Annotated[
        int, typer.Option(min=1, max=65535, help="UDP port of telemetry reports.")
    ] = REPORT_PORT,
    as_json: Json = False,
) -> None:
    """Collect In-band Network Telemetry: a row for each packet and hop, a table of hops."""
    ports = int_port, report_port
    if source.is_dir():
        if out is not None:
            raise ScenarioError(f"--out {out}: a run's files go into its own folder")
        found = {label: _of_run(folder, ports) for label, folder in _folders(source)}
        for label, (path, collected) in found.items():
            _write(collected.table, path.parent / _FILE)
            _warn(f"{label}: {path.name}", collected)
        results = {label: collected for label, (_, collected) in found.items()}
    else:
        if not source.is_file():
            raise ScenarioError(f"{source}: neither a run's folder nor a capture")
        collected = collect(source, *ports)
        if not collected.packets:
            raise _nothing(shown(source), ports, [collected])
        _write(collected.table, out or Path(_FILE))
        _warn(shown(source), collected)
        results = {shown(source): collected}
    if as_json:
        print(json.dumps({name: _document(each) for name, each in results.items()}, indent=2))
        return
    for name, collected in results.items():
        open_console().print(_table(name, collected))
    place = f"{shown(source)}/*/{_FILE}" if source.is_dir() else shown(out or Path(_FILE))
    print(f"rows    {place}")


def _folders(run: Path) -> list[tuple[str, Path]]:
    return [(each.label, run / each.folder) for each in RunFolder.open(run).runs]


def _of_run(folder: Path, ports: tuple[int, int]) -> tuple[Path, Collected]:
    """The capture of an AQM's folder that has the most reports, and its telemetry."""
    captures = sorted(folder.glob("*.pcapng"))
    if not captures:
        raise ScenarioError(
            f"{shown(folder)}: no capture; give the collector's link `capture = true` in the "
            "scenario, or run with --pcap"
        )
    found = [(path, collect(path, *ports)) for path in captures]
    path, most = max(found, key=lambda each: each[1].reports)
    if not most.reports:
        raise _nothing(shown(folder), ports, [each for _, each in found])
    return path, most


def _nothing(name: str, ports: tuple[int, int], found: list[Collected]) -> ScenarioError:
    reasons = [reason for each in found for reason in (*each.broken, *each.skipped)]
    lines = [f"no INT: no UDP to port {ports[0]} or {ports[1]} that can be read", *reasons[:3]]
    return ScenarioError("\n".join(f"{name}: {line}" for line in lines))


def _write(table: pa.Table, path: Path) -> None:
    try:
        with replacing(path) as fresh:
            pq.write_table(table, fresh)
    except OSError as error:
        raise output_error(error, shown(path)) from error


def _warn(name: str, found: Collected) -> None:
    said = [
        (found.lost, "reports lost on the way, by their sequence numbers"),
        (found.unjoined, "reports without the packet's other one"),
        (found.exceeded, "packets that met more hops than their source allowed"),
        *((count, reason) for reason, count in found.broken.most_common(3)),
    ]
    lines = [*found.skipped, *(f"{what}: {count}" for count, what in said if count)]
    for line in lines:
        print(f"warning {name}: {line}", file=sys.stderr)


def _hops(table: pa.Table) -> list[dict[str, Any]]:
    """Figures of each hop and switch, in the order of the way."""
    keys = sorted(set(zip(table["hop"].to_pylist(), table["node"].to_pylist(), strict=True)))
    found = []
    for hop, node in keys:
        rows = table.filter(
            pc.and_(pc.equal(table["hop"], hop), pc.equal(table["node"], pa.scalar(node)))
        )
        figures = {key: _figures(rows[key]) for key in ("latency", "occupancy")}
        found.append({"hop": hop, "node": node, "packets": len(rows), **figures})
    return found


def _figures(column: pa.ChunkedArray) -> dict[str, int] | None:
    """A percentile is the least value that so many are not above."""
    values = column.drop_null().to_numpy()
    if not len(values):
        return None
    ranks = np.percentile(values, list(_PERCENTILES.values()), method="inverted_cdf")
    return {**dict(zip(_PERCENTILES, map(int, ranks), strict=True)), "max": int(values.max())}


def _document(found: Collected) -> dict[str, Any]:
    counted = {key: getattr(found, key) for key in ("packets", "reports", "lost", "unjoined")}
    return {**counted, "hops": _hops(found.table)}


def _table(name: str, found: Collected) -> Table:
    table = Table(
        box=None, pad_edge=False, title=f"{name}: {found.packets} packets", title_style=""
    )
    table.add_column("hop", justify="right")
    table.add_column("switch", justify="right")
    for column in ("packets", "latency ms: median", "p99", "max", "depth: median", "p99", "max"):
        table.add_column(column, justify="right")
    for hop in _hops(found.table):
        latency, depth = hop["latency"] or {}, hop["occupancy"] or {}
        figures = [milliseconds(latency.get(key)) for key in ("median", "p99", "max")]
        figures += [str(depth.get(key, "-")) for key in ("median", "p99", "max")]
        table.add_row(str(hop["hop"]), str(hop["node"]), str(hop["packets"]), *figures)
    return table
