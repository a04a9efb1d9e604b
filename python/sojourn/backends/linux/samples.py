"""The sockets' samples as rows of `flows.parquet`.

Depends on the netlink messages that the guest stored (`struct inet_diag_msg`, `struct tcp_info` of
Linux 6.1) and on the address scheme. The sender's socket gives windows and round trips, the
receiver's the delivered bytes.
"""

import ipaddress
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_RECORD = struct.Struct("<QII")
_MESSAGE = struct.Struct("IHHII")
_SOCKET_BYTES = 72
_FAMILY_V6 = 10
_INFO = 2
_INFINITE = 0x7FFFFFFF
_UNSET = 2**64 - 1
_WORDS = {
    "mss": 16, "unacked": 24, "sacked": 28, "lost": 32, "retrans": 36, "rtt": 68,
    "ssthresh": 76, "cwnd": 80, "total_retrans": 100, "data_segs_out": 156,
}  # fmt: skip
"""Offset of each 32-bit field of `struct tcp_info` that is used."""
_BYTES_RECEIVED = 128


End = tuple[str, int]
"""Address and port."""


@dataclass
class FlowTotals:
    """Totals of a flow at its last sample."""

    delivered: int = 0
    retransmits: int = 0
    segments: int = 0


@dataclass
class Samples:
    """Columns of `flows.parquet`, and each flow's totals at the end."""

    columns: dict[str, list[int]]
    totals: dict[int, FlowTotals] = field(default_factory=dict)


Who = Callable[[int, End, End], tuple[int, bool] | None]
"""Of a socket the flow and whether its data comes from it, by its side, its end and its peer's."""


def read_samples(path: Path, who: Who, duration: int) -> Samples:
    """The samples in the file at `path`."""
    names = ("time", "flow", "cwnd", "ssthresh", "srtt", "delivered", "retransmits", "in_flight")
    samples = Samples({name: [] for name in names})
    senders: dict[int, dict[str, int]] = {}
    delivered: dict[int, int] = {}
    last = 0
    for time, side, messages in _records(path.read_bytes()):
        if time > duration + 5_000_000:
            break
        if time != last:
            _append_all(samples, senders, delivered, over=last > duration)
            last = time
        for local, peer, info in _sockets(messages):
            found = who(side, local, peer)
            if found is None:
                continue
            flow, sends = found
            if sends:
                senders[flow] = {"time": min(time, duration)} | _sender(info)
            else:
                (delivered[flow],) = struct.unpack_from("Q", info, _BYTES_RECEIVED)
    _append_all(samples, senders, delivered, over=last > duration)
    return samples


def _append_all(
    samples: Samples, senders: dict[int, dict[str, int]], delivered: dict[int, int], *, over: bool
) -> None:
    """A row for each flow of which both ends have been seen; takes out the instant's sockets.

    The senders abort when the run is `over`. A late sample can find a receiver without its sender;
    what that received since is in no row, so it is in no total.
    """
    for flow, count in delivered.items():
        if not over or flow in senders:
            samples.totals.setdefault(flow, FlowTotals()).delivered = count
    delivered.clear()
    for flow in sorted(senders.keys() & samples.totals.keys()):
        _append(samples, flow, senders[flow])
    senders.clear()


def _append(samples: Samples, flow: int, row: dict[str, int]) -> None:
    totals = samples.totals[flow]
    totals.retransmits = row["retransmits"]
    totals.segments = row["segments"]
    values = {"flow": flow, "delivered": totals.delivered} | row
    for name, column in samples.columns.items():
        column.append(values[name])


def _sender(info: bytes) -> dict[str, int]:
    word = {name: struct.unpack_from("I", info, place)[0] for name, place in _WORDS.items()}
    mss = word["mss"]
    out = word["unacked"] - word["sacked"] - word["lost"] + word["retrans"]
    return {
        "cwnd": min(word["cwnd"] * mss, 2**32 - 1),
        "ssthresh": _UNSET if word["ssthresh"] >= _INFINITE else word["ssthresh"] * mss,
        "srtt": word["rtt"] * 1000,
        "retransmits": word["total_retrans"],
        "segments": word["data_segs_out"] - word["total_retrans"],
        "in_flight": max(out, 0) * mss,
    }


def _records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Time in ns, side and netlink messages of each sample."""
    place = 0
    while place + _RECORD.size <= len(data):
        time, side, length = _RECORD.unpack_from(data, place)
        place += _RECORD.size
        yield time, side, data[place : place + length]
        place += length


def _sockets(messages: bytes) -> Iterator[tuple[End, End, bytes]]:
    """Its own end and its peer's, and `struct tcp_info`, of each socket in a sample."""
    place = 0
    while place + _MESSAGE.size <= len(messages):
        length, *_ = _MESSAGE.unpack_from(messages, place)
        body = messages[place + _MESSAGE.size : place + length]
        place += (length + 3) & ~3
        if len(body) < _SOCKET_BYTES:
            continue
        info = _attribute(body[_SOCKET_BYTES:], _INFO)
        if info is not None:
            yield _end(body, 8, 4), _end(body, 24, 6), info


def _end(body: bytes, at: int, port_at: int) -> End:
    (port,) = struct.unpack_from(">H", body, port_at)
    width = 16 if body[0] == _FAMILY_V6 else 4
    return str(ipaddress.ip_address(body[at : at + width])), port


def _attribute(attributes: bytes, wanted: int) -> bytes | None:
    place = 0
    while place + 4 <= len(attributes):
        length, kind = struct.unpack_from("HH", attributes, place)
        if kind == wanted:
            return attributes[place + 4 : place + length]
        place += max((length + 3) & ~3, 4)
    return None


def totals_of(samples: Samples, flows: Sequence[Any]) -> list[FlowTotals]:
    """One entry a flow, in the scenario's order."""
    return [samples.totals.get(flow, FlowTotals()) for flow in range(len(flows))]
