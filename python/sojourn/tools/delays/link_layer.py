"""Link types of captures, and where a frame's network header begins.

The numbers are libpcap's (https://www.tcpdump.org/linktypes.html). Must not depend on a file
format, or on what is behind the network header.
"""

import struct
from enum import Enum

IPV4 = 0x0800
_IPV6 = 0x86DD
_TAGS = (0x8100, 0x88A8, 0x9100)
"""EtherTypes of VLAN tags (IEEE 802.1Q): four bytes, the next type at their end."""


class LinkType(Enum):
    """A link type whose frames are read."""

    NULL = 0
    ETHERNET = 1
    RAW = 101
    LOOP = 108
    COOKED = 113
    IPV4 = 228
    COOKED_2 = 276

    @property
    def title(self) -> str:
        """Its usual name."""
        return _TITLES[self]


_TITLES = {
    LinkType.NULL: "BSD loopback",
    LinkType.ETHERNET: "Ethernet",
    LinkType.RAW: "IP",
    LinkType.LOOP: "OpenBSD loopback",
    LinkType.COOKED: "Linux cooked",
    LinkType.IPV4: "IPv4",
    LinkType.COOKED_2: "Linux cooked v2",
}

LINK_TYPES = {link.value: link for link in LinkType} | {12: LinkType.RAW, 14: LinkType.RAW}
"""By number; 12 and 14 are IP in files of some systems."""


def network_header(link: LinkType, data: bytes) -> tuple[int, int] | None:
    """The EtherType of a frame's network protocol and the offset of its header; nothing if the
    frame is cut before it."""
    match link:
        case LinkType.RAW | LinkType.IPV4:
            version = data[0] >> 4 if data else 0
            return {4: (IPV4, 0), 6: (_IPV6, 0)}.get(version)
        case LinkType.NULL | LinkType.LOOP:
            # An address family in the capturing host's byte order; AF_INET is 2 everywhere.
            return (IPV4, 4) if data[:4] in (b"\0\0\0\2", b"\2\0\0\0") else None
        case LinkType.COOKED_2:
            return _behind_tags(data, 0, 20)
        case LinkType.COOKED:
            return _behind_tags(data, 14, 16)
        case LinkType.ETHERNET:
            return _behind_tags(data, 12, 14)


def _behind_tags(data: bytes, at: int, header: int) -> tuple[int, int] | None:
    """Type and position behind VLAN tags, if there are any, where the type is at `at` and the rest
    at `header`."""
    while len(data) >= max(at + 2, header):
        (kind,) = struct.unpack_from("!H", data, at)
        if kind not in _TAGS:
            return kind, header
        at, header = header + 2, header + 4
    return None
