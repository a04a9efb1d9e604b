"""`sojourn check`: the stage table, the critical path, and the story of a rule."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sojourn.cli.shared import app
from sojourn.stages import estimate

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


@pytest.mark.parametrize(("code", "status"), [("t1101", 0), ("T9999", 1)])
def test_a_rule_is_explained_by_its_code(code: str, status: int) -> None:
    result = CliRunner().invoke(app, ["check", "--explain", code])
    assert result.exit_code == status
    if status == 0:
        assert result.output.startswith("T1101: a program has 12 stages.\n\nWhy: ")
