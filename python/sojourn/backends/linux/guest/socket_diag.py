"""The state of all TCP sockets of a namespace, read over one netlink socket.

The data are those of `ss -tin`, without a process for each sample: a dump request with
INET_DIAG_INFO, whose answers are stored as the kernel wrote them. Must not depend on their meaning.
"""

import socket
import struct
from collections.abc import Sequence

_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY = 4, 20
_REQUEST_DUMP = 0x301
_ESTABLISHED = 1 << 1
_INFO = 1 << (2 - 1)
_DONE = 3
_ROOM = 1 << 18


class SocketDump:
    """A netlink socket of the namespace in which it was made."""

    def __init__(self, families: Sequence[int]) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _SOCK_DIAG)
        self._requests = [_request(family) for family in families]

    def take(self) -> bytes:
        """All established TCP sockets, as netlink messages one after the other."""
        return b"".join(self._answer(request) for request in self._requests)

    def _answer(self, request: bytes) -> bytes:
        self._socket.send(request)
        parts = []
        while True:
            part = self._socket.recv(_ROOM)
            kind = _last_kind(part)
            parts.append(part)
            if kind == _DONE:
                return b"".join(parts)


def _request(family: int) -> bytes:
    head = struct.pack("IHHII", 72, _SOCK_DIAG_BY_FAMILY, _REQUEST_DUMP, 1, 0)
    ask = struct.pack("BBBxI", family, socket.IPPROTO_TCP, _INFO, _ESTABLISHED)
    return (head + ask).ljust(72, b"\0")


def _last_kind(part: bytes) -> int:
    """The type of the last message in `part`."""
    place = kind = 0
    while place + 16 <= len(part):
        length, kind = struct.unpack_from("IH", part, place)
        place += (length + 3) & ~3
    return kind
