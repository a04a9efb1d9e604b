"""Tofino's buffer pools as a BfRt client of a run sets them: where saturated queues settle."""

import json
from pathlib import Path

import pytest

from conftest import Sojourn

pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[dev]'")

CELL = 80
"""Bytes of a cell of Tofino 1."""
POOL = 3_000
FRAME = 1_514

AGENT = """
import json, os, sys, time
from sojourn.control.bfrt_client import Connection
from sojourn.control.bfrt_shell import Shell

factor, ports, size = sys.argv[1], range(2, 2 + int(sys.argv[2])), int(sys.argv[3])
bfrt = Shell(Connection(os.environ["SOJOURN_CONTROL"]))
manager = bfrt.tf1.tm
manager.pool.cfg.mod(pool="EG_APP_POOL_2", size_cells=size)
places = []
for port in ports:
    found = manager.port.cfg.get(port)
    places.append({"pg_id": found["pg_id"], "pg_queue": found["egress_qid_queues"][0]})
for place in places:
    shared = {"pool_id": "EG_APP_POOL_2", "pool_max_cells": 0, "dynamic_baf": factor}
    manager.queue.buffer.mod_with_shared_pool(**place, **shared)
time.sleep(0.04)
print(json.dumps([manager.counter.queue.get(**place)["usage_cells"] for place in places]))
print(manager.counter.pool.get(pool="EG_APP_POOL_2")["usage_cells"])
"""


def saturated(folder: Path, factor: str, queues: int) -> Path:
    """A scenario in which a host sends twice what each of some links to others takes."""
    folder.mkdir()
    (folder / "agent.py").write_text(AGENT)
    receivers = [f"r{number}" for number in range(queues)]
    routes, links = "", ['{ between = ["sender", "s"] }']
    for port, name in enumerate(receivers, 2):
        value = f'{{ value = "0x0a00{port:02x}01", prefix = 32 }}'
        routes += (
            "[[tables.entries]]\n"
            f'match = {{ "hdr.ipv4.destination" = {value} }}\n'
            'action = "send_ipv4"\n'
            f'args = {{ port = {port}, queue = 0, own = "0x02ff00000001", next_hop = "0x02" }}\n'
        )
        links.append(f'{{ between = ["s", "{name}"], rate = "100 Mbit/s" }}')
    (folder / "routes.toml").write_text(f'[[tables]]\nname = "Ingress.route_ipv4"\n{routes}')
    hosts = ['{ name = "sender", address = "10.0.1.1" }'] + [
        f'{{ name = "{name}", address = "10.0.{port}.1" }}'
        for port, name in enumerate(receivers, 2)
    ]
    path = folder / "saturated.toml"
    path.write_text(
        f"""
duration = "80 ms"
aqms = [{{ use = "tna/red", label = "red", control = "routes.toml" }}]
hosts = [{", ".join(hosts)}]
switches = [{{ name = "s" }}]
links = [{", ".join(links)}]

[control]
process = ["{{python}}", "agent.py", "{factor}", "{queues}", "{POOL}"]
server = "bfrt"
timeout = "60 s"
"""
        + "".join(
            f'\n[[flows]]\nkind = "udp"\nfrom = "sender"\nto = "{name}"\nrate = "200 Mbit/s"\n'
            f'packet_size = "{FRAME} B"\n'
            for name in receivers
        )
    )
    return path


@pytest.mark.parametrize(("factor", "alpha", "queues"), [("50%", 1.0, 3), ("80%", 4.0, 2)])
def test_queues_settle_where_choudhury_and_hahne_say_by_what_a_client_has_written(
    tmp_path: Path, sojourn: Sojourn, factor: str, alpha: float, queues: int
) -> None:
    path = saturated(tmp_path / "s", factor, queues)
    ran = sojourn("run", str(path), "--out", str(tmp_path / "out"), "--no-report")
    assert ran.returncode == 0, ran.stderr
    lines = (tmp_path / "out" / "red" / "controller.log").read_text().splitlines()
    held, used = json.loads(lines[0]), int(lines[1])
    settled = alpha * POOL / (1 + queues * alpha)
    # A queue is some frames off: one that leaves makes room for `alpha` times as much in each.
    frames = (1 + alpha) * -(-FRAME // CELL)
    assert all(abs(cells - settled) <= frames for cells in held), (held, settled)
    # It is read some milliseconds later.
    assert abs(used - sum(held)) <= queues * frames
