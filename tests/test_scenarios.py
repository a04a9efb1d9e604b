"""Scenario files: their models, and the messages for wrong ones."""

from pathlib import Path

import pytest

from conftest import SMALL
from sojourn.errors import ScenarioError, UnknownAqmError
from sojourn.model.scenario import read_scenario, scenario_from_dict, shipped_scenarios
from sojourn.runner import plan_scenario
from sojourn.runtime.plan import make_plan


def write(folder: Path, text: str) -> Path:
    path = folder / "scenario.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_shipped_scenario_can_be_run(name: str, request: pytest.FixtureRequest) -> None:
    if name == "hardware":
        request.getfixturevalue("with_verilator")
    plan = plan_scenario(name)
    assert plan.runs
    assert plan.scenario.title
    assert plan.scenario.description
    # What the terminal says of it fits a line.
    assert 10 < len(plan.scenario.look_at) <= 92


def test_the_demo_is_ten_cubic_flows_behind_100_mbit() -> None:
    config = plan_scenario("bufferbloat").runs[0].config
    assert config["duration"] == 10_000_000_000
    assert config["network"]["links"][1]["rate"] == 100_000_000
    assert len(config["flows"]) == 10
    assert {flow["congestion_control"] for flow in config["flows"]} == {"cubic"}
    assert [config["flows"][place]["rtt"] for place in (0, 9)] == [5_000_000, 10_000_000]


def test_the_demo_runs_the_papers_codels_and_an_exact_one_under_one_math_unit() -> None:
    runs = plan_scenario("bufferbloat").runs
    exact, *papers = ["codel_exact", "p4_codel", "codel_act", "codel_act_slides"]
    assert [run.label for run in runs] == ["fifo", "codel", exact, *papers]
    units = {r.config["aqm"]["math_unit"] for r in runs if r.config["aqm"]["kind"] == "p4"}
    assert units == {"vendor"}


def test_round_trip_times_are_spread_evenly(tmp_path: Path) -> None:
    scenario = read_scenario(write(tmp_path, SMALL))
    flows = make_plan(scenario).runs[0].config["flows"]
    assert [flow["rtt"] for flow in flows] == [5_000_000, 7_500_000, 10_000_000]


def test_a_scenario_as_run_is_a_scenario() -> None:
    scenario = plan_scenario("bufferbloat").scenario
    written = scenario.model_dump(mode="json", exclude_none=True)
    assert scenario_from_dict(written) == scenario


def test_the_command_line_replaces_aqms_seed_and_math_unit() -> None:
    plan = plan_scenario("bufferbloat", aqms=["codel_act", "fifo"], seed=7, math_unit="vendor")
    assert [run.label for run in plan.runs] == ["codel_act", "fifo"]
    assert plan.runs[0].config["aqm"]["math_unit"] == "vendor"
    assert {run.config["seed"] for run in plan.runs} == {7}
    assert plan.scenario.seed == 7


def test_an_aqm_named_again_keeps_the_options_that_the_scenario_gives_it() -> None:
    plan = plan_scenario("capped", aqms=["p4_codel"])
    assert [run.config["aqm"]["math_unit"] for run in plan.runs] == ["paper"]


