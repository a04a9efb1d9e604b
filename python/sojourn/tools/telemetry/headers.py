"""Headers of In-band Network Telemetry: INT-MD 2.1 and Telemetry Report 2.0, read from bytes.

Depends on the specifications of P4.org's Applications Working Group: INT 2.1, sections "INT over
TCP/UDP" and "INT-MD Metadata Header Format"; Telemetry Report 2.0, "Telemetry Report Format". INT
is found by its UDP destination port, the first of the specification's options. Must not depend on
captures.
"""

import struct
from dataclasses import dataclass
from ipaddress import IPv4Address

INT_PORT, REPORT_PORT = 5000, 32766
"""UDP ports of p4/int/headers.p4; the specifications name none."""

_UDP, _TCP = 17, 6
_INT_MD, _NEW_UDP, _SAME_UDP = 1, 2, 1
_REPORT_OF_INT, _ETHERNET, _IPV4 = 1, 3, 4
_TO_THE_END = 0xFF
"""A Report Length of so many words or more."""

_LENGTHS = {**dict.fromkeys(range(16), 4), 4: 8, 5: 8, 6: 8}
"""Bytes of a metadata value, by the bit that asks for it, counted from the left."""


class BrokenTelemetry(ValueError):
    """A header contradicts itself or its packet; the text says how."""


@dataclass(frozen=True)
class Hop:
    """What a switch measured of a packet; nothing where it had no value."""

    node: int | None = None
    ingress_port: int | None = None
    egress_port: int | None = None
    latency: int | None = None
    """In the switch, in its own unit (nanoseconds in the shipped programs)."""
    queue: int | None = None
    occupancy: int | None = None
    """Of the queue, in the switch's unit: packets of bmv2, cells of a Tofino."""
    ingress_time: int | None = None
    egress_time: int | None = None


@dataclass(frozen=True)
class Watched:
    """The head of a packet, with the hops that its stack has, the first one first."""

    flow: str
    protocol: int
    identification: int
    """Of IPv4."""
    hops: tuple[Hop, ...] = ()
    has_stack: bool = False
    exceeded: bool = False
    """A hop could not push: no hops remained (E)."""


@dataclass(frozen=True)
class Report:
    """An individual report."""

    node: int
    sequence: int
    """Of the node's reports, 22 bits."""
    dropped: bool
    own: Hop
    """The reporting node's."""
    packet: Watched | None = None


def metadata(bits: int, data: bytes, node: int | None = None) -> Hop:
    """A hop's values for these instruction bits. All ones stand for no value."""
    values: dict[str, int | None] = {"node": node}
    at = 0
    for bit, length in _LENGTHS.items():
        if not bits >> (15 - bit) & 1:
            continue
        word = data[at : at + length]
        at += length
        if len(word) < length:
            raise BrokenTelemetry("metadata that is shorter than its instruction bits say")
        if word == b"\xff" * length:
            continue
        value = int.from_bytes(word, "big")
        match bit:
            case 0:
                values["node"] = value
            case 1:
                values |= {"ingress_port": value >> 16, "egress_port": value & 0xFFFF}
            case 2:
                values["latency"] = value
            case 3:
                values |= {"queue": value >> 24, "occupancy": value & 0xFFFFFF}
            case 4:
                values["ingress_time"] = value
            case 5:
                values["egress_time"] = value
    return Hop(**values)


def read_packet(data: bytes, int_port: int = INT_PORT) -> Watched | None:
    """The packet that begins with an IPv4 header; nothing if it is none. `BrokenTelemetry`."""
    if len(data) < 20 or data[0] >> 4 != 4:
        return None
    identification, fragment, protocol = struct.unpack_from("!4xHHxB", data)
    header = 4 * (data[0] & 15)
    source, destination = (str(IPv4Address(data[at : at + 4])) for at in (12, 16))
    ports = data[header : header + 4]
    if protocol in (_UDP, _TCP) and not fragment & 0x1FFF and len(ports) == 4:
        near, far = struct.unpack("!HH", ports)
        if protocol == _UDP and far == int_port:
            return _with_stack(data[header + 8 :], near, (source, destination), identification)
        return Watched(f"{source}:{near} > {destination}:{far}", protocol, identification)
    return Watched(f"{source} > {destination}", protocol, identification)


