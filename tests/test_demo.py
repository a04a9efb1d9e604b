"""The demo: what its notes say is what its rows show, whatever the seed."""

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
def test_codel_act_has_cycles_without_a_drop_and_begins_most_others_afresh(
    demo: Result, math_unit: str
) -> None:
    cycles = demo.aqms[f"codel_act ({math_unit})"].findings.cycles
    assert cycles.without_drop > cycles.count / 4
    assert cycles.first_gap is not None and cycles.first_gap > 90 * MS


def test_codel_act_synchronises_its_registers_by_recirculation(demo: Result) -> None:
    act = demo.aqms["codel_act (vendor)"].summary
    assert act.recirculated == act.mirrored > 0
    assert act.recirculated_share < 0.04
