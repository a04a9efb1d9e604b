"""The traffic of a run's hosts, as entries of the guest's job.

Takes the engine's draws for the run, so that a scenario and a seed mean the same traffic as in the
simulator. Depends on the address scheme and on the paths. Runs nothing.
"""

import json
import socket
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any

import numpy as np

from sojourn import _core
from sojourn.backends.linux.addresses import (
    BEHIND,
    FIRST_PORT,
    FRONT,
    PORTS,
    SERVER_PORT,
    base,
    hosts,
    opener,
)
from sojourn.backends.linux.groups import has_groups
from sojourn.backends.linux.path import Longs, Path, path_of
from sojourn.control.file import as_plain
from sojourn.errors import ScenarioError
from sojourn.model.congestion import kernel_controls

HEADERS = {4: 42, 6: 62}
"""Ethernet, IP and UDP, in bytes."""
_RTP = 12
_SAMPLES = 8_000
"""Of G.711 in a second; each is a byte."""

Flow = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """The data that the flows of a run send, independent of the sender."""

    flows: list[dict[str, Any]]
    """A flow each: its start, and bursts, thinks or transfers."""
    crowds: dict[int, tuple[int, int]]
    """For each source of transfers the number by which its first one is addressed, and how many."""
    numbers: Longs
    """The flow's number in rows for each number by which hosts are addressed: transfers are
    addressed source by source and numbered in the order of their beginning."""
    sources: Longs
    """The configured flow that each belongs to, by the same number."""


def workload_of(config: dict[str, Any]) -> Workload:
    """The engine's draws for that configuration."""
    # Which AQM it is has no part in it, and the engine need not have it.
    plain = config | {"aqm": {"kind": "native", "name": "fifo"}}
    flows = json.loads(_core.workload(json.dumps(plain, default=as_plain)))
    first = len(flows)
    crowds: dict[int, tuple[int, int]] = {}
    begins: list[int] = []
    sources = list(range(first))
    for flow, drawn in enumerate(flows):
        if config["flows"][flow]["kind"] == "transfers":
            crowds[flow] = (first + len(begins), len(drawn["transfers"]))
            begins += [at for at, _ in drawn["transfers"]]
            sources += [flow] * len(drawn["transfers"])
    numbers = np.arange(first + len(begins), dtype=np.int64)
    order = np.argsort(np.array(begins, np.int64), kind="stable")
    numbers[first + order] = first + np.arange(len(begins))
    return Workload(flows, crowds, numbers, np.array(sources, np.int64))


def check_ports(config: dict[str, Any], workload: Workload) -> None:
    """`ScenarioError` if a network has more flows than ports tell apart."""
    if not has_groups(config) and len(workload.numbers) > PORTS:
        raise ScenarioError(
            f"{len(workload.numbers)} flows and transfers: in a network this backend tells them "
            f"apart by their ports, so at most {PORTS} are allowed"
        )


def first_of(drawn: dict[str, Any]) -> int:
    """The start of a flow; of a source of transfers that of its first one."""
    return int(drawn["transfers"][0][0] if drawn["transfers"] else drawn["start"])


def lead(workload: Workload, config: dict[str, Any]) -> int:
    """The time from the first event of a host behind the bottleneck, by its early clock, to the
    run's time zero; ns."""
    early = [
        -path_of(flow, config).in_guest(drawn["start"], behind=True)
        for flow, drawn in zip(config["flows"], workload.flows, strict=True)
        if has_groups(config) and opener(flow) == BEHIND
    ]
    return max([0, *early])


def guest_flows(workload: Workload, config: dict[str, Any]) -> list[Flow]:
    """The flows as the guest takes them, all times by the clocks of who acts."""
    return [
        _guest_flow(number, flow, workload, config) for number, flow in enumerate(config["flows"])
    ]


@dataclass(frozen=True)
class Ends:
    """Client and server of a flow's connection: namespaces, addresses and ports."""

    opener: str
    acceptor: str
    client: tuple[str, int]
    server: tuple[str, int]
    in_network: bool


