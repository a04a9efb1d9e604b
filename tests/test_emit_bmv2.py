"""`sojourn emit --for bmv2`: its commands equal the control plane."""

from pathlib import Path
from typing import Any

import pytest

from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.control import ControlError
from sojourn.control.file import ProgramChoice, with_all_entries
from sojourn.control.schema import problems
from sojourn.errors import ControlPlaneError
from sojourn.tools.emit import TARGETS, Job, Shaper

PROGRAMS = sorted(path.stem for path in (programs_folder() / "v1model").glob("*.p4"))
STF = Path(__file__).parent / "stf"
INCLUDE = (str(programs_folder() / "include"),)

COMMANDS = {
    "match_kinds": """
        table_add by_value note 0x1234 1 => 7
        table_add by_mask note 0x1200&&&0xff00 => 1 3
        table_add by_prefix note 0xab00/8 => 2
        table_add by_range note 10->0x2000 => 0xff 9
        table_add by_choice note 5 0 => 1 1
        table_set_default by_value note 3
        mirroring_add 5 2
        mirroring_add_mc 6 7
        mc_mgrp_create 7
        mc_node_create 16 1 2
        mc_node_create 32 3
        mc_node_associate 7 0
        mc_node_associate 7 1
        set_queue_rate 2000
        set_queue_depth 64 1
        set_queue_depth 32 1 7
    """,
    "profiles": """
        act_prof_create_member shared note 0x11
        act_prof_create_member shared note 0x22
        act_prof_create_member spread note 0x33
        act_prof_create_group spread
        act_prof_add_member_to_group spread 0 0
        table_indirect_add first 3 => 1
        table_indirect_add_with_group grouped 2 => 0
    """,
    "state": """
        register_write seen 3 200
        meter_set_rates TestIngress.rate 1 0.000001:2 0.00001:3
        meter_set_rates rate 2 1.5:1000 3:2000
    """,
}


def choice(name: str) -> ProgramChoice:
    return ProgramChoice(STF / "v1model" / f"{name}.p4", "v1model", INCLUDE)


def left_by(commands: str, chosen: ProgramChoice) -> dict[str, Any]:
    """The control plane that commands leave behind."""
    file = {"name": "commands.txt", "text": commands}
    return with_all_entries({"commands": file}, chosen)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_written_scenario_reads_back_as_the_same_scenario(name: str) -> None:
    chosen = choice(name)
    before = left_by(COMMANDS[name], chosen)
    assert any(before.values())
    assert left_by(TARGETS["bmv2"].files(Job(chosen, before))["commands.txt"], chosen) == before


def test_omitted_keys_are_written_as_wildcards() -> None:
    control = {
        "tables": [
            {"name": "by_mask", "entries": [{"action": "note", "args": {"value": 1}}]},
            {"name": "by_prefix", "entries": [{"action": "note", "args": {"value": 2}}]},
            {"name": "by_range", "entries": [{"action": "note", "args": {"value": 3}}]},
        ]
    }
    text = TARGETS["bmv2"].files(Job(choice("match_kinds"), control))["commands.txt"]
    assert "table_add TestIngress.by_mask TestIngress.note 0&&&0 => 1 0" in text
    assert "table_add TestIngress.by_prefix TestIngress.note 0/0 => 2" in text
    assert "table_add TestIngress.by_range TestIngress.note 0->0xffff => 3 0" in text


def test_a_bit_rate_becomes_packets_and_the_conversion_is_reported() -> None:
    shaper = Shaper(1, 100_000_000, 1600)
    files = TARGETS["bmv2"].files(Job(choice("state"), {}, (shaper,)))
    # 100 Mbit/s in frames of 1514 bytes are 8256.3 a second.
    assert files["commands.txt"] == "set_queue_rate 8256 1\n"
    assert "- Rates in bit/s: 100000000 bit/s are 8256 packets/s of 1514 b" in files["README.md"]


def test_the_file_holds_commands_only_and_unsupported_operations_are_reported_separately() -> None:
    spread = {
        "name": "spread",
        "members": [{"id": 1, "action": "note", "args": {"value": 1}}],
        "groups": [[7, [[1, False]]]],
    }
    session = {"session": 5, "port": 2, "max_length": 64}
    control = {"fair_queues": 8, "action_profiles": [spread], "mirror_sessions": [session]}
    files = TARGETS["bmv2"].files(Job(choice("profiles"), control))
    names = [line.split()[0] for line in files["commands.txt"].splitlines()]
    assert names == ["act_prof_create_member", "act_prof_create_group", "mirroring_add"]
    remarks = [line for line in files["README.md"].splitlines() if line.startswith("- ")]
    assert remarks == [
        "- Queues of equal weight: the 8 of this program go by priority there.",
        "- Members of a group that are down: 1 of group 7 of spread are left out.",
        "- Cut copies: those of session 5 to 64 bytes are whole.",
    ]
    assert "profiles.json -- --priority-queues 8" in files["README.md"]


