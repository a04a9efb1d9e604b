"""An AQM's folder, written from what a guest left: the same files as a simulated run's.

Stands on frames, matching and samples. Knows neither how a guest is started nor what makes it late.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sojourn.engine import CAPTURE, COUNTERS, DATAGRAMS, EXCHANGES, FLOWS, PACKETS
from sojourn.linux.addresses import FRONT, hosts, opener, sends_from_behind
from sojourn.linux.exchanges import (
    Columns,
    datagrams_back,
    read_datagrams,
    read_exchanges,
    read_totals,
)
from sojourn.linux.frames import Frames, read_frames
from sojourn.linux.matching import Rows, match
from sojourn.linux.samples import FlowTotals, Samples, read_samples, totals_of
from sojourn.linux.tc import Qdisc
from sojourn.linux.topology import Shaper
from sojourn.linux.traffic import HEADERS, Traffic, first_of
from sojourn.pcapng import CaptureWriter
from sojourn.record import (
    DATAGRAM_SCHEMA,
    EXCHANGE_SCHEMA,
    FLOW_SCHEMA,
    PACKET_SCHEMA,
    VERDICTS,
    Ballast,
    RowWriter,
)

_OVERFLOW = ("drop_overlimit", "overlimit", "pdrop")
"""What qdiscs call the packets that they had no room for."""
_ABSENT = {
    "mirrored_packets": 0, "mirrored_bytes": 0, "mirror_drops": 0, "recirculated_packets": 0,
    "recirculated_bytes": 0, "recirculated_share": 0.0, "recirculation_utilisation": 0.0,
    "recirculation_drops": 0, "unsynchronised": {"count": 0, "total": 0, "max": 0},
    "parser_errors": 0, "ingress_drops": 0, "unroutable_packets": 0,
}  # fmt: skip
"""Counters of a P4 switch: what there is none of in a kernel."""


@dataclass(frozen=True)
class Raw:
    """What a guest left in its folder."""

    folder: Path
    done: dict[str, Any]

    @property
    def qdisc(self) -> dict[str, Any]:
        """The AQM's own statistics."""
        found: dict[str, Any] = next(q for q in self.done["qdiscs"] if q.get("handle") == "10:")
        return found

    def frames(self, traffic: Traffic) -> tuple[Frames, Frames, Frames | None]:
        """What entered, what left, and the datagrams on their way back, if there are such flows."""

        def read(name: str, *, back: bool = False) -> Frames:
            frames = read_frames(self.folder / name, back=back)
            return frames.numbered(traffic.numbers).of_flows()

        back = (self.folder / "back.ring").is_file()
        return (
            read("entered.ring"),
            read("left.ring"),
            read("back.ring", back=True) if back else None,
        )


@dataclass(frozen=True)
class Measured:
    """A run's rows, and how the two accounts of its drops compare."""

    rows: Rows
    entered: Frames
    left: Frames
    samples: Samples
    back: Frames | None
    """Datagrams from behind the bottleneck, up to the end of the run."""
    exchanges: Columns
    datagrams: Columns
    starts: list[int]
    """When each flow begins."""
    totals: dict[int, dict[str, int]]
    """What the hosts counted, of each source of transfers."""
    unmatched: int
    """Packets that entered and never left."""
    dropped: int
    """What the kernel counts."""


def measure(raw: Raw, config: dict[str, Any], aqm: Qdisc, traffic: Traffic) -> Measured:
    """The rows of the run whose guest left `raw`."""
    captured = raw.frames(traffic)
    entered, left, back = captured
    statistics = raw.qdisc
    overflow = sum(int(statistics.get(name, 0)) for name in _OVERFLOW)
    every = match(entered, left, aqm, full=overflow > 0)
    begin = raw.done["origin"]
    drops = int(np.isin(every.verdict, (1, 2)).sum())
    return Measured(
        rows=every.within(begin, begin + config["duration"]),
        entered=entered,
        left=left,
        samples=_samples(raw.folder, config),
        back=back.until(begin + config["duration"]) if back is not None else None,
        exchanges=read_exchanges(raw.folder, config, traffic),
        datagrams=read_datagrams(config, traffic, captured, begin),
        starts=[first_of(drawn) for drawn in traffic.drawn],
        totals=read_totals(raw.folder),
        unmatched=drops,
        dropped=int(statistics["drops"]),
    )