def ends_of(number: int, flow: Flow, config: dict[str, Any]) -> Ends:
    """The ends of a flow; in a network the hosts that it names, with ports that identify it."""
    if has_groups(config):
        pair = hosts(number, flow)
        acceptor = BEHIND if pair.opener == FRONT else FRONT
        return Ends(pair.opener, acceptor, pair.client, pair.server, False)
    key = "ipv6" if flow["ip_version"] == 6 else "ipv4"
    at = {host["name"]: host["addresses"]["own"][key] for host in config["network"]["hosts"]}
    opens, accepts = flow["from"], flow["to"]
    if flow["kind"] == "requests":
        opens, accepts = accepts, opens
    client, server = (at[opens], FIRST_PORT + number % PORTS), (at[accepts], SERVER_PORT)
    return Ends(opens, accepts, client, server, True)


def _guest_flow(number: int, flow: Flow, workload: Workload, config: dict[str, Any]) -> Flow:
    ends = ends_of(number, flow, config)
    path, behind = path_of(flow, config), ends.opener == BEHIND
    drawn = workload.flows[number]
    stop = flow["stop"]
    sent = {
        "kind": flow["kind"],
        "number": number,
        "family": int(family(flow["ip_version"])),
        "opener": ends.opener,
        "acceptor": ends.acceptor,
        "start": path.in_guest(drawn["start"], behind=behind),
        "stop": None if stop is None else path.in_guest(stop, behind=behind),
    }
    if flow["kind"] != "transfers":
        sent |= {"client": list(ends.client), "server": list(ends.server)}
    match flow["kind"]:
        case "udp":
            return sent | _datagrams(flow, drawn, path, behind=behind)
        case "voip":
            return sent | _voice(number, flow)
    sent["congestion_control"] = kernel_controls()[flow["congestion_control"]]
    match flow["kind"]:
        case "requests":
            return sent | _questions(flow, drawn, path, config["duration"], behind=behind)
        case "transfers":
            return sent | _transfers(number, flow, workload, path, ends)
    return sent | {key: flow[key] for key in ("rate_cap", "block", "pacing")}


def _datagrams(flow: Flow, drawn: dict[str, Any], path: Path, *, behind: bool) -> Flow:
    return {
        "rate": flow["rate"],
        "packet_size": flow["packet_size"],
        "payload": flow["packet_size"] - HEADERS[flow["ip_version"]],
        "on": flow.get("on"),
        "off": flow.get("off"),
        "bursts": [[path.in_guest(at, behind=behind) for at in burst] for burst in drawn["bursts"]],
    }


def _voice(number: int, flow: Flow) -> Flow:
    return {
        "payload": flow["payload"] + _RTP,
        "interval": flow["interval"],
        "samples": flow["interval"] * _SAMPLES // 10**9,
        "source": number,
    }


def _questions(
    flow: Flow, drawn: dict[str, Any], path: Path, duration: int, *, behind: bool
) -> Flow:
    every = flow.get("every")
    instants = None
    if every is not None:
        # At the same instants for all that start together, and after the handshake.
        rounds = range(flow["start"] + every, duration, every)
        instants = [path.in_guest(at, behind=behind) for at in rounds]
    return {
        "request": flow["request"],
        "response": flow["response"],
        "thinks": drawn["thinks"],
        "instants": instants,
    }


def _transfers(number: int, flow: Flow, workload: Workload, path: Path, ends: Ends) -> Flow:
    behind, version = ends.opener == BEHIND, flow["ip_version"]
    by_address = not ends.in_network
    bases = [int(ip_address(host)) for host, _ in (ends.client, ends.server)]
    if by_address:
        bases = [base(version, behind=side) for side in (behind, not behind)]
    return {
        "flow": number,
        "number": workload.crowds[number][0],
        "by_address": by_address,
        "client_base": bases[0],
        "server_base": bases[1],
        "ports": [FIRST_PORT, PORTS],
        "port": SERVER_PORT,
        "transfers": [
            [path.in_guest(at, behind=behind), size]
            for at, size in workload.flows[number]["transfers"]
        ],
    }


def family(version: int) -> socket.AddressFamily:
    """Of that version of IP."""
    return socket.AF_INET6 if version == 6 else socket.AF_INET
