"""Which addresses and ports a flow's two hosts have, and which flow a captured address belongs to.

The same scheme as the engine's, so that a P4 program, a packet dump and a row mean the same flow on
every ground: clients in 10.0.0.0/9 and fd00::/64, servers in 10.128.0.0/9 and fd00:0:0:1::/64, the
flow's number plus one in the low bits. Stands on nothing.
"""

from dataclasses import dataclass

SERVER_PORT = 5201
"""Where iperf3 listens."""
_FIRST_PORT, _PORTS = 32_768, 28_232
_CLIENTS, _SERVERS = (10 << 24), (10 << 24) | (1 << 23)
MOST_FLOWS = (1 << 23) - 3


@dataclass(frozen=True)
class Hosts:
    """The two ends of a flow."""

    client: str
    server: str
    client_port: int


def hosts(flow: int, ip_version: int) -> Hosts:
    """The ends of flow number `flow`."""
    host = flow + 1
    port = _FIRST_PORT + flow % _PORTS
    if ip_version == 6:
        return Hosts(f"fd00::{_groups(host)}", f"fd00:0:0:1::{_groups(host)}", port)
    return Hosts(_dotted(_CLIENTS | host), _dotted(_SERVERS | host), port)


def gateway(ip_version: int, *, servers: bool) -> str:
    """The router's own address on either side."""
    if ip_version == 6:
        return "fd00:0:0:1:ffff::1" if servers else "fd00::ffff:0:0:1"
    return _dotted((_SERVERS if servers else _CLIENTS) | (1 << 23) - 2)


def _dotted(address: int) -> str:
    return ".".join(f"{address >> shift & 0xFF}" for shift in (24, 16, 8, 0))


def _groups(host: int) -> str:
    return f"{host >> 16:x}:{host & 0xFFFF:x}"
