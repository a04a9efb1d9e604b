"""Instruction counts of programs and simulator stay within their limits; no time is measured."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = Path(__file__).parent.parent / "bench" / "instructions.py"


@pytest.fixture(scope="module")
def valgrind() -> None:
    """Debian's valgrind, installed if that can be done."""
    if shutil.which("valgrind") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for words in (["update"], ["install", "-y", "--no-install-recommends", "valgrind"]):
            waits = ("-o", "DPkg::Lock::Timeout=120")
            subprocess.run(["apt-get", "-qq", *waits, *words], capture_output=True, check=False)
    for program in ("valgrind", "cargo"):
        if shutil.which(program) is None:
            pytest.skip(f"not installed: {program}")


@pytest.mark.usefixtures("valgrind")
def test_a_packet_costs_at_most_15_percent_more_instructions_than_is_committed_to() -> None:
    counted = subprocess.run(
        [sys.executable, str(COUNT), "--short"], capture_output=True, text=True, check=False
    )
    print(counted.stdout)
    assert counted.returncode == 0, counted.stdout + counted.stderr
    assert counted.stdout.count("\n") == 5, "a title, the simulator, three programs"
