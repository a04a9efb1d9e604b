"""The demo: what its notes say is what its rows show, whatever the seed; memory, in nearly all."""

from pathlib import Path

import pytest

import sojourn
from sojourn.result import Result

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
    codel = demo.aqms["codel"].findings.cycles.first_gap
    p4_codel = demo.aqms["p4_codel (vendor)"].findings.cycles.first_gap
    assert codel is not None and codel < 40 * MS
    assert p4_codel is not None and p4_codel > 90 * MS


@pytest.mark.parametrize("math_unit", ["paper", "vendor"])
def test_codel_act_has_cycles_without_a_drop(demo: Result, math_unit: str) -> None:
    cycles = demo.aqms[f"codel_act ({math_unit})"].findings.cycles
    assert cycles.without_drop > cycles.count / 4


def test_codel_act_begins_most_cycles_afresh_in_nearly_every_run(tmp_path: Path) -> None:
    # Under `paper` a run has about ten cycles with two drops, so the median of one run may fall on
    # the other side.
    gaps: dict[str, list[int]] = {}
    for seed in (1, 2, 4, 5, 8):
        result = sojourn.run("bufferbloat", aqms=["codel_act"], seed=seed, out=tmp_path / f"{seed}")
        for label, aqm in result.aqms.items():
            gaps.setdefault(label, []).append(aqm.findings.cycles.first_gap or 0)
    assert sum(gap > 90 * MS for gap in gaps["codel_act (paper)"]) >= 4
    assert min(gaps["codel_act (vendor)"]) > 90 * MS


def test_codel_act_synchronises_its_registers_by_recirculation(demo: Result) -> None:
    act = demo.aqms["codel_act (vendor)"].summary
    assert act.recirculated == act.mirrored > 0
    assert act.recirculated_share < 0.04
