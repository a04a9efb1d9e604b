"""What the guest is told: one run's network, hosts and times, as plain data.

Stands on the engine's configuration of the run, on `topology` and on `tc`. Flows start when they do
in the simulator under the same seed. Runs nothing.
"""

import json
import socket
from typing import Any

from sojourn import _core
from sojourn.linux import topology
from sojourn.linux.addresses import SERVER_PORT, hosts
from sojourn.linux.needs import MODULES
from sojourn.linux.tc import FULL_FRAME, Qdisc, qdisc
from sojourn.linux.topology import Shaper

CONGESTION_CONTROLS = {"cubic": "cubic", "newreno": "reno", "bbr": "bbr"}
"""The scenario's name -> the kernel's."""
_MODULES = (
    "veth",
    "sch_htb",
    "sch_netem",
    "sch_prio",
    "cls_u32",
    "tcp_bbr",
    "tcp_diag",
)
_SAMPLE = {"virtual": 10_000_000, "real": 20_000_000}
"""ns between two samples of the sockets; in real time each costs the guest a quarter of a ms."""
_WIRE = 24
"""FCS, preamble and inter-frame gap: what the switch's shaper counts beside the frame."""
_LATENESS = 1_000_000
"""ns; how late a shaper's timer may be in real time without losing bandwidth."""
_HEADERS = {4: 42, 6: 62}
"""Ethernet, IP and UDP, in bytes."""


def shaper_of(config: dict[str, Any], *, virtual_time: bool) -> Shaper:
    """The switch's shaper as its hardware rounds it, which the engine knows.

    In real time the burst is enlarged: a timer that comes late must not cost bandwidth.
    """
    plain = config | {"aqm": {"kind": "native", "name": "fifo"}}
    report = json.loads(_core.Simulation(json.dumps(plain)).report())
    rate, burst = report["shaper_rate"], report["shaper_burst"]
    if not rate:
        rate, burst = config["switch"]["port_speed"], 2 * FULL_FRAME
    if not virtual_time:
        burst = max(burst, rate * _LATENESS // (8 * 10**9))
    return Shaper(rate, burst, _WIRE)


def shaper_steps(config: dict[str, Any], *, virtual_time: bool) -> list[tuple[int, Shaper]]:
    """When the schedule changes the shaper, ns, and to what."""
    return [
        (step["at"], shaper_of(_with_rate(config, step["rate"]), virtual_time=virtual_time))
        for step in config["switch"]["schedule"]
    ]


def _with_rate(config: dict[str, Any], rate: int) -> dict[str, Any]:
    return config | {"switch": config["switch"] | {"rate": rate, "schedule": []}}


def qdisc_of(config: dict[str, Any]) -> Qdisc:
    """The kernel's qdisc for the run's discipline."""
    return qdisc(config["aqm"], config["switch"]["queue_limit"])


def make_job(
    config: dict[str, Any], shaper: Shaper, aqm: Qdisc, *, virtual_time: bool, traffic: str
) -> dict[str, Any]:
    """The job of one run."""
    flows = config["flows"]
    versions = {flow["ip_version"] for flow in flows}
    steps = shaper_steps(config, virtual_time=virtual_time)
    slowest = min([shaper.rate, *(then.rate for _, then in steps)])
    return {
        "modules_folder": str(MODULES),
        "modules": [*_MODULES, *(["ipv6"] if 6 in versions else []), aqm.module],
        "ip": {
            "router": topology.router_links(flows),
            "senders": topology.host_links(flows, servers=False),
            "receivers": topology.host_links(flows, servers=True),
        },
        "tc": {
            "router": topology.bottleneck(shaper, aqm, flows),
            "receivers": topology.delays(flows),
        },
        "sysctl": topology.parameters(flows),
        "interfaces": topology.interfaces(),
        "entrance": topology.ENTRANCE,
        "exit": topology.EXIT,
        "near": topology.NEAR,
        "far": topology.FAR,
        "traffic": traffic,
        "families": sorted({int(_family(version)) for version in versions}),
        "port": SERVER_PORT,
        "duration": config["duration"],
        "drain": 500_000_000 + config["switch"]["queue_limit"] * 8 * 10**9 // slowest,
        "sample": _SAMPLE["virtual" if virtual_time else "real"],
        "changes": [{"at": at, "tc": topology.reshape(then)} for at, then in steps],
        "flows": [_flow(config["seed"], i, flow) for i, flow in enumerate(flows)],
    }


def _family(version: int) -> socket.AddressFamily:
    return socket.AF_INET6 if version == 6 else socket.AF_INET


def _flow(seed: int, index: int, flow: dict[str, Any]) -> dict[str, Any]:
    ends = hosts(index, flow["ip_version"])
    told = {
        "kind": flow["kind"],
        "family": int(_family(flow["ip_version"])),
        "client": [ends.client, ends.client_port],
        "server": [ends.server, SERVER_PORT],
        "start": flow["start"] + _core.start_jitter(seed, index),
        "stop": flow["stop"],
    }
    if flow["kind"] == "udp":
        payload = flow["packet_size"] - _HEADERS[flow["ip_version"]]
        return told | {
            "rate": flow["rate"],
            "packet_size": flow["packet_size"],
            "payload": payload,
            "on": flow.get("on"),
            "off": flow.get("off"),
        }
    return told | {
        "congestion_control": CONGESTION_CONTROLS[flow["congestion_control"]],
        "rate_cap": flow["rate_cap"],
    }
