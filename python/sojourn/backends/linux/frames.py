"""Captured frames as columns: time, flow, size, ECN field, and a key that is a packet's own.

Depends on the blocks that the kernel wrote (TPACKET_V3) and on the address scheme. The key is what
the router does not change: IP identification, and the transport header up to its timestamps.
"""

import struct
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sojourn.backends.linux.addresses import FIRST_PORT

Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

_KEPT = 96
_BLOCK_HEAD = struct.Struct("6I")
_FRAME_HEAD = struct.Struct("6IHH")
_TRANSPORT = 32
"""Bytes of TCP with its timestamp option, or of UDP and the number in its payload."""
_HOST_BITS = (1 << 23) - 1
_TCP, _UDP = 6, 17
NOBODY = -1


@dataclass(frozen=True)
class Frames:
    """Frames in the order in which they passed."""

    time: Longs
    """ns since the epoch, by the guest's clock."""
    size: Longs
    """Bytes of the frame, without FCS."""
    bytes: Bytes
    """The first bytes of each, padded with zeros."""
    kept: Longs
    """The number of those that belong to the frame."""
    flow: Longs
    """Number of the flow whose host behind the bottleneck it is for, or for frames on the way back
    from; `NOBODY` for all else."""

    def __len__(self) -> int:
        return len(self.time)

    def of_flows(self) -> "Frames":
        """Those that belong to a flow."""
        return self.selected(self.flow != NOBODY)

    def selected(self, kept: npt.NDArray[np.bool_]) -> "Frames":
        """Some of them."""
        return Frames(*(getattr(self, name)[kept] for name in self.__dataclass_fields__))

    def is_for(self, ipv4: str, ipv6: str) -> npt.NDArray[np.bool_]:
        """Mask of the frames to a host with these addresses."""
        v4, v6 = (np.frombuffer(ip_address(one).packed, np.uint8) for one in (ipv4, ipv6))
        is_v6 = _is_v6(self.bytes)
        to_v4 = (self.bytes[:, 30:34] == v4).all(axis=1) & ~is_v6
        return np.asarray(to_v4 | (is_v6 & (self.bytes[:, 38:54] == v6).all(axis=1)))

    def until(self, end: int) -> "Frames":
        """Those up to then."""
        return self.selected(self.time <= end)

    def numbered(self, numbers: Longs) -> "Frames":
        """The same with the flows' numbers in place of those by which hosts are addressed."""
        known = (self.flow >= 0) & (self.flow < len(numbers))
        numbered = numbers[np.where(known, self.flow, 0)]
        return replace(self, flow=np.where(known, numbered, NOBODY))

    def payload(self, offset: int, count: int) -> Longs:
        """A big-endian number of `count` bytes at `offset` of each datagram's payload."""
        v4, v6 = (_number(self.bytes[:, at + offset : at + offset + count]) for at in (42, 62))
        return np.where(_is_v6(self.bytes), v6, v4)

    @property
    def ecn(self) -> Longs:
        """The ECN field: 3 is a mark."""
        v4 = self.bytes[:, 15] & 3
        v6 = self.bytes[:, 15] >> 4 & 3
        return np.where(_is_v6(self.bytes), v6, v4).astype(np.int64)

    @property
    def keys(self) -> npt.NDArray[np.void]:
        """Identity of each packet in the run, the same before and after the router."""
        v6 = _is_v6(self.bytes)[:, None]
        transport = np.where(
            v6, self.bytes[:, 54 : 54 + _TRANSPORT], self.bytes[:, 34 : 34 + _TRANSPORT]
        )
        identity = np.where(v6, 0, self.bytes[:, 18:20]).astype(np.uint8)
        flow = self.flow.astype("<u4").view(np.uint8).reshape(-1, 4)
        key = np.ascontiguousarray(np.hstack([flow, identity, transport]))
        return key.view(np.dtype((np.void, key.shape[1]))).ravel()


def read_frames(path: Path, *, back: bool = False, by_ports: bool = False) -> Frames:
    """The frames in a ring's file. `back` is for frames on their way to the front, `by_ports` for
    flows that differ in ports only, as in a network."""
    data = path.read_bytes()
    heads = _heads(data)
    columns = np.array(heads, np.int64).reshape(-1, 4)
    time, size, kept, place = columns.T
    everything = np.frombuffer(data + bytes(_KEPT), np.uint8)
    offsets = np.arange(_KEPT)
    first = everything[place[:, None] + offsets] if len(place) else np.zeros((0, _KEPT), np.uint8)
    first = np.where(offsets < kept[:, None], first, 0).astype(np.uint8)
    flows = _flows_by_ports(first) if by_ports else _flows(first, back=back)
    return Frames(time, size, first, kept, flows)


def _heads(data: bytes) -> list[tuple[int, int, int, int]]:
    """Time, size, bytes kept and their place, for each frame of each block."""
    heads = []
    block = 0
    while block + _BLOCK_HEAD.size <= len(data):
        # Bytes 8 to 24: status, frames, offset of the first, length of the block.
        _, count, first, length = struct.unpack_from("4I", data, block + 8)
        place = block + first
        for _ in range(count):
            ahead, seconds, ns, kept, size, _, mac, _ = _FRAME_HEAD.unpack_from(data, place)
            heads.append((seconds * 10**9 + ns, size, kept, place + mac))
            place += ahead
        block += length
    return heads


def _is_v6(first: Bytes) -> npt.NDArray[np.bool_]:
    return np.asarray((first[:, 12] == 0x86) & (first[:, 13] == 0xDD))


def _number(first: Bytes) -> Longs:
    """Big-endian columns of bytes as numbers."""
    value = np.zeros(len(first), np.int64)
    for column in first.T:
        value = value << 8 | column
    return value


def _flows(first: Bytes, *, back: bool) -> Longs:
    """By the address of the host behind the bottleneck: where a frame goes, or whence it comes."""
    v6 = _is_v6(first)
    v4 = (first[:, 12] == 8) & (first[:, 13] == 0)
    at, at_v6 = (26, 22) if back else (30, 38)
    address = _number(first[:, at : at + 4])
    is_behind = address >> 23 == 10 << 1 | 1
    flow = np.where(v4 & is_behind, (address & _HOST_BITS) - 1, NOBODY)
    low, subnet = (
        _number(first[:, at_v6 + 12 : at_v6 + 16]),
        _number(first[:, at_v6 + 6 : at_v6 + 8]),
    )
    head = _number(first[:, at_v6 : at_v6 + 2])
    return np.where(v6 & (head == 0xFD00) & (subnet == 1), low - 1, flow)


def _flows_by_ports(first: Bytes) -> Longs:
    """By the port of who opened the connection, which is the higher one."""
    flow = np.full(len(first), NOBODY, np.int64)
    v6 = _is_v6(first)
    v4 = (first[:, 12] == 8) & (first[:, 13] == 0)
    for is_version, protocol, at in ((v4, 23, 34), (v6, 20, 54)):
        known = is_version & np.isin(first[:, protocol], (_TCP, _UDP))
        ports = np.maximum(_number(first[:, at : at + 2]), _number(first[:, at + 2 : at + 4]))
        flow = np.where(known & (ports >= FIRST_PORT), ports - FIRST_PORT, flow)
    return flow


def together(all_of_them: list[Frames]) -> Frames:
    """The frames of several taps in the order of time."""
    fields = Frames.__dataclass_fields__
    joined = Frames(
        *(np.concatenate([getattr(one, name) for one in all_of_them]) for name in fields)
    )
    order = np.argsort(joined.time, kind="stable")
    return Frames(*(getattr(joined, name)[order] for name in fields))
