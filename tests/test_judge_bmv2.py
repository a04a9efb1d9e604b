"""bmv2's own `simple_switch` and ours treat the same packets equally, where bmv2 is installed.

`bench/judge/bmv2.py` does the work. SOJOURN_JUDGE names the judge's folder; PYTHON an interpreter
with what its command line wants.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sojourn.common.resources import programs_folder
from sojourn.control.file import ProgramChoice

sys.path.insert(0, str(Path(__file__).parents[1] / "bench" / "judge"))

import bmv2
from frames import checksum, frames

PROGRAMS = sorted((programs_folder() / "v1model").glob("*.p4"))


FILES = [
    pytest.param(file, marks=pytest.mark.xfail(reason=bmv2.KNOWN[file.name], strict=True))
    if file.name in bmv2.KNOWN
    else file
    for file in [*PROGRAMS, *bmv2.tests()]
]
JUDGE = os.environ.get("SOJOURN_JUDGE")


@pytest.mark.skipif(JUDGE is None, reason="SOJOURN_JUDGE names no folder")
@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_programs_and_packet_tests_do_the_same_on_bmv2(file: Path) -> None:
    for verdict in bmv2.cases([file], Path(str(JUDGE)), 400, 1):
        assert not verdict.complaints, str(verdict)
        assert verdict.sent > 0


@pytest.mark.skipif(JUDGE is None, reason="SOJOURN_JUDGE names no folder")
def test_actions_of_tables_with_an_action_profile_run_on_bmv2() -> None:
    program = Path(__file__).parent / "stf" / "v1model" / "profiles.p4"
    choice = ProgramChoice(program, "v1model", (str(programs_folder() / "include"),))

    def note(value: int) -> dict[str, object]:
        return {"action": "note", "args": {"value": value}}

    first = [{"match": {"hdr.frame.key": 3}, **note(0x11)}]
    grouped = [{"match": {"hdr.frame.kind": 2}, **note(0x22)}]
    control = {
        "tables": [
            {"name": "first", "default": note(0x77), "entries": first},
            {"name": "grouped", "default": note(0x66), "entries": grouped},
        ]
    }
    sent = {"01000300": "11", "01000400": "77", "02000500": "22", "03000500": "66"}
    arrivals = [(1, bytes.fromhex(frame)) for frame in sent]

    def drive(pair: bmv2.Pair) -> None:
        for line in bmv2.commands(choice, control):
            pair.tell(line)
        for frame, value in sent.items():
            pair.theirs.receive()
            pair.sent.setdefault(9, []).append(bytes.fromhex(frame[:6] + value))

    verdict = bmv2.judge_program(choice, Path(str(JUDGE)), "p", arrivals, drive, warnings=False)
    assert not verdict.complaints, str(verdict)
    assert verdict.sent == len(sent)


FORMS = [
    ("codel", ("CODEL_DROP_NEXT_FROM_NOW",)),
    ("codel", ("CONTROL_LAW_RANGE",)),
    ("codel", ("CONTROL_LAW_EXACT",)),
    ("codel", ("CODEL_DROP_NEXT_FROM_NOW", "CONTROL_LAW_RANGE")),
    ("codel", ("TARGET=1000000", "INTERVAL=20000000", "CONTROL_LAW_RANGE")),
    ("codel_act", ("CODEL_ACT_SLIDES",)),
    ("codel_act", ("CODEL_ACT_DROP_FIRST",)),
    ("codel_act", ("CODEL_ACT_COUNT_PACKETS",)),
    ("codel_act_slides", ()),
]
"""Programs for v1model and the macros that their headers document."""


@pytest.mark.skipif(JUDGE is None, reason="SOJOURN_JUDGE names no folder")
@pytest.mark.parametrize(("program", "defines"), FORMS, ids=str)
def test_the_compiler_takes_each_documented_form_of_a_program(
    program: str, defines: tuple[str, ...], tmp_path: Path
) -> None:
    done = subprocess.run(
        [
            f"{JUDGE}/p4c-bmv2",
            programs_folder() / "v1model" / f"{program}.p4",
            *(f"-D{name}" for name in defines),
            "-o",
            tmp_path / "program.json",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "program.json").stat().st_size > 0


NPU = sorted((programs_folder() / "npu").glob("*.p4"))


@pytest.mark.skipif(JUDGE is None, reason="SOJOURN_JUDGE names no folder")
@pytest.mark.parametrize("define", ["", "CODEL_MUTEX", "CODEL_DROP_NEXT_FROM_NOW"])
@pytest.mark.parametrize("program", NPU, ids=lambda path: path.name)
def test_the_language_of_programs_for_the_npu_is_p4c_s(program: Path, define: str) -> None:
    include = programs_folder() / "include"
    macro = [f"-D{define}"] if define else []
    done = subprocess.run(
        [f"{JUDGE}/p4c-bmv2", program, "-I", include, *macro],
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line for line in done.stderr.splitlines() if "error" in line]
    assert all("package NPU: main package  match the expected model" in line for line in errors)
    assert errors, "its back end has no NPU"


def test_hostile_frames_are_the_same_for_the_same_seed_and_of_every_kind() -> None:
    made = frames(400, 1)
    assert made == frames(400, 1) != frames(400, 2)
    assert all(made)
    assert any(len(frame) < 14 for frame in made)
    ipv4 = [frame for frame in made if len(frame) >= 34 and frame[12:15] == b"\x08\x00\x45"]
    assert {frame[22] for frame in ipv4} >= {0, 1, 2, 64, 255}
    assert {frame[23] for frame in ipv4} >= {1, 6, 17}
    right = [checksum(frame[14:34]) == 0 for frame in ipv4]
    assert True in right
    assert False in right


def test_two_delays_in_one_packet_are_one_packet_and_a_wrong_checksum_is_another() -> None:
    tcp = bytes(12) + b"\x50\x10" + bytes(6)
    head = (
        bytes(12) + b"\x08\x00\x45\x00" + (44).to_bytes(2, "big") + bytes(5) + b"\x06" + bytes(10)
    )

    def packet(delay: int, wrong: int = 0) -> bytes:
        body = tcp + delay.to_bytes(4, "big")
        ours = checksum(body) ^ wrong
        return head + body[:16] + ours.to_bytes(2, "big") + body[18:]

    plain = bmv2.without_delay(packet(0))
    assert bmv2.without_delay(packet(1234)) == bmv2.without_delay(packet(0x12345678)) == plain
    assert bmv2.without_delay(packet(1234, wrong=1)) != plain
