"""Command files of bmv2's `simple_switch_CLI` as the control plane of a program."""

import shutil
from itertools import pairwise
from pathlib import Path

import pyarrow.compute as pc
import pytest

from conftest import Sojourn
from sojourn.control import (
    ActionCall,
    AddEntry,
    ControlError,
    DeleteEntry,
    Exact,
    Prefix,
    ProgramDescription,
    Range,
    SetMulticastGroup,
    SetQueue,
    Ternary,
    WriteRegister,
    control_plane,
)
from sojourn.declarations import read_declarations
from sojourn.folder import RunFolder
from sojourn.layout import programs_folder
from sojourn.result import read_result
from sojourn.runtime_cli import Outcome, Session, read_commands
from sojourn.runtime_cli.command import run_command

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


def described(program: str) -> ProgramDescription:
    return read_declarations(
        STF / f"{program}.p4",
        include_paths=[str(programs_folder() / "include")],
    )


@pytest.fixture(scope="module")
def kinds() -> ProgramDescription:
    return described("match_kinds")


@pytest.fixture(scope="module")
def state() -> ProgramDescription:
    return described("state")


def run(program: ProgramDescription, *lines: str) -> Outcome:
    """What the last of `lines` asks for."""
    session = Session(program)
    return [run_command(line, session) for line in lines][-1]


def test_each_match_kind_is_written_as_bmv2_writes_it(kinds: ProgramDescription) -> None:
    written = {
        "by_value": ("0x1234", Exact(0x1234)),
        "by_mask": ("0x1200&&&0xff00", Ternary(0x1200, 0xFF00)),
        "by_prefix": ("0xab00/8", Prefix(0xAB00, 8)),
        "by_range": ("10->0x14", Range(10, 20)),
    }
    for name, (text, match) in written.items():
        priority = " 3" if name in ("by_mask", "by_range") else ""
        (entry,) = run(kinds, f"table_add {name} note {text} => 0x2a{priority}")
        assert isinstance(entry, AddEntry)
        assert entry.matches == {"hdr.frame.key": match}
        assert entry.target == ActionCall("Ingress.note", {"value": 42})
        assert entry.priority == (3 if priority else 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tabel_add by_value note 1 => 1", 'no command tabel_add; did you mean "table_add"?'),
        ("table_add by_valu note 1 => 1", 'there is no table by_valu; did you mean "by_value"?'),
        ("table_add by_value nota 1 => 1", 'has no action nota; did you mean "note"?'),
        ("table_add by_value note 1 1", "write table_add TABLE ACTION MATCH... => ARGUMENT..."),
        ("table_add by_value note 1 2 => 1", "has 1 keys, not 2: hdr.frame.key (exact)"),
        ("table_add by_value note 1 =>", "takes 1 arguments, not 0: value (8 bits)"),
        ("table_add by_value note 1 => 256", "256 does not fit 8 bits (largest is 255)"),
        ("table_add by_value note 65536 => 1", "65536 does not fit 16 bits"),
        ("table_add by_value note ten => 1", "ten is not a number"),
        ("table_add by_value note -1 => 1", "-1 is negative"),
        ("table_add by_mask note 1&&&1 =>", "a priority is missing"),
        ("table_add by_mask note 1 => 1 1", "is ternary: write VALUE&&&MASK, not 1"),
        ("table_add by_prefix note 1 => 1", "is lpm: write VALUE/LENGTH, not 1"),
        ("table_add by_prefix note 1/17 => 1", "prefix length 17 is too long"),
        ("table_add by_range note 9->3 => 1 1", "the range 9->3 is empty"),
        ("table_set_default by_value", "1 more expected; write table_set_default TABLE"),
        ("table_delete by_value first", "entry handle: first is not a number"),
        ("mirroring_add 5", "1 more expected; write mirroring_add SESSION PORT"),
        ("mc_mgrp_create 1 2", "2 is left over; write mc_mgrp_create GROUP"),
        ("mc_node_create 1 2 | 3", "link aggregation groups"),
        ("register_write seen 0 1", "there is no register seen"),
        ("act_prof_create_group fair", "there is no action profile fair"),
        ("table_set_timeout by_value 0 5", "is not supported: entries do not age here"),
    ],
)
def test_a_wrong_line_says_what_would_be_right(
    kinds: ProgramDescription, line: str, message: str
) -> None:
    with pytest.raises(ControlError) as caught:
        run(kinds, line)
    assert message in str(caught.value)


