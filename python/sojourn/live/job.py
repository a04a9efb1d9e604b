"""A run's network with the live switch in it: what the first process is told, as plain data.

    senders ══ in0 [switch] out0 ══ receivers

The Linux ground's hosts, traffic and notes, with a wire's or a program's switch in place of its
router: no address lies between the hosts, and frames go from the one's Ethernet address to the
other's. The round-trip times are held by the switch's own thread, on the way from behind the
bottleneck to the front as on that ground, so the kernel needs no netem. Runs nothing.
"""

import os
import sys
from typing import Any

from sojourn.linux.addresses import BEHIND, FRONT, SERVER_PORT, prefixes, sends_from_behind
from sojourn.linux.delays import by_path
from sojourn.linux.graph import Network
from sojourn.linux.groups import group_links, switch_of
from sojourn.linux.job import shapers_of, tap
from sojourn.linux.tc import Qdisc
from sojourn.linux.topology import Managed, end_parameters
from sojourn.linux.traffic import Traffic, family, guest_flows, lead

SENDERS_PORT, RECEIVERS_PORT = 1, 2
"""The switch's ports, as in the simulation."""
ENTRANCE, EXIT, NEAR, FAR = "in0", "out0", "s0", "r0"
"""The switch's interfaces, and those of the senders and the receivers."""
STATION = "station"
"""Folder in the job's: what the switch left."""
_MAC = {NEAR: "02:00:00:00:00:01", FAR: "02:00:00:00:00:02"}
"""The Ethernet addresses of both sides, as simulated hosts have them and shipped control planes
name them."""
_SAMPLE = 20_000_000
_PIECE = 16 * 1024
_ON_THE_WAY = Qdisc("live", "", (), None, "dequeue")


def managed_of(config: dict[str, Any]) -> Managed:
    """The run's measured queue."""
    (way,) = Network(config["network"]).measured
    speed = switch_of(config)["port_speed"]
    return Managed(*shapers_of(way, speed, virtual_time=True), _ON_THE_WAY)


def make_job(config: dict[str, Any], drawn: Traffic, traffic: str) -> dict[str, Any]:
    """The job of one run, whose traffic is `drawn` and sent by `traffic`."""
    flows, crowds = config["flows"], drawn.crowds
    versions = {flow["ip_version"] for flow in flows}
    ends = end_parameters(versions)
    # What the switch's own interfaces would say would pass the bottleneck.
    silent = {f"net/ipv6/conf/{which}/disable_ipv6": "1" for which in ("all", "default")}
    return {
        "modules_folder": "/nowhere",
        "modules": [],
        "families": sorted({int(family(version)) for version in versions}),
        "port": SERVER_PORT,
        "duration": config["duration"],
        "lead": lead(drawn, config),
        "sample": _SAMPLE,
        "flows": [flow | {"piece": _PIECE} for flow in guest_flows(drawn, config)],
        "ip": {
            "router": _links(),
            "senders": _host(flows, crowds, behind=False),
            "receivers": _host(flows, crowds, behind=True),
        },
        "tc": {},
        "sysctl": {"router": silent, "senders": ends, "receivers": ends},
        "interfaces": {"router": [ENTRANCE, EXIT], "senders": [NEAR], "receivers": [FAR]},
        "also_off": ["tx", "sg"],
        "hosts": [FRONT, BEHIND],
        "taps": _taps(flows),
        "shown": [],
        "near": NEAR,
        "traffic": traffic,
        "drain": 0,
        "changes": [],
    }


def command_of(folder: str) -> dict[str, Any]:
    """How the switch's process is started, which finds its orders in `folder`."""
    path = os.pathsep.join(filter(None, sys.path))
    return {
        "command": [sys.executable, "-P", "-m", "sojourn.live.station", folder],
        "environment": {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": path, "HOME": "/"},
    }


def orders(config: dict[str, Any], drawn: Traffic) -> dict[str, Any]:
    """What the switch's process is told."""
    switch = switch_of(config)
    front = {"id": SENDERS_PORT, "speed": switch["port_speed"]}
    measured = {
        "id": RECEIVERS_PORT,
        "rate": min(switch["rate"], switch["port_speed"]),
        "burst": switch["burst"],
        "queue_limit": switch["queue_limit"],
        "speed": switch["port_speed"],
    }
    paths = by_path(config["flows"], drawn.crowds, switch)
    steps: list[dict[str, Any]] = [
        {"at": at, "class": place, "delay": delay}
        for place, path in enumerate(paths)
        for at, delay in path.delays()[1:]
    ]
    steps += [
        {"at": step["at"], "rate": step["rate"], "burst": switch["burst"]}
        for step in switch["schedule"]
        if step["rate"] is not None
    ]
    return {
        "switch": {
            "ports": [front, measured],
            "aqm": config["aqm"],
            "seed": config["seed"],
            "capture": config["capture"],
        },
        "interfaces": {SENDERS_PORT: ENTRANCE, RECEIVERS_PORT: EXIT},
        "delays": [
            [path.delays()[0][1], [one for block in blocks for one in _prefixes(block)]]
            for path, blocks in paths.items()
        ],
        "steps": sorted(
            (step for step in steps if step["at"] < config["duration"]), key=lambda step: step["at"]
        ),
    }


def _prefixes(block: tuple[int, tuple[int, int]]) -> list[str]:
    version, (first, count) = block
    return list(prefixes(first, count, version, behind=False))


def _links() -> list[str]:
    """Namespaces and links, from the switch's side."""
    pairs = [
        f"link add {here} type veth peer name {there} address {_MAC[there]} netns {where}"
        for here, there, where in ((ENTRANCE, NEAR, FRONT), (EXIT, FAR, BEHIND))
    ]
    return [
        "netns add senders",
        "netns add receivers",
        "netns attach router {pid}",
        *pairs,
        *(f"link set {name} up" for name in (ENTRANCE, EXIT, "lo")),
    ]


def _host(
    flows: list[dict[str, Any]], crowds: dict[int, tuple[int, int]], *, behind: bool
) -> list[str]:
    """Those of one side, as the Linux ground has them, but that the way to the other side leads to
    the hosts there and not to a router."""
    name, peer = (FAR, NEAR) if behind else (NEAR, FAR)
    lines = group_links(flows, crowds, name, _MAC[peer], behind=behind)
    return ["link set lo up", *lines]


def _taps(flows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Datagrams, of which no socket tells: where they come to the switch, and where they arrive."""
    datagrams = [flow for flow in flows if flow["kind"] in ("udp", "voip")]
    if not datagrams:
        return []
    taps = [
        tap("router", ENTRANCE, "entered.ring", outgoing=False, only_udp=True),
        tap(BEHIND, FAR, "left.ring", outgoing=False, only_udp=True),
    ]
    if any(sends_from_behind(flow) for flow in datagrams):
        taps.append(tap(FRONT, NEAR, "back.ring", outgoing=False, only_udp=True))
    return taps
