"""Runs with `rows = false`: the remaining figures, and the notes about missing rows."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn import ScenarioError, run

LEFT_OUT = {"p5", "p25", "median", "p75", "p95", "p99", "completion_times"}
SCENARIOS = ("voip", "short_transfers", "l4s", "two_bottlenecks")


@pytest.mark.parametrize("name", SCENARIOS)
def test_figures_without_rows_are_those_of_the_same_run_with_rows(name: str) -> None:
    changes = {"duration": "3 s", "warm_up": "1 s"}
    whole = run(name, set=changes, report=False)
    short = run(name, set=changes | {"rows": False}, report=False)
    for label, aqm in whole.aqms.items():
        for queue, found in aqm.bottlenecks.items():
            ours = short.aqms[label].bottlenecks[queue].summary.as_dict()
            for key, value in found.summary.as_dict().items():
                assert ours[key] == (None if key in LEFT_OUT else value), (label, queue, key)
            groups = zip(
                aqm.grouped[queue].rows, short.aqms[label].grouped[queue].rows, strict=True
            )
            for with_rows, without in groups:
                for key, value in with_rows.as_dict().items():
                    assert getattr(without, key) == (None if key in LEFT_OUT else value), key


def test_a_run_without_rows_writes_none_and_reports_that(sojourn: Sojourn, tmp_path: Path) -> None:
    out = tmp_path / "run"
    call = ("run", "bufferbloat", "--duration", "1 s", "--aqm", "codel", "--set", "rows=false")
    said = sojourn(*call, "--out", str(out)).stdout
    assert "rows = false: no percentiles of queue delay" in " ".join(said.split())
    assert "packets.parquet" not in said and "report " not in said
    names = sorted(path.name for path in (out / "codel").iterdir())
    assert names == ["counters.json", "flows.parquet", "summary.json", "totals.parquet"]
    assert not list(out.glob("*.html")) and not list(out.glob("*.png"))


def test_json_and_report_of_a_run_without_rows_are_clear(sojourn: Sojourn, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    call = ("run", "bufferbloat", "--duration", "1 s", "--aqm", "codel", "--set", "rows=false")
    found = json.loads(sojourn(*call, "--out", out, "--json").stdout)
    assert found["rows"] is False
    assert found["aqms"][0]["p99"] is None and found["aqms"][0]["mean"] > 0
    for options in ((), ("--json",)):
        refused = sojourn("report", out, *options)
        assert refused.returncode == 2
        assert "rows = false, and a report is made from rows" in " ".join(
            (refused.stdout + refused.stderr).split()
        )


def test_seeds_of_runs_without_rows_have_means_and_no_percentiles(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    call = ("run", "bufferbloat", "--duration", "1 s", "--aqm", "codel", "--set", "rows=false")
    ended = sojourn(*call, "--seeds", "1..2", "--out", "s", "--json")
    assert ended.returncode == 0, ended.stderr
    found = pq.read_table(tmp_path / "s" / "table.parquet").to_pylist()
    assert len(found) == 2 and all(row["mean"] > 0 and row["p99"] is None for row in found)
    assert sojourn("report", "s").returncode == 0


def test_a_changing_rate_a_trace_and_a_replay_without_rows(sojourn: Sojourn) -> None:
    call = ("run", "rate_steps", "--duration", "20 s", "--set", "rows=false", "--aqm", "codel")
    ended = sojourn(*call, "--out", "run")
    assert ended.returncode == 0, ended.stderr
    assert "Between changes" not in ended.stdout
    for use in (("replay", "run"), ("trace", "run", "5")):
        refused = sojourn(*use)
        assert refused.returncode == 2
        assert "and a trace is made from rows" in " ".join(refused.stderr.split())


def test_tables_and_plots_of_a_run_without_rows_are_refused() -> None:
    result = run("bufferbloat", aqms="codel", set={"duration": "1 s", "rows": False}, report=False)
    for use in (
        lambda: result.packets(),
        lambda: result.flows(),
        lambda: result.plot(),
        lambda: result.aqms["codel"].packets,
    ):
        with pytest.raises(ScenarioError, match="rows = false"):
            use()
    assert "codel" in result._repr_html_() and "img" not in result._repr_html_()


@pytest.mark.parametrize("backend", ["linux", "live"])
def test_other_backends_say_that_they_write_rows(sojourn: Sojourn, backend: str) -> None:
    call = ("run", "bufferbloat", "--on", backend, "--aqm", "codel", "--set", "rows=false")
    refused = sojourn(*call)
    assert refused.returncode == 2 and "rows = false" in refused.stderr
