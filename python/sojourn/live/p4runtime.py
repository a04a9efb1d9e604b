"""`sojourn switch --p4runtime`: controllers that speak P4Runtime, in front of a live switch.

The server is the engine's; here is what it is told, and what is wrong with that.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn import _core
from sojourn.errors import ConfigError, ScenarioError
from sojourn.layout import shown
from sojourn.live.address import Address, read_address

CPU_PORT = 255
"""The port of the controllers, as p4lang's tutorials have it."""


@dataclass(frozen=True)
class Controllers:
    """Who may control a switch, and where from."""

    address: Address
    device: int
    cpu_port: int
    certificate: Path | None = None
    key: Path | None = None
    clients: Path | None = None
    """Who signs the certificates of those who may connect."""
    anywhere: bool = False
    """Also without certificates beyond loopback."""


def controllers(
    address: str,
    *,
    device: int = 1,
    cpu_port: int = CPU_PORT,
    certificate: Path | None = None,
    key: Path | None = None,
    clients: Path | None = None,
    anywhere: bool = False,
) -> Controllers:
    """What the options of `sojourn switch` mean."""
    if (certificate is None) != (key is None):
        raise ScenarioError("--tls-cert and --tls-key: one needs the other")
    if clients is not None and certificate is None:
        raise ScenarioError("--tls-clients: clients show their certificates to a server with one")
    secured = certificate is not None
    try:
        at = read_address("--p4runtime", address, anywhere=anywhere or secured)
    except ScenarioError as error:
        if "could read it" not in str(error):
            raise
        raise ScenarioError(
            f"--p4runtime {address}: whoever reaches it controls the switch; give --tls-cert, "
            "--tls-key and --tls-clients, or allow it with --open-to-network"
        ) from None
    return Controllers(at, device, cpu_port, certificate, key, clients, anywhere)


@contextlib.contextmanager
def controlled(
    switch: _core.LiveSwitch, programs: list[_core.Program], who: Controllers
) -> Iterator[str]:
    """While it holds, controllers may connect; the address."""
    tls = None
    if who.certificate is not None and who.key is not None:
        clients = None if who.clients is None else _read(who.clients)
        tls = (_read(who.certificate), _read(who.key), clients)
    try:
        server = _core.P4RuntimeServer(
            switch, str(who.address), who.device, programs, who.cpu_port, tls, who.anywhere
        )
    except ConfigError as error:
        raise ScenarioError(f"--p4runtime {error}") from error
    try:
        yield server.address
    finally:
        server.close()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error
