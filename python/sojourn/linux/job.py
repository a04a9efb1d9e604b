"""What the guest is told: one run's network, hosts and times, as plain data.

Stands on the engine's configuration of the run, on `topology`, `traffic` and `tc`. Runs nothing.
"""

import json
from itertools import groupby
from typing import Any

from sojourn import _core
from sojourn.linux import topology
from sojourn.linux.addresses import BEHIND, SERVER_PORT, sends_from_behind
from sojourn.linux.delays import FAR, delay_changes, delays
from sojourn.linux.needs import MODULES
from sojourn.linux.tc import FULL_FRAME, Qdisc, qdisc
from sojourn.linux.topology import Shaper
from sojourn.linux.traffic import Traffic, family, guest_flows, lead

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
        if step["rate"] is not None
    ]


def _with_rate(config: dict[str, Any], rate: int) -> dict[str, Any]:
    return config | {"switch": config["switch"] | {"rate": rate, "schedule": []}}


def qdisc_of(config: dict[str, Any]) -> Qdisc:
    """The kernel's qdisc for the run's discipline."""
    return qdisc(config["aqm"], config["switch"]["queue_limit"])


def make_job(
    config: dict[str, Any],
    shaper: Shaper,
    aqm: Qdisc,
    drawn: Traffic,
    *,
    virtual_time: bool,
    traffic: str,
) -> dict[str, Any]:
    """The job of one run, whose traffic is `drawn` and sent by `traffic`."""
    flows, switch, crowds = config["flows"], config["switch"], drawn.crowds
    versions = {flow["ip_version"] for flow in flows}
    steps = shaper_steps(config, virtual_time=virtual_time)
    slowest = min([shaper.rate, *(then.rate for _, then in steps)])
    return {
        "modules_folder": str(MODULES),
        "modules": [*_MODULES, *(["ipv6"] if 6 in versions else []), aqm.module],
        "ip": {
            "router": topology.router_links(flows, crowds),
            "senders": topology.host_links(flows, crowds, behind=False),
            "receivers": topology.host_links(flows, crowds, behind=True),
        },
        "tc": {
            "router": topology.bottleneck(shaper, aqm, flows),
            "receivers": delays(flows, crowds, switch),
        },
        "sysctl": topology.parameters(flows),
        "interfaces": topology.interfaces(),
        "entrance": topology.ENTRANCE,
        "exit": topology.EXIT,
        "near": topology.NEAR,
        "far": FAR,
        "traffic": traffic,
        "families": sorted({int(family(version)) for version in versions}),
        "port": SERVER_PORT,
        "duration": config["duration"],
        "lead": lead(drawn, config),
        "drain": 500_000_000 + switch["queue_limit"] * 8 * 10**9 // slowest,
        "sample": _SAMPLE["virtual" if virtual_time else "real"],
        "datagrams_back": datagrams_back(config),
        "changes": _changes(config, drawn, steps),
        "flows": guest_flows(drawn, config),
    }


def datagrams_back(config: dict[str, Any]) -> bool:
    """Whether there are datagrams from behind the bottleneck, which do not pass its queue."""
    return any(
        flow["kind"] in ("udp", "voip") and sends_from_behind(flow) for flow in config["flows"]
    )


def _changes(
    config: dict[str, Any], drawn: Traffic, steps: list[tuple[int, Shaper]]
) -> list[dict[str, Any]]:
    """What changes while the run goes on, in the order of time: when, in which namespace, how."""
    single = [(at, "router", line) for at, then in steps for line in topology.reshape(then)]
    single += [
        (at, BEHIND, line)
        for at, line in delay_changes(config["flows"], drawn.crowds, config["switch"])
    ]
    single = [change for change in single if change[0] < config["duration"]]
    single.sort(key=lambda change: change[:2])
    return [
        {"at": at, "where": where, "tc": [line for _, _, line in lines]}
        for (at, where), lines in groupby(single, key=lambda change: change[:2])
    ]
