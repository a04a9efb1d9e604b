"""TCP sockets as the hosts use them: opened at an end, read without a copy, aborted.

Depends on the kernel's sockets. Must not depend on an application.
"""

import socket
import struct
from typing import Any

_CONGESTION = 13
_MAX_PACING_RATE = 47
_UNLIMITED = 1 << 40
"""Bytes per second: no limit, and yet one, so that the kernel paces."""
_ABORT = struct.pack("ii", 1, 0)
_ROOM = bytearray(1 << 20)
ZEROS = memoryview(bytes(128 * 1024))
"""The block of all data; as much as iperf3 writes at once."""

End = tuple[str, int]


def opening(flow: dict[str, Any], local: End) -> socket.socket:
    """A socket that is bound and may connect."""
    one = socket.socket(flow["family"], socket.SOCK_STREAM)
    one.setblocking(False)
    one.setsockopt(socket.IPPROTO_TCP, _CONGESTION, flow["congestion_control"].encode())
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(local)
    return one


def pace(one: socket.socket, pacing: bool | int) -> None:
    """Has the kernel space the segments of a flow: at its own rate, or at most at so many bit/s.

    A limit by SO_MAX_PACING_RATE makes TCP pace by itself, without `fq` at the interface.
    """
    if pacing is False:
        return
    most = _UNLIMITED if pacing is True else max(pacing // 8, 1)
    one.setsockopt(socket.SOL_SOCKET, _MAX_PACING_RATE, struct.pack("Q", most))


def accepted(flow: dict[str, Any], one: socket.socket) -> None:
    """Configures the socket of the end that accepted; it may be the sender."""
    one.setsockopt(socket.IPPROTO_TCP, _CONGESTION, flow["congestion_control"].encode())


def write(one: socket.socket, size: int) -> int:
    """Writes up to `size` bytes; how many the socket took."""
    written = 0
    while written < size:
        try:
            written += one.send(ZEROS[: size - written])
        except OSError:
            break
    return written


def read(one: socket.socket) -> int | None:
    """Discards what has come, in the kernel; how much it was, or `None` at the end."""
    try:
        return one.recv_into(_ROOM, len(_ROOM), socket.MSG_TRUNC) or None
    except BlockingIOError:
        return 0
    except OSError:
        return None


def discard(one: socket.socket) -> None:
    """Discards what comes as it comes, in the kernel, to the end of the connection; then closes."""
    one.setblocking(True)
    try:
        while one.recv_into(_ROOM, len(_ROOM), socket.MSG_TRUNC | socket.MSG_WAITALL):
            pass
    except OSError:
        pass
    one.close()


def wake_at(one: socket.socket, missing: int, flow: dict[str, Any]) -> None:
    """Has the socket's owner woken when so many bytes are there, or a piece of the flow's size."""
    low_water = max(min(missing, flow["piece"]), 1)
    one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, low_water)


def abort(one: socket.socket) -> None:
    """Sends nothing more, not even what is in the socket."""
    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
    one.close()
