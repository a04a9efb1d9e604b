"""Options of `sojourn switch`: their conversion to a plan."""

import pytest

from sojourn.backends.live.plan import live_plan
from sojourn.errors import ScenarioError


def test_a_port_is_an_interface_or_nothing_or_loops() -> None:
    plan = live_plan("v1model/router", ports=["1=veth1", "2=none", "3=loop"])
    assert [port.interface for port in plan.ports] == ["veth1", "none", "loop"]
    assert [port.get("loops", False) for port in plan.config["ports"]] == [False, False, True]


def test_a_pipe_may_run_another_program() -> None:
    plan = live_plan(
        "tna/codel_exact",
        ports=["1=none", "130=none"],
        pipes=4,
        beside=["1=tna/fq_codel", "3=tna/fq_codel"],
    )
    (other,) = plan.config["beside"]
    assert other["pipes"] == [1, 3] and other["p4"]["program"].endswith("fq_codel.p4")
    assert [pipes for _, pipes in plan.placed] == [[], [1, 3]]


@pytest.mark.parametrize(
    ("beside", "why"),
    [("0=tna/codel_exact", "pipe 0 runs the first"), ("4=tna/codel_exact", "the last one is 3")],
)
def test_a_pipe_for_another_program_is_one_of_the_chip_s(beside: str, why: str) -> None:
    with pytest.raises(ScenarioError, match=why):
        live_plan("tna/codel_exact", ports=["1=none"], pipes=4, beside=[beside])
