"""Tofino 2 on the command line: detection, check, run, template."""

import json
import subprocess
from pathlib import Path

import pytest

from conftest import Sojourn
from sojourn.common.resources import programs_folder

T2NA = programs_folder() / "t2na"
TNA = programs_folder() / "tna"
NAMES = sorted(path.stem for path in T2NA.glob("*.p4"))


@pytest.mark.parametrize("name", NAMES)
def test_check_recognises_a_program_for_t2na_and_its_control_plane(
    sojourn: Sojourn, name: str
) -> None:
    done = sojourn("check", T2NA / f"{name}.p4", "--json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["architecture"], said["control_plane"]) == (0, "tofino2", None)
    assert said["stages"]["stages_available"] == 20
    # The estimate of the program for Tofino 1, and a stage of ingress for valid bits of one byte.
    assert said["stages"]["passes"][0]["stages"] >= 2


def test_target_selects_the_chip_that_a_program_is_compiled_for(sojourn: Sojourn) -> None:
    def said(target: str) -> tuple[str, int]:
        found = json.loads(sojourn("check", TNA / "red.p4", "--target", target, "--json").stdout)
        return found["architecture"], found["stages"]["stages_available"]

    assert said("tofino1") == ("tofino1", 12)
    assert said("tofino2") == ("tofino2", 20)
    assert said("tofino2m") == ("tofino2m", 12)


def test_declarations_of_the_other_chip_are_one_error_with_the_correction(
    sojourn: Sojourn,
) -> None:
    def errors(program: str, target: str) -> list[str]:
        done = sojourn("check", programs_folder() / program, "--target", target, "--json")
        assert done.returncode == 2
        found = json.loads(done.stdout)["diagnostics"]
        return [each["message"] for each in found if each["severity"] == "error"]

    (said,) = errors("t2na/red.p4", "tofino1")
    assert "t2na.p4 is for Tofino 2" in said and "include tna.p4" in said
    (said,) = errors("plain/codel_rfc8289.p4", "tofino2")
    assert "tna.p4 is for Tofino 1" in said and "include t2na.p4" in said


def test_aqms_for_tofino_2_run_and_their_copies_come_back(sojourn: Sojourn) -> None:
    names = ["t2na/codel", "t2na/codel_act", "t2na/pie", "t2na/red", "t2na/fq_codel"]
    options = [word for name in names for word in ("--aqm", name)]
    done = sojourn("run", "three_flows", *options, "--duration", "3 s", "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    for said in json.loads(done.stdout)["aqms"]:
        assert said["aqm_drops"] > 0 and said["mean"] < 30e6, said
        if said["aqm"] in ("t2na/codel", "t2na/codel_act"):
            assert said["recirculated"] == said["mirrored"] > 0, said


NODES = """
[[scheduler_nodes]]
port = 2
node = {node}
weight = 1023
max_rate = 10_000_000

[[queues]]
port = 2
priority = 0
node = {node}
"""


def test_a_control_plane_puts_a_queue_below_a_scheduler_node_with_a_rate(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    def run(name: str, node: int) -> subprocess.CompletedProcess[str]:
        chip = programs_folder() / name.split("/")[0]
        control = (chip / f"{name.split('/')[1]}.toml").read_text()
        (tmp_path / "nodes.toml").write_text(control + NODES.format(node=node))
        scenario = tmp_path / "scenario.toml"
        scenario.write_text(
            f'duration = "2 s"\naqms = [{{ use = "{name}", control = "nodes.toml" }}]\n'
            '[switch]\nrate = "100 Mbit/s"\n[[flows]]\nrtt = "5 ms"\n'
        )
        return sojourn("run", scenario, "--out", tmp_path / "out", "--json")

    done = run("t2na/red", 8)
    assert done.returncode == 0, done.stderr
    (said,) = json.loads(done.stdout)["aqms"]
    assert 8e6 < said["goodput"] < 10e6, said
    # Node 1 is port 1's own, and Tofino 1 has none.
    assert "scheduler node 1 is that of port 1" in run("t2na/red", 1).stderr
    assert "no scheduler nodes between queues and ports" in run("tna/red", 8).stderr
