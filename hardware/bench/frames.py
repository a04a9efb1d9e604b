"""Ethernet frames of the benches, and their bytes after a mark. Uses no module."""

import random


def ones_complement_sum(header: bytes) -> int:
    total = sum(int.from_bytes(header[at : at + 2], "big") for at in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def make_frame(rng: random.Random, size: int) -> bytes:
    """A frame of IPv4, IPv6 or neither, behind no, one or two tags, any ECN field."""
    tags = b"".join(
        bytes.fromhex("8100") + rng.randbytes(2) for _ in range(rng.choice((0, 0, 1, 2)))
    )
    field = rng.randrange(4)
    kind = rng.choice(("v4", "v4", "v6", "arp"))
    if kind == "v4":
        header = bytearray(bytes([0x45, rng.randrange(64) << 2 | field]) + rng.randbytes(18))
        header[10:12] = b"\0\0"
        header[10:12] = (ones_complement_sum(header) ^ 0xFFFF).to_bytes(2, "big")
        behind = bytes.fromhex("0800") + header
    elif kind == "v6":
        behind = bytes.fromhex("86dd") + bytes([0x60, field << 4]) + rng.randbytes(38)
    else:
        behind = bytes.fromhex("0806")
    head = rng.randbytes(12) + tags + behind
    return (head + rng.randbytes(max(0, size - len(head))))[:size]


def ip_header(frame: bytes) -> tuple[int, bytes]:
    """Where the IP header begins, and the type in front of it."""
    at = 12
    for _ in range(2):
        if frame[at : at + 2] in (b"\x81\x00", b"\x88\xa8"):
            at += 4
    return at + 2, frame[at : at + 2]


def codepoint(frame: bytes) -> int:
    at, kind = ip_header(frame)
    if kind == b"\x08\x00":
        return frame[at + 1] & 3
    return frame[at + 1] >> 4 & 3 if kind == b"\x86\xdd" else 0


def marked(frame: bytes) -> bytes:
    """The frame with Congestion Experienced, its checksum computed from nothing."""
    at, kind = ip_header(frame)
    found = bytearray(frame)
    if kind == b"\x86\xdd":
        found[at + 1] |= 0x30
        return bytes(found)
    found[at + 1] |= 3
    header = found[at : at + 20]
    header[10:12] = b"\0\0"
    found[at + 10 : at + 12] = (ones_complement_sum(header) ^ 0xFFFF).to_bytes(2, "big")
    return bytes(found)


# ---- Frames of flows ----

WITH_PORTS = (6, 17, 33, 132, 136)


def flow_header(rng: random.Random) -> bytes:
    """What the frames of a flow have in common.

    Four bytes for their form (tags; 4, 6 or 0 for no IP; whether there are ports; whether they are
    fragments), then what says the flow: protocol, addresses, ports; or the Ethernet addresses.
    """
    tags = rng.choice((0, 0, 1, 2))
    kind = rng.choice((4, 4, 6, 0))
    ports = kind != 0 and rng.random() < 0.8
    fragments = kind == 4 and not ports and rng.random() < 0.5
    form = bytes([tags, kind, ports, fragments])
    if kind == 0:
        return form + rng.randbytes(12)
    protocol = rng.choice(WITH_PORTS if ports or fragments else (1, 47, 50, 58))
    return form + bytes([protocol]) + rng.randbytes((8 if kind == 4 else 32) + 4 * ports)


def flow_frame(rng: random.Random, flow: bytes, size: int) -> bytes:
    """A frame of a flow, its other fields by chance. It has all its headers, however short."""
    tags, kind, _, fragments = flow[:4]
    tagged = b"".join(
        rng.choice((b"\x81\x00", b"\x88\xa8")) + rng.randbytes(2) for _ in range(tags)
    )
    ecn = rng.randrange(4)
    if kind == 0:
        head = flow[4:] + tagged + b"\x08\x06"
    elif kind == 4:
        addresses, transport = flow[5:13], flow[13:]
        offset = rng.randrange(1, 1 << 14) if fragments else 0
        header = bytearray(bytes([0x45, rng.randrange(64) << 2 | ecn]) + rng.randbytes(4))
        header += (rng.choice((0, 0x4000)) | offset).to_bytes(2, "big")
        header += bytes([rng.randrange(256), flow[4], 0, 0]) + addresses
        header[10:12] = (ones_complement_sum(header) ^ 0xFFFF).to_bytes(2, "big")
        head = rng.randbytes(12) + tagged + b"\x08\x00" + header + transport
    else:
        header = bytes([0x60 | rng.randrange(16), ecn << 4 | rng.randrange(16)]) + rng.randbytes(4)
        header += bytes([flow[4], rng.randrange(256)]) + flow[5:]
        head = rng.randbytes(12) + tagged + b"\x86\xdd" + header
    return head + rng.randbytes(max(0, size - len(head)))