def _samples(folder: Path, config: dict[str, Any]) -> Samples:
    """Those of the sockets that live as long as their flow."""
    followed = {
        number: flow
        for number, flow in enumerate(config["flows"])
        if flow["kind"] in ("tcp", "requests")
    }
    ends = {hosts(number, flow).front_end: number for number, flow in followed.items()}
    backward = {number for number, flow in followed.items() if sends_from_behind(flow)}
    return read_samples(folder / "sockets.bin", ends, backward, config["duration"])


def write(
    folder: Path,
    measured: Measured,
    raw: Raw,
    config: dict[str, Any],
    shaper: Shaper,
    ground: dict[str, Any],
) -> None:
    """Writes rows, samples, counters and, if asked for, the capture."""
    ballast = Ballast(folder)
    try:
        with RowWriter(folder / PACKETS, PACKET_SCHEMA, ballast) as packets:
            packets.write(_packet_table(measured.rows))
        with RowWriter(folder / FLOWS, FLOW_SCHEMA, ballast) as flows:
            flows.write(pa.table(measured.samples.columns, schema=FLOW_SCHEMA))
        _write_traffic(folder, measured, config, ballast)
        if config["capture"]:
            _write_capture(folder / CAPTURE, measured, raw.done["origin"], config["duration"])
        counters = _counters(measured, raw, config, shaper) | {"ground": ground}
        text = json.dumps(counters, indent=2) + "\n"
        (folder / COUNTERS).write_text(text, encoding="utf-8")
    finally:
        ballast.release()


def _write_traffic(
    folder: Path, measured: Measured, config: dict[str, Any], ballast: Ballast
) -> None:
    """What only some kinds of traffic have."""
    kinds = {flow["kind"] for flow in config["flows"]}
    for name, wanted, schema, columns in (
        (EXCHANGES, {"transfers", "requests"}, EXCHANGE_SCHEMA, measured.exchanges),
        (DATAGRAMS, {"voip"}, DATAGRAM_SCHEMA, measured.datagrams),
    ):
        if kinds & wanted:
            with RowWriter(folder / name, schema, ballast) as rows:
                rows.write(pa.table(columns, schema=schema))


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
    reverse = raw.done["reverse"][0]
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
        "flows": [_flow(i, f, totals[i], measured) for i, f in enumerate(config["flows"])],
        "qdisc": raw.qdisc,
        # The queue is emptied after the end; what is dropped then is in no row.
        "drops_after_the_end": measured.unmatched - int((~sent).sum()),
    }


def _flow(
    index: int, flow: dict[str, Any], totals: FlowTotals, measured: Measured
) -> dict[str, int]:
    rows = measured.rows
    mine = rows.flow == index
    seen = mine.any() and opener(flow) == FRONT
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
            counted = _datagrams(index, flow, measured, mine)
    return {"started": started} | counted


def _datagrams(
    index: int, flow: dict[str, Any], measured: Measured, mine: npt.NDArray[np.bool_]
) -> dict[str, int]:
    rows, headers = measured.rows, HEADERS[flow["ip_version"]]
    if sends_from_behind(flow):
        back = measured.back
        voice = flow["kind"] == "voip"
        sent, size = datagrams_back(back, index, voice=voice) if back is not None else (0, 0)
        came = int((back.flow == index).sum()) if back is not None else 0
        return {"delivered": size - came * headers, "segments": sent, "retransmits": 0}
    # Behind the bottleneck nothing is lost: what left it was delivered.
    left = mine & np.isin(rows.verdict, (0, 3))
    delivered = int((rows.size[left] - headers).sum())
    return {"delivered": delivered, "segments": int(mine.sum()), "retransmits": 0}


def _write_capture(path: Path, measured: Measured, begin: int, duration: int) -> None:
    """Both sides in the order of time."""
    writer = CaptureWriter(path)
    try:
        for start in range(0, duration, 10**9):
            writer.write(
                _second(measured, begin + start, begin + min(start + 10**9, duration), begin)
            )
    finally:
        writer.close()


def _second(
    measured: Measured, low: int, high: int, origin: int
) -> list[tuple[int, int, bytes, int]]:
    frames: list[tuple[int, int, bytes, int]] = []
    for side, captured in enumerate((measured.entered, measured.left)):
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


def labels(runs: Sequence[Any]) -> str:
    """Names for a message."""
    return ", ".join(run.label for run in runs)
