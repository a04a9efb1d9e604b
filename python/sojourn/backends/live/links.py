"""Orders for the switches of a run: their ports, routes, and the links around them.

These links have neither rates nor delays, and the kernel needs no netem. A switch's own thread
holds the frames that enter or leave a link with a delay. The round-trip times of flows between
groups are held on the way from behind the bottleneck to the front, for each flow its own, as on the
Linux backend. Depends on the graph; runs nothing.
"""

from collections import defaultdict
from typing import Any

from sojourn.backends.linux.addresses import block_of, prefixes
from sojourn.backends.linux.delays import by_path
from sojourn.backends.linux.graph import Direction, Network
from sojourn.backends.linux.groups import SERVERS, has_groups, switch_of
from sojourn.backends.linux.traffic import Workload

_SIDES = {"clients": "02:00:00:00:00:01", "servers": "02:00:00:00:00:02"}
"""The Ethernet addresses of groups, as shipped control planes name them."""
_EVERYTHING = ["0.0.0.0/0", "::/0"]

Steps = list[dict[str, Any]]


def ethernet(network: Network, host: str) -> str:
    """The Ethernet address of a host, or of a group, as simulated ones have them and control planes
    name them."""
    if network.is_group(host):
        return _SIDES[network.hosts[host]]
    parts = [int(part) for part in network.own_addresses(host)["ipv4"].split(".")]
    return ":".join(["02", "00", *(f"{part:02x}" for part in parts)])


def everything_later(delay: int, rate: int | None = None) -> dict[str, Any]:
    """A way of a link, as the engine takes it, that has this delay, ns, and this rate."""
    return {"rate": rate, "classes": [(delay, _EVERYTHING)]}


def switch_orders(config: dict[str, Any], workload: Workload) -> list[dict[str, Any]]:
    """The orders of each switch, without the names of its interfaces."""
    network = Network(config["network"])
    return [
        _orders(name, config["seed"] + place, network, config, workload)
        for place, name in enumerate(network.switches)
    ]


def _orders(
    name: str, seed: int, network: Network, config: dict[str, Any], workload: Workload
) -> dict[str, Any]:
    switch = network.switches[name]
    aqm: dict[str, Any] = switch["aqm"] or config["aqm"]
    ways = [way for way in network.directions if way.near == name]
    steps = [{"at": step["at"], "operations": step["operations"]} for step in aqm.get("later", ())]
    links, changes = _links(ways, network, config, workload)
    steps += changes + [step for way in ways for step in _rates(way, switch["port_speed"])]
    return {
        "switch": {
            "ports": [_port(way, switch["port_speed"]) for way in ways],
            "aqm": aqm,
            "seed": seed,
            "capture": config["capture"]
            or any(link["capture"] for link in config["network"]["links"]),
            "routes": [
                {"to": to, "bits": bits, "port": number(hosts_ways[name].port)}
                for host, hosts_ways in network.ways.items()
                if name in hosts_ways
                for to, bits in _addresses(network, host)
            ],
        },
        # Between groups there is one queue, whose packets are numbered as they come.
        "around": {"links": links, "identify": not has_groups(config)},
        "steps": sorted(
            (step for step in steps if step["at"] < config["duration"]), key=lambda step: step["at"]
        ),
    }


def number(port: str) -> int:
    """Of a port by its name."""
    return int(port.removeprefix("p"))


def _port(way: Direction, speed: int) -> dict[str, Any]:
    return {
        "id": number(way.port),
        "speed": speed,
        "rate": None if way.rate is None else min(way.rate, speed),
        "packets_per_second": way.pace,
        "burst": way.link["burst"],
        "queue_limit": way.link["queue_limit"],
        "rows": way.link["rows"],
    }


def _addresses(network: Network, host: str) -> list[tuple[str, int]]:
    if network.is_group(host):
        behind = network.hosts[host] == SERVERS
        blocks = [block_of(version, behind=behind).split("/") for version in (4, 6)]
        return [(to, int(bits)) for to, bits in blocks]
    own = network.own_addresses(host)
    return [(own["ipv4"], 32), (own["ipv6"], 128)]


def _rates(way: Direction, speed: int) -> Steps:
    """The schedule of a port's shaper."""
    rates = [(step["at"], way.rate_after(step)) for step in way.link["schedule"]]
    return [
        {"at": at, "port": number(way.port), "rate": min(rate, speed), "burst": way.link["burst"]}
        for at, rate in rates
        if rate is not None
    ]


def _links(
    ways: list[Direction], network: Network, config: dict[str, Any], workload: Workload
) -> tuple[dict[int, Any], Steps]:
    """The links of a switch's ports, and what the schedule makes of them."""
    links: dict[int, Any] = defaultdict(dict)
    steps: Steps = []
    for way in ways:
        port = number(way.port)
        if way in network.delayed:
            links[port]["outgoing"] = everything_later(way.delays[0][1])
            steps += _delays(port, way.delays, outgoing=True)
        if network.is_group(way.far):
            if network.hosts[way.far] == SERVERS:
                links[port]["incoming"], more = _round_trips(port, config, workload)
                steps += more
        elif way.far in network.hosts:
            links[port]["peer"] = list(bytes.fromhex(ethernet(network, way.far).replace(":", "")))
            links[port]["incoming"], more = _from_host(port, way, network)
            steps += more
    return links, steps


def _from_host(port: int, way: Direction, network: Network) -> tuple[dict[str, Any], Steps]:
    """The link from a host, whose other way is `way`."""
    (back,) = (one for one in network.directions if one.near == way.far)
    if not back.is_delayed and back.rate is None:
        return {}, []
    later = everything_later(back.delays[0][1], back.rate)
    steps = [
        {"at": step["at"], "port": port, "rate_of_host": rate}
        for step in back.link["schedule"]
        if (rate := back.rate_after(step)) is not None
    ]
    return later, steps + _delays(port, back.delays, outgoing=False)


def _delays(port: int, delays: list[tuple[int, int]], *, outgoing: bool, place: int = 0) -> Steps:
    """The changes of the delay of the class at a place."""
    where = {"port": port, "class": place, "outgoing": outgoing}
    return [{"at": at, "delay": delay, **where} for at, delay in delays[1:]]


def _round_trips(
    port: int, config: dict[str, Any], workload: Workload
) -> tuple[dict[str, Any], Steps]:
    """Those of the flows between groups, on the way from behind the bottleneck."""
    paths = by_path(config["flows"], workload.crowds, switch_of(config))
    classes = [
        (path.delays()[0][1], [one for block in blocks for one in _prefixes(block)])
        for path, blocks in paths.items()
    ]
    steps = [
        step
        for place, path in enumerate(paths)
        for step in _delays(port, path.delays(), outgoing=False, place=place)
    ]
    return {"classes": classes}, steps


def _prefixes(block: tuple[int, tuple[int, int]]) -> list[str]:
    version, (first, count) = block
    return list(prefixes(first, count, version, behind=False))
