"""Control operations from Python, executed by the engine."""

import json
from pathlib import Path

import pytest

from sojourn import _core
from sojourn.control import (
    ControlError,
    Operation,
    ProgramDescription,
    apply,
    apply_all,
    read_description,
)
from sojourn.control.file import ProgramChoice, written_control_plane
from sojourn.errors import ControlPlaneError
from sojourn.model.programs import compiled, with_own_folder

STATE = Path(__file__).parent / "stf" / "v1model" / "state.p4"


@pytest.fixture
def switch() -> _core.PacketSwitch:
    return _core.PacketSwitch(compiled(STATE, include_paths=with_own_folder(())))


@pytest.fixture
def program(switch: _core.PacketSwitch) -> ProgramDescription:
    return read_description(switch.describe())


def entry(program: ProgramDescription, key: int) -> Operation:
    table = program.table("known")
    given = {"match": {table.keys[0].name: key}, "action": table.action("hit").name}
    return {"op": "add_entry", "table": table.name, "entry": given}


def write(register: str, index: int, value: int) -> Operation:
    return {"op": "write_register", "name": register, "index": index, "value": [value]}


def test_a_batch_is_done_wholly_or_not_at_all(
    switch: _core.PacketSwitch, program: ProgramDescription
) -> None:
    good: list[Operation] = [entry(program, 1), write("seen", 3, 7), entry(program, 2)]
    with pytest.raises(ControlError, match=r"operation 4: .*no cell 99"):
        apply_all([*good, write("seen", 99, 7)], switch)
    assert switch.read_register("seen", 3) == ["0"]
    entries = json.dumps({"read": "entries", "table": "known"})
    assert json.loads(switch.read(entries)) == []
    assert apply_all(good, switch) == [0, None, 1]
    assert switch.read_register("seen", 3) == ["7"]
    assert [found["handle"] for found in json.loads(switch.read(entries))] == [0, 1]


def test_a_refusal_of_one_operation_is_its_reason_alone(switch: _core.PacketSwitch) -> None:
    with pytest.raises(ControlError) as refused:
        apply(write("sen", 0, 1), switch)
    assert str(refused.value) == "there is no register `sen` (did you mean `seen`?)"


def test_the_rate_of_a_queue_is_set_while_packets_wait(switch: _core.PacketSwitch) -> None:
    apply({"op": "set_queue", "port": 9, "packets_per_second": 1}, switch)
    for _ in range(3):
        switch.receive(1, bytes(64))
    switch.wait(1_500_000_000)
    assert len(switch.take()) == 2
    switch.command("set_queue_rate 0 9")
    switch.wait(1_000_000)
    assert len(switch.take()) == 1


@pytest.mark.parametrize(
    ("written", "place", "message"),
    [
        (
            "[[multicast_groups]]\ngroup = 1\nnodes = []",
            2,
            "multicast_groups[0].group: unknown key",
        ),
        ("[[multicast_groups]]\nnodes = []", 1, "multicast_groups[0].id: missing"),
        (
            "[[multicast_groups]]\nid = 1\nnodes = [{ rid = 1, port = [1] }]",
            3,
            'multicast_groups[0].nodes[0].port: unknown key; did you mean "ports"?',
        ),
        (
            "[[multicast_groups]]\nid = 1\nnodes = 3",
            3,
            "multicast_groups[0].nodes: 3: must be array",
        ),
        ("[[registers]]\nname = 'r'\nvalu = 1", 3, "registers[0].valu: unknown key"),
        (
            "[[mirror_sessions]]\nsession = 5\nport = '2'",
            3,
            "mirror_sessions[0].port: '2': must be",
        ),
        (
            "[[registers]]\nname = 'r'\nvalue = '10.0.0.1'",
            3,
            "registers[0].value: '10.0.0.1': must be a whole number",
        ),
        ("[[queues]]\ndepth = -1", 2, "queues[0].depth: -1: must be 0 at least"),
        ("priority_queues = 33", 1, "priority_queues: 33: must be 32 at most"),
        ("[[tables]]\nname = 'known'\nentrys = []", 3, "tables[0].entrys: unknown key"),
    ],
)
def test_a_key_of_a_control_file_is_named_with_file_and_line(
    tmp_path: Path, written: str, place: int, message: str
) -> None:
    path = tmp_path / "control.toml"
    path.write_text(written + "\n")
    choice = ProgramChoice(STATE, None, (), {}, path)
    with pytest.raises(ControlPlaneError) as refused:
        written_control_plane(choice)
    first = str(refused.value).splitlines()[0]
    assert f"control.toml:{place}: {message}" in first
