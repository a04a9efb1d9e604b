"""Frames of a capture file: pcapng, or pcap as tcpdump writes it.

Stands on the formats alone (IETF draft-ietf-opsawg-pcapng and draft-ietf-opsawg-pcap). It takes
Ethernet frames in either byte order and passes over blocks that it does not need. Knows nothing of
what is in a frame.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import ScenarioError
from sojourn.layout import shown

_SECTION, _INTERFACE, _ENHANCED = 0x0A0D0D0A, 1, 6
_NAME, _RESOLUTION = 2, 9
_ETHERNET = 1
_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""Magic number of pcap -> byte order, ns of a unit of the fraction."""


@dataclass(frozen=True)
class CapturedFrame:
    """One frame."""

    time: int
    """ns"""
    interface: str
    """Its name, or nothing."""
    data: bytes
    """Its first bytes."""


def read_frames(path: Path) -> Iterator[CapturedFrame]:
    """The frames in the file at `path`, in its order; what a cut file has is read up to the cut."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error
    if data[:4] == b"\x0a\x0d\x0d\x0a":
        return _pcapng(data, shown(path))
    if data[:4] in _PCAP:
        return _pcap(data, shown(path))
    raise ScenarioError(f"{shown(path)}: neither a pcapng nor a pcap file")


def _pcap(data: bytes, name: str) -> Iterator[CapturedFrame]:
    order, unit = _PCAP[data[:4]]
    if len(data) < 24 or struct.unpack_from(order + "I", data, 20)[0] & 0xFFFF != _ETHERNET:
        raise ScenarioError(f"{name}: not a capture of Ethernet frames")
    at = 24
    while at + 16 <= len(data):
        seconds, fraction, kept, _ = struct.unpack_from(order + "IIII", data, at)
        at += 16
        yield CapturedFrame(seconds * 10**9 + fraction * unit, "", data[at : at + kept])
        at += kept


@dataclass(frozen=True)
class _Interface:
    name: str
    is_ethernet: bool
    tick: int
    """A unit of its clock is 10^9 / tick ns."""


def _pcapng(data: bytes, name: str) -> Iterator[CapturedFrame]:
    order, interfaces = "<", list[_Interface]()
    at = 0
    while at + 12 <= len(data):
        if data[at : at + 4] == b"\x0a\x0d\x0d\x0a":
            order = ">" if data[at + 8 : at + 12] == b"\x1a\x2b\x3c\x4d" else "<"
            interfaces = []
        kind, length = struct.unpack_from(order + "II", data, at)
        if length < 12:
            raise ScenarioError(f"{name}: broken at byte {at}: a block of {length} bytes")
        body = data[at + 8 : at + length - 4]
        at += length
        if at > len(data):
            return
        if kind == _INTERFACE and len(body) >= 8:
            interfaces.append(_interface(body, order))
        elif kind == _ENHANCED and len(body) >= 20:
            number, high, low, kept, _ = struct.unpack_from(order + "IIIII", body)
            if number >= len(interfaces):
                raise ScenarioError(f"{name}: a frame of interface {number}, which it has not")
            at_interface = interfaces[number]
            if at_interface.is_ethernet:
                time = (high << 32 | low) * 10**9 // at_interface.tick
                yield CapturedFrame(time, at_interface.name, body[20 : 20 + kept])


def _interface(body: bytes, order: str) -> _Interface:
    link_type = struct.unpack_from(order + "H", body)[0]
    name, tick, at = "", 10**6, 8
    while at + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, at)
        value = body[at + 4 : at + 4 + length]
        if code == _NAME:
            name = value.decode("utf-8", errors="replace").rstrip("\0")
        elif code == _RESOLUTION and value:
            power = value[0] & 0x7F
            tick = 1 << power if value[0] & 0x80 else 10**power
        at += 4 + (length + 3 & ~3)
    return _Interface(name, link_type == _ETHERNET, tick)
