"""Offloads of network interfaces: switched off while a switch owns them, restored at the end.

With them the kernel hands over frames of 64 kB that were never on a wire, and checksums that
hardware was to fill in. By the ioctl that ethtool uses for each (`linux/ethtool.h`).
"""

import contextlib
import ctypes
import fcntl
import socket
import struct
from collections.abc import Iterator, Sequence

_SIOCETHTOOL = 0x8946
_FEATURES = {
    "rx checksum": (0x14, 0x15),
    "tx checksum": (0x16, 0x17),
    "scatter-gather": (0x18, 0x19),
    "tcp segmentation": (0x1E, 0x1F),
    "generic segmentation": (0x23, 0x24),
    "generic receive": (0x2B, 0x2C),
}
"""Offload -> the commands that read and write it."""


def _ask(control: socket.socket, name: str, command: int, value: int) -> int:
    words = bytearray(struct.pack("II", command, value))
    # The request holds a pointer to the words, which must stay where they are meanwhile.
    held = (ctypes.c_char * len(words)).from_buffer(words)
    request = struct.pack("16sP", name.encode(), ctypes.addressof(held)) + bytes(16)
    fcntl.ioctl(control, _SIOCETHTOOL, request)
    return int(struct.unpack("II", words)[1])


def features(name: str) -> dict[str, int]:
    """The offloads of an interface, each 1 if it is on."""
    found: dict[str, int] = {}
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for what, (read, _) in _FEATURES.items():
            with contextlib.suppress(OSError):
                found[what] = _ask(control, name, read, 0)
    return found


@contextlib.contextmanager
def switched_off(interfaces: Sequence[str]) -> Iterator[None]:
    """While it holds, the interfaces hand over frames as they are; what an interface does not have
    is left alone."""
    before: list[tuple[str, int, int]] = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        try:
            for name in interfaces:
                for read, write in _FEATURES.values():
                    with contextlib.suppress(OSError):
                        was = _ask(control, name, read, 0)
                        if was:
                            _ask(control, name, write, 0)
                            before.append((name, write, was))
            yield
        finally:
            for name, write, was in reversed(before):
                # The interface may be gone by now.
                with contextlib.suppress(OSError):
                    _ask(control, name, write, was)
