"""A run in which nothing got through says why; drops of a program's ingress are called that."""

import json
import shutil
from pathlib import Path

from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.results.result import read_result
from sojourn.runtime.folder import RunFolder

SCENARIO = """
duration = "500 ms"
aqms = ["lonely.p4"]

[switch]
rate = "10 Mbit/s"

[[flows]]
rtt = "5 ms"
"""


def test_a_program_without_its_control_plane_says_what_is_missing(
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
