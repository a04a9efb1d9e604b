"""fq_codel as a Tofino program: flows divided by queue, each with the CoDel of codel_exact."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sojourn as package
from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.tools.check.stages import estimate
from sojourn.tools.stf import run_stf

PROGRAM = programs_folder() / "tna" / "fq_codel.p4"
UDP = {"kind": "udp", "rtt": "10 ms"}


def rows(tmp_path: Path, aqm: str, flows: list[dict[str, Any]], seconds: int = 2) -> pa.Table:
    scenario = {
        "duration": f"{seconds} s",
        "aqms": [{"use": aqm, "label": "it"}],
        "switch": {"rate": "20 Mbit/s", "queue_limit": "500 kB"},
        "flows": flows,
    }
    out = tmp_path / aqm.replace("/", "-")
    package.run(scenario, out=out)
    return pq.read_table(out / "it" / "packets.parquet")


def left(table: pa.Table) -> pa.Table:
    """What left its queue."""
    return table.filter(pa.compute.not_equal(table.column("verdict").cast(pa.string()), "tail"))


def delays(table: pa.Table, flow: int) -> Any:
    own = left(table.filter(pa.compute.equal(table.column("flow"), flow)))
    return own.column("dequeued").to_numpy() - own.column("enqueued").to_numpy()


def test_it_fits_the_chip_with_the_egress_of_codel_exact() -> None:
    ours, exact = (
        estimate(PROGRAM.with_name(name)).data for name in ("fq_codel.p4", "codel_exact.p4")
    )
    stages = [
        {one["name"]: one["stages"] for one in data["passes"]}["egress"] for data in (ours, exact)
    ]
    assert stages[0] == stages[1] == 10
    assert ours["fits"] and ours["stages_used"] <= 12


def test_with_one_flow_it_decides_packet_for_packet_as_codel_exact(tmp_path: Path) -> None:
    flow = [{"count": 1, "rtt": "20 ms"}]
    ours, exact = (
        rows(tmp_path, aqm, flow, 3).drop_columns(["queue"])
        for aqm in ("tna/fq_codel", "codel_exact")
    )
    assert ours.equals(exact)
    assert "aqm" in ours.column("verdict").to_pylist()


def test_a_flow_stays_in_its_queue_and_several_flows_are_spread(tmp_path: Path) -> None:
    flows = [
        {"count": 12, "rtt": "20 ms"},
        {"count": 4, "rtt": "20 ms", "ip_version": 6},
        UDP | {"count": 4, "rate": "200 kbit/s"},
    ]
    table = rows(tmp_path, "tna/fq_codel", flows)
    pairs = set(
        zip(table.column("flow").to_pylist(), table.column("queue").to_pylist(), strict=True)
    )
    assert len(pairs) == 20, "each flow has one queue"
    queues = {queue for _, queue in pairs}
    # Twenty flows that fall on 32 queues at random share some of them.
    assert 10 <= len(queues) <= 20 and max(queues) <= 31
    assert {queue for flow, queue in pairs if flow >= 12} != {0}


def test_a_sparse_flow_does_not_wait_behind_a_greedy_one(tmp_path: Path) -> None:
    greedy, sparse = UDP | {"rate": "30 Mbit/s"}, UDP | {"rate": "500 kbit/s"}
    parted = rows(tmp_path, "tna/fq_codel", [greedy, sparse])
    shared = rows(tmp_path, "codel_exact", [greedy, sparse])
    # A frame of 1514 bytes takes 0.6 ms; at most one is on the wire and one has its turn.
    assert np.percentile(delays(parted, 1), 95) < 2_000_000
    assert np.percentile(delays(shared, 1), 50) > 5_000_000


def test_greedy_flows_share_the_link_by_bytes(tmp_path: Path) -> None:
    flows = [UDP | {"rate": "30 Mbit/s"}, UDP | {"rate": "30 Mbit/s", "packet_size": "300 B"}]
    table = rows(tmp_path, "tna/fq_codel", flows)
    late = table.filter(pa.compute.greater(table.column("dequeued"), 100_000_000))
    gone = left(late)
    served = [
        pa.compute.sum(
            gone.filter(pa.compute.equal(gone.column("flow"), flow)).column("size")
        ).as_py()
        for flow in (0, 1)
    ]
    assert abs(served[0] - served[1]) < 0.05 * sum(served), served


def test_its_packets_leave_as_a_router_s() -> None:
    result = run_stf(PROGRAM, Path(__file__).with_name("fq_codel.stf"))
    assert result.passed, [(failure.line, failure.message) for failure in result.failures]
    assert (result.packets_in, result.packets_out) == (10, 6)


def test_its_queues_are_for_the_switch_s_owner_and_the_rest_is_emitted(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    done = sojourn("emit", PROGRAM, "--for", "tofino", "--out", tmp_path / "out")
    plain = " ".join(done.stderr.split())
    assert done.returncode == 2
    assert "fair_queues: the queues are not written" in plain
    assert "tf1.tm.queue.sched_cfg" in plain and not (tmp_path / "out").exists()
    control = tmp_path / "rest.toml"
    control.write_text(PROGRAM.with_suffix(".toml").read_text().replace("fair_queues = 32", ""))
    arguments = ("emit", PROGRAM, "--for", "tofino", "--control", control)
    done = sojourn(*arguments, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    script = (tmp_path / "out" / "setup.py").read_text()
    assert "route_ipv4" in script and "control_law_beyond" in script and "sid=100" in script