def _with_stack(data: bytes, near: int, addresses: tuple[str, str], identification: int) -> Watched:
    """A packet with INT behind UDP; `data` begins with the shim."""
    if len(data) < 16:
        raise BrokenTelemetry("a packet to INT's port that is cut before its INT-MD header ends")
    kind, words, last = struct.unpack_from("!BBH", data)
    if kind >> 4 != _INT_MD:
        raise BrokenTelemetry(f"INT of type {kind >> 4}; type {_INT_MD}, INT-MD, is read")
    version, hop_words, _, bits, _, domain, _ = struct.unpack_from("!BxBBHHHH", data, 4)
    if version >> 4 != 2:
        raise BrokenTelemetry(f"INT-MD of version {version >> 4}; 2 is read")
    length, stack = 4 * (hop_words & 31), data[16 : 4 + 4 * words]
    if words < 3 or len(stack) < 4 * words - 12 or length == 0 or domain or len(stack) % length:
        raise BrokenTelemetry(
            f"an INT-MD stack of {len(stack)} bytes, where the shim says {4 * words - 12} and "
            f"a hop has {length}"
        )
    hops = [metadata(bits, stack[at : at + length]) for at in range(0, len(stack), length)]
    protocol, far, behind = last & 0xFF, 0, data[4 + 4 * words :]
    next_protocol = kind >> 2 & 3
    if next_protocol == _SAME_UDP:
        protocol, far = _UDP, last
    elif next_protocol != _NEW_UDP:
        raise BrokenTelemetry(
            f"an INT shim with next protocol type {next_protocol}; 1 and 2 are read"
        )
    elif protocol in (_UDP, _TCP) and len(behind) >= 4:
        near, far = struct.unpack_from("!HH", behind)
    flow = f"{addresses[0]}:{near} > {addresses[1]}:{far}"
    return Watched(flow, protocol, identification, tuple(hops[::-1]), True, bool(version >> 2 & 1))


def read_reports(data: bytes, int_port: int = INT_PORT) -> list[Report]:
    """The reports of a UDP payload that begins with a report group header. `BrokenTelemetry`."""
    if len(data) < 12:
        raise BrokenTelemetry("a packet to the reports' port that is cut before its first report")
    first, node = struct.unpack_from("!II", data)
    if first >> 28 != 2:
        raise BrokenTelemetry(f"a telemetry report of version {first >> 28}; 2 is read")
    found, at = list[Report](), 8
    while at + 4 <= len(data):
        kind, words, metadata_words, flags = struct.unpack_from("!BBBB", data, at)
        end = len(data) if words == _TO_THE_END else at + 4 + 4 * words
        body = data[at + 4 : end]
        if len(body) < end - at - 4 or words < 2 or kind >> 4 != _REPORT_OF_INT:
            raise BrokenTelemetry(
                f"a report of type {kind >> 4} with {words} words, of which {len(body)} bytes are "
                f"there; type {_REPORT_OF_INT}, INT, is read"
            )
        (bits,) = struct.unpack_from("!H", body)
        inner = body[8 + 4 * metadata_words :]
        if kind & 15 == _ETHERNET:
            inner = inner[14:] if inner[12:14] == b"\x08\x00" else b""
        packet = read_packet(inner, int_port) if kind & 15 in (_ETHERNET, _IPV4) else None
        own = metadata(bits & 0x7FFF, body[8 : 8 + 4 * metadata_words], node)
        found.append(Report(node, first & 0x3FFFFF, bool(flags >> 7), own, packet))
        at = end
    return found
