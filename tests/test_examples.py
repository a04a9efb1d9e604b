"""The Python examples run; `crates/engine/tests/examples.rs` runs the Rust one, and
`test_l4s_live.py` the one with a live switch."""

import runpy
from pathlib import Path

import pytest

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
