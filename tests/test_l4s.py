"""L4S senders: the shares of Prague and CUBIC in one DualPI2; DCTCP and early marks."""

import json
from pathlib import Path

import numpy as np
import pytest

import sojourn as package
from conftest import Sojourn
from sojourn.common.resources import programs_folder
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
    result = package.run("l4s", aqms="dualpi2", report=False)
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


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_prague_and_cubic_share_100_mbit_as_on_the_l4s_teams_testbed(seed: int) -> None:
    scenario = {
        "duration": "120 s",
        "seed": seed,
        "switch": {"rate": "100 Mbit/s"},
        "flows": [
            {"rtt": "30 ms", "congestion_control": "prague", "pacing": True},
            {"rtt": "30 ms"},
        ],
        "aqms": ["dualpi2"],
    }
    result = package.run(scenario, report=False)
    aqm = result.aqms["dualpi2"]
    # L4STeam/linux issue 21, 100 Mbit/s and 30 ms.
    assert of_flow(aqm, 0)[1] == pytest.approx(63.4, rel=0.15)
    assert of_flow(aqm, 1)[1] == pytest.approx(28.6, rel=0.15)


def test_dctcp_keeps_the_link_busy_at_a_queue_that_marks_early() -> None:
    flows = {"count": 2, "rtt": "10 ms", "congestion_control": "dctcp"}
    early = {"use": "fq_codel", "ce_threshold": "1 ms", "ecn": True}
    scenario = {
        "duration": "5 s",
        "switch": {"rate": "50 Mbit/s"},
        "flows": [flows],
        "aqms": [early],
    }
    aqm = package.run(scenario, report=False).aqms["fq_codel"]
    late = {**scenario, "flows": [{**flows, "congestion_control": "newreno", "ecn": True}]}
    reno = package.run(late, report=False).aqms["fq_codel"]
    # Steady small answers: more of the link is used than by halving, at the same threshold.
    assert aqm.summary.utilisation > max(0.93, reno.summary.utilisation)
    assert aqm.summary.marks > 100 and aqm.summary.aqm_drops == 0
    assert aqm.summary.median is not None and aqm.summary.median < 3_000_000


IN_P4 = ("tna/dualpi2", "t2na/dualpi2", "v1model/dualpi2")


@pytest.mark.parametrize("program", IN_P4)
def test_prague_and_cubic_share_a_dualpi2_in_p4_as_they_share_the_native_one(program: str) -> None:
    result = package.run("l4s", aqms=program, set={"duration": "8 s"}, report=False)
    (aqm,) = result.aqms.values()
    prague, cubic = of_flow(aqm, 0), of_flow(aqm, 1)
    assert prague[0] < 1 and 5 < cubic[0] < 20
    assert 0.5 < prague[1] / cubic[1] < 2.5
    assert prague[2] > 100 and cubic[2] == 0, "Prague's packets are marked, CUBIC's dropped"
    counted = json.loads((aqm.folder / "counters.json").read_text())
    updates = 0 if program == "v1model/dualpi2" else 8_000 // 16
    assert counted["generated_packets"] == pytest.approx(updates, abs=1)


def shares(program: str) -> float:
    """Classic's share of the packets that leave two queues which both wait all the time."""
    flow = {"kind": "udp", "rate": "60 Mbit/s", "rtt": "2 ms"}
    scenario = {
        "duration": "2 s",
        "aqms": [program],
        "switch": {"rate": "40 Mbit/s", "queue_limit": "1 MB"},
        "flows": [{**flow, "ecn": "ect1"}, flow],
    }
    result = package.run(scenario, report=False)
    (aqm,) = result.aqms.values()
    verdict = np.array(aqm.packets["verdict"].cast("string").to_pylist())
    queue = aqm.packets["queue"].to_numpy()[verdict != "tail"]
    return float((queue == 0).mean())


def test_weights_give_classic_a_sixteenth_and_strict_priority_starves_it() -> None:
    # Both queues wait all the time: drops behind the scheduler have had their turns.
    assert shares("tna/dualpi2") == pytest.approx(1 / 16, abs=0.01)
    assert shares("v1model/dualpi2") < 0.02


def test_a_weight_that_no_queue_has_is_refused(tmp_path: Path, sojourn: Sojourn) -> None:
    folder = programs_folder() / "tna"
    text = (folder / "dualpi2.toml").read_text().replace("weight = 960", "weight = 1024")
    (tmp_path / "heavy.p4").write_text(f'#include "{folder}/dualpi2.p4"\n')
    (tmp_path / "heavy.toml").write_text(text)
    done = sojourn("check", "heavy.p4")
    assert done.returncode != 0
    assert "queues[1].weight: 1024" in " ".join((done.stdout + done.stderr).split())
