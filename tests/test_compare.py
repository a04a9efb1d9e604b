"""`sojourn compare`, and the exports of one run."""

import csv
import json
import math
import shutil
from pathlib import Path

import pytest

import sojourn as package
from conftest import Finished, Sojourn
from sojourn.errors import ScenarioError
from sojourn.results.compare import Setup, compare, difference
from sojourn.results.compare_plots import comparison, quantiles, write_comparison
from sojourn.results.export import export

MS = 1_000_000
SHORT = {
    "duration": "0.5 s",
    "aqms": ["codel"],
    "switch": {"rate": "20 Mbit/s", "queue_limit": "500 kB"},
    "flows": [{"count": 3, "rtt": "5 ms"}],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two seeds of one scenario, two of the same at another rate."""
    folder = tmp_path_factory.mktemp("runs")
    for name, rate in (("slow", "20 Mbit/s"), ("fast", "40 Mbit/s")):
        for seed in (1, 2):
            out = folder / f"{name}{seed}"
            package.run(SHORT, seed=seed, set={"switch.rate": rate}, out=out, report=False)
    return folder


def test_runs_that_differ_in_the_seed_are_one_setup_with_an_interval(runs: Path) -> None:
    names = ("slow1", "slow2", "fast1", "fast2")
    opened = [(name, package.open_run(runs / name)) for name in names]
    (slow, fast), lines = compare(opened)
    assert [len(setup.results) for setup in (slow, fast)] == [2, 2]
    assert slow.differs == ()
    assert any("20 Mbit/s -> 40 Mbit/s" in text for text in fast.differs)
    first, second = lines
    goodputs = [
        [each.aqms["codel"].summary.goodput for _, each in opened[at : at + 2]] for at in (0, 2)
    ]
    difference = second.differences[2]
    assert difference is not None and difference.half is not None and difference.half > 0
    assert difference.mean == pytest.approx(sum(goodputs[1]) / 2 - sum(goodputs[0]) / 2)
    assert first.differences == (None,) * 5


def test_a_run_that_was_interrupted_is_not_compared_with_whole_ones(
    runs: Path, tmp_path: Path
) -> None:
    part = tmp_path / "part"
    shutil.copytree(runs / "slow2", part)
    counters = json.loads((part / "codel" / "counters.json").read_text())
    (part / "codel" / "counters.json").write_text(json.dumps(counters | {"simulated": 250 * MS}))
    whole, stopped = (package.open_run(path) for path in (runs / "slow1", part))
    with pytest.raises(ScenarioError, match=r"part: interrupted; .* first 0.250 s, .* of 0.500 s"):
        compare([("slow1", whole), ("part", stopped)])


def test_the_interval_of_a_difference_is_welchs() -> None:
    """Two and three values; worked out by hand: variances 2 and 4 of means, 1 + 4/3."""
    found = difference([1, 3], [10, 12, 14])
    assert found is not None and found.half is not None
    assert found.mean == 10
    freedom = (1 + 4 / 3) ** 2 / (1 / 1 + (4 / 3) ** 2 / 2)
    assert freedom == pytest.approx(2.882, abs=0.001)
    # t(0.975) lies between 4.303 at 2 and 3.182 at 3 degrees of freedom.
    assert 3.182 < found.half / math.sqrt(1 + 4 / 3) < 4.303
    assert difference([1], [2]) is not None and difference([1], [2]).half is None  # type: ignore[union-attr]
    assert difference([], [2]) is None


def test_the_terminal_and_json_report_the_same(runs: Path, sojourn: Sojourn) -> None:
    compared = sojourn("compare", runs / "slow1", runs / "fast1", "--json")
    assert compared.returncode == 0, compared.stderr
    first, second = json.loads(compared.stdout)["lines"]
    assert first["differences"] is None
    assert second["differences"]["goodput"]["half"] is None
    text = sojourn("compare", runs / "slow1", runs / "fast1").stdout
    assert "difference" in text and "One seed each" in text
    assert sojourn("compare", runs / "slow1").returncode == 2
    assert "the same run twice" in sojourn("compare", runs / "slow1", runs / "slow1").stderr


@pytest.mark.parametrize("style", ["screen", "paper"])
def test_a_run_is_exported_as_pictures_and_figures(
    finished: Finished, tmp_path: Path, style: str
) -> None:
    files = {path.name: path for path in export(finished.result, tmp_path, style)}  # type: ignore[arg-type]
    assert set(files) == {
        "summary.csv",
        "groups.csv",
        *(
            f"{name}.{kind}"
            for name in ("queue_delay", "distribution")
            for kind in ("png", "svg", "pdf", "csv")
        ),
    }
    assert files["queue_delay.svg"].read_text().lstrip().startswith("<?xml")
    assert files["distribution.pdf"].read_bytes().startswith(b"%PDF")
    rows = list(csv.DictReader(files["summary.csv"].open()))
    assert [row["aqm"] for row in rows] == ["fifo", "codel"]
    assert float(rows[1]["mean"]) == pytest.approx(finished.result.aqms["codel"].summary.mean)
    over_time = list(csv.DictReader(files["queue_delay.csv"].open()))
    drops = sum(int(row["drops"]) for row in over_time if row["aqm"] == "codel")
    assert drops == finished.result.aqms["codel"].summary.aqm_drops
    again = export(finished.result, tmp_path / "again", style)  # type: ignore[arg-type]
    assert all(files[path.name].read_bytes() == path.read_bytes() for path in again)


def test_a_picture_has_a_curve_and_a_box_for_each_run(finished: Finished, tmp_path: Path) -> None:
    setups = [Setup(name, (finished.result,), ()) for name in ("first", "second")]
    figure = comparison(setups)
    curves, boxes = figure.axes[:2], figure.axes[2:]
    assert [axes.get_title(loc="left") for axes in curves] == list(finished.result.aqms)
    assert all(len(axes.get_lines()) == 2 for axes in curves)
    assert all(len(axes.patches) == 2 for axes in boxes)
    for aqm in finished.result.aqms.values():
        low, _, middle, _, high = quantiles(aqm.findings.distribution) or ()
        assert middle == pytest.approx(aqm.summary.median, rel=0.03)
        assert low < middle < high <= 1.03 * (aqm.summary.max or 0)
    for kind in ("png", "svg", "pdf"):
        write_comparison(setups, tmp_path / f"both.{kind}")
    with pytest.raises(ScenarioError, match=r"ends in \.png, \.svg, \.pdf"):
        write_comparison(setups, tmp_path / "both.bmp")
