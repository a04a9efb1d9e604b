"""`sojourn check`: the stage table, the critical path, and the explanation of a rule."""

import json
from pathlib import Path

from typer.testing import CliRunner

from conftest import Sojourn
from sojourn.cli.shared import app
from sojourn.tools.check.stages import estimate

P4_CODEL = Path(__file__).parent.parent / "p4" / "tna" / "p4_codel.p4"


def test_check_prints_stages_and_critical_path_in_100_columns() -> None:
    result = CliRunner().invoke(app, ["check", str(P4_CODEL)])
    assert result.exit_code == 0
    assert "critical path of egress: 6 stages" in result.output
    stages = result.output[result.output.index("fits:") :]
    assert max(map(len, stages.splitlines())) <= 100


def test_the_json_carries_the_stages() -> None:
    result = CliRunner().invoke(app, ["check", "--json", str(P4_CODEL)])
    stages = json.loads(result.stdout)["stages"]
    assert stages["fits"]
    assert [each["stages"] for each in stages["passes"]] == [1, 6]
    assert stages["stages"][3]["used"]["stateful_alus"] == 1


def test_the_language_alone_has_no_stages() -> None:
    result = CliRunner().invoke(app, ["check", "--json", "--language-only", str(P4_CODEL)])
    assert json.loads(result.stdout)["stages"] is None


def test_macros_reach_the_estimate() -> None:
    assert estimate(P4_CODEL, defines={"UNUSED": "1"}).data["stages_used"] == 6


def test_a_rule_is_explained_by_its_code_with_a_program_of_either_kind() -> None:
    result = CliRunner().invoke(app, ["check", "--explain", "t0701"])
    assert result.exit_code == 0
    assert result.output.startswith("T0701: a packet accesses a register once in a pass.\n\nWhy: ")
    assert result.output.index("This breaks it:") < result.output.index("This keeps it:")
    assert "read.execute(eg.egress_port);" in result.output


def test_explain_without_a_code_lists_the_rules() -> None:
    result = CliRunner().invoke(app, ["check", "--explain"])
    assert result.exit_code == 0
    assert "  T1101  a program has 12 stages, on Tofino 2 20\n" in result.output


def test_an_unknown_code_lists_the_rules_too(sojourn: Sojourn) -> None:
    done = sojourn("check", "--explain", "T9999")
    assert done.returncode == 2
    assert done.stderr.startswith("error: T9999: no such rule")
    assert "T1101  a program has 12 stages, on Tofino 2 20" in done.stderr


def test_features_that_are_not_simulated_pass_the_check_and_are_reported() -> None:
    program = Path(__file__).parent.parent / "crates" / "tofino" / "rules" / "T0804.p4"
    result = CliRunner().invoke(app, ["check", str(program), "-D", "BROKEN"])
    assert result.exit_code == 0
    assert "warning[T0804]: SelectorAction.execute is not simulated" in result.output
    assert "cannot be run" in result.output
    assert "critical path" in result.output
