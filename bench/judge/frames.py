"""Frames for the comparison with bmv2, malformed and valid; the same for the same seed.

Ethernet with IPv4, other protocols, or nothing sensible; TCP, UDP, ICMP behind it; truncated, with
wrong checksums and lengths, at the end of their time to live, to where no route leads.
"""

import random
import struct

CLIENTS, SERVERS = 0x0A000000, 0x0A800000
"""10.0.0.0/9 and 10.128.0.0/9: what the control planes of `p4/v1model/` have routes to."""
_MAC = bytes.fromhex("02ff00000001 020000000001")
_IPV4 = 0x0800


def frames(count: int, seed: int) -> list[bytes]:
    """`count` frames; none is empty."""
    dice = random.Random(seed)
    return [_frame(dice) for _ in range(count)]


def _frame(dice: random.Random) -> bytes:
    frame = _whole(dice)
    if dice.random() < 0.15:
        frame = frame[: dice.randint(1, len(frame))]
    if dice.random() < 0.05:
        at = dice.randrange(len(frame))
        frame = frame[:at] + bytes([frame[at] ^ 1 << dice.randrange(8)]) + frame[at + 1 :]
    return frame


def _whole(dice: random.Random) -> bytes:
    kind = dice.random()
    if kind < 0.08:
        ethertype = dice.choice([0x0806, 0x86DD, 0x8100, 0, dice.randrange(1 << 16)])
        body = dice.randbytes(dice.randrange(60))
        return _MAC + ethertype.to_bytes(2, "big") + body
    return _MAC + _IPV4.to_bytes(2, "big") + _ipv4(dice)


def _ipv4(dice: random.Random) -> bytes:
    words = dice.choice([0] * 6 + [1, 3, 10])
    protocol = dice.choice([6] * 4 + [17] * 3 + [1, 47, dice.randrange(256)])
    body = _body(dice, protocol)
    version = dice.choice([4] * 15 + [5, 6])
    length = dice.choice([5 + words] * 15 + [dice.randrange(16)])
    fragment = dice.choice([0] * 8 + [0x2000, 0x2005, 185])
    ttl = dice.choice([64] * 6 + [0, 1, 2, 255])
    source, destination = dice.choice([CLIENTS, SERVERS]), dice.choice([CLIENTS, SERVERS])
    if dice.random() < 0.1:
        destination = dice.randrange(1 << 32)
    total = 20 + 4 * words + len(body) + dice.choice([0] * 8 + [1, -3, 400])
    head = struct.pack(
        ">BBHHHBBHII",
        version << 4 | length,
        dice.randrange(256),
        max(total, 0),
        dice.randrange(1 << 16),
        fragment,
        ttl,
        protocol,
        0,
        source + dice.randrange(1 << 8),
        destination + dice.randrange(1 << 8) & 0xFFFFFFFF,
    )
    options = dice.randbytes(4 * words)
    right = checksum(head + options)
    wrong = dice.choice([0] * 8 + [1, 0xFFFF])
    return head[:10] + (right ^ wrong).to_bytes(2, "big") + head[12:] + options + body


def _body(dice: random.Random, protocol: int) -> bytes:
    payload = dice.randbytes(dice.choice([0, 1, 3, 4, 5, 40, 300, 1400]))
    ports = struct.pack(">HH", dice.randrange(1 << 16), dice.randrange(1 << 16))
    if protocol == 6:
        words = dice.choice([5] * 4 + [8, 15, dice.randrange(16)])
        head = ports + dice.randbytes(8) + bytes([words << 4, 0x10]) + dice.randbytes(6)
        return head + dice.randbytes(4 * max(words - 5, 0)) + payload
    if protocol == 17:
        return ports + (8 + len(payload)).to_bytes(2, "big") + dice.randbytes(2) + payload
    return dice.randbytes(8) + payload


def checksum(data: bytes) -> int:
    """The internet's checksum (RFC 1071)."""
    data += bytes(len(data) % 2)
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
