"""P4 programs from end to end: checked, refused with a place and a reason, and run."""

import hashlib
import json
from pathlib import Path

import pytest

import sojourn as package
from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.tools.check.checker import check

CODEL_ACT = programs_folder() / "tna" / "codel_act.p4"

SHORT = """
duration = "2 s"
aqms = ["codel_act"]

[switch]
rate = "50 Mbit/s"

[[flows]]
count = 3
rtt = ["5 ms", "10 ms"]
"""

V1MODEL = """
parser P<H>(out H h);
control C<H>(inout H h);
package V1Switch<H>(P<H> p, C<H> c);
struct headers_t {}
parser MyParser(out headers_t h) { state start { transition accept; } }
control MyControl(inout headers_t h) { apply {} }
V1Switch(MyParser(), MyControl()) main;
"""


@pytest.fixture
def short(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    return path


def digest(result: package.Result, label: str) -> str:
    rows = result.aqms[label].folder / "packets.parquet"
    return hashlib.sha256(rows.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["p4_codel", "codel_act", "codel_exact"])
@pytest.mark.parametrize("extra", [[], ["--language-only"]])
def test_the_shipped_programs_have_no_errors(sojourn: Sojourn, name: str, extra: list[str]) -> None:
    done = sojourn("check", programs_folder() / "tna" / f"{name}.p4", *extra)
    assert done.returncode == 0, done.stdout
    assert "no errors" in done.stdout


def test_an_error_is_shown_in_its_line_with_a_near_name(sojourn: Sojourn, tmp_path: Path) -> None:
    text = CODEL_ACT.read_text()
    assert "struct egress_metadata_t {" in text
    (tmp_path / "mine.p4").write_text(
        text.replace("struct egress_metadata_t {", "struct egres_metadata_t {", 1)
    )
    include = programs_folder() / "tna"
    done = sojourn("check", "mine.p4", "-I", include)
    assert done.returncode == 2
    assert "mine.p4:" in done.stdout
    assert "egress_metadata_t" in done.stdout
    assert "did you mean" in done.stdout or "similar" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    found = json.loads(sojourn("check", "mine.p4", "-I", include, "--json").stdout)
    assert found["ok"] is False
    assert found["diagnostics"]


def test_a_defined_macro_reaches_the_program(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "macro.p4").write_text("#ifdef BROKEN\nthis is not P4\n#endif\n")
    assert sojourn("check", "macro.p4", "--language-only").returncode == 0
    assert sojourn("check", "macro.p4", "--language-only", "-D", "BROKEN").returncode == 2


def test_a_program_with_errors_is_not_run(sojourn: Sojourn, short: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.p4").write_text("control { }\n")
    done = sojourn("run", short, "--aqm", "broken.p4", "--out", "out")
    assert done.returncode == 2
    assert "broken.p4:1:" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_program_for_another_architecture_is_refused_by_its_name(
    sojourn: Sojourn, short: Path, tmp_path: Path
) -> None:
    (tmp_path / "other.p4").write_text(V1MODEL)
    done = sojourn("run", short, "--aqm", "other.p4", "--out", "out")
    assert done.returncode == 2
    assert "V1Switch" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_control_plane_that_does_not_fit_names_the_table(
    sojourn: Sojourn, short: Path, tmp_path: Path
) -> None:
    control = CODEL_ACT.with_suffix(".toml").read_text()
    (tmp_path / "wrong.toml").write_text(control.replace("Ingress.forward", "Ingress.forwards"))
    (tmp_path / "wrong_control.toml").write_text(
        SHORT.replace('"codel_act"', '{ use = "codel_act", control = "wrong.toml" }')
    )
    done = sojourn("run", "wrong_control.toml", "--out", "out")
    assert done.returncode == 2
    assert "Ingress.forwards" in done.stderr


def test_a_p4_program_drops_and_synchronises_and_keeps_the_link_busy(
    short: Path, tmp_path: Path
) -> None:
    summary = package.run(short, out=tmp_path / "out").aqms["codel_act"].summary
    assert summary.aqm_drops > 0
    assert summary.tail_drops == 0
    assert summary.mirrored > 0
    assert summary.recirculated == summary.mirrored
    assert 0 < summary.unsynchronised < 2_000 * summary.mirrored
    assert summary.utilisation > 0.9


def test_a_p4_run_is_byte_identical_when_repeated_and_math_units_differ(
    short: Path, tmp_path: Path
) -> None:
    first = package.run(short, out=tmp_path / "first")
    again = package.run(short, out=tmp_path / "again")
    paper = package.run(short, out=tmp_path / "paper", math_unit="paper")
    assert digest(first, "codel_act") == digest(again, "codel_act")
    assert digest(first, "codel_act") != digest(paper, "codel_act (paper)")


def test_a_users_own_file_runs_like_the_shipped_one(short: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.p4").write_text(CODEL_ACT.read_text())
    (tmp_path / "mine.toml").write_text(CODEL_ACT.with_suffix(".toml").read_text())
    scenario = tmp_path / "own.toml"
    scenario.write_text(
        SHORT.replace(
            '["codel_act"]',
            f'["codel_act", {{ use = "mine.p4", include_paths = ["{programs_folder()}/tna"] }}]',
        )
    )
    result = package.run(scenario, out=tmp_path / "out")
    assert digest(result, "mine") == digest(result, "codel_act")


def test_generic_blocks_with_a_body_are_taken_with_a_warning(tmp_path: Path) -> None:
    (tmp_path / "g.p4").write_text(
        "#include <core.p4>\ncontrol put<T>(inout T x)(T by) { apply { x = by; } }\n"
        "parser none<T>(packet_in p, out T x) { state start { transition accept; } }\n"
    )
    found = check(tmp_path / "g.p4", language_only=True)
    assert found.ok and [d["code"] for d in found.diagnostics] == ["W0502", "W0502"]
