"""Frames of a capture file: pcapng, or pcap as tcpdump writes it.

Stands on the formats alone (IETF draft-ietf-opsawg-pcapng and draft-ietf-opsawg-pcap), because the
crate `pcap-file` takes every time of a pcapng for nanoseconds (2.0.0), or refuses units that are
powers of two (3.0.0-rc1). It takes Ethernet frames in either byte order, passes over blocks that it
does not need, and has one block in memory. Knows nothing of what is in a frame.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sojourn.errors import ScenarioError
from sojourn.layout import shown

_SECTION, _INTERFACE, _ENHANCED = 0x0A0D0D0A, 1, 6
_NAME, _RESOLUTION = 2, 9
_ETHERNET = 1
_MAGIC = b"\x0a\x0d\x0d\x0a"
"""What a pcapng file begins with, and each section of it."""
_LARGEST = 64 << 20
"""Bytes of a frame or a block that is read."""
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
        file = path.open("rb")
        magic = file.read(4)
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error
    if magic == _MAGIC:
        return _pcapng(file, shown(path))
    if magic in _PCAP:
        return _pcap(file, *_PCAP[magic], shown(path))
    file.close()
    raise ScenarioError(f"{shown(path)}: neither a pcapng nor a pcap file")


def _pcap(file: BinaryIO, order: str, unit: int, name: str) -> Iterator[CapturedFrame]:
    with file:
        head = file.read(20)
        if len(head) < 20 or struct.unpack_from(order + "I", head, 16)[0] & 0xFFFF != _ETHERNET:
            raise ScenarioError(f"{name}: not a capture of Ethernet frames")
        while len(record := file.read(16)) == 16:
            seconds, fraction, kept, _ = struct.unpack(order + "IIII", record)
            data = file.read(min(kept, _LARGEST))
            yield CapturedFrame(seconds * 10**9 + fraction * unit, "", data)
            if len(data) < kept:
                return


@dataclass(frozen=True)
class _Interface:
    name: str
    is_ethernet: bool
    tick: int
    """A unit of its clock is 10^9 / tick ns."""


def _pcapng(file: BinaryIO, name: str) -> Iterator[CapturedFrame]:
    order, interfaces = "<", list[_Interface]()
    with file:
        for kind, block in _blocks(file, name):
            if kind == _SECTION:
                order = _order(block)
                interfaces = []
                continue
            body = block[8:-4]
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


def _blocks(file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """Each whole block with its kind; the file has been read behind the first four bytes."""
    order, at, start = "<", 0, _MAGIC
    while len(head := start + file.read(12 - len(start))) == 12:
        if head[:4] == _MAGIC:
            order = _order(head)
        kind, length = struct.unpack_from(order + "II", head)
        if not 12 <= length <= _LARGEST:
            raise ScenarioError(f"{name}: broken at byte {at}: a block of {length} bytes")
        block = head + file.read(length - 12)
        if len(block) < length:
            return
        yield kind, block
        at, start = at + length, b""


def _order(section: bytes) -> str:
    return ">" if section[8:12] == b"\x1a\x2b\x3c\x4d" else "<"


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
