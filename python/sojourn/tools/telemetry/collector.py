"""The collector of In-band Network Telemetry: a row for each packet and hop, out of captures.

Depends on captures and on INT's headers. A sink makes two reports a packet: one with the stack of
the hops before it, one with its own hop; the time of arrival and the flow join them (Telemetry
Report 2.0, "Embedded Telemetry Metadata In Stacked Reports"). A capture of a link within the INT
network has no reports; its rows are those of the stacks. Must not depend on runs.
"""

import struct
from collections import Counter, defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from sojourn.tools.delays.captures import CapturedFrame, Frames, read_frames
from sojourn.tools.delays.link_layer import IPV4, network_header
from sojourn.tools.telemetry.headers import (
    INT_PORT,
    REPORT_PORT,
    BrokenTelemetry,
    Hop,
    Report,
    Watched,
    read_packet,
    read_reports,
)

_BEFORE = "entered"
"""The interface of a run's capture that is in front of the queue."""
_SEQUENCES = 1 << 22

_COLUMNS: dict[str, tuple[pa.DataType, str, str]] = {
    "packet": (pa.uint64(), "", "number of the packet in the capture, from 0"),
    "flow": (pa.dictionary(pa.int32(), pa.string()), "", "addresses and ports"),
    "protocol": (pa.uint8(), "", "of IPv4, below INT"),
    "identification": (pa.uint16(), "", "of IPv4"),
    "hop": (pa.uint8(), "", "place on the way, from 1"),
    "node": (pa.uint32(), "", "number of the switch"),
    "ingress_port": (pa.uint16(), "", "where the packet came in"),
    "egress_port": (pa.uint16(), "", "where it left"),
    "latency": (pa.uint32(), "ns", "in the switch"),
    "queue": (pa.uint8(), "", "number of the queue at its port"),
    "occupancy": (pa.uint32(), "", "of the queue: packets (bmv2) or cells (Tofino)"),
    "ingress_time": (pa.uint64(), "ns", "by the switch's clock"),
    "egress_time": (pa.uint64(), "ns", "by the switch's clock"),
}

SCHEMA = pa.schema(
    [
        pa.field(name, kind, metadata={"unit": unit, "meaning": meaning})
        for name, (kind, unit, meaning) in _COLUMNS.items()
    ]
)
"""The columns of `int.parquet`; a value that a switch does not have is null."""


@dataclass
class Collected:
    """What a capture has."""

    table: pa.Table
    """A row for each packet and hop (`SCHEMA`)."""
    reports: int = 0
    packets: int = 0
    lost: int = 0
    """Reports that the sequence numbers say are missing."""
    unjoined: int = 0
    """Reports whose other half is missing."""
    exceeded: int = 0
    """Packets that met more hops than their source allowed."""
    broken: Counter[str] = field(default_factory=Counter)
    """Frames that could not be read, by the reason."""
    skipped: list[str] = field(default_factory=list)
    """Frames of other link types, in words."""


def collect(path: Path, int_port: int = INT_PORT, report_port: int = REPORT_PORT) -> Collected:
    """The telemetry in the capture at `path`; `ScenarioError` if that is no capture."""
    return _Collector(int_port, report_port).read(read_frames(path))


_Half = tuple[Watched, Hop]
"""Of one of a packet's two reports: the packet, and what the sink measured."""


class _Collector:
    """Joins reports to packets."""

    def __init__(self, int_port: int, report_port: int) -> None:
        self._ports = int_port, report_port
        self._rows = Rows()
        self._found = Collected(SCHEMA.empty_table())
        self._next = dict[int, int]()
        self._waiting = defaultdict[tuple[Any, ...], deque[_Half]](deque)

    def read(self, frames: Frames) -> Collected:
        """Everything in a capture."""
        found = self._found
        stacks = list[Watched]()
        for frame in frames:
            try:
                for read in self._read(frame):
                    if isinstance(read, Watched):
                        stacks.append(read)
                    else:
                        self._take(read)
            except BrokenTelemetry as error:
                found.broken[str(error)] += 1
        for left in self._waiting.values():
            for packet, _ in left:
                found.unjoined += 1
                if packet.has_stack:
                    self._add(packet, packet.hops)
        # Where reports are, INT packets in the same capture are those that they are about.
        for packet in stacks if not found.reports else ():
            self._add(packet, packet.hops)
        found.table, found.packets = self._rows.table(), self._rows.packets
        found.skipped = frames.skipped
        return found

    def _read(self, frame: CapturedFrame) -> Iterator[Report | Watched]:
        """The reports in a frame, or the packet with INT."""
        place = network_header(frame.link, frame.data)
        if frame.interface == _BEFORE or place is None or place[0] != IPV4:
            return
        data = frame.data[place[1] :]
        if len(data) < 28 or data[9] != 17:
            return
        udp = 4 * (data[0] & 15)
        if len(data) < udp + 8:
            return
        (port, length) = struct.unpack_from("!HH", data, udp + 2)
        if port == self._ports[1]:
            yield from read_reports(data[udp + 8 : udp + length], self._ports[0])
        elif port == self._ports[0] and (packet := read_packet(data, port)) is not None:
            yield packet

    def _take(self, report: Report) -> None:
        """A report; with its other half it is a packet."""
        found, packet = self._found, report.packet
        found.reports += 1
        due = self._next.get(report.node, report.sequence)
        found.lost += (report.sequence - due) % _SEQUENCES
        self._next[report.node] = (report.sequence + 1) % _SEQUENCES
        if packet is None:
            found.broken["a report without the head of an IPv4 packet"] += 1
            return
        if packet.has_stack and report.own.egress_time is not None:
            self._add(packet, (*packet.hops, report.own))
            return
        # Identification and time of arrival at the sink: the same in both reports.
        key = report.node, report.own.ingress_time, packet.flow, packet.identification
        waiting = self._waiting[key]
        half = packet, report.own
        if waiting and waiting[0][0].has_stack != packet.has_stack:
            other = waiting.popleft()
            (before, _), (_, own) = (half, other) if packet.has_stack else (other, half)
            self._add(before, (*before.hops, own))
        else:
            waiting.append(half)
        if not waiting:
            del self._waiting[key]

    def _add(self, packet: Watched, hops: tuple[Hop, ...]) -> None:
        self._found.exceeded += packet.exceeded
        self._rows.add(packet, hops)


class Rows:
    """The rows of packets, column by column."""

    def __init__(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        self.packets = 0

    def add(self, packet: Watched, hops: tuple[Hop, ...]) -> None:
        """A packet with its hops, the first one first."""
        for place, hop in enumerate(hops, 1):
            row = {
                "packet": self.packets,
                "flow": packet.flow,
                "protocol": packet.protocol,
                "identification": packet.identification,
                "hop": place,
                **vars(hop),
            }
            for name, column in self._columns.items():
                column.append(row[name])
        self.packets += 1

    def table(self) -> pa.Table:
        """All rows (`SCHEMA`)."""
        arrays = {name: pa.array(column) for name, column in self._columns.items()}
        arrays["flow"] = pa.array(self._columns["flow"], pa.string()).dictionary_encode()
        return pa.table(arrays).cast(SCHEMA)
