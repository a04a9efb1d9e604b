"""`sojourn switch --p4runtime` and `--bfrt`: controllers in front of a live switch.

The servers are the engine's; this module turns options into their settings and refuses wrong ones.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sojourn import _core
from sojourn.backends.live.address import Address, read_address
from sojourn.common.resources import shown
from sojourn.errors import ConfigError, ScenarioError

CPU_PORT = 255
"""The port of the controllers, as p4lang's tutorials have it."""

DEVICES = {"p4runtime": 1, "bfrt": 0}
"""The protocols, and the default device of their controllers."""


@dataclass(frozen=True)
class Trust:
    """TLS credentials: the clients that may connect."""

    certificate: Path | None = None
    key: Path | None = None
    clients: Path | None = None
    """Certificate that signs those of permitted clients."""
    anywhere: bool = False
    """Also without certificates of the clients beyond loopback."""

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise ScenarioError("--tls-cert and --tls-key: one needs the other")
        if self.clients is not None and self.certificate is None:
            raise ScenarioError(
                "--tls-clients: clients show their certificates to a server with one"
            )

    def pem(self) -> tuple[bytes, bytes, bytes | None] | None:
        """Certificate and key, and who signs the clients' certificates."""
        if self.certificate is None or self.key is None:
            return None
        clients = None if self.clients is None else _read(self.clients)
        return _read(self.certificate), _read(self.key), clients


@dataclass(frozen=True)
class Controllers:
    """Controllers that speak one protocol, and where from."""

    protocol: str
    address: Address
    device: int
    cpu_port: int
    trust: Trust


def controllers(
    protocol: str,
    address: str,
    *,
    device: int | None = None,
    cpu_port: int = CPU_PORT,
    trust: Trust | None = None,
) -> Controllers:
    """The settings of the options of `sojourn switch`; `protocol` is one of `DEVICES`."""
    trust = trust or Trust()
    clients_are_known = trust.clients is not None
    try:
        at = read_address(f"--{protocol}", address, anywhere=trust.anywhere or clients_are_known)
    except ScenarioError as error:
        if "could read it" not in str(error):
            raise
        raise ScenarioError(
            f"--{protocol} {address}: whoever reaches it controls the switch; give --tls-cert, "
            "--tls-key and --tls-clients, or allow it with --open-to-network"
        ) from None
    number = DEVICES[protocol] if device is None else device
    return Controllers(protocol, at, number, cpu_port, trust)


@contextlib.contextmanager
def serve_controllers(
    switch: _core.LiveSwitch,
    programs: list[tuple[_core.Program, list[int]]],
    who: Controllers,
    missed: Callable[[str, int], None] = lambda protocol, messages: None,
) -> Iterator[list[str]]:
    """A context in which controllers may connect; yields lines about the servers. `programs` are
    the running programs, with the pipes of each that is not the first. At the end `missed` gets the
    number of messages of each protocol that slow controllers lost."""
    address, tls = str(who.address), who.trust.pem()
    try:
        if who.protocol == "bfrt":
            server = _core.ControlServer.bfrt(
                switch, address, who.device, programs, tls, who.trust.anywhere
            )
        else:
            known = [program for program, _ in programs]
            server = _core.ControlServer.p4runtime(
                switch, address, who.device, known, who.cpu_port, tls, who.trust.anywhere
            )
    except ConfigError as error:
        raise ScenarioError(f"--{who.protocol} {error}") from error
    try:
        said = [f"{who.protocol} {server.address}, device {who.device}"]
        if server.no_pipeline is not None:
            said.append(
                f"warning --{who.protocol}: P4Runtime has no pipeline for this program "
                f"({server.no_pipeline}); until a controller sets one there is none"
            )
        yield said
    finally:
        server.close()
        missed(who.protocol, server.missed)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ScenarioError(f"{shown(path)}: {error.strerror}") from error
