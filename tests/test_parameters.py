"""The parameters of the native disciplines: notation, conversion for the engine, refusals."""

import json
from pathlib import Path
from typing import Any

import pytest

from conftest import SMALL, Sojourn
from sojourn.errors import ScenarioError, UnknownAqmError
from sojourn.model.aqms import catalogue
from sojourn.model.parameters import disciplines
from sojourn.model.scenario import read_scenario, scenario_from_dict
from sojourn.runner import plan_scenario


def document(choice: dict[str, Any]) -> dict[str, Any]:
    return {
        "duration": "1 s",
        "aqms": [choice],
        "switch": {"rate": "50 Mbit/s"},
        "flows": [{"rtt": "5 ms"}],
    }


def passed(**choice: Any) -> dict[str, Any]:
    """What the engine is told of an AQM, its name aside; the engine has agreed to it."""
    config: dict[str, Any] = plan_scenario(document(choice)).runs[0].config["aqm"]
    return {key: value for key, value in config.items() if key not in ("kind", "name")}


def refusal(**choice: Any) -> str:
    with pytest.raises(ScenarioError) as error:
        plan_scenario(document(choice))
    return str(error.value)


def test_each_kind_of_value_is_handed_over_in_the_registers_unit() -> None:
    assert passed(use="pie", qdelay_ref="20 ms") == {"qdelay_ref": 20_000_000}
    assert passed(use="pie", alpha="0.125 Hz", beta="1250 mHz") == {"alpha": 125, "beta": 1250}
    assert passed(use="red", max_p=0.05, w_q=1e-3) == {"max_p": 50_000, "w_q": 1_000}
    assert passed(use="red", min_th=10, max_th=30) == {"min_th": 10, "max_th": 30}
    assert passed(use="red", gentle=False, bytes=True) == {"gentle": 0, "bytes": 1}
    assert passed(use="fifo", limit_bytes="100 kB") == {"limit_bytes": 100_000}
    assert passed(use="fq_codel", flows=64, seed=9) == {"flows": 64, "seed": 9}


def test_target_and_interval_of_codel_are_parameters_like_others() -> None:
    given = passed(use="codel", target="1 ms", interval="20 ms", ecn=True)
    assert given == {"target": 1_000_000, "interval": 20_000_000, "ecn": 1}


def test_omitted_parameters_have_the_disciplines_defaults() -> None:
    for discipline in disciplines():
        assert passed(use=discipline.name) == {}


@pytest.mark.parametrize("discipline", disciplines(), ids=lambda discipline: discipline.name)
def test_every_default_can_be_written_in_a_scenario_and_read_back(discipline: Any) -> None:
    """What `sojourn aqms` shows may be typed, and comes out of a run's folder as it went in."""
    defaults = {p.name: p for p in discipline.parameters if p.default is not None}
    choice = {"use": discipline.name} | {name: p.written for name, p in defaults.items()}
    assert passed(**choice) == {name: p.default for name, p in defaults.items()}
    scenario = scenario_from_dict(document(choice))
    written = scenario.model_dump(mode="json", exclude_none=True)
    assert {key: written["aqms"][0][key] for key in defaults} == {
        name: p.written for name, p in defaults.items()
    }
    assert scenario_from_dict(written) == scenario


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"use": "pie", "qdelay_reff": "1 ms"}, 'unknown key; did you mean "qdelay_ref"? (known'),
        ({"use": "pie", "target": "1 ms"}, "aqms[0].target: unknown key"),
        ({"use": "pie", "qdelay_ref": 20}, "qdelay_ref: 20: write a time as text with its unit"),
        ({"use": "pie", "qdelay_ref": "20"}, "the unit is missing; use one of ns, us, ms, s"),
        ({"use": "pie", "alpha": 0.125}, 'write a frequency as text with its unit, like "0.125 Hz'),
        ({"use": "pie", "mean_pktsize": 1514}, "write a size as text with its unit"),
        ({"use": "red", "max_p": "0.1"}, "write a probability as a number from 0 to 1"),
        ({"use": "red", "max_p": True}, "write a probability as a number from 0 to 1"),
        ({"use": "red", "max_p": 1.5}, "1.5: a probability is from 0 to 1"),
        ({"use": "red", "max_p": 1e-7}, "1e-07: finer than one millionth"),
        ({"use": "red", "max_p": float("nan")}, "a probability is from 0 to 1"),
        ({"use": "red", "min_th": "5 packets"}, "write a whole number of packets without quotes"),
        ({"use": "red", "min_th": -1}, "must be from 0 to 2^63 - 1"),
        ({"use": "red", "gentle": 1}, "gentle: 1: must be true or false"),
        ({"use": "red", "seed": 1.0}, "write a whole number without quotes"),
        ({"use": "codel", "target": "0 s"}, 'aqms[0].target: "0 s": allowed is 1 ns to 60 min'),
        ({"use": "red", "w_q": 0}, "aqms[0].w_q: 0: allowed is 0.000001 to 1"),
        ({"use": "red", "max_th": 5}, "aqms[0].max_th: 5: allowed is 6 to 1000000"),
        ({"use": "red", "min_th": 20}, "aqms[0].max_th: 15: allowed is 21 to 1000000"),
        ({"use": "fifo", "limit_packets": 0}, "aqms[0].limit_packets: 0: allowed is 1 or more"),
        ({"use": "fifo", "limit_bytes": "0 B"}, '"0 B": allowed is 1 B or more'),
        ({"use": "dualpi2", "k": 101}, "aqms[0].k: 101: allowed is 1 to 100"),
        ({"use": ["pie"]}, "aqms[0].use: "),
        ({"use": "codel_act", "qdelay_ref": "1 ms"}, "is a P4 program, which has no qdelay_ref"),
        ({"use": "codel_act", "math_unti": "paper"}, 'did you mean "math_unit"? (known here: use'),
    ],
)
def test_a_wrong_parameter_is_answered_with_the_allowed_ones(
    choice: dict[str, Any], message: str
) -> None:
    assert message in refusal(**choice)


