"""The L4S paper page, the coexistence matrix and the rank inversions, at small scale."""

import tomllib
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn.studies.papers.computed import fabric, ranks
from sojourn.studies.papers.computed.ranks import DISTRIBUTIONS, count_inversions
from sojourn.studies.papers.library import find_papers
from sojourn.studies.papers.measure import value_of
from sojourn.studies.papers.setups import run_setup
from sojourn.studies.papers.verdict import Status
from sojourn.studies.sweeps.local import LocalWorkers

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "coexistence.toml"


def test_every_check_of_the_l4s_page_is_measured(tmp_path: Path) -> None:
    (paper,) = find_papers("dualpi2-2022")
    for setup in paper.setups[:2]:
        changes = {"quick": {"duration": "1 s", "warm_up": "200 ms"}, "quick_seeds": "1..1"}
        measured = run_setup(
            setup.model_copy(update=changes),
            tmp_path / setup.name.replace(" ", "-"),
            quick=True,
            workers=LocalWorkers,
            tell=lambda _name, _state: None,
        )
        checks = [check for claim in paper.claims for check in claim.checks]
        meant = [check for check in checks if check.setup == setup.name]
        assert meant
        for check in meant:
            assert value_of(measured, check) is not None, check.says


def test_the_matrix_draws_one_group_over_the_other_in_a_panel_for_each_link(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    document = tomllib.loads(EXAMPLE.read_text())
    assert len(document["grid"]["switch.rate"]) == len(document["zip"][0]["flows.0.rtt"]) == 5
    text = EXAMPLE.read_text().replace('seeds = "1..3"', 'seeds = "1..1"')
    text = text.replace('"40 s"', '"600 ms"').replace('warm_up = "10 s"', 'warm_up = "200 ms"')
    text = text.replace('"4 Mbit/s", "12 Mbit/s", "40 Mbit/s", "120 Mbit/s", ', '"40 Mbit/s", ')
    (tmp_path / "matrix.toml").write_text(text)
    done = sojourn("sweep", "matrix.toml", "--out", "out")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "index.html").read_text()
    assert "goodput of scalable over that of classic, by RTT" in page
    assert (tmp_path / "out" / "goodput-scalable-classic-RTT.png").stat().st_size > 10_000
    rows = pq.read_table(tmp_path / "out" / "groups.parquet").to_pylist()
    assert {row["RTT"] for row in rows} == {5e6, 10e6, 20e6, 50e6, 100e6}


def test_a_ratio_of_groups_names_both_groups(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "wrong.toml").write_text(
        'scenario = "voip"\n[[plots]]\nmetric = "goodput"\nto = "voip"\nagainst = []\n'
    )
    done = sojourn("sweep", "wrong.toml")
    assert done.returncode == 2 and "to = voip: `group` says what is over it" in done.stderr


def test_inversions_are_counted_at_departure_and_at_arrival() -> None:
    # Rank 5 is sent at once; 7 and 3 wait, and 7 goes first.
    found = count_inversions([0, 1, 2], [0, 5, 9], [5, 7, 3])
    assert [rank for rank, count in enumerate(found.at_departure) if count] == [7]
    assert [rank for rank, count in enumerate(found.at_arrival) if count] == [3]
    # In the order of ranks there is none at departure, and who came last found a higher one.
    found = count_inversions([0, 2, 1], [0, 5, 9], [5, 3, 7])
    assert sum(found.at_departure) == 0 and sum(found.at_arrival) == 1
    # A packet that comes while another leaves was not there.
    assert sum(count_inversions([0, 5], [5, 9], [5, 3]).at_departure) == 0


def test_ranks_written_by_the_program_are_counted_in_every_discipline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ranks, "_SEEDS", (1,))
    monkeypatch.setattr(ranks, "_DURATION", "5 ms")
    ranks._measured.cache_clear()
    try:
        computed = ranks.uniform()
    finally:
        ranks._measured.cache_clear()
    *ratios, none = computed.found
    assert none.ours == "0" and none.status is Status.HOLDS
    assert all(one.ours.endswith("times") for one in ratios)
    assert ratios[0].beside[0][0] == "both counted at departure"
    (figure,) = computed.figures
    sums = {curve.name: sum(curve.y) for curve in figure.curves}
    assert sums["FIFO, at departure"] > sums["SP-PIFO, at departure"] > sums["PIFO"] == 0


def test_short_flows_finish_sooner_by_rank_than_behind_a_plain_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    small = {"_DURATION": "60 ms", "_LEAVES": 4, "_SPINES": 1, "_HOSTS": 4, "_JUDGED": (11100,)}
    one_load = {label: {11100: by[11100]} for label, by in fabric._PUBLISHED.items()}
    for name, value in (small | {"_PUBLISHED": one_load}).items():
        monkeypatch.setattr(fabric, name, value)
    fabric._measured.cache_clear()
    try:
        mean, tail = fabric._measured(11100)
        computed = fabric.short_flows()
    finally:
        fabric._measured.cache_clear()
    for label in ("SP-PIFO", "DCTCP"):
        assert mean["PIFO"][0] < mean[label][0] < mean["TCP"][0]
    assert mean["TCP"][0] < tail["TCP"][0]
    assert len(computed.found) == 6
    assert all(one.ours.endswith("times") for one in computed.found)
    assert [len(figure.curves) for figure in computed.figures] == [6, 6]


def test_the_distributions_of_ranks_are_those_of_the_paper() -> None:
    mean = {
        name: float(np.average(range(len(weights)), weights=weights))
        for name, weights in DISTRIBUTIONS.items()
    }
    assert mean["uniform"] == 49.5 and mean["Poisson"] == pytest.approx(50, abs=0.1)
    assert mean["inverse exponential"] == pytest.approx(100 - mean["exponential"])
    assert 20 < mean["exponential"] < 25
    convex = DISTRIBUTIONS["convex"]
    assert min(convex[40:60]) < 1e-3 * max(convex) and max(convex[:5]) > 0.5 * max(convex)
