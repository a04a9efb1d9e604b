"""What the tests share: the command line as a user calls it, and a scenario that is soon run."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SMALL = """
duration = "2 s"
aqms = ["fifo", "codel"]

[switch]
rate = "20 Mbit/s"

[[flows]]
count = 3
rtt = ["5 ms", "10 ms"]
"""

Sojourn = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def sojourn(tmp_path: Path) -> Sojourn:
    """Calls `sojourn` with the given arguments in the test's own folder."""

    def call(*arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "sojourn", *map(str, arguments)],
            cwd=tmp_path,
            env=os.environ | {"COLUMNS": "100", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return call


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file: three flows, 2 s, tail drop and CoDel."""
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return path
