"""L4S senders: the shares of Prague and CUBIC in one DualPI2; DCTCP and early marks."""

import numpy as np
import pytest

import sojourn
from sojourn.results.result import AqmResult


def of_flow(aqm: AqmResult, flow: int) -> tuple[float, float, int, float]:
    """Mean queue delay, ms; goodput, Mbit/s; marks; median smoothed round-trip time, s."""
    packets = {name: aqm.packets[name].to_numpy() for name in ("flow", "enqueued", "dequeued")}
    verdict = np.array(aqm.packets["verdict"].cast("string").to_pylist())
    own = packets["flow"] == flow
    delay = (packets["dequeued"] - packets["enqueued"])[own].mean() / 1e6
    samples = aqm.flows["flow"].to_numpy() == flow
    delivered = aqm.flows["delivered"].to_numpy()[samples][-1]
    seconds = aqm.ran / 1e9
    round_trip = float(np.median(aqm.flows["srtt"].to_numpy()[samples])) / 1e9
    marks = int((verdict[own] == "mark").sum())
    return float(delay), delivered * 8 / seconds / 1e6, marks, round_trip


def test_prague_and_cubic_share_a_dualpi2_and_prague_hardly_waits() -> None:
    result = sojourn.run("l4s", aqms="dualpi2", report=False)
    aqm = result.aqms["dualpi2"]
    prague, cubic = of_flow(aqm, 0), of_flow(aqm, 1)
    assert prague[0] < 1 and cubic[0] == pytest.approx(15, rel=0.2)
    # RFC 9332 appendix A: about the same, for round trips of 20 and 35 ms.
    assert 0.5 < prague[1] / cubic[1] < 2
    # Growth by a segment a round trip, of 25 ms at least, balances two marks that are evenly spaced
    # and up to three at random (docs/tcp.md: 5 %, 20 ms).
    per_round_trip = prague[2] / (aqm.ran / 1e9 / max(prague[3], 0.025))
    assert 2 < per_round_trip < 3
    assert cubic[2] == 0


def test_dctcp_keeps_the_link_busy_at_a_queue_that_marks_early() -> None:
    flows = {"count": 2, "rtt": "10 ms", "congestion_control": "dctcp"}
    early = {"use": "fq_codel", "ce_threshold": "1 ms", "ecn": True}
    scenario = {
        "duration": "5 s",
        "switch": {"rate": "50 Mbit/s"},
        "flows": [flows],
        "aqms": [early],
    }
    aqm = sojourn.run(scenario, report=False).aqms["fq_codel"]
    late = {**scenario, "flows": [{**flows, "congestion_control": "newreno", "ecn": True}]}
    reno = sojourn.run(late, report=False).aqms["fq_codel"]
    # Steady small answers: more of the link is used than by halving, at the same threshold.
    assert aqm.summary.utilisation > max(0.93, reno.summary.utilisation)
    assert aqm.summary.marks > 100 and aqm.summary.aqm_drops == 0
    assert aqm.summary.median is not None and aqm.summary.median < 3_000_000
