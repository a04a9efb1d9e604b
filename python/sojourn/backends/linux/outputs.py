"""An AQM's folder, written from a guest's files: the same files as a simulated run's.

Uses frames, matching and samples. Knows neither how a guest is started nor what makes it late.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sojourn.backends.linux.addresses import FRONT, opener, sends_from_behind
from sojourn.backends.linux.exchanges import datagrams_back
from sojourn.backends.linux.groups import has_groups
from sojourn.backends.linux.matching import Rows
from sojourn.backends.linux.measurements import Measured, Queue, Raw
from sojourn.backends.linux.samples import FlowTotals, totals_of
from sojourn.backends.linux.topology import Managed, Shaper
from sojourn.backends.linux.traffic import HEADERS
from sojourn.common.atomic_write import write_text
from sojourn.runtime.arrow_tables import FLOW_SCHEMA, PACKET_SCHEMA, VERDICTS, schema_of
from sojourn.runtime.pcapng import CaptureWriter
from sojourn.runtime.plan import PlannedRun
from sojourn.runtime.row_writer import Ballast, RowWriter
from sojourn.runtime.run_files import COUNTERS, DATAGRAMS, EXCHANGES, FLOWS

_ABSENT = {
    "mirrored_packets": 0, "mirrored_bytes": 0, "mirror_drops": 0, "recirculated_packets": 0,
    "recirculated_bytes": 0, "recirculated_share": 0.0, "recirculation_utilisation": 0.0,
    "recirculation_drops": 0, "generated_packets": 0, "generated_bytes": 0,
    "unsynchronised": {"count": 0, "total": 0, "max": 0},
    "parser_errors": 0, "ingress_drops": 0, "unroutable_packets": 0,
    "unroutable_first": None,
}  # fmt: skip
"""Counters of a P4 switch: what there is none of in a kernel."""


def write(
    folder: Path,
    measured: Measured,
    raw: Raw,
    run: PlannedRun,
    managed: Sequence[Managed],
    backend: dict[str, Any],
) -> None:
    """Writes rows, samples, counters and, if asked for, the captures."""
    ballast, config = Ballast(folder), run.config
    try:
        origin, duration = raw.done["origin"], config["duration"]
        for place, queue in zip(run.bottlenecks, measured.queues, strict=True):
            with RowWriter(folder / place.rows, "packets", ballast) as packets:
                packets.write(_packet_table(queue.rows))
            if run.captures(place):
                _write_capture(folder / place.capture, queue, origin, duration)
        with RowWriter(folder / FLOWS, "flows", ballast) as flows:
            flows.write(pa.table(measured.samples.columns, schema=FLOW_SCHEMA))
        _write_traffic(folder, measured, config, ballast)
        counters = _counters(measured, raw, config, managed[0].shaper)
        counters |= {"bottlenecks": _bottlenecks(measured, run, managed), "ground": backend}
        text = json.dumps(counters, indent=2) + "\n"
        write_text(folder / COUNTERS, text)
    finally:
        ballast.release()


def _write_traffic(
    folder: Path, measured: Measured, config: dict[str, Any], ballast: Ballast
) -> None:
    """Writes the rows that only some kinds of traffic have."""
    kinds = {flow["kind"] for flow in config["flows"]}
    for name, wanted, kind, columns in (
        (EXCHANGES, {"transfers", "requests"}, "exchanges", measured.exchanges),
        (DATAGRAMS, {"voip"}, "datagrams", measured.datagrams),
    ):
        if kinds & wanted:
            with RowWriter(folder / name, kind, ballast) as rows:
                rows.write(pa.table(columns, schema=schema_of(kind)))


def _packet_table(rows: Rows) -> pa.Table:
    verdicts = pa.DictionaryArray.from_arrays(
        pa.array(rows.verdict.astype(np.uint8)), pa.array(VERDICTS)
    )
    columns = {
        "packet": rows.packet.astype(np.uint64),
        "flow": rows.flow.astype(np.uint32),
        "size": rows.size.astype(np.uint32),
        "queue": np.zeros(len(rows.flow), np.uint8),
        "enqueued": rows.enqueued,
        "dequeued": rows.dequeued,
    }
    arrays = [pa.array(column) for column in columns.values()]
    return pa.Table.from_arrays([*arrays, verdicts], schema=PACKET_SCHEMA)


def _counters(
    measured: Measured, raw: Raw, config: dict[str, Any], shaper: Shaper
) -> dict[str, Any]:
    rows = measured.rows
    sent = np.isin(rows.verdict, (0, 3))
    totals = totals_of(measured.samples, config["flows"])
    reverse = raw.done["qdiscs"][-1][0]
    return _ABSENT | {
        "simulated": config["duration"],
        "shaper_rate": shaper.rate,
        "shaper_burst": shaper.burst,
        "shaper_overhead": shaper.overhead,
        "forward_bytes": int(rows.size[sent].sum()),
        "forward_packets": int(sent.sum()),
        "reverse_bytes": reverse["bytes"],
        "reverse_packets": reverse["packets"],
        "reverse_drops": reverse["drops"],
        "flows": [_flow(i, totals[i], measured, config) for i in range(len(config["flows"]))],
        "qdisc": raw.qdisc(),
        # The queue is emptied after the end; what is dropped then is in no row.
        "drops_after_the_end": measured.queues[0].unmatched - int((~sent).sum()),
    }


def _bottlenecks(
    measured: Measured, run: PlannedRun, managed: Sequence[Managed]
) -> list[dict[str, Any]]:
    """Each measured queue, in the simulator's form."""
    found = []
    for place, queue, spot in zip(run.bottlenecks, measured.queues, managed, strict=True):
        sent = queue.rows.size[np.isin(queue.rows.verdict, (0, 3))]
        found.append(
            {
                "switch": place.switch,
                "towards": place.towards,
                "shaper_rate": spot.shaper.rate,
                "shaper_burst": spot.shaper.burst,
                "bytes": int(sent.sum()),
                "packets": len(sent),
                "qdisc": spot.aqm.text,
            }
        )
    return found


