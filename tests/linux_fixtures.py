"""Fixtures of the Linux backend's unit tests: small scenarios and their jobs."""

from pathlib import Path
from typing import Any

from sojourn.backends.linux.kernel import Kernel
from sojourn.backends.linux.setup import set_up
from sojourn.backends.linux.tc import Qdisc, qdisc
from sojourn.runner import plan_scenario

MS = 1_000_000
UML_TICK = 10 * MS
THERE, BACK = 4763, 1289
"""ns that links and switch take of a full segment and of its acknowledgement, at 10 Gbit/s
everywhere: 1526 and 78 bytes on three wires, 1220.8 and 62.4 ns each, and 1100 ns in the switch."""
VIRTUAL = Kernel(Path("/nowhere"), virtual_time=True, tick=MS)


def native(name: str, tick: int = UML_TICK, **parameters: int) -> Qdisc:
    return qdisc({"kind": "native", "name": name} | parameters, 1_940_000, tick)


def scenario(*flows: dict[str, Any], **switch: Any) -> dict[str, Any]:
    """Two seconds at 10 Mbit/s."""
    return {
        "duration": "2 s",
        "aqms": ["fifo"],
        "switch": {"rate": "10 Mbit/s"} | switch,
        "flows": list(flows),
    }


def config_of(*flows: dict[str, Any], **switch: Any) -> dict[str, Any]:
    return plan_scenario(scenario(*flows, **switch)).runs[0].config


def job_of(config: dict[str, Any]) -> dict[str, Any]:
    return set_up(config, VIRTUAL, traffic="sockets").job
