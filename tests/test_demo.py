"""The demo: its rows agree with the statements of its notes, for any seed and on low memory."""

from pathlib import Path

import pytest

import sojourn
from sojourn.results.result import Result

MS = 1_000_000


@pytest.fixture(scope="module", params=[1, 5])
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Result:
    out: Path = tmp_path_factory.mktemp("demo") / "out"
    return sojourn.run("bufferbloat", seed=request.param, out=out)


def test_every_aqm_waits_far_less_than_tail_drop_at_nearly_its_goodput(demo: Result) -> None:
    fifo = demo.aqms["fifo"].summary
    for label, aqm in demo.aqms.items():
        if label == "fifo":
            continue
        assert aqm.summary.mean is not None and fifo.mean is not None
        assert aqm.summary.mean < fifo.mean / 4
        assert aqm.summary.goodput > 0.95 * fifo.goodput


def test_codel_remembers_its_drop_rate_and_p4_codel_does_not(demo: Result) -> None:
    for label in ("codel", "codel_exact"):
        codel = demo.aqms[label].findings.cycles.first_gap
        assert codel is not None and codel < 40 * MS, label
    p4_codel = demo.aqms["p4_codel"].findings.cycles.first_gap
    assert p4_codel is not None and p4_codel > 90 * MS


def test_codel_exact_waits_as_long_as_the_native_codel(demo: Result) -> None:
    native, exact = (demo.aqms[label].summary for label in ("codel", "codel_exact"))
    assert native.mean is not None and exact.mean is not None
    assert exact.mean == pytest.approx(native.mean, rel=0.25)


def test_only_the_slides_reading_of_codel_act_comes_below_the_target(demo: Result) -> None:
    means = {label: aqm.summary.mean or 0 for label, aqm in demo.aqms.items()}
    assert [label for label, mean in means.items() if mean < 5 * MS] == ["codel_act_slides"]


def test_codel_act_has_cycles_without_a_drop(demo: Result) -> None:
    cycles = demo.aqms["codel_act"].findings.cycles
    assert cycles.without_drop > cycles.count / 4


def test_codel_act_begins_most_cycles_afresh(tmp_path: Path) -> None:
    for seed in (1, 2, 4, 5, 8):
        result = sojourn.run("bufferbloat", aqms=["codel_act"], seed=seed, out=tmp_path / f"{seed}")
        assert (result.aqms["codel_act"].findings.cycles.first_gap or 0) > 90 * MS


@pytest.mark.parametrize("label", ["codel_act", "codel_act_slides"])
def test_codel_act_synchronises_its_registers_by_recirculation(demo: Result, label: str) -> None:
    act = demo.aqms[label].summary
    assert act.recirculated == act.mirrored > 0
    assert act.recirculated_share < 0.04
