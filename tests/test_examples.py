"""The Python examples run; `crates/engine/tests/examples.rs` runs the Rust one, and
`test_l4s_live.py` the one with a live switch."""

import runpy
from pathlib import Path

import pytest

from conftest import Sojourn

EXAMPLES = Path(__file__).parents[1] / "examples"


def printed(name: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that an example prints."""
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out.splitlines()


def test_the_comparison_prints_a_line_for_each_aqm(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed("compare_aqms", capsys)
    assert [line.split()[0] for line in lines] == ["fifo", "codel", "codel_exact"]
    fifo, *codels = (float(line.split()[3]) for line in lines)
    assert all(delay < fifo / 2 for delay in codels)


def test_the_percentiles_are_printed_for_each_flow(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed("delay_per_flow", capsys)
    assert [line.split(":")[0] for line in lines] == ["flow 0", "flow 1", "flow 2"]


def test_every_example_has_a_test() -> None:
    names = {path.stem for path in EXAMPLES.iterdir() if path.suffix in (".py", ".rs")}
    assert names == {"compare_aqms", "delay_per_flow", "l4s_live", "tcp_over_p4"}


@pytest.mark.parametrize("name", ["bbr_beside_cubic", "short_transfers"])
def test_scenarios_of_the_tcp_page_run(name: str, sojourn: Sojourn, tmp_path: Path) -> None:
    scenario = EXAMPLES.parent / "docs" / "examples" / f"{name}.toml"
    shorter = ("--set", "duration=2 s", "--set", "warm_up=500 ms")
    done = sojourn("run", str(scenario), *shorter, "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "fifo" / "packets.parquet").is_file()
