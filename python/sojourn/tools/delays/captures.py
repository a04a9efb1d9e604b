"""Frames of a capture file: pcapng, or pcap as tcpdump writes it.

Depends on the formats alone (IETF draft-ietf-opsawg-pcapng and draft-ietf-opsawg-pcap), because the
crate `pcap-file` takes every time of a pcapng for nanoseconds (2.0.0), or refuses units that are
powers of two (3.0.0-rc1). Reads either byte order and every block that holds a packet, and has one
block in memory. Frames of a link type that it does not know are counted, not yielded. Knows nothing
of what is in a frame.
"""

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.tools.delays.link_layer import LINK_TYPES, LinkType

_SECTION, _INTERFACE, _PACKET, _SIMPLE, _ENHANCED = 0x0A0D0D0A, 1, 2, 3, 6
_SHORTEST = {_INTERFACE: 8, _PACKET: 20, _SIMPLE: 4, _ENHANCED: 20}
"""Bytes of the fixed fields of a block, by its type."""
_NAME, _RESOLUTION, _OFFSET = 2, 9, 14
_MAGIC = b"\x0a\x0d\x0d\x0a"
"""First bytes of a pcapng file, and of each section."""
_LARGEST = 64 << 20
"""Bytes of a frame or a block that is read."""


class _Pcap(NamedTuple):
    order: str
    unit: int
    """ns of a unit of the fraction of a second."""
    behind: int
    """Bytes between a record's header and its frame."""


_PCAP = {
    b"\xd4\xc3\xb2\xa1": _Pcap("<", 1000, 0),
    b"\xa1\xb2\xc3\xd4": _Pcap(">", 1000, 0),
    b"\x4d\x3c\xb2\xa1": _Pcap("<", 1, 0),
    b"\xa1\xb2\x3c\x4d": _Pcap(">", 1, 0),
    # Kuznetzov's: interface, protocol and packet type stand in front of a frame.
    b"\x34\xcd\xb2\xa1": _Pcap("<", 1000, 8),
    b"\xa1\xb2\xcd\x34": _Pcap(">", 1000, 8),
}
"""By the magic number of a pcap file."""
_OTHERS = {
    b"\x1f\x8b": "compressed by gzip; unpack it first",
    b"\x28\xb5\x2f\xfd": "compressed by zstd; unpack it first",
    b"\xfd7zX": "compressed by xz; unpack it first",
    b"BZh": "compressed by bzip2; unpack it first",
    b"snoo": "a snoop file; `editcap -F pcapng` makes a pcapng file of it",
}
"""Known files of other formats, by their first bytes."""


@dataclass(frozen=True)
class CapturedFrame:
    """One frame."""

    time: int | None
    """ns; nothing in a block that has no time."""
    interface: str
    """Its name, or nothing."""
    data: bytes
    """Its first bytes."""
    link: LinkType = LinkType.ETHERNET
    """The link type of `data`."""
    length: int = 0
    """Bytes on the wire."""


@dataclass(frozen=True)
class _Interface:
    name: str
    link: int
    """Number of its link type."""
    limit: int
    """Bytes of a frame that are kept; 0: all."""
    tick: int
    """A unit of its clock is 10^9 / tick ns."""
    offset: int
    """Seconds that are added to its times."""

    def time(self, ticks: int) -> int:
        """The time of so many units of its clock, ns."""
        return self.offset * 10**9 + ticks * 10**9 // self.tick

    def kept_of(self, length: int) -> int:
        """Number of captured bytes of a frame of `length` bytes."""
        return min(length, self.limit) if self.limit else length


