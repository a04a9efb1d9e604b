"""Captured frames as a pcapng file with two interfaces: before and behind the bottleneck.

Depends on the format alone (IETF draft-ietf-opsawg-pcapng, sections 4.1 to 4.3): one section
header, two interface descriptions with nanosecond resolution, one enhanced packet block per frame.
A frame's payload of zeros is not stored; the block keeps the length that it had on the wire. When
the disk is full the file ends at a whole block. `captures` says why no library is used.
"""

import struct
from collections.abc import Iterable
from pathlib import Path

from sojourn.common.closing import Closing

Frame = tuple[int, int, bytes, int]
"""Time in ns, interface (0 entered, 1 left), the frame's first bytes, its length on the wire."""

_SECTION_HEADER, _INTERFACE, _ENHANCED_PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER_MAGIC = 0x1A2B3C4D
_ETHERNET = 1
_END_OF_OPTIONS, _IF_NAME, _IF_DESCRIPTION, _SECTION_APPLICATION = 0, 2, 3, 4
_IF_TIME_RESOLUTION = 9
_NANOSECONDS = bytes([9])


class CaptureWriter(Closing):
    """A pcapng file that grows frame by frame and is readable at any block's end."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        self._append(
            _section_header()
            + _interface("entered", "before the bottleneck's queue")
            + _interface("left", "after the bottleneck's port")
        )

    def write(self, frames: Iterable[Frame]) -> None:
        """Appends frames; if the disk is full, the file ends with what it had before."""
        self._append(b"".join(_packet(*frame) for frame in frames))

    def _append(self, data: bytes) -> None:
        start = self._file.tell()
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError:
            self._file.truncate(start)
            raise

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def _block(kind: int, body: bytes) -> bytes:
    length = 12 + len(body)
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + _padded(value)


def _section_header() -> bytes:
    unknown_length = -1
    fixed = struct.pack("<IHHq", _BYTE_ORDER_MAGIC, 1, 0, unknown_length)
    options = _option(_SECTION_APPLICATION, b"sojourn") + _option(_END_OF_OPTIONS, b"")
    return _block(_SECTION_HEADER, fixed + options)


def _interface(name: str, description: str) -> bytes:
    no_limit = 0
    options = (
        _option(_IF_NAME, name.encode())
        + _option(_IF_DESCRIPTION, description.encode())
        + _option(_IF_TIME_RESOLUTION, _NANOSECONDS)
        + _option(_END_OF_OPTIONS, b"")
    )
    return _block(_INTERFACE, struct.pack("<HHI", _ETHERNET, 0, no_limit) + options)


def _packet(time: int, interface: int, data: bytes, length: int) -> bytes:
    fixed = struct.pack("<IIIII", interface, time >> 32, time & 0xFFFFFFFF, len(data), length)
    return _block(_ENHANCED_PACKET, fixed + _padded(data))
