"""Captures and logs of the Linux backend as rows: matched, judged, joined; no guest is needed."""

import struct
from pathlib import Path

import numpy as np
import pytest

from linux_fixtures import MS, THERE, config_of, job_of, native
from sojourn.backends.linux.disturbance import timing
from sojourn.backends.linux.exchanges import read_datagrams, read_exchanges
from sojourn.backends.linux.frames import Frames, read_frames
from sojourn.backends.linux.matching import Rows, match
from sojourn.backends.linux.tc import Qdisc
from sojourn.backends.linux.topology import Shaper
from sojourn.backends.linux.traffic import workload_of
from sojourn.runtime.arrow_tables import AQM, MARK, SENT, TAIL


def frame(flow: int, number: int, *, ecn: int = 0, length: int = 1514) -> bytes:
    """The first 96 bytes of a TCP segment towards flow's server."""
    ethernet = bytes(12) + b"\x08\x00"
    ip = struct.pack(
        ">BBHHHBBHII", 0x45, ecn, length - 14, number, 0x4000, 63, 6, 0, 10 << 24 | flow + 1,
        10 << 24 | 1 << 23 | flow + 1,
    )  # fmt: skip
    tcp = struct.pack(">HHIIBBHHH", 40_000, 5201, number * 1448, 1, 0x80, 0x10, 500, 0, 0)
    return (ethernet + ip + tcp).ljust(96, b"\0")


def ring(frames: list[tuple[int, bytes]], per_block: int = 3) -> bytes:
    """A ring's file: blocks of frames with their times, as <linux/if_packet.h> has them."""
    data = b""
    for start in range(0, len(frames), per_block):
        block = frames[start : start + per_block]
        body = b""
        for time, bytes_ in block:
            head = struct.pack(
                "6IHH", 48 + 32 + 96, time // 10**9, time % 10**9, 96, 1514, 0, 80, 94
            )
            body += head.ljust(80, b"\0") + bytes_
        data += struct.pack("6I", 1, 48, 1, len(block), 48, 48 + len(body)).ljust(48, b"\0") + body
    return data


def frames_of(path: Path, listed: list[tuple[int, bytes]]) -> Frames:
    path.write_bytes(ring(listed))
    return read_frames(path).of_flows()


def test_a_ring_is_read_back_frame_by_frame(tmp_path: Path) -> None:
    listed = [(5 * 10**9 + i, frame(i % 3, i, ecn=i % 4)) for i in range(10)]
    listed.append((6 * 10**9, bytes(96)))
    frames = frames_of(tmp_path / "ring", listed)
    assert frames.time.tolist() == [5 * 10**9 + i for i in range(10)]
    assert frames.flow.tolist() == [i % 3 for i in range(10)]
    assert frames.ecn.tolist() == [i % 4 for i in range(10)]
    assert set(frames.size.tolist()) == {1514}


def rows(tmp_path: Path, came: list[bytes], went: dict[int, int], aqm: Qdisc, **more: bool) -> Rows:
    """Packets that come 10 ns apart; `went` has the times at which some of them leave."""
    entered = frames_of(tmp_path / "in", [(10 * i, bytes_) for i, bytes_ in enumerate(came)])
    order = sorted(went, key=lambda i: went[i])
    left = frames_of(tmp_path / "out", [(went[i], came[i]) for i in order])
    return match(entered, left, aqm, full=more.get("full", False))


def test_a_packet_that_never_left_was_dropped_when_the_next_one_left(tmp_path: Path) -> None:
    came = [frame(0, i) for i in range(4)]
    matched = rows(tmp_path, came, {0: 100, 1: 200, 3: 300}, native("codel"))
    assert matched.packet.tolist() == [0, 1, 2, 3]
    assert matched.verdict.tolist() == [SENT, SENT, AQM, SENT]
    assert matched.dequeued.tolist() == [100, 200, 300, 300]


def test_where_flows_have_queues_the_next_packet_is_one_of_the_flow(tmp_path: Path) -> None:
    came = [frame(0, 0), frame(1, 0), frame(0, 1), frame(1, 1)]
    matched = rows(tmp_path, came, {1: 100, 2: 200, 3: 300}, native("fq_codel"))
    dropped = matched.verdict.tolist().index(AQM)
    assert matched.packet[dropped] == 0
    assert matched.dequeued[dropped] == 200


