"""What the guest is told: one run's network, hosts and times, as plain data.

Stands on the engine's configuration of the run, on `topology`, `traffic` and `tc`. Runs nothing.
"""

from functools import cache
from itertools import groupby
from typing import Any

from sojourn import _core
from sojourn.linux import topology
from sojourn.linux.addresses import BEHIND, FRONT, SERVER_PORT, sends_from_behind
from sojourn.linux.delays import FAR, delay_changes, delays
from sojourn.linux.groups import has_groups, switch_of
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
_PIECE = {"virtual": 1, "real": 16 * 1024}
"""Bytes that wait before the host that reads them is woken. In real time a system call in the guest
costs what several packets do; in virtual time it costs nothing, and data are read as they come, as
iperf3 does. Acknowledgements do not wait for it (tcp_input.c, `__tcp_ack_snd_check`), but the
receive window grows with what is read."""
_WIRE = 24
"""FCS, preamble and inter-frame gap: what the switch's shaper counts beside the frame."""
_LATENESS = 1_000_000
"""ns; how late a shaper's timer may be in real time without losing bandwidth."""


def shaper_of(config: dict[str, Any], *, virtual_time: bool) -> Shaper:
    """The switch's shaper."""
    return _shaper_at(config, switch_of(config)["rate"], virtual_time=virtual_time)


def _shaper_at(config: dict[str, Any], rate: int, *, virtual_time: bool) -> Shaper:
    switch = switch_of(config)
    return shaper_for(rate, switch["burst"], switch["port_speed"], virtual_time=virtual_time)


@cache
def shaper_for(rate: int, burst: int, port_speed: int, *, virtual_time: bool) -> Shaper:
    """A shaper as the switch's hardware rounds it, which the engine knows.

    In real time the burst is enlarged: a timer that comes late must not cost bandwidth.
    """
    rounded_rate, rounded_burst = port_speed, 2 * FULL_FRAME
    if rate < port_speed:
        rounded_rate, rounded_burst = _core.shaper_as_built(rate, burst)
    if not virtual_time:
        rounded_burst = max(rounded_burst, rounded_rate * _LATENESS // (8 * 10**9))
    return Shaper(rounded_rate, rounded_burst, _WIRE)


def shaper_steps(config: dict[str, Any], *, virtual_time: bool) -> list[tuple[int, Shaper]]:
    """When the schedule changes the shaper, ns, and to what."""
    return [
        (step["at"], _shaper_at(config, step["rate"], virtual_time=virtual_time))
        for step in switch_of(config)["schedule"]
        if step["rate"] is not None
    ]


def qdisc_of(config: dict[str, Any], tick: int) -> Qdisc:
    """The qdisc for the run's discipline, of a kernel with that tick in ns."""
    return qdisc(config["aqm"], switch_of(config)["queue_limit"], tick)


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
    flows, switch, crowds = config["flows"], switch_of(config), drawn.crowds
    versions = {flow["ip_version"] for flow in flows}
    steps = shaper_steps(config, virtual_time=virtual_time)
    slowest = min([shaper.rate, *(then.rate for _, then in steps)])
    return common_job(config, drawn, [aqm], virtual_time=virtual_time) | {
        "ip": {
            "router": topology.router_links(flows, crowds),
            "senders": topology.host_links(flows, crowds, behind=False),
            "receivers": topology.host_links(flows, crowds, behind=True),
        },
        "tc": {
            "router": topology.bottleneck(shaper, aqm, versions),
            "receivers": delays(flows, crowds, switch),
        },
        "sysctl": topology.parameters(flows),
        "interfaces": topology.interfaces(),
        "hosts": [FRONT, BEHIND],
        "taps": _taps(config),
        "shown": [["router", topology.EXIT], [BEHIND, FAR]],
        "near": topology.NEAR,
        "traffic": traffic,
        "drain": 500_000_000 + switch["queue_limit"] * 8 * 10**9 // slowest,
        "changes": _changes(config, drawn, steps),
    }


def common_job(
    config: dict[str, Any], drawn: Traffic, aqms: list[Qdisc], *, virtual_time: bool
) -> dict[str, Any]:
    """What jobs say of whatever lies between the hosts."""
    versions = {flow["ip_version"] for flow in config["flows"]}
    piece = _PIECE["virtual" if virtual_time else "real"]
    modules = [*_MODULES, *(["ipv6"] if 6 in versions or not has_groups(config) else [])]
    return {
        "modules_folder": str(MODULES),
        "modules": [*modules, *dict.fromkeys(aqm.module for aqm in aqms)],
        "families": sorted({int(family(version)) for version in versions}),
        "port": SERVER_PORT,
        "duration": config["duration"],
        "lead": lead(drawn, config),
        "sample": _SAMPLE["virtual" if virtual_time else "real"],
        "flows": [flow | {"piece": piece} for flow in guest_flows(drawn, config)],
    }


def tap(
    namespace: str, interface: str, file: str, *, outgoing: bool, only_udp: bool = False
) -> dict[str, Any]:
    """Where frames are captured, and into which file."""
    return {
        "namespace": namespace,
        "interface": interface,
        "file": file,
        "outgoing": outgoing,
        "only_udp": only_udp,
    }


def _taps(config: dict[str, Any]) -> list[dict[str, Any]]:
    """On both sides of the queue, and where datagrams from behind it arrive, if there are any."""
    taps = [
        tap("router", topology.ENTRANCE, "entered.ring", outgoing=False),
        tap("router", topology.EXIT, "left.ring", outgoing=True),
    ]
    back = any(
        flow["kind"] in ("udp", "voip") and sends_from_behind(flow) for flow in config["flows"]
    )
    if back:
        taps.append(tap("router", topology.ENTRANCE, "back.ring", outgoing=True, only_udp=True))
    return taps


def _changes(
    config: dict[str, Any], drawn: Traffic, steps: list[tuple[int, Shaper]]
) -> list[dict[str, Any]]:
    """What changes while the run goes on, in the order of time: when, in which namespace, how."""
    single = [(at, "router", line) for at, then in steps for line in topology.reshape(then)]
    single += [
        (at, BEHIND, line)
        for at, line in delay_changes(config["flows"], drawn.crowds, switch_of(config))
    ]
    return grouped(single, config["duration"])


def grouped(changes: list[tuple[int, str, str]], duration: int) -> list[dict[str, Any]]:
    """Changes within the run, in the order of time; those of a moment and a place together."""
    within = sorted(
        (change for change in changes if change[0] < duration), key=lambda change: change[:2]
    )
    return [
        {"at": at, "where": where, "tc": [line for _, _, line in lines]}
        for (at, where), lines in groupby(within, key=lambda change: change[:2])
    ]
