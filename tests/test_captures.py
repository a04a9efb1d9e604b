"""Captures of other tools: every packet block, every link type that leads to IPv4."""

import struct
from pathlib import Path

import pytest

from conftest import call_sojourn
from sojourn.errors import ScenarioError
from sojourn.tools.delays.captures import read_frames
from sojourn.tools.delays.payload_delays import read_delays

DELAY = 777
"""us, in the payload."""
IP_AND_REST = (
    struct.pack("!BBHHHBBH4s4s", 0x45, 0, 52, 1, 0, 64, 6, 0, bytes([10, 0, 0, 1]), bytes(4))
    + struct.pack("!HHIIBBHHH", 5001, 5002, 1, 1, 5 << 4, 0x18, 1000, 0, 0)
    + struct.pack("!I", DELAY)
    + b"rest of it"[:8]
)
ETHERNET = b"\2" * 6 + b"\4" * 6 + b"\x08\0" + IP_AND_REST
TIME = 1_700_000_000_123_456
"""us"""


def option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


def capture(link: int, *blocks: bytes, options: bytes = b"", limit: int = 0) -> bytes:
    section = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    return section + block(1, struct.pack("<HHI", link, 0, limit) + options) + b"".join(blocks)


def enhanced(frame: bytes, time: int = TIME, length: int | None = None) -> bytes:
    on_wire = len(frame) if length is None else length
    head = struct.pack("<IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), on_wire)
    return block(6, head + frame)


def pcap(link: int, frame: bytes, magic: int = 0xA1B2C3D4, behind: bytes = b"") -> bytes:
    head = struct.pack("<IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    return head + struct.pack("<IIII", 17, 5, len(frame), len(frame)) + behind + frame


def found(folder: Path, data: bytes) -> list[tuple[int | None, int]]:
    path = folder / "capture"
    path.write_bytes(data)
    return [(one.time, one.delay) for one in read_delays(path)]


@pytest.mark.parametrize("seconds", [1_600_000_000, -3_600])
def test_the_offset_of_an_interface_is_added_to_its_times(tmp_path: Path, seconds: int) -> None:
    # Section 4.2 of the draft, if_tsoffset: signed seconds.
    options = option(14, struct.pack("<q", seconds)) + option(0, b"")
    data = capture(1, enhanced(ETHERNET, 100_123_456), options=options)
    assert found(tmp_path, data) == [(seconds * 10**9 + 100_123_456_000, DELAY * 1000)]


def test_options_behind_the_end_of_options_are_none(tmp_path: Path) -> None:
    options = option(0, b"") + option(14, struct.pack("<q", 5))
    data = capture(1, enhanced(ETHERNET, 7), options=options)
    assert found(tmp_path, data) == [(7_000, DELAY * 1000)]


def test_a_simple_packet_block_has_a_packet_and_no_time(tmp_path: Path) -> None:
    simple = block(3, struct.pack("<I", len(ETHERNET)) + ETHERNET)
    assert found(tmp_path, capture(1, simple)) == [(None, DELAY * 1000)]
    # The interface's limit says how much of it is kept (section 4.4).
    cut = block(3, struct.pack("<I", 1514) + ETHERNET)
    path = tmp_path / "capture"
    path.write_bytes(capture(1, cut, limit=60))
    [frame] = read_frames(path)
    assert (frame.data, frame.length) == (ETHERNET[:60], 1514)


def test_an_obsolete_packet_block_is_read(tmp_path: Path) -> None:
    size = len(ETHERNET)
    head = struct.pack("<HHIIII", 0, 3, TIME >> 32, TIME & 0xFFFFFFFF, size, size)
    assert found(tmp_path, capture(1, block(2, head + ETHERNET))) == [(TIME * 1000, DELAY * 1000)]


COOKED = b"\0\0\0\1\0\6" + b"\2" * 6 + b"\0\0\x08\0"
COOKED_2 = b"\x08\0\0\0\0\0\0\2\0\1\0\6" + b"\2" * 8
TAG = b"\x81\0\0\5"


@pytest.mark.parametrize(
    ("link", "frame"),
    [
        (113, COOKED + IP_AND_REST),
        (276, COOKED_2 + IP_AND_REST),
        (276, b"\x81\0" + COOKED_2[2:] + b"\0\5\x08\0" + IP_AND_REST),
        (101, IP_AND_REST),
        (228, IP_AND_REST),
        (0, b"\2\0\0\0" + IP_AND_REST),
        (108, b"\0\0\0\2" + IP_AND_REST),
        (1, ETHERNET[:12] + TAG + ETHERNET[12:]),
        (1, ETHERNET[:12] + b"\x88\xa8\0\7" + TAG + ETHERNET[12:]),
    ],
)
def test_whatever_is_in_front_of_ipv4_is_passed(tmp_path: Path, link: int, frame: bytes) -> None:
    assert found(tmp_path, capture(link, enhanced(frame))) == [(TIME * 1000, DELAY * 1000)]
    assert found(tmp_path, pcap(link, frame)) == [(17_000_005_000, DELAY * 1000)]


def test_a_segment_that_is_still_to_be_cut_ends_with_its_frame(tmp_path: Path) -> None:
    unfinished = ETHERNET[:16] + b"\0\0" + ETHERNET[18:]
    assert found(tmp_path, capture(1, enhanced(unfinished))) == [(TIME * 1000, DELAY * 1000)]
    cut = capture(1, enhanced(unfinished[:60], length=60_000))
    assert found(tmp_path, cut) == [(TIME * 1000, DELAY * 1000)]


def test_a_frame_check_sequence_is_no_part_of_a_frame(tmp_path: Path) -> None:
    path = tmp_path / "capture"
    path.write_bytes(pcap(1 | 1 << 26 | 2 << 28, ETHERNET + b"abcd"))
    [frame] = read_frames(path)
    assert (frame.data, frame.length) == (ETHERNET, len(ETHERNET))


def test_the_records_of_kuznetzovs_format_are_longer(tmp_path: Path) -> None:
    data = pcap(1, ETHERNET, 0xA1B2CD34, bytes(8))
    assert found(tmp_path, data) == [(17_000_005_000, DELAY * 1000)]


def test_frames_of_an_unknown_link_type_are_named(tmp_path: Path) -> None:
    path = tmp_path / "c.pcapng"
    path.write_bytes(capture(105, enhanced(ETHERNET), enhanced(ETHERNET)))
    done = call_sojourn(tmp_path, "delays", path)
    assert done.returncode == 2
    assert "2 frames of link type 105, which is not read" in " ".join(done.stderr.split())
    path.write_bytes(path.read_bytes() + capture(1, enhanced(ETHERNET)))
    done = call_sojourn(tmp_path, "delays", path)
    assert done.returncode == 0 and "link type 105" in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("data", "at"),
    [
        (
            capture(1, enhanced(ETHERNET), enhanced(ETHERNET))[:-10],
            28 + 20 + len(enhanced(ETHERNET)),
        ),
        (capture(1, enhanced(ETHERNET)) + b"\6\0\0", 28 + 20 + len(enhanced(ETHERNET))),
        (pcap(1, ETHERNET) + pcap(1, ETHERNET)[24:-10], 24 + 16 + len(ETHERNET)),
        (pcap(1, ETHERNET) + b"\0\0\0\0\0", 24 + 16 + len(ETHERNET)),
    ],
)
def test_the_end_of_a_cut_file_is_named(tmp_path: Path, data: bytes, at: int) -> None:
    path = tmp_path / "capture"
    path.write_bytes(data)
    frames = read_frames(path)
    assert len(list(frames)) >= 1
    [remark] = frames.skipped
    assert f"at byte {at:,}" in remark
    done = call_sojourn(tmp_path, "delays", path)
    assert done.returncode == 0
    assert f"at byte {at:,}" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (capture(1, options=option(9, b"\x7f")), "if_tsresol of an interface is 0x7f"),
        (capture(1, options=option(9, b"\xff")), "if_tsresol of an interface is 0xff"),
        (capture(1, options=option(14, b"\1\2\3\4")), "if_tsoffset of an interface has 4 bytes"),
        (capture(1, block(3, b"")), "a block of type 3 with 0 bytes of content"),
        (capture(1, block(6, bytes(16))), "a block of type 6 with 16 bytes of content"),
        (capture(1, block(2, bytes(8))), "a block of type 2 with 8 bytes of content"),
    ],
)
def test_a_block_without_a_packet_description_is_refused(
    tmp_path: Path, data: bytes, why: str
) -> None:
    with pytest.raises(ScenarioError, match=why):
        found(tmp_path, data + enhanced(ETHERNET))


@pytest.mark.parametrize(
    ("start", "why"),
    [
        (b"\x1f\x8b\x08\0", "compressed by gzip"),
        (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
        (b"snoop\0\0\0", "a snoop file"),
        (b"nothing known", "neither a pcapng nor a pcap file"),
    ],
)
def test_a_file_of_another_format_is_refused_with_the_reason(
    tmp_path: Path, start: bytes, why: str
) -> None:
    with pytest.raises(ScenarioError, match=why):
        found(tmp_path, start + bytes(40))


def test_a_trace_takes_ethernet_frames_only(tmp_path: Path) -> None:
    path = tmp_path / "any.pcapng"
    path.write_bytes(capture(113, enhanced(COOKED + IP_AND_REST)))
    program = Path(__file__).parents[1] / "p4" / "v1model" / "router.p4"
    done = call_sojourn(tmp_path, "trace", program, path)
    assert done.returncode == 2
    assert "frame 1 is of link type Linux cooked" in " ".join(done.stderr.split())
