"""`sojourn check` reads the control-plane file beside a program as a run does."""

import json
from pathlib import Path

import pytest

from conftest import Sojourn


@pytest.fixture
def program(sojourn: Sojourn, tmp_path: Path) -> Path:
    """A new bmv2 program with its control plane beside it."""
    assert sojourn("new", "my", "--for", "v1model").returncode == 0
    return tmp_path / "my" / "my.p4"


@pytest.mark.parametrize(
    ("right", "wrong", "place", "reason"),
    [
        ('"send"', '"sned"', "my.toml:5", "did you mean `send`"),
        ("MyIngress.forward", "MyIngress.forwrd", "my.toml:5", "did you mean `MyIngress.forward`"),
        ("ingress_port", "ingress_prt", "my.toml:5", "standard_metadata.ingress_port"),
        ("port = 2", "prt = 2", "my.toml:5", "did you mean `port`"),
        ("args =", "arg =", "my.toml:10", 'did you mean "args"'),
        ("= 1 }", '= "400..1200" }', "my.toml:8", "whole number"),
        ("[[tables.entries]]", "[[tables.entries]", "my.toml", "line 7"),
    ],
)
def test_a_fault_of_the_control_plane_is_shown_with_file_and_line(
    sojourn: Sojourn, program: Path, right: str, wrong: str, place: str, reason: str
) -> None:
    control = program.with_suffix(".toml")
    control.write_text(control.read_text().replace(right, wrong, 1))
    done = sojourn("check", program)
    assert done.returncode == 2, done.stdout
    assert place in done.stdout
    assert reason in done.stdout
    said = json.loads(sojourn("check", program, "--json").stdout)
    assert not said["ok"]
    assert place in said["control_plane"]


def test_commands_of_simple_switch_cli_are_checked(sojourn: Sojourn, program: Path) -> None:
    program.with_suffix(".toml").unlink()
    program.with_suffix(".txt").write_text("table_add forward sned 1 => 2\n")
    done = sojourn("check", program)
    assert done.returncode == 2
    assert "my.txt:1" in done.stdout
    assert "sned" in done.stdout


def test_a_program_whose_control_plane_is_right_or_absent_has_no_errors(
    sojourn: Sojourn, program: Path
) -> None:
    assert sojourn("check", program).returncode == 0
    program.with_suffix(".toml").unlink()
    done = sojourn("check", program, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["control_plane"] is None
