"""AQM names that a Python session registers."""

import json
from pathlib import Path

import pytest

import sojourn
from sojourn.common.resources import programs_folder
from sojourn.model import session_aqms

TINY = {
    "duration": "0.2 s",
    "aqms": ["fifo"],
    "switch": {"rate": "50 Mbit/s"},
    "flows": [{"count": 1, "rtt": "5 ms"}],
}


@pytest.fixture(autouse=True)
def own_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_aqms, "_REGISTERED", {})


def test_a_registered_name_runs_its_aqm_and_the_run_folder_names_it(
    tmp_path: Path,
) -> None:
    sojourn.register_aqm("hasty", "codel", target="1 ms")
    result = sojourn.run(TINY, aqms=["codel", "hasty"], report=False, out=tmp_path / "out")
    assert list(result.aqms) == ["codel", "hasty"]
    aqms = json.loads((tmp_path / "out/run.json").read_text())["scenario"]["aqms"]
    assert {"use": "codel", "label": "hasty", "target": "1 ms"}.items() <= aqms[1].items()


def test_a_program_of_ones_own_is_found_wherever_the_session_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.p4").write_text((programs_folder() / "tna/codel_act.p4").read_text())
    (tmp_path / "mine.toml").write_text((programs_folder() / "tna/codel_act.toml").read_text())
    monkeypatch.chdir(tmp_path)
    sojourn.register_aqm("mine", "mine.p4", math_unit="paper")
    monkeypatch.chdir("/")
    assert list(sojourn.run(TINY, aqms="mine", report=False).aqms) == ["mine"]


def test_options_of_a_scenario_override_those_of_a_registered_name() -> None:
    sojourn.register_aqm("hasty", "codel", target="1 ms", interval="20 ms")
    spelled = session_aqms.spelled_out({"use": "hasty", "target": "2 ms", "label": "x"})
    assert spelled == {"use": "codel", "label": "x", "target": "2 ms", "interval": "20 ms"}


@pytest.mark.parametrize(
    ("name", "use", "options", "complaint"),
    [
        ("codel", "fq_codel", {}, "codel: is shipped under that name already"),
        ("./mine.p4", "codel", {}, "a name, not a path"),
        ("mine", "nothing.p4", {}, "no such P4 program"),
        ("mine", "codle", {}, "did you mean"),
        ("mine", "codel", {"target": "5"}, "the unit is missing"),
        ("mine", "codel", {"max_p": 1}, "max_p"),
    ],
)
def test_a_mistake_is_reported_at_once(
    name: str, use: str, options: dict[str, object], complaint: str
) -> None:
    with pytest.raises(sojourn.SojournError, match=complaint):
        sojourn.register_aqm(name, use, **options)
    assert not session_aqms.registered()


def test_a_slip_in_a_registered_name_has_it_suggested() -> None:
    sojourn.register_aqm("hasty", "codel", target="1 ms")
    with pytest.raises(sojourn.SojournError, match='did you mean "hasty"'):
        sojourn.run(TINY, aqms="hastyy", report=False)
