"""Command files of bmv2's `simple_switch_CLI` as the control plane of a run.

How a line is read is tested in Rust (`crates/engine/tests/commands.rs`).
"""

import shutil
from itertools import pairwise
from pathlib import Path

import pyarrow.compute as pc

from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.results.result import read_result
from sojourn.runtime.folder import RunFolder

STF = Path(__file__).parent / "stf" / "tna"

SCENARIO = """
duration = "1 s"
aqms = [{ use = "PROGRAM", control = "commands.txt" }]
[switch]
rate = "20 Mbit/s"
[[flows]]
rtt = "5 ms"
"""

COMMANDS = """# a wire between ports 1 and 2
table_add Ingress.forward Ingress.send 1 => 2   # there
table_add forward send 0x2 => 1

mirroring_add 100 68
"""


def program_with_commands(folder: Path, commands: str) -> Path:
    """A scenario over P4-CoDel whose control plane is a file of commands."""
    tna = folder / "tna"
    shutil.copytree(programs_folder() / "tna", tna, ignore=shutil.ignore_patterns("*.toml"))
    (folder / "commands.txt").write_text(commands)
    scenario = folder / "scenario.toml"
    scenario.write_text(SCENARIO.replace("PROGRAM", "tna/p4_codel.p4"))
    return scenario


def test_a_run_with_commands_is_the_run_with_the_same_entries_in_toml(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    scenario = program_with_commands(tmp_path, COMMANDS)
    assert sojourn("run", scenario, "--out", "commands").returncode == 0
    scenario.write_text(
        SCENARIO.replace("PROGRAM", "p4_codel").replace(', control = "commands.txt"', "")
    )
    assert sojourn("run", scenario, "--out", "toml").returncode == 0
    rows = [
        (tmp_path / folder / "p4_codel" / "packets.parquet").read_bytes()
        for folder in ("commands", "toml")
    ]
    assert rows[0] == rows[1]


def test_a_run_does_not_start_on_a_wrong_line(sojourn: Sojourn, tmp_path: Path) -> None:
    commands = COMMANDS.replace("send 0x2 => 1", "sent 0x2 => 1")
    scenario = program_with_commands(tmp_path, commands)
    done = sojourn("run", scenario, "--out", "out")
    assert done.returncode == 2
    assert "commands.txt:3: table Ingress.forward has no action sent" in done.stderr
    assert not (tmp_path / "out").exists()


def test_an_error_that_only_the_program_reveals_is_reported_with_its_line(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    commands = COMMANDS + "table_add forward send 1 => 3\n"
    done = sojourn("run", program_with_commands(tmp_path, commands), "--out", "out")
    assert done.returncode == 2
    said = " ".join(done.stderr.split())
    assert "commands.txt:6: table `Ingress.forward` has an entry with the same match" in said


def test_commands_next_to_a_program_are_found_and_two_control_planes_are_refused(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    scenario = program_with_commands(tmp_path, COMMANDS)
    scenario.write_text(scenario.read_text().replace(', control = "commands.txt"', ""))
    (tmp_path / "tna" / "p4_codel.txt").write_text(COMMANDS)
    assert sojourn("run", scenario, "--out", "beside").returncode == 0
    (tmp_path / "tna" / "p4_codel.toml").write_text("")
    done = sojourn("run", scenario, "--out", "two")
    assert done.returncode == 2
    assert "two control planes beside one program" in done.stderr


def test_queue_commands_set_rate_and_depth_of_a_v1model_run(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    program = STF.parent / "v1model" / "wire.p4"
    (tmp_path / "commands.txt").write_text(
        "table_add forward send 1 => 2\ntable_add forward send 2 => 1\n"
        "set_queue_rate 2000 2\nset_queue_depth 50 2\n"
    )
    scenario = tmp_path / "scenario.toml"
    scenario.write_text(SCENARIO.replace("PROGRAM", str(program)).replace("20 Mbit/s", "1 Gbit/s"))
    done = sojourn("run", scenario, "--out", "out")
    assert done.returncode == 0, done.stderr
    packets = read_result(RunFolder.open(tmp_path / "out")).aqms["wire"].packets
    left = sorted(packets.filter(pc.field("verdict") == "sent")["dequeued"].to_pylist())
    # One packet each 500 us, while there are some; 50 of them wait 25 ms at most.
    assert min(later - earlier for earlier, later in pairwise(left)) >= 499_000
    assert 1000 < len(left) <= 2001
    waits = pc.subtract(packets["dequeued"], packets["enqueued"]).to_pylist()
    assert 20_000_000 < max(waits) <= 25_500_000