def test_an_action_of_a_table_with_an_action_profile_becomes_a_member_of_it() -> None:
    control = {
        "action_profiles": [
            {"name": "shared", "members": [{"id": 9, "action": "note", "args": {"value": 1}}]}
        ],
        "tables": [
            {
                "name": "first",
                "default": {"action": "note", "args": {"value": 2}},
                "entries": [
                    {"match": {"hdr.frame.key": 3}, "member": 9},
                    {"match": {"hdr.frame.key": 4}, "action": "miss"},
                ],
            }
        ],
    }
    text = TARGETS["bmv2"].files(Job(choice("profiles"), control))["commands.txt"]
    assert text.splitlines() == [
        "act_prof_create_member TestIngress.shared TestIngress.note 1",
        "act_prof_create_member TestIngress.shared TestIngress.note 2",
        "table_indirect_set_default TestIngress.first 1",
        "table_indirect_add TestIngress.first 3 => 0",
        "act_prof_create_member TestIngress.shared TestIngress.miss",
        "table_indirect_add TestIngress.first 4 => 2",
    ]


def test_value_sets_and_meters_have_their_full_names() -> None:
    value_sets = {"value_sets": [{"name": "chosen", "members": [[0xAA], [7]]}]}
    text = TARGETS["bmv2"].files(Job(choice("parsing"), value_sets))["commands.txt"]
    assert text.splitlines() == ["pvs_add TestParser.chosen 170", "pvs_add TestParser.chosen 7"]
    spec = {"cir": 10**6, "cbs": 4, "pir": 2 * 10**6, "pbs": 8}
    meters = {"meters": [{"name": "rate", "index": 1, "spec": spec}]}
    text = TARGETS["bmv2"].files(Job(choice("state"), meters))["commands.txt"]
    assert text.splitlines() == ["meter_set_rates TestIngress.rate 1 1:4 2:8"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_emitted_commands_of_a_shipped_program_can_be_executed_line_by_line(name: str) -> None:
    chosen = ProgramChoice(programs_folder() / "v1model" / f"{name}.p4", "v1model", INCLUDE)
    job = Job.of(chosen)
    left = left_by(TARGETS["bmv2"].files(job)["commands.txt"], chosen)
    assert [
        (table["name"].rpartition(".")[2], len(table["entries"])) for table in left["tables"]
    ] == [
        (table["name"].rpartition(".")[2], len(table.get("entries", [])))
        for table in job.control["tables"]
    ]


def test_a_program_for_tofino_is_refused(sojourn: Sojourn) -> None:
    chosen = ProgramChoice(STF / "tna" / "state.p4", "tofino1", INCLUDE)
    with pytest.raises(ControlPlaneError, match=r"its main is a Switch; bmv2 runs programs for V1"):
        TARGETS["bmv2"].files(Job(chosen, {}))


def test_the_command_writes_the_file_of_the_control_plane_next_to_the_program(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    commands = tmp_path / "my.txt"
    commands.write_text("register_write seen 3 200\n")
    done = sojourn(
        "emit", STF / "v1model" / "state.p4", "--for", "bmv2", "--control", commands, "--out", "out"
    )
    assert done.returncode == 0, done.stderr
    assert "register_write TestIngress.seen 3 200" in (tmp_path / "out/commands.txt").read_text()


def test_a_paused_queue_is_refused_because_bmv2_has_no_command_for_it() -> None:
    with pytest.raises(ControlError, match="no command that pauses a queue"):
        TARGETS["bmv2"].files(Job(choice("match_kinds"), {"queues": [{"port": 1, "paused": True}]}))


def test_cells_of_a_queue_are_refused_because_bmv2_counts_packets() -> None:
    queues = [{"port": 1, "pool": 1, "alpha": 0.5}]
    with pytest.raises(ControlError, match="count packets and have no pool, alpha"):
        TARGETS["bmv2"].files(Job(choice("match_kinds"), {"queues": queues}))


def test_alpha_of_a_queue_is_a_number_in_its_range() -> None:
    found = problems({"queues": [{"alpha": 0.015625}, {"alpha": 1025.5}, {"alpha": "x"}]}, "c", "")
    assert [line.partition(": ")[2] for line in found] == [
        "queues[1].alpha: 1025.5: must be 1024 at most",
        "queues[2].alpha: 'x': must be number",
    ]
