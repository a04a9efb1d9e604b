"""The topology files of p4lang's tutorials: hosts, switches, links.

A file is validated before anything is made. Of a host's commands only routes and neighbours are
understood, and no shell runs any part of a file. Makes nothing.
"""

import ipaddress
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.common.textfile import parse_json, read_text
from sojourn.errors import ScenarioError
from sojourn.model.units import TIME

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,7}")
"""Short enough for an interface's name with its port behind it."""
_MAC = re.compile(r"([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}")
_PORT = re.compile(r"([A-Za-z][A-Za-z0-9_]{0,7})-p([0-9]{1,3})")


class TopologyError(ScenarioError):
    """A topology that cannot be built."""


@dataclass(frozen=True)
class Host:
    """A host with one interface, `eth0`."""

    name: str
    address: str
    """With its prefix's length."""
    mac: str
    lines: tuple[str, ...]
    """Of its commands, for `ip`."""


@dataclass(frozen=True)
class Switch:
    """A switch."""

    name: str
    runtime: Path | None
    program: str | None
    """The name of the program that its file asks for in place of the common one."""


@dataclass(frozen=True)
class Link:
    """Two ends, each a host's name or a switch and its port."""

    ends: tuple[str | tuple[str, int], str | tuple[str, int]]
    delay: int
    """ns, each way."""
    rate: int | None
    """bit/s, each way."""


@dataclass(frozen=True)
class Topology:
    """A network."""

    path: Path
    hosts: dict[str, Host]
    switches: dict[str, Switch]
    links: tuple[Link, ...]

    def ports(self, switch: str) -> dict[int, Link]:
        """The links at a switch's ports."""
        return {
            end[1]: link
            for link in self.links
            for end in link.ends
            if isinstance(end, tuple) and end[0] == switch
        }


def read_topology(path: Path) -> Topology:
    """The topology in a file."""
    text = read_text(path, str(path), TopologyError)
    try:
        data = parse_json(text)
        hosts, switches, links = (data[key] for key in ("hosts", "switches", "links"))
        found = Topology(
            path,
            {name: _host(name, described) for name, described in hosts.items()},
            {name: _switch(name, described, path) for name, described in switches.items()},
            tuple(_link(place, link, hosts, switches) for place, link in enumerate(links)),
        )
    except json.JSONDecodeError as error:
        raise TopologyError(f"{path}:{error.lineno}: {error.msg}") from error
    except TopologyError as error:
        raise TopologyError(f"{path}: {error}") from None
    except ValueError as error:
        raise TopologyError(f"{path}: {error}") from error
    except (AttributeError, LookupError, TypeError) as error:
        raise TopologyError(
            f"{path}: a topology has hosts, switches and links as p4lang's tutorials write them; "
            f"{error} is missing or of another form"
        ) from error
    _check_ends(found)
    return found


def _check_ends(topology: Topology) -> None:
    ends = [end for link in topology.links for end in link.ends]
    for end, times in Counter(ends).items():
        if times > 1:
            name = end if isinstance(end, str) else f"{end[0]}-p{end[1]}"
            raise TopologyError(f"{topology.path}: {name} is an end of two links")
    lonely = topology.hosts.keys() - {end for end in ends if isinstance(end, str)}
    if lonely:
        raise TopologyError(f"{topology.path}: host {min(lonely)} has no link")


def _named(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise TopologyError(f"{name!r}: a name is a letter and at most seven letters and digits")
    return name


def _host(name: str, described: dict[str, Any]) -> Host:
    try:
        address = _address(described["ip"])
    except ValueError as error:
        raise TopologyError(f"host {name}: {error}") from None
    if not _MAC.fullmatch(described["mac"]):
        raise TopologyError(f"host {name}: mac: {described['mac']!r} is no Ethernet address")
    lines = [_line(name, command) for command in described.get("commands", [])]
    return Host(_named(name), address, described["mac"], tuple(lines))


def _line(host: str, command: str) -> str:
    """A host's command for `ip`."""
    match command.split():
        case ["route", "add", "default", "gw", gateway, "dev", "eth0"] if _is_address(gateway):
            return f"route add default via {gateway} dev eth0 onlink"
        case ["arp", "-i", "eth0", "-s", address, mac] if _is_address(address) and _MAC.fullmatch(
            mac
        ):
            return f"neigh replace {address} lladdr {mac} dev eth0 nud permanent"
        case ["ip", "route", "add", prefix, "dev", "eth0"] if _is_address(prefix):
            return f"route replace {prefix} dev eth0"
    raise TopologyError(
        f"host {host}: {command!r}: understood are `route add default gw ADDRESS dev eth0`, "
        "`arp -i eth0 -s ADDRESS MAC` and `ip route add PREFIX dev eth0`"
    )


def _address(text: Any) -> str:
    """An address with its prefix's length, as `ip` takes it. A scope is any text, so none is
    taken."""
    if not isinstance(text, str) or "%" in text:
        raise ValueError(f"{text!r} is no address with a prefix's length, such as 10.0.1.1/24")
    return str(ipaddress.ip_interface(text))


def _is_address(text: str) -> bool:
    try:
        _address(text)
    except ValueError:
        return False
    return True


def _switch(name: str, described: dict[str, Any], path: Path) -> Switch:
    runtime = described.get("runtime_json")
    program = described.get("program")
    return Switch(
        _named(name),
        None if runtime is None else beside(path, runtime),
        None if program is None else Path(program).stem,
    )


def beside(path: Path, name: str) -> Path:
    """A file that a topology names: tutorials are run from the folder of the exercise, in which the
    topology is, or one below it."""
    for folder in (path.parent, path.parent.parent):
        if (folder / name).is_file():
            return folder / name
    raise TopologyError(f"{name}: no such file beside it, or in the folder above")


def _link(
    place: int, described: list[Any], hosts: dict[str, Any], switches: dict[str, Any]
) -> Link:
    if not isinstance(described, list) or len(described) < 2:
        raise TopologyError(f'links[{place}]: a link has two ends, as in ["h1", "s1-p1"]')
    first, second, *more = described
    delay, rate = (*more, None, None)[:2]
    rate_in_bits = None
    if rate is not None:
        if not isinstance(rate, (int, float)) or not 0.001 <= rate <= 100_000:
            raise TopologyError(f"link {first} {second}: a rate is Mbit/s, 0.001 to 100000")
        rate_in_bits = round(rate * 1e6)
    ends = tuple(_end(end, hosts, switches) for end in (first, second))
    return Link((ends[0], ends[1]), _delay(delay, f"link {first} {second}"), rate_in_bits)


def _delay(given: Any, where: str) -> int:
    """A number of ms, or one with its unit."""
    text = str(0 if given in (None, "") else given).strip()
    if re.fullmatch(r"[0-9.]+", text):
        text += " ms"
    try:
        return TIME.parse(re.sub(r"(?<=[0-9])(?=[a-z])", " ", text))
    except ValueError as error:
        raise TopologyError(f"{where}: {error}") from None


def _end(name: str, hosts: dict[str, Any], switches: dict[str, Any]) -> str | tuple[str, int]:
    if name in hosts:
        return name
    found = _PORT.fullmatch(name)
    if found is None or found[1] not in switches or int(found[2]) > 511:
        raise TopologyError(f"link: {name}: neither a host nor a switch's port such as s1-p1")
    return found[1], int(found[2])
