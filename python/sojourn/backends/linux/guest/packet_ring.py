"""Frames that pass an interface, as the kernel writes them into a shared ring with their times.

Depends on packet sockets (TPACKET_V3): the kernel fills blocks without any system call of ours, and
full blocks are copied to a file as they are. Times are taken where the packet is handed to the
interface's taps: on arrival just before it is routed, on departure just after it left the qdisc.
"""

import ctypes
import mmap
import socket
import struct
from pathlib import Path

_SOL_PACKET, _SO_ATTACH_FILTER = 263, 26
_RX_RING, _STATISTICS, _VERSION = 5, 6, 10
_V3 = 2
_ALL_PROTOCOLS = 3
_BLOCK, _FRAME = 1 << 18, 2048
_RETIRE_MS = 60
_SNAP = 96
"""Bytes of each frame that are kept: Ethernet, IP, TCP with the timestamp option."""

_LOAD_WORD, _LOAD_HALF, _LOAD_BYTE = 0x20, 0x28, 0x30
_JUMP_IF_EQUAL, _RETURN = 0x15, 0x06
_PACKET_TYPE = 0xFFFFF000 + 4
_OUTGOING, _IPV4, _IPV6, _UDP = 4, 0x0800, 0x86DD, 17
_STATUS_OF_USER = 1


class Ring:
    """Capture of one interface in one direction, written to a file."""

    def __init__(
        self, interface: str, path: Path, *, outgoing: bool, only_udp: bool, blocks: int
    ) -> None:
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self._socket.setsockopt(_SOL_PACKET, _VERSION, _V3)
        self._blocks = blocks
        request = (_BLOCK, blocks, _FRAME, _BLOCK * blocks // _FRAME, _RETIRE_MS, 0, 0)
        self._socket.setsockopt(_SOL_PACKET, _RX_RING, struct.pack("7I", *request))
        self._ring = mmap.mmap(self._socket.fileno(), _BLOCK * blocks)
        self._filter(outgoing, only_udp)
        self._socket.bind((interface, _ALL_PROTOCOLS))
        self._file = path.open("wb", buffering=0)
        self._next = 0
        self.lost = 0

    def _filter(self, outgoing: bool, only_udp: bool) -> None:
        """A classic BPF program: packets of that direction, cut to what is kept."""
        length = 9 if only_udp else 2
        # Each instruction: code, where to go on if true and if false, and a number.
        keep, drop = length, length + 1
        program = [(_LOAD_WORD, 0, 0, _PACKET_TYPE)]
        wanted = (0, drop - 2) if outgoing else (drop - 2, 0)
        program.append((_JUMP_IF_EQUAL, *wanted, _OUTGOING))
        if only_udp:
            program += [
                (_LOAD_HALF, 0, 0, 12),
                (_JUMP_IF_EQUAL, 0, 2, _IPV4),
                (_LOAD_BYTE, 0, 0, 23),
                (_JUMP_IF_EQUAL, keep - 6, drop - 6, _UDP),
                (_JUMP_IF_EQUAL, 0, drop - 7, _IPV6),
                (_LOAD_BYTE, 0, 0, 20),
                (_JUMP_IF_EQUAL, keep - 9, drop - 9, _UDP),
            ]
        program += [(_RETURN, 0, 0, _SNAP), (_RETURN, 0, 0, 0)]
        code = b"".join(struct.pack("HBBI", *instruction) for instruction in program)
        text = ctypes.create_string_buffer(code)
        head = struct.pack("HxxxxxxP", len(program), ctypes.addressof(text))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, head)

    def drain(self) -> int:
        """Writes the blocks that are full, gives them back, and says how many there were."""
        count = 0
        while True:
            start = self._next * _BLOCK
            (status,) = struct.unpack_from("I", self._ring, start + 8)
            if not status & _STATUS_OF_USER:
                break
            (length,) = struct.unpack_from("I", self._ring, start + 20)
            self._file.write(self._ring[start : start + length])
            struct.pack_into("I", self._ring, start + 8, 0)
            self._next = (self._next + 1) % self._blocks
            count += 1
        return count

    def close(self) -> None:
        """Writes what is left and notes how many frames found the ring full."""
        self.drain()
        raw = self._socket.getsockopt(_SOL_PACKET, _STATISTICS, 12)
        self.lost = struct.unpack("3I", raw)[1]
        self._file.close()
        self._socket.close()