def test_an_aqm_that_decides_on_arrival_drops_on_arrival(tmp_path: Path) -> None:
    came = [frame(0, i) for i in range(3)]
    matched = rows(tmp_path, came, {0: 100, 2: 200}, native("pie"))
    dropped = matched.verdict.tolist().index(AQM)
    assert matched.enqueued[dropped] == matched.dequeued[dropped] == 10


def test_a_full_queue_drops_by_its_tail_and_one_with_room_by_its_aqm(tmp_path: Path) -> None:
    # Room for two. The third finds both there; the fourth comes when one has left.
    came = [frame(0, i) for i in range(5)]
    codel = native("codel_linux", limit=2)
    matched = rows(tmp_path, came, {0: 25, 1: 60, 4: 80}, codel, full=True)
    verdict = dict(zip(matched.packet.tolist(), matched.verdict.tolist(), strict=True))
    assert verdict == {0: SENT, 1: SENT, 2: TAIL, 3: AQM, 4: SENT}


def test_the_same_segment_sent_again_is_another_packet(tmp_path: Path) -> None:
    first, again = frame(0, 7), frame(0, 7)
    again = again[:18] + struct.pack(">H", 99) + again[20:]
    matched = rows(tmp_path, [first, again], {1: 50}, native("codel"))
    verdict = dict(zip(matched.packet.tolist(), matched.verdict.tolist(), strict=True))
    assert verdict == {0: AQM, 1: SENT}


def test_a_mark_is_one_that_the_packet_did_not_bring(tmp_path: Path) -> None:
    came = [frame(0, 0, ecn=2), frame(0, 1, ecn=3)]
    entered = frames_of(tmp_path / "in", [(0, came[0]), (10, came[1])])
    left = frames_of(tmp_path / "out", [(50, frame(0, 0, ecn=3)), (60, came[1])])
    assert match(entered, left, native("codel"), full=False).verdict.tolist() == [MARK, SENT]


def test_rows_are_those_of_the_run_with_times_from_its_beginning(tmp_path: Path) -> None:
    came = [frame(0, i) for i in range(3)]
    matched = rows(tmp_path, came, {0: 100, 1: 200, 2: 300}, native("fifo")).within(50, 250)
    assert matched.dequeued.tolist() == [50, 150]
    assert matched.enqueued.tolist() == [0, 0]


def served(gaps: list[int]) -> Rows:
    """Packets that all came at 0 and left one after the other."""
    count = len(gaps)
    zeros = np.zeros(count, np.int64)
    return Rows(np.arange(count), zeros, np.full(count, 1226), zeros, np.cumsum(gaps), zeros)


def test_a_shaper_that_keeps_its_rate_is_not_disturbed() -> None:
    # 1250 bytes at 10 Mbit/s are 1 ms.
    shaper = Shaper(10_000_000, 1536, 24)
    kept = timing(served([1_000_000] * 100), shaper, [5, 10])
    assert kept.shaper_share == pytest.approx(1)
    assert kept.complaint == ""


def test_a_late_shaper_and_a_standstill_are_complained_of() -> None:
    shaper = Shaper(10_000_000, 1536, 24)
    slow = timing(served([1_050_000] * 100), shaper, [])
    assert slow.shaper_share == pytest.approx(1 / 1.05, rel=1e-3)
    assert "95.2 %" in slow.complaint
    stalled = timing(served([1_000_000] * 2000 + [25_000_000]), shaper, [])
    assert "nothing left for 24.0 ms" in stalled.complaint


def test_a_shaper_that_changes_is_judged_by_the_rate_of_the_time() -> None:
    shaper, slow = Shaper(10_000_000, 1536, 24), Shaper(1_000_000, 1536, 24)
    leaving = served([1_000_000] * 1000 + [10_000_000] * 100)
    assert timing(leaving, shaper, []).complaint
    kept = timing(leaving, shaper, [], [(1_000_000_000, slow)])
    assert kept.shaper_share == pytest.approx(1)
    assert kept.complaint == ""


def notes(*rows: tuple[int, int, int, int]) -> bytes:
    """What the guest's hosts leave: flow, number, whether done, when."""
    return b"".join(struct.pack("<IIBq", *row) for row in rows)


