"""Templates, lists and schemas: `sojourn new`, `scenarios`, `schema`, shell completion."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import Sojourn
from sojourn.common.resources import programs_folder, scenarios_folder
from sojourn.model.scenario import find_scenario
from sojourn.model.scenario.read import shipped_scenarios
from sojourn.tools.schemas import SCHEMAS, reference


@pytest.mark.parametrize("target", ["tna", "v1model", "t2na", "psa"])
def test_a_new_program_is_checked_tested_and_run_at_once(
    tmp_path: Path, sojourn: Sojourn, target: str
) -> None:
    made = sojourn("new", "slow_drop", "--for", target)
    assert made.returncode == 0, made.stderr
    names = {path.name for path in (tmp_path / "slow_drop").iterdir()}
    assert names == {
        "slow_drop.p4",
        "slow_drop.toml",
        "slow_drop.stf",
        "slow_drop-scenario.toml",
    }
    assert not any("my_aqm" in path.read_text() for path in (tmp_path / "slow_drop").iterdir())
    checked = sojourn("check", "slow_drop/slow_drop.p4", "--json")
    assert json.loads(checked.stdout)["diagnostics"] == []
    tested = sojourn("test", "slow_drop/slow_drop.p4")
    assert tested.returncode == 0, tested.stdout
    ran = sojourn(
        "run", "slow_drop/slow_drop-scenario.toml", "--duration", "6 s", "--out", "out", "--json"
    )
    assert ran.returncode == 0, ran.stderr
    fifo, _codel, own = json.loads(ran.stdout)["aqms"]
    assert own["aqm"] == "slow_drop"
    # A drop each 20 ms, also behind the 4.3 s at which a clock of 32 bits starts again from 0.
    assert own["aqm_drops"] == pytest.approx(300, rel=0.05)
    assert own["mean"] < fifo["mean"] / 5


def test_a_new_program_takes_the_place_of_nothing(tmp_path: Path, sojourn: Sojourn) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/mine.toml").write_text("precious")
    done = sojourn("new", "mine")
    assert done.returncode == 2
    assert "there already; nothing was written" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["mine.toml"]
    for wrong in ("Mine", "../mine", "7up", "a-b"):
        assert sojourn("new", wrong).returncode == 2
    assert 'did you mean "tna"' in sojourn("new", "other", "--for", "tnA").stderr


def test_shipped_scenarios_are_listed_a_line_each(sojourn: Sojourn) -> None:
    lines = sojourn("scenarios").stdout.splitlines()
    assert [line.split()[0] for line in lines] == shipped_scenarios()
    assert all(len(line.split()) > 2 for line in lines)
    rows = json.loads(sojourn("scenarios", "--json").stdout)
    assert all(Path(row["file"]).is_file() and row["title"] for row in rows)


def valid(kind: str, document: dict[str, Any]) -> list[str]:
    schema = SCHEMAS[kind]()
    jsonschema.Draft202012Validator.check_schema(schema)
    errors = jsonschema.Draft202012Validator(schema).iter_errors(document)
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]


@pytest.mark.parametrize("name", shipped_scenarios())
def test_the_schema_takes_every_shipped_scenario(name: str) -> None:
    assert valid("scenario", tomllib.loads(find_scenario(name).read_text())) == []


@pytest.mark.parametrize("path", sorted(programs_folder().glob("*/*.toml")), ids=lambda p: p.stem)
def test_the_schema_takes_every_shipped_control_plane(path: Path) -> None:
    assert valid("control", tomllib.loads(path.read_text())) == []


@pytest.mark.parametrize(
    ("kind", "changed"),
    [
        ("scenario", {"duration": 3}),
        ("scenario", {"duration": "3 sec"}),
        ("scenario", {"durations": "3 s"}),
        ("scenario", {"aqms": [{"use": "codel", "tarjet": "1 ms"}]}),
        ("scenario", {"aqms": []}),
        ("scenario", {"flows": [{"kind": "tcq"}]}),
        ("sweep", {"grid": {"switch.rate": []}}),
        ("control", {"tables": [{"entries": []}]}),
    ],
)
def test_the_schema_refuses_the_same_files_as_the_reader(
    kind: str, changed: dict[str, Any]
) -> None:
    whole: dict[str, Any] = {"scenario": "bufferbloat"} if kind == "sweep" else {}
    if kind == "scenario":
        whole = tomllib.loads((scenarios_folder() / "bufferbloat.toml").read_text())
    assert valid(kind, whole) == []
    assert valid(kind, whole | changed) != []


def test_the_page_of_all_keys_is_that_of_today() -> None:
    page = Path(__file__).parent.parent / "docs/keys.md"
    assert page.read_text() == reference(), (
        "make it again: sojourn schema reference --out docs/keys.md"
    )


def test_every_key_has_a_meaning_and_a_default_as_toml_writes_it() -> None:
    rows = [line.split("|") for line in reference().splitlines() if line.startswith("| `")]
    assert len(rows) >= 300
    assert [row[1] for row in rows if not row[4].strip()] == []
    assert [row[1] for row in rows if "{'" in row[3] or "None" in row[3]] == []
    (control,) = (row for row in rows if row[1].strip() == "`congestion_control`")
    assert "`bbr`" in control[2]


def test_a_shell_completes_commands_and_options(tmp_path: Path) -> None:
    command = Path(sys.executable).with_name("sojourn")

    def completed(*words: str) -> list[str]:
        asked = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
        env = os.environ | asked | {"_SOJOURN_COMPLETE": "complete_bash"}
        done = subprocess.run([command], env=env, cwd=tmp_path, capture_output=True, text=True)
        return done.stdout.split()

    assert completed("sojourn", "sc") == ["scenarios", "schema"]
    assert completed("sojourn", "run", "--du") == ["--duration"]