def test_a_p4_run_names_its_sources_with_their_hashes() -> None:
    run = plan_scenario("bufferbloat", aqms=["codel_act"]).runs[0]
    names = {Path(path).name for path in run.sources}
    assert {"codel_act.p4", "headers.p4", "tna.p4"} <= names
    assert all(len(digest) == 64 for digest in run.sources.values())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"3 s"', '"3 sec"', ':2: duration: "3 sec": unknown unit "sec"; use one of ns, us, ms'),
        ('"3 s"', "2", ":2: duration: 2: write a time as text with its unit"),
        ('"3 s"', '"0 s"', ':2: duration: "0 s": must be more than zero'),
        ("duration", "durration", ':2: durration: unknown key; did you mean "duration"?'),
        ("rate =", "rat =", ':6: switch.rat: unknown key; did you mean "rate"?'),
        ("rate =", "# rate =", ":5: switch.rate: missing"),
        ('"50 Mbit/s"', '"fast"', ':6: switch.rate: "fast": not a rate'),
        ("count = 3", "count = 0", ":10: flows[0].count: 0: input should be greater than or equal"),
        ("count = 3", 'kind = "upd"', 'flows[0]: kind "upd": must be "tcp", "udp", '),
        (
            "count = 3",
            'congestion_control = "cubik"',
            ':10: flows[0].congestion_control: "cubik": must be "cubic", "newreno", "bbr", '
            '"dctcp", "prague" or "hpcc"; '
            'did you mean "cubic"?',
        ),
        ('["5 ms", "10 ms"]', '["9 ms", "5 ms"]', ":11: flows[0].rtt: "),
        ("count = 3", 'start = "3 s"', ":10: flows[0].start: 3 s: the run is over after 3 s"),
        ('["fifo", "codel"]', "[]", ":3: aqms: must not be empty"),
        ('"codel"]', '{ use = "codel", targt = "5 ms" }]', "aqms[1].targt: unknown key; did you"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_cure(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in SMALL
    with pytest.raises(ScenarioError) as error:
        read_scenario(write(tmp_path, SMALL.replace(old, new, 1)))
    assert f"scenario.toml{message}" in str(error.value) or message in str(error.value)


def test_all_mistakes_of_a_file_are_named_at_once(tmp_path: Path) -> None:
    text = (
        SMALL.replace('"3 s"', "2").replace('"50 Mbit/s"', '"fast"').replace("count = 3", "n = 3")
    )
    with pytest.raises(ScenarioError) as error:
        read_scenario(write(tmp_path, text))
    assert len(str(error.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"use": "fifo", "math_unit": "paper"}, "fifo is a native discipline, which has no math_"),
        (
            {"use": "codel", "executor": "interpreter"},
            "codel is a native discipline, which has no exe",
        ),
        ({"use": "codel_act", "target": "5 ms"}, "codel_act is a P4 program, which has no target"),
    ],
)
def test_an_option_that_an_aqm_does_not_have_is_refused(
    choice: dict[str, str], message: str
) -> None:
    document = {
        "duration": "1 s",
        "aqms": [choice],
        "switch": {"rate": "1 Mbit/s"},
        "flows": [{"rtt": "1 ms"}],
    }
    with pytest.raises(ScenarioError) as error:
        make_plan(scenario_from_dict(document))
    assert message in str(error.value)


def test_two_aqms_of_one_name_need_labels() -> None:
    document = {
        "duration": "1 s",
        "aqms": ["codel", {"use": "codel", "target": "10 ms"}],
        "switch": {"rate": "1 Mbit/s"},
        "flows": [{"rtt": "1 ms"}],
    }
    with pytest.raises(ScenarioError, match="give each a label"):
        make_plan(scenario_from_dict(document))
    document["aqms"][1]["label"] = "codel 10 ms"  # type: ignore[index]
    plan = make_plan(scenario_from_dict(document))
    assert [run.folder for run in plan.runs] == ["codel", "codel-10-ms"]


def test_a_value_beyond_the_engines_range_is_refused_before_anything_runs() -> None:
    document = {
        "duration": "1 s",
        "aqms": ["fifo"],
        "switch": {"rate": "100 Gbit/s", "port_speed": "10 Gbit/s"},
        "flows": [{"rtt": "1 ms"}],
    }
    with pytest.raises(ScenarioError, match=r"switch\.rate = 100 Gbit/s"):
        plan_scenario(document)


@pytest.mark.parametrize("rate", ["11 Gbit/s", "400 Gbit/s"])
def test_ports_and_access_links_are_as_fast_as_the_bottleneck(rate: str) -> None:
    flows = [{"rtt": "1 ms"}]
    document = {"duration": "1 s", "aqms": ["fifo"], "switch": {"rate": rate}, "flows": flows}
    network = plan_scenario(document).runs[0].config["network"]
    speeds = [switch["port_speed"] for switch in network["switches"]]
    speeds += [host["access_rate"] for host in network["hosts"]]
    assert speeds == [network["links"][1]["rate"]] * 3


def test_an_unknown_aqm_is_answered_with_the_near_name() -> None:
    with pytest.raises(UnknownAqmError, match='did you mean "codel_act"'):
        plan_scenario("bufferbloat", aqms=["codel_axt"])


def test_a_program_is_found_next_to_its_scenario(tmp_path: Path) -> None:
    (tmp_path / "mine.p4").write_text("// Mine. It does nothing.\n")
    path = write(tmp_path, SMALL.replace('"codel"]', '"mine.p4"]'))
    run = make_plan(read_scenario(path), beside=tmp_path).runs[1]
    assert run.config["aqm"]["program"] == str(tmp_path / "mine.p4")
    path.write_text(SMALL.replace('"codel"]', '"mime.p4"]'))
    with pytest.raises(UnknownAqmError, match=r"did you mean .*mine\.p4"):
        make_plan(read_scenario(path), beside=tmp_path)