def _flow(
    index: int, totals: FlowTotals, measured: Measured, config: dict[str, Any]
) -> dict[str, int]:
    flow, rows = config["flows"][index], measured.rows
    mine = rows.flow == index
    seen = mine.any() and has_groups(config) and opener(flow) == FRONT
    started = int(rows.enqueued[mine].min()) if seen else measured.starts[index]
    match flow["kind"]:
        case "tcp" | "requests":
            counted = {
                "delivered": totals.delivered,
                "segments": totals.segments,
                "retransmits": totals.retransmits,
            }
        case "transfers":
            counted = {"delivered": 0, "segments": 0, "retransmits": 0}
            counted |= measured.totals.get(index, {})
        case _:
            counted = _datagrams(index, measured, mine, config)
    return {"started": started} | counted


def _datagrams(
    index: int, measured: Measured, mine: npt.NDArray[np.bool_], config: dict[str, Any]
) -> dict[str, int]:
    flow, rows, arrived = config["flows"][index], measured.rows, measured.arrived
    headers = HEADERS[flow["ip_version"]]
    if not has_groups(config) or sends_from_behind(flow):
        voice = flow["kind"] == "voip"
        sent, size = datagrams_back(arrived, index, voice=voice) if arrived else (0, 0)
        came = int((arrived.flow == index).sum()) if arrived else 0
        return {"delivered": size - came * headers, "segments": sent, "retransmits": 0}
    # Behind the bottleneck nothing is lost: what left it was delivered.
    left = mine & np.isin(rows.verdict, (0, 3))
    delivered = int((rows.size[left] - headers).sum())
    return {"delivered": delivered, "segments": int(mine.sum()), "retransmits": 0}


def _write_capture(path: Path, queue: Queue, begin: int, duration: int) -> None:
    """Both sides in the order of time."""
    writer = CaptureWriter(path)
    try:
        for start in range(0, duration + 1, 10**9):
            # A row's verdict may fall on the last instant; so may a frame.
            end = begin + min(start + 10**9, duration + 1)
            writer.write(_second(queue, begin + start, end, begin))
    finally:
        writer.close()


def _second(queue: Queue, low: int, high: int, origin: int) -> list[tuple[int, int, bytes, int]]:
    frames: list[tuple[int, int, bytes, int]] = []
    for side, captured in enumerate((queue.entered, queue.left)):
        first, last = np.searchsorted(captured.time, (low, high))
        frames += [
            (
                int(captured.time[i]) - origin,
                side,
                captured.bytes[i, : captured.kept[i]].tobytes(),
                int(captured.size[i]),
            )
            for i in range(int(first), int(last))
        ]
    return sorted(frames, key=lambda frame: frame[:2])
