"""The shipped TNA programs pass an independent compiler: p4c's Tofino back end.

SOJOURN_JUDGE names a folder with `p4c-tofino`, which takes a program and `-D NAME`, ends with
status 0 if the compiler takes it and prints "stages: ingress N, egress M". Without it, these tests
are skipped with one line.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from sojourn.common.resources import programs_folder, scenarios_folder

JUDGE = os.environ.get("SOJOURN_JUDGE")
pytestmark = pytest.mark.skipif(not JUDGE, reason="SOJOURN_JUDGE names no folder of compilers")


def stages(program: str, *defines: str, folder: str = "tna") -> tuple[int, int]:
    """Stages of ingress and egress that the compiler puts a program into."""
    target = {"tna": "tofino", "t2na": "tofino2"}[folder]
    return stages_of(programs_folder() / folder / f"{program}.p4", *defines, target=target)


def stages_of(path: Path, *defines: str, target: str = "tofino") -> tuple[int, int]:
    """The same of a file."""
    compiler = Path(JUDGE or "", "p4c-tofino")
    options = ["--target", target, "-I", programs_folder() / "tna"]
    done = subprocess.run(
        [compiler, path, *options, *(f"-D{name}" for name in defines)],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"stages: ingress (\d+), egress (\d+)", done.stdout)
    assert found, done.stdout
    return int(found[1]), int(found[2])


@pytest.mark.parametrize(
    ("program", "defines", "expected"),
    [
        ("p4_codel", (), (1, 6)),
        ("codel_act", (), (1, 7)),
        ("codel_act", ("CODEL_ACT_SLIDES",), (1, 7)),
        ("codel_act", ("CODEL_ACT_DROP_FIRST",), (1, 7)),
        ("codel_act", ("CODEL_ACT_COUNT_PACKETS",), (1, 7)),
        ("codel_act_slides", (), (1, 7)),
        ("codel_act_slides", ("TARGET=1000000", "INTERVAL=20000000"), (1, 7)),
        ("codel_exact", (), (1, 10)),
        ("codel_exact", ("CODEL_ECN",), (1, 10)),
        ("dualpi2", (), (3, 11)),
        ("fq_codel", (), (2, 10)),
        ("int", (), (3, 4)),
        ("pie", (), (1, 10)),
        ("red", (), (1, 6)),
    ],
)
def test_the_compiler_takes_a_shipped_program_with_the_stages_that_it_claims(
    program: str, defines: tuple[str, ...], expected: tuple[int, int]
) -> None:
    assert stages(program, *defines) == expected
    # The header of the program says so, too.
    first = (programs_folder() / "tna" / f"{program}.p4").read_text().splitlines()[0]
    ingress, egress = expected
    counted = "stage" if ingress == 1 else "stages"
    assert f"{ingress} {counted} of ingress, {egress} of egress" in first


def test_the_compiler_takes_the_program_of_hpccs_scenario() -> None:
    assert stages_of(scenarios_folder() / "hpcc/hpcc.p4") == (2, 5)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("codel", (2, 11)),
        ("codel_act", (2, 7)),
        ("codel_exact", (2, 11)),
        ("dualpi2", (3, 12)),
        ("fq_codel", (3, 11)),
        ("p4_codel", (2, 7)),
        ("pie", (2, 9)),
        ("red", (2, 6)),
    ],
)
def test_the_compiler_takes_a_shipped_program_for_tofino_2(
    program: str, expected: tuple[int, int]
) -> None:
    assert stages(program, folder="t2na") == expected


@pytest.mark.parametrize("rule", ["T0709", "T0710"])
def test_the_compiler_refuses_programs_that_break_a_rule_about_direct_objects(rule: str) -> None:
    compiler = Path(JUDGE or "", "p4c-tofino")
    path = Path(__file__).parents[1] / "crates/tofino/rules" / f"{rule}.p4"

    def judged(*defines: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([compiler, path, *defines], capture_output=True, text=True)

    assert judged().returncode == 0
    broken = judged("-DBROKEN")
    assert broken.returncode != 0 and "direct attached objects must" in broken.stdout
