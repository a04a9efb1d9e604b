"""Turns an interface's offloads off, so that the qdisc gets packets of the wire's size.

Depends on the ethtool ioctl. Must not depend on a topology.
"""

import array
import contextlib
import fcntl
import socket
import struct
from collections.abc import Sequence

_SIOCETHTOOL = 0x8946
_SET = {
    "tso": 0x1F,
    "gso": 0x24,
    "gro": 0x2C,
    "tx": 0x17,
    "sg": 0x19,
}
"""ETHTOOL_S... commands of <linux/ethtool.h>."""


def offloads_off(interface: str, also: Sequence[str] = ()) -> None:
    """Disables segmentation and receive offloads, and the features in `also`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for command in ("tso", "gso", "gro", *also):
            value = array.array("I", [_SET[command], 0])
            address, _ = value.buffer_info()
            request = struct.pack("16sP", interface.encode(), address)
            # What the interface does not have cannot be on.
            with contextlib.suppress(OSError):
                fcntl.ioctl(control, _SIOCETHTOOL, request)