def test_registers_and_meters_and_queues_are_set(state: ProgramDescription) -> None:
    assert run(state, "register_write seen 3 0x10") == (WriteRegister("Ingress.seen", 3, 16),)
    assert run(state, "register_reset seen") == (WriteRegister("Ingress.seen", None, 0),)
    assert run(state, "set_queue_rate 2000 1") == (SetQueue(1, packets_per_second=2000),)
    assert run(state, "set_queue_bitrate 100000000") == (SetQueue(bits_per_second=10**8),)
    assert run(state, "set_queue_depth 64 2 7") == (SetQueue(2, 7, depth=64),)
    with pytest.raises(ControlError, match=r"has 16 cells, 0 to 15: there is no 16"):
        run(state, "register_write seen 16 1")


def test_multicast_nodes_have_handles_from_zero_in_their_order(state: ProgramDescription) -> None:
    lines = ["mc_mgrp_create 9", "mc_node_create 5 1 2", "mc_node_create 6 3"]
    (group,) = run(state, *lines, "mc_node_associate 9 1")
    assert group == SetMulticastGroup(9, ((6, (3,)),))
    with pytest.raises(ControlError, match=r"no multicast node 2 .* so far: 0 to 1"):
        run(state, *lines, "mc_node_associate 9 2")


def test_later_commands_change_what_earlier_ones_have_added(kinds: ProgramDescription) -> None:
    session = Session(kinds)
    lines = """
        table_add by_value note 1 => 1
        table_add by_value note 2 => 2
        table_modify by_value note 0 7
        table_delete by_value 1
        table_add by_value note 3 => 3
        table_set_default by_value note 9
        mirroring_add 5 1
        mirroring_add 6 2
        mirroring_delete 5
    """
    items = [
        item for line in lines.split("\n") if line.strip() for item in run_command(line, session)
    ]
    plane = control_plane(items)  # type: ignore[arg-type]
    (table,) = plane["tables"]
    assert table["name"] == "Ingress.by_value"
    assert [entry["match"]["hdr.frame.key"] for entry in table["entries"]] == ["1", "3"]
    assert [entry["args"]["value"] for entry in table["entries"]] == ["7", "3"]
    assert table["default"] == {"action": "Ingress.note", "args": {"value": "9"}}
    assert [session["session"] for session in plane["mirror_sessions"]] == [6]
    gone = next(item for item in items if isinstance(item, DeleteEntry))
    with pytest.raises(ControlError, match=r"has no entry 1 that a command added"):
        control_plane([gone])


def test_comments_begin_with_a_sharp_or_with_two_slashes(
    kinds: ProgramDescription, tmp_path: Path
) -> None:
    commands = tmp_path / "commands.txt"
    commands.write_text(
        "// routes\n"
        "table_add by_prefix note 0xab00/8 => 2 // to the servers\n"
        "\ttable_add by_value note 1 => 3# to the clients\n"
        "   // table_add by_value nonsense\n"
    )
    entries = [item.operation for item in read_commands(commands, "commands.txt", kinds)]
    targets = [entry.target for entry in entries if isinstance(entry, AddEntry)]
    assert targets == [ActionCall("Ingress.note", {"value": value}) for value in (2, 3)]


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


def test_what_only_the_program_can_refuse_is_named_with_its_line_too(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    commands = COMMANDS + "table_add forward send 1 => 3\n"
    done = sojourn("run", program_with_commands(tmp_path, commands), "--out", "out")
    assert done.returncode == 2
    assert "commands.txt:6: table `Ingress.forward` has an entry with the same match" in done.stderr


def test_commands_beside_a_program_are_found_and_two_control_planes_are_refused(
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
