"""Sweeps and runs with several seeds: figures of groups, pooled distributions, exports, macros."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from matplotlib.figure import Figure

from conftest import call_sojourn
from sojourn.common.resources import programs_folder
from sojourn.results.statistics import EDGES
from sojourn.studies.sweeps import distributions
from sojourn.studies.sweeps.distributions import pool, quantiles
from test_groups import MIXED, NAMES

SWEEP = """
scenario = "mixed.toml"
seeds = "1..3"
[set]
duration = "1500 ms"
warm_up = "300 ms"
[[plots]]
metric = "completion_p95"
against = []
[[plots]]
metric = "p99"
group = "calls"
against = []
"""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("swept")
    (folder / "mixed.toml").write_text(MIXED)
    (folder / "sweep.toml").write_text(SWEEP)
    done = call_sojourn(folder, "sweep", "sweep.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    (folder / "printed").write_text(done.stdout)
    return folder


def test_terminal_and_page_have_groups_completion_and_voice_with_intervals(swept: Path) -> None:
    printed = (swept / "printed").read_text()
    page = (swept / "out/index.html").read_text()
    for title in ("Groups of flows", "Completion times", "Voice"):
        assert title in printed and f"<h3>{title}</h3>" in page
    assert re.search(r"calls +fq_codel +3 .* ± .* ± ", printed)
    for picture in ("distribution.png", "distribution-calls.png", "p99-calls-seeds.png"):
        assert picture in page and (swept / "out" / picture).stat().st_size > 10_000
    assert "completion_p95-transfers-cubic-1-seeds.png" in page


def test_json_has_numbers_and_half_intervals(swept: Path) -> None:
    done = call_sojourn(swept, "report", "out", "--json")
    document = json.loads(done.stdout)
    codel = document["summary"][0]
    assert codel["aqm"] == "codel" and codel["runs"] == 3
    means = pq.read_table(swept / "out/table.parquet").column("mean").to_pylist()[:3]
    assert codel["mean ms"] == pytest.approx(np.mean(means) / 1e6)
    assert codel["figures"]["mean"]["mean"] == pytest.approx(np.mean(means))
    # Student's t for three seeds is 4.303.
    half = 4.303 * np.std(means, ddof=1) / np.sqrt(3)
    assert codel["figures"]["mean"]["half"] == pytest.approx(half, rel=1e-3)
    voice = document["groups"]["Voice"]
    assert [(row["group"], row["aqm"]) for row in voice] == [
        ("calls", "codel"),
        ("calls", "fq_codel"),
    ]
    assert 1 <= voice[1]["mos"] <= 4.5


def test_the_arrow_table_has_a_row_per_run_and_group(swept: Path) -> None:
    table = pq.read_table(swept / "out/groups.parquet")
    assert table.num_rows == 2 * 3 * len(NAMES)
    assert table.column("group").to_pylist()[: len(NAMES)] == NAMES
    assert table.schema.field("mos").type == "double"
    assert table.schema.field("completed").type == "int64"
    assert set(table.column("completion_p95").to_pylist()) > {None}


def test_a_pooled_distribution_counts_the_packets_of_all_seeds_alike() -> None:
    first = {"queued": 30, "delay": [EDGES[10], EDGES[11]], "share": [0.0, 1.0]}
    second = {"queued": 10, "delay": [EDGES[500], EDGES[501]], "share": [0.0, 1.0]}
    share, low, high = pool([first, second])
    assert share[100] == pytest.approx(0.75)
    assert (low[100], high[100]) == (0, 1)
    assert share[-1] == low[-1] == 1
    assert quantiles(share, 0)[4] == pytest.approx(EDGES[501] / 1e6)


def test_a_sweep_and_seeds_are_exported_for_a_paper(swept: Path) -> None:
    done = call_sojourn(swept, "report", "out", "--export", "paper", "--style", "paper")
    assert done.returncode == 0, done.stderr
    files = {path.name for path in (swept / "paper").iterdir()}
    for kind in ("png", "pdf", "svg"):
        assert {f"distribution.{kind}", f"distribution-calls.{kind}"} <= files
    assert {"runs.csv", "groups.csv", "completion_times.csv", "voices.csv"} <= files
    assert {"means.csv", "means_voice.csv", "means_completion_times.csv"} <= files
    assert b"/FontFile2" in (swept / "paper/distribution.pdf").read_bytes()


def test_a_mistaken_group_or_metric_of_a_plot_is_refused_before_any_run(swept: Path) -> None:
    for old, new, reason in (
        ('group = "calls"', 'group = "cals"', "no group 'cals'"),
        ('metric = "p99"', 'metric = "utilisation"', "utilisation is of the whole run"),
        ('metric = "completion_p95"', 'metric = "completion_p9"', "no metric 'completion_p9'"),
    ):
        (swept / "bad.toml").write_text(SWEEP.replace(old, new))
        refused = call_sojourn(swept, "sweep", "bad.toml", "--out", "bad")
        assert refused.returncode == 2
        assert reason in " ".join(refused.stderr.split())


def test_macros_go_with_seeds_and_an_aqm_from_a_file_is_addressed_by_its_name(
    tmp_path: Path,
) -> None:
    (tmp_path / "mixed.toml").write_text(MIXED)
    shutil.copytree(programs_folder(), tmp_path / "p4")
    program = "p4/tna/codel_act.p4"
    text = (tmp_path / program).read_text()
    (tmp_path / program).write_text(text + "\n#ifdef MY_MACRO\n#endif\n")
    common = ["run", "mixed.toml", "--duration", "0.3 s", "--aqm", program, "--json"]
    changed = ["--set", "aqms.codel_act.math_unit=paper"]
    seeds = call_sojourn(
        tmp_path, *common, *changed, "--aqm", "codel", "-D", "MY_MACRO=2", "--seeds", "1..2",
        "--out", "seeds",
    )  # fmt: skip
    assert seeds.returncode == 0, seeds.stderr
    found = json.loads(seeds.stdout)["summary"]
    assert {row["aqm"].split()[0] for row in found} == {"codel", "codel_act"}
    single = call_sojourn(tmp_path, *common, *changed, "--no-report", "--out", "single")
    assert single.returncode == 0, single.stderr
    assert json.loads((tmp_path / "single/run.json").read_text())["runs"][0]["variant"] == "paper"
    unread = call_sojourn(tmp_path, *common, "-D", "NO_SUCH", "--seeds", "1..2", "--out", "no")
    assert unread.returncode == 2
    assert "NO_SUCH" in unread.stderr


def test_a_legend_has_every_aqm_whatever_its_name() -> None:
    figure = Figure()
    distributions._legend(figure, ["_mine", "fifo"], None)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["_mine", "fifo"]


FABRIC = """
duration = "20 ms"
aqms = ["fifo"]
[topology]
leaf_spine = { leaves = 2, spines = 2, hosts = 2 }
host_rate = "100 Mbit/s"
rate = "200 Mbit/s"
[[flows]]
kind = "transfers"
max_size = "20 kB"
load = "50 %"
from = "*"
to = "*"
"""

LOADS = """
scenario = "fabric.toml"
seeds = "1..2"
[grid]
"flows.0.load" = ["30 %", "60 %"]
[[plots]]
metric = "slowdown_p99"
group = "transfers cubic"
against = ["load"]
[[plots]]
metric = "p99"
against = ["load"]
"""


def test_completion_in_a_fabric_has_one_picture_and_a_queues_delay_one_for_each(
    tmp_path: Path,
) -> None:
    (tmp_path / "fabric.toml").write_text(FABRIC)
    (tmp_path / "loads.toml").write_text(LOADS)
    done = call_sojourn(tmp_path, "sweep", "loads.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "out").glob("*.png"))
    assert [name for name in names if name.startswith("slowdown")] == [
        "slowdown_p99-transfers-cubic-load.png"
    ]
    links = pq.read_table(tmp_path / "out" / "table.parquet")["bottleneck"].unique()
    assert len([name for name in names if name.startswith("p99")]) == len(links) == 4
    completions = done.stdout.split("Completion times")[1]
    assert len(re.findall(r"^ [36]0 % .* ± ", completions, re.MULTILINE)) == 2
