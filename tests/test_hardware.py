"""The hardware modules on Verilator: their decisions equal those of the native CoDel.

Short forms; the long ones, and where the tools come from, are in hardware/README.md.
"""

import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import Finished
from sojourn.tools.replay.decisions import decide
from sojourn.tools.replay.trace import Rows

HARDWARE = Path(__file__).parents[1] / "hardware"


def command(name: str, *words: str) -> str:
    """Runs a command of the folder; skips if it says that a tool is missing."""
    done = subprocess.run(
        [sys.executable, HARDWARE / name, *words], capture_output=True, text=True, check=False
    )
    if done.returncode == 3:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def native(found: dict[str, Any], queue: int) -> tuple[list[bool], list[bool]]:
    """What was decided about a queue's packets: by the module, and by the native CoDel."""
    mine = [row for row in found["decisions"] if row[0] == queue]
    _, time, sojourn, backlog, size, dropped, _ = (
        np.array(column, np.int64) for column in zip(*mine, strict=True)
    )
    nothing = np.zeros(len(mine), np.int64)
    rows = Rows(time, sojourn, backlog, nothing, nothing, size)
    answers = decide({"kind": "native", "name": "codel"} | found["parameters"], rows, label="codel")
    assert answers is not None
    return [bool(drop) for drop in dropped], list(answers.dropped)


@pytest.fixture(scope="module")
def decisions(finished: Finished, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of synthetic arrivals, and of the first 200 that a run at 50 Mbit/s has recorded; they come
    twice as fast, as those of 100 Mbit/s do that the bench expects."""
    packets = pq.read_table(finished.folder / "fifo" / "packets.parquet").slice(0, 200)
    columns = (packets.column(name).to_pylist() for name in ("enqueued", "size"))
    arrivals = tmp_path_factory.mktemp("arrivals") / "recorded.json"
    arrivals.write_text(json.dumps([[at // 2, size] for at, size in zip(*columns, strict=True)]))
    command("bench.py", "3", "400", str(arrivals))
    return HARDWARE.parent / "target" / "hardware" / "decisions-3"


def test_every_decision_of_the_module_is_the_native_codels(decisions: Path) -> None:
    compared = dropped = 0
    recorded = json.loads((decisions / "recorded.json").read_text())
    # Some found the queue full.
    assert len(recorded["decisions"]) > 150 and any(row[5] for row in recorded["decisions"])
    for path in sorted(decisions.glob("*.json")):
        found = json.loads(path.read_text())
        if found["ecn"]:
            continue
        for queue in {row[0] for row in found["decisions"]}:
            module, expected = native(found, queue)
            assert module == expected, f"{path.name}, queue {queue}"
            compared += len(module)
            dropped += sum(module)
    assert compared > 500 and dropped > 0


def test_the_control_law_is_the_nearest_nanosecond_or_its_neighbour_and_late_above_1023(
    decisions: Path,
) -> None:
    rom = [int(word) for word in (decisions / "rom.txt").read_text().split()]
    # Every entry is 2^34 * 16 / sqrt(j), rounded; the first has no room for its last bit.
    assert rom[256] == 2**34 - 1
    for j in range(257, 1024):
        assert (2 * rom[j] - 1) ** 2 * j <= 2**78 < (2 * rom[j] + 1) ** 2 * j, j

    def entry(count: int) -> tuple[int, int]:
        """As control_law.sv finds it: j, and k + 4."""
        pairs = (32 - count.bit_length()) // 2
        return (count << 2 * pairs) >> 22, 15 - pairs

    for interval in (1, 999_999, 10**6, 10**8, 123_456_789, 2**32 - 1):
        for count in range(1, 1024):
            j, shift = entry(count)
            assert j * 4**shift == count * 4**4, "nothing of the count is lost"
            spacing = ((interval * rom[j] >> 33 >> shift) + 1) >> 1
            nearest = (math.isqrt((2 * interval) ** 2 // count) + 1) // 2
            assert abs(spacing - nearest) <= 1, (interval, count)
            assert interval != 10**8 or spacing == nearest, "RFC 8289's INTERVAL: no difference"
    # Above, the counts of one j end where those of the next begin: (j + 1) / j < (1 + 1 / 512)^2.
    for j in range(256, 1024):
        assert (j + 1) * 512**2 < j * 513**2
    for count in (1024, 4095, 4096, 10**6, 2**31, 2**32 - 1):
        j, shift = entry(count)
        unit = 4 ** (shift - 4)
        assert j * unit <= count < (j + 1) * unit and 256 <= j < 1024


def test_frames_pass_fq_codels_data_path_as_its_rfc_says() -> None:
    said = command("bench.py", "fq", "300")
    # What each of its benches asserts stands in hardware/bench/fq_bench.py.
    ran = [line.split()[3].rstrip(":") for line in said.splitlines() if " in " in line]
    assert ran[:3] == ["back_pressure", "no_room", "refused"] and len(ran) >= 7, said


@pytest.fixture(scope="module")
def yosys() -> None:
    """Debian's yosys, installed if that can be done."""
    if shutil.which("yosys") is None and os.geteuid() == 0 and shutil.which("apt-get"):
        for words in (["update"], ["install", "-y", "--no-install-recommends", "yosys"]):
            subprocess.run(["apt-get", "-qq", *words], capture_output=True, check=False)
    if shutil.which("yosys") is None:
        pytest.skip("not installed: apt-get install yosys")


@pytest.mark.usefixtures("yosys")
def test_area_of_the_modules_equals_the_readme_and_a_queue_is_below_1500_lut() -> None:
    decisions, queue = command("synthesis.py", "1", "5").splitlines()[-2:]
    assert decisions.startswith("| codel, 1 queue"), decisions
    assert queue.startswith("| codel_queue, 1 queue"), queue
    page = (HARDWARE / "README.md").read_text().splitlines()
    assert decisions in page and queue in page
    assert int(queue.split("|")[2]) <= 1_500


@pytest.mark.usefixtures("yosys")
def test_the_clock_of_the_decisions_equals_the_readme() -> None:
    measured = command("synthesis.py", "--clock", "1", "--seed", "1").splitlines()[-1]
    _, what, mhz, _ = measured.split("|")
    page = (HARDWARE / "README.md").read_text().splitlines()
    told = [line for line in page if line.startswith(f"|{what}|") and line.count("|") == 3]
    assert [line.split("|")[2].split(",")[0].strip() for line in told] == [mhz.strip()]


def test_the_table_of_targets_has_the_luts_of_the_readmes_table() -> None:
    page = (HARDWARE.parent / "docs" / "data" / "targets-limits.csv").read_text()
    rows = (HARDWARE / "README.md").read_text().splitlines()
    for row in ("codel, 1 queue", "codel_queue, 1 queue", "fq_codel, 1,024 flows"):
        luts = next(line for line in rows if line.startswith(f"| {row}")).split("|")[2]
        assert f"{int(luts):,}" in page, row


@pytest.mark.usefixtures("yosys")
def test_the_modules_properties_hold_for_all_runs_and_a_fault_is_found() -> None:
    proven = command("formal.py", "--quick").splitlines()
    names = ["counter", "byte_count", "axi_lite", "registers", "fq_codel_registers", "fifo"]
    names += ["cells", "codel", "rfc8289", "queue"]
    assert [line.partition(":")[0] for line in proven] == names
    assert all(": proven" in line for line in proven), proven
    found = command("formal.py", "--break", "registers", "counter", "fifo").splitlines()
    assert len(found) == 4 and all(": found:" in line for line in found), found