class Frames:
    """The frames in a capture file, in its order; of a cut file those before the cut."""

    def __init__(self, path: Path) -> None:
        self._name = shown(path)
        self._skipped = Counter[int]()
        self._cut = ""
        self._frames = self._opened(path)

    def __iter__(self) -> Iterator[CapturedFrame]:
        """The frames whose link type is known."""
        return self._frames

    @property
    def skipped(self) -> list[str]:
        """The frames passed over so far, in words: how many, and why; where a cut file ends."""
        known = ", ".join(f"{link.title} ({link.value})" for link in LinkType)
        passed_over = [
            f"{count:,} frame{'s' if count > 1 else ''} of link type {number}, which is not read; "
            f"known are {known}"
            for number, count in sorted(self._skipped.items())
        ]
        return [*passed_over, self._cut] if self._cut else passed_over

    def _opened(self, path: Path) -> Iterator[CapturedFrame]:
        try:
            file = path.open("rb")
            magic = file.read(4)
        except OSError as error:
            raise ScenarioError(f"{self._name}: {error.strerror}") from error
        if magic == _MAGIC:
            return self._pcapng(file)
        if magic in _PCAP:
            return self._pcap(file, _PCAP[magic])
        file.close()
        why = next((why for start, why in _OTHERS.items() if magic.startswith(start)), None)
        raise ScenarioError(f"{self._name}: {why or 'neither a pcapng nor a pcap file'}")

    def _pcap(self, file: BinaryIO, form: _Pcap) -> Iterator[CapturedFrame]:
        with file:
            head = file.read(20)
            if len(head) < 20:
                raise ScenarioError(f"{self._name}: cut within its header of 24 bytes")
            (types,) = struct.unpack_from(form.order + "I", head, 16)
            number = types & 0xFFFF
            # The frame check sequence at a frame's end, in units of two bytes, if bit 26 is set.
            check = 2 * (types >> 28) if types >> 26 & 1 else 0
            at = 24
            while record := file.read(16):
                if len(record) < 16:
                    self._ends_within("record", at)
                    return
                seconds, fraction, kept, length = struct.unpack(form.order + "IIII", record)
                file.read(form.behind)
                data = file.read(min(kept, _LARGEST))
                cut = len(data) < kept
                if kept == length and not cut:
                    data, length = data[: kept - check], length - check
                time = seconds * 10**9 + fraction * form.unit
                yield from self._of(number, time, "", data, length)
                if cut:
                    self._ends_within("record", at)
                    return
                at += 16 + form.behind + kept

    def _pcapng(self, file: BinaryIO) -> Iterator[CapturedFrame]:
        order, interfaces = "<", list[_Interface]()
        with file:
            for kind, block in self._blocks(file):
                if kind == _SECTION:
                    order = _order(block)
                    interfaces = []
                    continue
                body = block[8:-4]
                shortest = _SHORTEST.get(kind, 0)
                if len(body) < shortest:
                    raise ScenarioError(
                        f"{self._name}: a block of type {kind} with {len(body)} bytes of content; "
                        f"it has at least {shortest}"
                    )
                if kind == _INTERFACE:
                    interfaces.append(self._interface(body, order))
                elif (found := _packet(kind, body, order)) is not None:
                    if found.interface >= len(interfaces):
                        number = found.interface
                        raise ScenarioError(
                            f"{self._name}: a frame of interface {number}, which it has not"
                        )
                    at = interfaces[found.interface]
                    time = None if found.ticks is None else at.time(found.ticks)
                    kept = found.kept if found.kept is not None else at.kept_of(found.length)
                    data = found.rest[:kept]
                    yield from self._of(at.link, time, at.name, data, found.length)

    def _of(
        self, number: int, time: int | None, interface: str, data: bytes, length: int
    ) -> Iterator[CapturedFrame]:
        link = LINK_TYPES.get(number)
        if link is None:
            self._skipped[number] += 1
        else:
            yield CapturedFrame(time, interface, data, link, length)

    def _ends_within(self, what: str, at: int) -> None:
        self._cut = f"the file ends within the {what} at byte {at:,}; what follows is missing"

    def _blocks(self, file: BinaryIO) -> Iterator[tuple[int, bytes]]:
        """Each whole block with its kind; the file has been read behind the first four bytes."""
        order, at, start = "<", 0, _MAGIC
        while head := start + file.read(12 - len(start)):
            if len(head) < 12:
                self._ends_within("block", at)
                return
            if head[:4] == _MAGIC:
                order = _order(head)
            kind, length = struct.unpack_from(order + "II", head)
            if not 12 <= length <= _LARGEST:
                raise ScenarioError(f"{self._name}: broken at byte {at}: a block of {length} bytes")
            block = head + file.read(length - 12)
            if len(block) < length:
                self._ends_within("block", at)
                return
            yield kind, block
            at, start = at + length, b""

    def _interface(self, body: bytes, order: str) -> _Interface:
        link, limit = struct.unpack_from(order + "HxxI", body)
        name, tick, offset, at = "", 10**6, 0, 8
        while at + 4 <= len(body):
            code, length = struct.unpack_from(order + "HH", body, at)
            value = body[at + 4 : at + 4 + length]
            if code == 0:
                break
            if code == _NAME:
                name = value.decode("utf-8", errors="replace").rstrip("\0")
            elif code == _RESOLUTION and value:
                power = value[0] & 0x7F
                if power > (largest := 63 if value[0] & 0x80 else 19):
                    raise ScenarioError(
                        f"{self._name}: if_tsresol of an interface is {value[0]:#04x}; "
                        f"its exponent is at most {largest}"
                    )
                tick = 1 << power if value[0] & 0x80 else 10**power
            elif code == _OFFSET:
                if len(value) != 8:
                    raise ScenarioError(
                        f"{self._name}: if_tsoffset of an interface has {len(value)} bytes, not 8"
                    )
                (offset,) = struct.unpack(order + "q", value)
            at += 4 + (length + 3 & ~3)
        return _Interface(name, link, limit, tick, offset)


def read_frames(path: Path) -> Frames:
    """The frames in the file at `path`; `ScenarioError` if it is no capture."""
    return Frames(path)


class _Packet(NamedTuple):
    """A packet of a block."""

    interface: int
    ticks: int | None
    kept: int | None
    """Bytes of the frame in the file; nothing if the interface says it."""
    length: int
    rest: bytes
    """The frame and what follows it."""


def _packet(kind: int, body: bytes, order: str) -> _Packet | None:
    """The packet of an Enhanced, a Simple or an obsolete Packet Block (sections 4.3, 4.4 and
    appendix A); nothing of another block."""
    if kind == _ENHANCED:
        number, high, low, kept, length = struct.unpack_from(order + "IIIII", body)
        return _Packet(number, high << 32 | low, kept, length, body[20:])
    if kind == _PACKET:
        number, _, high, low, kept, length = struct.unpack_from(order + "HHIIII", body)
        return _Packet(number, high << 32 | low, kept, length, body[20:])
    if kind == _SIMPLE:
        (length,) = struct.unpack_from(order + "I", body)
        return _Packet(0, None, None, length, body[4:])
    return None


def _order(section: bytes) -> str:
    return ">" if section[8:12] == b"\x1a\x2b\x3c\x4d" else "<"
