"""OpenOptics' emulated fabric: the script that its deployment gives to the vendor's shell.

Writes the two files that the repository's backend makes of a topology, here its round robin by the
circle method, and executes `emulated-ocs/setup_ocs.py` unmodified. Must not depend on the engine.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

from sojourn.control.bfrt_client import Connection
from sojourn.control.bfrt_script import run_script

SWITCHES = 4
"""Below the fabric, each with one link to it."""
FRONT = {(7, 0): 184, (15, 0): 312, (23, 0): 448, (31, 0): 56}
"""The fabric's ports by connector and lane, each in the pipe that `config_4tor.toml` gives it."""


def circuits(nodes: int) -> list[tuple[int, int, int]]:
    """Slice, node and node of each circuit: in `nodes` - 1 slices each meets each once."""
    ring, found = list(range(nodes)), []
    for number in range(nodes - 1):
        found += [(number, ring[place], ring[-place - 1]) for place in range(nodes // 2)]
        ring.insert(1, ring.pop())
    return found


def write_files(folder: Path) -> None:
    """`openoptics_config.json` and `ocs_entries.json`, with what the script reads of them."""
    layout = [[node, 0, f"{cage}/{lane}"] for node, (cage, lane) in enumerate(FRONT)]
    config = {
        "TOR_NUM": SWITCHES,
        "PORT_NUM": 1,
        "NB_TIME_SLICES": SWITCHES - 1,
        "bandwidth": {"uplink_gbps": 100, "uplink_fec": "NONE"},
        "ocs_fp_layout": layout,
    }
    entries = [
        {
            "cur_slice": number,
            "ingress_tor": ingress,
            "ingress_port": 0,
            "egress_tor": egress,
            "egress_port": 0,
        }
        for number, one, other in circuits(SWITCHES)
        for ingress, egress in ((one, other), (other, one))
    ]
    (folder / "openoptics_config.json").write_text(json.dumps(config))
    (folder / "ocs_entries.json").write_text(json.dumps({"entries": entries}))


def main(script: Path) -> None:
    """Executes the script as its `run.sh` does."""
    connection = Connection(os.environ["SOJOURN_CONTROL"], front=FRONT)
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        os.environ["SETUP_SCRIPT"] = f"{folder}/{script.name}"
        run_script(connection, script)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
