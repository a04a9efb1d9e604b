"""A native discipline in the queues of a switch with a P4 program: configuration and results."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import sojourn
from sojourn.errors import ScenarioError
from sojourn.model.scenario import find_scenario, scenario_from_dict
from sojourn.runner import plan_scenario
from sojourn.runtime.plan import make_plan


def scenario(*aqms: object) -> dict[str, Any]:
    document = tomllib.loads(find_scenario("router").read_text(encoding="utf-8"))
    return document | {"duration": "3 s", "aqms": list(aqms)}


def test_the_engine_gets_the_discipline_with_its_parameters() -> None:
    choice = {"use": "router", "discipline": {"use": "fq_codel", "target": "2 ms"}}
    [run] = make_plan(scenario_from_dict(scenario(choice))).runs
    assert run.config["aqm"]["discipline"] == {"name": "fq_codel", "target": 2_000_000}


@pytest.mark.parametrize(
    ("aqm", "said"),
    [
        ({"use": "codel", "discipline": "codel"}, "codel is a native discipline, which has no"),
        ({"use": "router", "discipline": "router"}, "name a native discipline"),
        ({"use": "router", "discipline": "fq_codle"}, 'did you mean "fq_codel"'),
        ({"use": "router", "discipline": {"use": "codel", "tagret": "1 ms"}}, "tagret"),
        (
            {"use": "codel_act", "discipline": "codel"},
            "for Tofino, whose queues drop",
        ),
    ],
)
def test_a_discipline_that_cannot_be_there_is_refused(aqm: object, said: str) -> None:
    with pytest.raises(sojourn.SojournError, match=said):
        plan_scenario(scenario(aqm))


def test_the_program_forwards_and_the_discipline_keeps_the_queue_short(tmp_path: Path) -> None:
    shipped = tomllib.loads(find_scenario("router").read_text(encoding="utf-8"))["aqms"]
    result = sojourn.run(scenario(*shipped), out=tmp_path / "out")
    tail, managed = (aqm.summary for aqm in result.aqms.values())
    assert tail.tail_drops > 0 and managed.aqm_drops > 0
    assert tail.mean is not None and managed.mean is not None
    assert managed.mean < tail.mean / 3


def test_a_path_is_no_discipline() -> None:
    with pytest.raises(ScenarioError, match="name a native discipline"):
        make_plan(scenario_from_dict(scenario({"use": "router", "discipline": "v1model/codel"})))
