"""Diagnosis of a run that delivered nothing; drops in a program's ingress are named as such."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.results.result import read_result
from sojourn.runtime.folder import RunFolder

WAY_BACK = """[[tables.entries]]
match = { "ig_intr_md.ingress_port" = 2 }
action = "send"
args = { port = 1 }
"""

SCENARIO = """
duration = "500 ms"
aqms = ["lonely.p4"]

[switch]
rate = "10 Mbit/s"

[[flows]]
rtt = "5 ms"
"""


def test_a_program_without_its_control_plane_names_the_missing_file(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    tna = programs_folder() / "tna"
    shutil.copytree(tna / "common", tmp_path / "common")
    shutil.copytree(tna / "aqm", tmp_path / "aqm")
    shutil.copy(tna / "codel_act.p4", tmp_path / "lonely.p4")
    (tmp_path / "lonely.toml").unlink(missing_ok=True)
    (tmp_path / "alone.toml").write_text(SCENARIO)
    done = sojourn("run", "alone.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    text = " ".join(done.stdout.split())
    assert "warning lonely (vendor): nothing got through" in text or (
        "warning lonely: nothing got through" in text
    )
    assert "drops are the program's ingress's, before any queue" in text
    assert "lonely.toml" in text
    assert "no entries for" in text
    assert "forward" in text
    assert "nothing got through" in (tmp_path / "out" / "report.html").read_text()
    result = read_result(RunFolder.open(tmp_path / "out"))
    for aqm in result.aqms.values():
        assert aqm.summary.aqm_drops == 0
        assert aqm.summary.ingress_drops == aqm.summary.packets > 0
    warnings = json.loads(sojourn("report", "out", "--json").stdout)["warnings"]
    assert any("nothing got through" in said for said in next(iter(warnings.values())))


def copied(folder: Path, program: str, architecture: str, change: Callable[[str], str]) -> None:
    """A shipped program as `lonely.p4`, with a changed control plane."""
    source = programs_folder() / architecture
    for part in ("common", "aqm"):
        shutil.copytree(source / part, folder / part)
    shutil.copy(source / f"{program}.p4", folder / "lonely.p4")
    control = (source / f"{program}.toml").read_text()
    changed = change(control)
    assert changed != control
    (folder / "lonely.toml").write_text(changed)


def test_a_missing_way_back_is_named(sojourn: Sojourn, tmp_path: Path) -> None:
    copied(tmp_path, "codel_act", "tna", lambda text: text.replace(WAY_BACK, ""))
    (tmp_path / "alone.toml").write_text(SCENARIO.replace("500 ms", "2 s"))
    done = sojourn("run", "alone.toml", "--out", "out")
    text = " ".join(done.stdout.split())
    assert "no receiver got anything" in text
    assert "packets went to the receivers and none came back" in text
    assert "the program's ingress dropped" in text


def test_a_group_that_gets_nothing_is_named_next_to_one_that_does(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    scenario = """
    duration = "2 s"
    aqms = ["red"]
    [switch]
    rate = "10 Mbit/s"
    [[flows]]
    name = "data"
    rtt = "5 ms"
    [[flows]]
    name = "giants"
    kind = "udp"
    rate = "1 Mbit/s"
    rtt = "10 s"
    """
    (tmp_path / "two.toml").write_text(scenario)
    text = " ".join(sojourn("run", "two.toml", "--out", "out").stdout.split())
    assert "no receiver of giants got any" in text
    assert "data" not in text.partition("no receiver of")[2].partition("got any")[0]


def test_a_run_whose_groups_all_get_something_has_no_warning(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    flows = """
    [[flows]]
    kind = "transfers"
    load = "10 kbit/s"
    rtt = "5 ms"
    [[flows]]
    kind = "voip"
    rtt = "5 ms"
    """
    text = SCENARIO.replace("lonely.p4", "codel").replace("500 ms", "1 s") + flows
    (tmp_path / "fine.toml").write_text(text)
    assert "no receiver" not in sojourn("run", "fine.toml", "--out", "out").stdout


def test_a_missing_bridge_header_is_suspected_where_egress_drops_all(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    copied(tmp_path, "codel_act", "tna", lambda text: text + "\n")
    ingress = tmp_path / "common" / "ingress.p4"
    valid = "hdr.bridge.setValid();"
    assert valid in ingress.read_text()
    ingress.write_text(ingress.read_text().replace(valid, ""))
    (tmp_path / "alone.toml").write_text(SCENARIO)
    text = " ".join(sojourn("run", "alone.toml", "--out", "out").stdout.split())
    assert "the program's egress dropped all" in text
    assert "bridge header" in text
