"""The hosts and links of a lab as namespaces and veths, made in the namespaces of this process.

Depends on the system calls of the Linux backend's guest. Must not depend on switches.
"""

import os
from pathlib import Path

from sojourn.backends.linux.guest.offload import offloads_off
from sojourn.backends.linux.guest.system import call, enter_namespace, mount
from sojourn.tools.lab.topology import Host, Topology

_ROOT = "lab"
"""The name of the namespace in which the switches' interfaces are."""


def make(topology: Topology) -> None:
    """Makes hosts and links."""
    try:
        mount("tmpfs", "/run")
    except OSError as error:
        raise RuntimeError(f"namespaces cannot have names here: {error}") from error
    Path("/run/netns").mkdir()
    lines = [f"netns attach {_ROOT} {os.getpid()}", "link set lo up"]
    lines += [f"netns add {name}" for name in topology.hosts]
    for link in topology.links:
        first, second = (_interface(end) for end in link.ends)
        lines.append(f"link add {first} type veth peer name {second}")
    for link in topology.links:
        for end in link.ends:
            if isinstance(end, str):
                lines.append(f"link set {_interface(end)} netns {end} name eth0")
            else:
                lines.append(f"link set {_interface(end)} up")
    _quiet()
    call(("ip", "-batch", "-"), "".join(f"{line}\n" for line in lines))
    for host in topology.hosts.values():
        _set_up(host)


def _interface(end: str | tuple[str, int]) -> str:
    return f"{end}-eth0" if isinstance(end, str) else f"{end[0]}-p{end[1]}"


def _set_up(host: Host) -> None:
    enter_namespace(host.name)
    try:
        _quiet()
        # Frames as they are on a wire: a switch sees no checksum that hardware was to compute.
        offloads_off("eth0", ("tx", "sg"))
    finally:
        enter_namespace(_ROOT)
    lines = [
        f"link set eth0 address {host.mac} up",
        "link set lo up",
        f"addr add {host.address} dev eth0",
        *host.lines,
    ]
    call(("ip", "-n", host.name, "-batch", "-"), "".join(f"{line}\n" for line in lines))


def _quiet() -> None:
    """No IPv6 of its own accord: neighbour discovery would pass the switches, as in Mininet it does
    not."""
    for which in ("all", "default"):
        path = Path(f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6")
        if path.is_file():
            path.write_text("1")
