"""Samples of a guest's sockets: rows of flows and their totals, from messages made here.

Must not need a guest.
"""

import socket
import struct
from pathlib import Path

from sojourn.backends.linux.samples import End, read_samples

MS = 1_000_000
SENDER, RECEIVER = ("10.0.0.1", 5000), ("10.0.1.1", 80)
INFO_BYTES, DELIVERED_AT = 232, 128


def message(local: End, peer: End, delivered: int) -> bytes:
    """An answer of `sock_diag` about one socket, with its `struct tcp_info`."""
    body = bytearray(72)
    body[0] = socket.AF_INET
    for at, port_at, (address, port) in ((8, 4, local), (24, 6, peer)):
        body[at : at + 4] = socket.inet_aton(address)
        struct.pack_into(">H", body, port_at, port)
    info = bytearray(INFO_BYTES)
    struct.pack_into("Q", info, DELIVERED_AT, delivered)
    body += struct.pack("HH", 4 + INFO_BYTES, 2) + info
    return struct.pack("IHHII", 16 + len(body), 20, 0, 0, 0) + bytes(body)


def record(time: int, side: int, *messages: bytes) -> bytes:
    joined = b"".join(messages)
    return struct.pack("<QII", time, side, len(joined)) + joined


def who(_side: int, local: End, _peer: End) -> tuple[int, bool]:
    return 0, local == SENDER


def both(time: int, delivered: int) -> bytes:
    """A sample that finds both ends of the flow."""
    return record(time, 0, message(SENDER, RECEIVER, 0)) + record(
        time, 1, message(RECEIVER, SENDER, delivered)
    )


def receiver(time: int, delivered: int) -> bytes:
    return record(time, 0) + record(time, 1, message(RECEIVER, SENDER, delivered))


def totals_and_last_row(path: Path, data: bytes) -> tuple[int, int]:
    path.write_bytes(data)
    samples = read_samples(path, who, 100 * MS)
    return samples.totals[0].delivered, samples.columns["delivered"][-1]


def test_a_late_sample_without_the_senders_does_not_count(tmp_path: Path) -> None:
    data = both(80 * MS, 1000) + receiver(102 * MS, 9000)
    assert totals_and_last_row(tmp_path / "sockets.bin", data) == (1000, 1000)


def test_a_late_sample_with_both_ends_counts(tmp_path: Path) -> None:
    data = both(80 * MS, 1000) + both(102 * MS, 2000)
    assert totals_and_last_row(tmp_path / "sockets.bin", data) == (2000, 2000)


def test_what_a_receiver_has_within_the_run_counts_without_its_sender(tmp_path: Path) -> None:
    data = both(80 * MS, 1000) + receiver(90 * MS, 3000)
    assert totals_and_last_row(tmp_path / "sockets.bin", data) == (3000, 1000)