def test_exchanges_are_joined_from_both_sides_by_the_true_clock(tmp_path: Path) -> None:
    asks = {"kind": "requests", "rtt": "20 ms", "response": "30 kB"}
    transfers = {"kind": "transfers", "rtt": "40 ms", "load": "1 Mbit/s"}
    config = config_of(asks, transfers)
    workload = workload_of(config)
    (tmp_path / "exchanges-senders.bin").write_bytes(
        notes(*((who, 0, 0, at * MS + THERE) for who, at in ((2, 500), (3, 600), (4, 1900))))
    )
    (tmp_path / "exchanges-receivers.bin").write_bytes(
        # The request is seen by one host alone; the last transfer is done after the run.
        notes((0, 0, 0, 90 * MS), (0, 0, 1, 140 * MS), (0, 1, 0, 1500 * MS))
        + notes((3, 0, 1, 650 * MS), (4, 0, 1, 1990 * MS))
    )
    columns = read_exchanges(tmp_path, config, workload)
    rows = list(zip(*columns.values(), strict=True))
    sizes = [size for _, size in workload.flows[1]["transfers"]]
    assert rows == [
        (0, 0, 0, 30_000, 100 * MS, 150 * MS),
        (3, 1, 0, sizes[1], 600 * MS, 670 * MS),
        (0, 0, 1, 30_000, 1510 * MS, 0),
        (2, 1, 0, sizes[0], 500 * MS, 0),
        (4, 1, 0, sizes[2], 1900 * MS, 0),
    ]


def voice(number: int, *, back: bool = False) -> bytes:
    """The first bytes of a datagram of flow 0."""
    ends = (10 << 24 | 1, 10 << 24 | 1 << 23 | 1)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 200, 0, 0x4000, 63, 17, 0)
    ip += struct.pack(">II", *(reversed(ends) if back else ends))
    rtp = struct.pack(">BBHII", 128, 0, number & 0xFFFF, number * 160 & 0xFFFFFFFF, 0)
    frame = bytes(12) + b"\x08\x00" + ip + struct.pack(">HHHH", 32_768, 5201, 180, 0) + rtp
    return frame.ljust(96, b"\0")


def test_datagrams_of_a_voice_are_identified_by_numbers_beyond_sixteen_bits(
    tmp_path: Path,
) -> None:
    config = config_of({"kind": "voip", "rtt": "30 ms", "interval": "1 ms"})
    workload = workload_of(config)
    numbers = [0, 1, 2, 65_535, 65_536, 65_540]
    came = frames_of(tmp_path / "in", [(1000 + n, voice(n)) for n in numbers])
    went = frames_of(tmp_path / "out", [(2000 + n, voice(n)) for n in numbers if n != 1])
    columns = read_datagrams(config, workload, (came, went, None), 1000)
    assert columns["number"] == [0, 2, 65_535, 65_536, 65_540]
    # What links and switch take of its way lies before the queue.
    assert columns["sent"] == [n - THERE for n in columns["number"]]
    assert columns["received"] == [1000 + n + 15 * MS for n in columns["number"]]


def test_a_voice_from_behind_arrives_at_the_front(tmp_path: Path) -> None:
    config = config_of({"kind": "voip", "rtt": "30 ms", "reverse": True})
    workload = workload_of(config)
    start = workload.flows[0]["start"]
    # Sent early by half a round trip, it arrives a whole one later.
    at = [start + n * 20 * MS + 15 * MS + THERE for n in range(3)]
    path = tmp_path / "back"
    path.write_bytes(ring([(at[n], voice(n, back=True)) for n in range(3)]))
    back = read_frames(path, back=True).numbered(workload.numbers).of_flows()
    nobody = frames_of(tmp_path / "in", [])
    columns = read_datagrams(config, workload, (nobody, nobody, back), 0)
    assert columns["received"] == [when - THERE for when in at]
    assert [r - s for r, s in zip(columns["received"], columns["sent"], strict=True)] == [
        15 * MS
    ] * 3
    assert [tap["file"] for tap in job_of(config)["taps"]][2:] == ["arrived-senders.ring"]
    assert job_of(config)["flows"][0]["start"] == start - 15 * MS
