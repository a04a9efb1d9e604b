"""Which addresses and ports a flow's two hosts have, and which flow a captured address belongs to.

The same scheme as the engine's, so that a P4 program, a packet dump and a row mean the same flow on
every ground: clients in 10.0.0.0/9 and fd00::/64, servers in 10.128.0.0/9 and fd00:0:0:1::/64, the
flow's number plus one in the low bits. Stands on `ipaddress`.
"""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address

SERVER_PORT = 5201
"""Where iperf3 listens."""
_FIRST_PORT, _PORTS = 32_768, 28_232
_CLIENTS, _SERVERS = IPv4Address("10.0.0.0"), IPv4Address("10.128.0.0")
_CLIENTS_V6, _SERVERS_V6 = IPv6Address("fd00::"), IPv6Address("fd00:0:0:1::")


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
        return Hosts(str(_CLIENTS_V6 + host), str(_SERVERS_V6 + host), port)
    return Hosts(str(_CLIENTS + host), str(_SERVERS + host), port)


def gateway(ip_version: int, *, servers: bool) -> str:
    """The router's own address on either side: the last but one that a flow could have."""
    if ip_version == 6:
        return str((_SERVERS_V6 if servers else _CLIENTS_V6) + 2**32 - 2)
    return str((_SERVERS if servers else _CLIENTS) + 2**23 - 2)
