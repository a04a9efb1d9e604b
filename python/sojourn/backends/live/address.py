"""Addresses from which a live switch may be watched: loopback, unless an option names others."""

import ipaddress
from dataclasses import dataclass

from sojourn.errors import ScenarioError


@dataclass(frozen=True)
class Address:
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True if only this machine reaches it."""
        return ipaddress.ip_address(self.host).is_loopback


def read_address(option: str, text: str, *, anywhere: bool) -> Address:
    """`127.0.0.1:9464`, `[::1]:9464` or a port alone, which is loopback's; another address only if
    `anywhere`."""
    host, colon, port = text.rpartition(":")
    host = host.strip("[]") if colon else "127.0.0.1"
    try:
        found = Address(str(ipaddress.ip_address(host)), int(port))
    except ValueError:
        found = Address("", -1)
    if not 0 < found.port < 65_536:
        raise ScenarioError(
            f"{option} {text}: write an address and a port, as in 127.0.0.1:9464, or a port"
        )
    if not (found.is_loopback or anywhere):
        raise ScenarioError(
            f"{option} {text}: everybody who reaches this machine could read it; "
            "--open-to-network allows that"
        )
    return found
