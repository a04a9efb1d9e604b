"""Errors of bad input: one screen of text, no traceback, an exit status for each cause."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import SMALL, Sojourn
from sojourn.common.resources import programs_folder

LONG = """
duration = "100000 s"
aqms = ["fifo"]

[switch]
rate = "100 Mbit/s"

[[flows]]
rtt = "5 ms"
"""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "bufferblot"], 'did you mean "bufferbloat"?'),
        (["run", "."], "this is a folder"),
        (["run", "bufferbloat", "--aqm", "codl"], 'did you mean "codel"?'),
        (["run", "bufferbloat", "--aqm", "no/such.p4"], "no/such.p4: no such P4 program"),
        (["run", "bufferbloat", "--math-unit", "sales"], "'vendor', 'paper'"),
        (["run", "bufferbloat", "--executor", "fast"], "'native', 'interpreter'"),
        (["run", "bufferbloat", "--on", "moon"], "'sim'"),
        (["report", "."], "not a run's folder"),
        (["check", "no.p4"], "no.p4: no such P4 program"),
        (["check", "x.p4", "-D", "1=2"], "write NAME or NAME=VALUE"),
        (["frobnicate"], "No such command"),
    ],
)
def test_a_mistake_ends_in_a_message_and_status_2(
    sojourn: Sojourn, arguments: list[str], message: str
) -> None:
    done = sojourn(*arguments)
    assert done.returncode == 2
    # A long path wraps the line.
    assert message in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 24
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"duration = ", "not valid TOML"),
        (b"\xff\xfe", "not a text file in UTF-8"),
        (b"", "duration: missing"),
    ],
)
def test_a_malformed_scenario_names_the_file(
    sojourn: Sojourn, tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "bad.toml").write_bytes(content)
    done = sojourn("run", "bad.toml")
    assert done.returncode == 2
    assert "bad.toml" in done.stderr
    assert message in done.stderr


def test_a_folder_that_cannot_be_written_is_named(
    sojourn: Sojourn, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    done = sojourn("run", small, "--out", "file/out")
    assert done.returncode == 2
    assert "file/out" in done.stderr
    assert "Traceback" not in done.stderr


def test_ctrl_c_leaves_readable_rows_and_status_130(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "run", "long.toml", "--out", "out"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    rows = tmp_path / "out" / "fifo" / "packets.parquet"
    give_up = time.monotonic() + 60
    while not (rows.exists() and rows.stat().st_size > 100_000):
        assert time.monotonic() < give_up
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in message
    assert "stopped after" in message
    table = pq.read_table(rows)
    assert table.num_rows > 50_000
    assert not (tmp_path / "out" / "fifo" / ".ballast").exists()


def test_finished_runs_are_shown_although_another_never_began(
    sojourn: Sojourn, small: Path, tmp_path: Path
) -> None:
    assert sojourn("run", small, "--aqm", "fifo", "--aqm", "codel", "--out", "out").returncode == 0
    shutil.rmtree(tmp_path / "out" / "codel")
    described = json.loads((tmp_path / "out" / "run.json").read_text())
    # As a run on Linux leaves it that failed before all its AQMs had their turn.
    (tmp_path / "out" / "run.json").write_text(
        json.dumps(described | {"ground": {"name": "linux"}})
    )
    shown = sojourn("report", "out")
    assert shown.returncode == 0, shown.stderr
    assert "note    codel: left no rows; the run ended before" in shown.stdout
    assert "codel: left no rows" in (tmp_path / "out" / "report.html").read_text()
    (tmp_path / "out" / "fifo" / "counters.json").unlink()
    broken = sojourn("report", "out")
    assert broken.returncode == 2
    assert "the rows of this run cannot be read" in broken.stderr
    shutil.rmtree(tmp_path / "out" / "fifo")
    assert sojourn("report", "out").returncode == 2


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_a_full_disk_leaves_readable_rows_and_a_message(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    (tmp_path / "disk").mkdir()
    script = """
        mount -t tmpfs -o size=9m none disk || exit 77
        "$0" -m sojourn run long.toml --out disk/out
        echo status $?
        "$0" -c 'import pyarrow.parquet as p; print(p.read_table("disk/out/fifo/packets.parquet")
                 .num_rows, p.read_table("disk/out/fifo/flows.parquet").num_rows)'
    """
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", script, sys.executable],
        cwd=tmp_path,
        env=os.environ | {"NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no small disk can be made here")
    status, rows = done.stdout.splitlines()
    assert status == "status 2"
    assert "the disk is full" in done.stderr
    assert "Traceback" not in done.stderr
    packets, samples = map(int, rows.split())
    assert packets > 50_000
    assert samples > 1000


WRONG_CONTROL = """
[[tables]]
name = "Router.routes"
[[tables.entries]]
match = { "hdr.ipv4.destination" = { value = "0x0a000000", prefix = 9 } }
action = "sent"
"""


@pytest.mark.parametrize(
    "command",
    [
        ("run", "scenario.toml", "--aqm", "mine.p4", "--out", "out"),
        ("replay", "gaps", "--aqm", "mine.p4", "--out", "out"),
        ("switch", "mine.p4", "--port", "1=lo", "--out", "out"),
        ("trace", "mine.p4", "00"),
    ],
)
def test_a_mistake_in_a_control_plane_has_its_file_and_line(
    sojourn: Sojourn, tmp_path: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "mine.p4").write_text((programs_folder() / "v1model/router.p4").read_text())
    (tmp_path / "mine.toml").write_text(WRONG_CONTROL)
    (tmp_path / "scenario.toml").write_text(SMALL)
    done = sojourn(*command)
    assert done.returncode == 2, done.stderr
    assert "mine.toml:3: " in done.stderr, done.stderr


def test_a_scenario_next_to_a_program_is_not_its_control_plane(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    (tmp_path / "mine.p4").write_text((programs_folder() / "v1model/router.p4").read_text())
    (tmp_path / "mine.toml").write_text(SMALL)
    done = sojourn("trace", "mine.p4", "00")
    assert done.returncode == 0, done.stderr
    named = sojourn("trace", "mine.p4", "00", "--control", "mine.toml")
    assert named.returncode == 2 and "this is a scenario" in named.stderr
