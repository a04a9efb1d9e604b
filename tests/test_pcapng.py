"""Captures: the files follow the pcapng format, and tshark reads them."""

import json
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from sojourn.runtime.pcapng import CaptureWriter

FRAME = bytes.fromhex("0200000000020200000000010800") + bytes(
    [0x45, 0, 0, 0x64, 0, 0, 0x40, 0, 64, 17, 0x7C, 0x66, 127, 0, 0, 1, 127, 0, 0, 2]
)


def capture(folder: Path) -> Path:
    path = folder / "capture.pcapng"
    with CaptureWriter(path) as writer:
        writer.write([(1_000_000_001, 0, FRAME, 114), (5_000_000_002, 1, FRAME[:33], 114)])
    return path


def blocks(data: bytes) -> list[tuple[int, bytes]]:
    found = []
    while data:
        kind, length = struct.unpack_from("<II", data)
        assert struct.unpack_from("<I", data, length - 4)[0] == length
        assert length % 4 == 0
        found.append((kind, data[8 : length - 4]))
        data = data[length:]
    return found


def test_a_capture_is_a_section_two_interfaces_and_the_frames(tmp_path: Path) -> None:
    found = blocks(capture(tmp_path).read_bytes())
    assert [kind for kind, _ in found] == [0x0A0D0D0A, 1, 1, 6, 6]
    interface, high, low, captured, length = struct.unpack_from("<IIIII", found[4][1])
    assert (interface, high << 32 | low, captured, length) == (1, 5_000_000_002, 33, 114)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_tshark_reads_times_lengths_and_interfaces(tmp_path: Path) -> None:
    fields = ["frame.time_epoch", "frame.len", "frame.cap_len", "frame.interface_name"]
    selected = [part for field in fields for part in ("-e", field)]
    read = subprocess.run(
        ["tshark", "-r", capture(tmp_path), "-T", "json", *selected],
        capture_output=True,
        text=True,
        check=True,
    )
    layers = [frame["_source"]["layers"] for frame in json.loads(read.stdout)]
    assert [[layer[field][0] for field in fields] for layer in layers] == [
        ["1.000000001", "114", "34", "entered"],
        ["5.000000002", "114", "33", "left"],
    ]
