"""Scripts for the vendor's shell, `bfshell -b`, as the controller process of a run."""

from pathlib import Path

import pytest

import sojourn
from sojourn import ScenarioError
from sojourn.control.bfrt_script import front_port

pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[dev]'")

SCENARIO = """
duration = "60 ms"
aqms = ["t2na/time_gate"]

[switch]
rate = "10 Mbit/s"

[control]
process = ["{python}", "-m", "sojourn.control.bfrt_script", "setup.py", "--front", "1/0=2"]
server = "bfrt"
timeout = "60 s"

[[flows]]
kind = "udp"
rate = "1 Mbit/s"
rtt = "10 ms"
"""

SETUP = """
port = bfrt.port.port_hdl_info.get(CONN_ID=CAGE, CHNL_ID=0, print_ents=False).data[b"$DEV_PORT"]
bfrt.port.port.add(
    DEV_PORT=port, SPEED="BF_SPEED_10G", FEC="BF_FEC_TYP_FC", PORT_ENABLE=True,
    LOOPBACK_MODE="BF_LPBK_NONE")
bfrt.pre.node.add(
    MULTICAST_NODE_ID=0, MULTICAST_RID=0, MULTICAST_LAG_ID=[], DEV_PORT=[port])
bfrt.pre.mgid.add(
    MGID=1, MULTICAST_NODE_ID=[0], MULTICAST_NODE_L1_XID_VALID=[False],
    MULTICAST_NODE_L1_XID=[0])

def queue_of(number):
    # A function of a script sees the script's names.
    return bfrt.tf2.tm.port.cfg.get(port, print_ents=False).data[b"egress_qid_queues"][number]

bfrt.tf2.tm.queue.sched_cfg.mod(
    pipe=0, pg_id=0, pg_queue=queue_of(0), advanced_flow_control="XOFF")
mode = bfrt.tf2.tm.queue.sched_cfg.get(pipe=0, pg_id=0, pg_queue=queue_of(0))
tables = bfrt.time_gate.pipe.info(return_info=True, print_info=False)
gates = [one for one in tables if one["full_name"].endswith("gate")]
print(port, queue_of(0), mode["advanced_flow_control"], *(one["type"] for one in gates))
print(len(bfrt.pre.node.dump()), gates[0]["node"].dump(from_hw=True)[0]["action"])
bfrt.pre.mgid.clear(batch=True)
print(len(bfrt.pre.mgid.dump()))
"""


def scenario(folder: Path, cage: int) -> Path:
    (folder / "setup.py").write_text(SETUP.replace("CAGE", str(cage)))
    path = folder / "scenario.toml"
    path.write_text(SCENARIO)
    return path


def test_a_script_for_the_vendors_shell_runs_as_it_is(tmp_path: Path) -> None:
    sojourn.run(scenario(tmp_path, 1), out=tmp_path / "run", report=False)
    (log,) = (tmp_path / "run").glob("*/controller.log")
    first, second, third = log.read_text().splitlines()
    assert first == "2 32 XOFF MATCH_DIRECT"
    assert second.split()[0] == "1" and second.endswith("pause")
    assert third == "0"


def test_a_front_port_that_the_board_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="no port is at 9/0; there are 1/0: give --front 9/0="):
        sojourn.run(scenario(tmp_path, 9), out=tmp_path / "run", report=False)


def test_a_front_port_is_given_by_connector_lane_and_number() -> None:
    assert front_port("31/2=448") == ((31, 2), 448)
    with pytest.raises(Exception, match=r"31: give CONNECTOR/LANE=PORT"):
        front_port("31")
