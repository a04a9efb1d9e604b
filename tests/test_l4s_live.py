"""The live demonstration of L4S, run as its first lines say, between network namespaces.

Judges neither rates nor delays of the machine: only that both queues carried packets, and which
queue marks.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Sojourn
from sojourn.backends.live import live_plan
from sojourn.errors import ScenarioError

ROOT = Path(__file__).parent.parent
PORTS = {"ports": ["1=a", "2=b"], "rates": ["2=40 Mbit/s"]}


@pytest.mark.parametrize("program", [[], ["--program", "tna/dualpi2"]])
def test_the_l4s_demonstration_shows_each_flow(user_namespaces: None, program: list[str]) -> None:
    command = [sys.executable, str(ROOT / "examples" / "l4s_live.py"), "--seconds", "0.5", *program]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "--mount", *command],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    if done.returncode and "ethtool" in done.stderr:
        pytest.skip("not installed: apt-get install ethtool")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("this kernel")]
    assert lines[0].split() == ["flow", "Mbit/s", "mean", "ms", "p99", "ms", "marks", "drops"]
    found = {line[:14].strip(): line[14:].split() for line in lines[1:]}
    assert {"cubic", "UDP, ECT(1)"} <= set(found)
    assert len(found) == 3
    # Packets that are not capable of ECN are never marked.
    assert found["cubic"][3] == "0"
    assert all(float(values[0]) > 0 for values in found.values())


def test_a_live_switch_takes_the_parameters_of_its_discipline() -> None:
    plan = live_plan(None, aqm="dualpi2_linux", parameters={"any_ect": True}, **PORTS)
    assert plan.config["aqm"]["any_ect"] == 1
    under = live_plan("v1model/router", aqm="codel", parameters={"target": "1 ms"}, **PORTS)
    assert "1000000" in str(under.config["aqm"])
    with pytest.raises(ScenarioError, match="--set is for the discipline of --aqm"):
        live_plan("v1model/router", parameters={"target": "1 ms"}, **PORTS)


def test_an_unknown_parameter_of_a_live_discipline_is_named(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    done = sojourn(
        "switch", "--aqm", "codel", "--set", "traget=1 ms", "--port", "1=a", "--port", "2=b"
    )
    assert done.returncode == 2
    assert "traget" in done.stderr