def test_an_unknown_key_is_answered_with_the_parameters_of_that_discipline_alone() -> None:
    message = refusal(use="codel", limit=5)
    assert message.endswith("(known here: use, label, target, interval, maxpacket, ecn)")


def test_a_mistyped_discipline_with_parameters_is_still_named_as_the_mistake() -> None:
    with pytest.raises(UnknownAqmError, match='did you mean "pie"'):
        plan_scenario(document({"use": "piee", "qdelay_ref": "20 ms"}))


def test_a_wrong_parameter_in_a_table_of_its_own_is_found_by_its_line(tmp_path: Path) -> None:
    tables = '[[aqms]]\nuse = "fifo"\n\n[[aqms]]\nuse = "red"\nmax_p = 2.0\n'
    path = tmp_path / "scenario.toml"
    path.write_text(SMALL.replace('aqms = ["fifo", "codel"]\n', "") + tables)
    with pytest.raises(ScenarioError, match=r"scenario\.toml:16: aqms\[1\]\.max_p: 2\.0: a prob"):
        read_scenario(path)


def test_a_discipline_named_again_on_the_command_line_keeps_its_parameters() -> None:
    choice = document({"use": "pie", "qdelay_ref": "20 ms"})
    runs = plan_scenario(choice, aqms=["pie", "red"]).runs
    assert [run.config["aqm"] for run in runs] == [
        {"kind": "native", "name": "pie", "qdelay_ref": 20_000_000},
        {"kind": "native", "name": "red"},
    ]


def test_the_scenario_of_disciplines_runs_every_native_one_under_the_demos_traffic() -> None:
    plan, demo = plan_scenario("disciplines"), plan_scenario("bufferbloat")
    # The demo's senders write no ranks, and none is L4S.
    without_use = {"pifo", "sp_pifo", "aifo", "packs", "dualpi2_linux"}
    native = {discipline.name for discipline in disciplines()} - without_use
    assert {run.config["aqm"]["name"] for run in plan.runs} == native
    for key in ("duration", "network", "flows"):
        assert plan.runs[0].config[key] == demo.runs[0].config[key]


def test_aqms_lists_parameters_with_defaults_and_units(sojourn: Sojourn) -> None:
    listed = {row["name"]: row for row in json.loads(sojourn("aqms", "--json").stdout)}
    assert listed["codel_act"]["parameters"] == []
    target, *_ = listed["codel"]["parameters"]
    assert target["summary"]
    del target["summary"]
    assert target == {
        "name": "target",
        "kind": "time",
        "unit": "ns",
        "default": 5_000_000,
        "written": "5 ms",
    }
    limit = next(p for p in listed["fifo"]["parameters"] if p["name"] == "limit_bytes")
    assert (limit["default"], limit["written"], limit["kind"]) == (None, None, "size")


def test_aqms_shows_every_parameter_in_full_on_lines_that_fit(sojourn: Sojourn) -> None:
    printed = sojourn("aqms", "--parameters").stdout
    lines = printed.splitlines()
    assert max(map(len, lines)) <= 100
    words = " ".join(printed.split())
    for aqm in catalogue():
        assert " ".join(aqm.summary.split()) in words
        for parameter in aqm.parameters:
            assert parameter.summary in words
            assert any(line.startswith(f"  {parameter.name} ") for line in lines)
    assert any(line.split()[:3] == ["qdelay_ref", '"15', 'ms"'] for line in lines)
