"""Switches to control from Python: one that runs, and one in virtual time.

Depends on the doors to them, and on the objects that all of them have in common.
"""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.backends.live.control_socket import RemoteSwitch
from sojourn.control import ControlError
from sojourn.control.p4runtime import P4RuntimeTransport, Tls
from sojourn.control.switch import Switch
from sojourn.errors import ScenarioError
from sojourn.model.aqms import find_aqm
from sojourn.model.programs import compiled, with_own_folder

_ADDRESS = re.compile(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}")


def door_to(
    where: str | Path, *, device: int = 1, election: int = 1, tls: Tls | None = None
) -> P4RuntimeTransport | RemoteSwitch:
    """The way to a switch that runs: the folder that `sojourn switch` names at its start, or the
    address of a P4Runtime server."""
    if isinstance(where, str) and _ADDRESS.fullmatch(where) and not Path(where).exists():
        return P4RuntimeTransport(where, device=device, election=election, tls=tls)
    return RemoteSwitch(Path(where))


def connect(
    where: str | Path,
    *,
    device: int = 1,
    election: int = 1,
    ca: str | Path | None = None,
    certificate: str | Path | None = None,
    key: str | Path | None = None,
) -> Switch:
    """Connects to a running switch.

    `where` is the address of a P4Runtime server, as in `"127.0.0.1:9559"`: of `sojourn switch
    --p4runtime`, or of any other switch. `device` and `election` are the numbers with which this
    becomes its primary controller, the only one that may write. Or `where` is the folder of a
    `sojourn switch` on this machine. With `ca`, PEM, the server's certificate is verified;
    `certificate` and `key` are those of the client.

    Raises `ControlError` if no switch answers. An address needs `pip install "sojourn[control]"`.

    >>> try:
    ...     sojourn.connect("no-such-folder")
    ... except sojourn.ControlError as error:
    ...     print(str(error).partition(":")[0])
    no switch runs in no-such-folder
    """
    tls = None
    if ca is not None:
        own = None if certificate is None else Path(certificate)
        tls = Tls(Path(ca), own, None if key is None else Path(key))
    elif certificate is not None or key is not None:
        raise ControlError("certificate and key: give ca, who signs the server's, too")
    return Switch(door_to(where, device=device, election=election, tls=tls))


class _PacketDoor:
    """A switch in virtual time as the door of a `Switch`."""

    def __init__(self, switch: _core.PacketSwitch) -> None:
        self._switch = switch

    def describe(self) -> str:
        return self._switch.describe()

    def apply(self, operations: str | _core.Operations) -> list[int | None]:
        try:
            return self._switch.apply(operations)
        except _core.ConfigError as error:
            raise ControlError(str(error.args[0])) from None

    def read(self, query: dict[str, Any]) -> Any:
        try:
            return json.loads(self._switch.read(json.dumps(query)))
        except _core.ConfigError as error:
            raise ControlError(str(error.args[0])) from None

    def close(self) -> None:
        pass


class VirtualSwitch(Switch):
    """A switch in virtual time: a `Switch`, and packets that go in and come out.

    Nothing happens by itself: time passes in `run`.
    """

    def __init__(self, switch: _core.PacketSwitch) -> None:
        super().__init__(_PacketDoor(switch))
        self._packets = switch

    def send(self, port: int, frame: bytes) -> None:
        """A frame arrives at a port now."""
        self._packets.receive(port, frame)

    def run(self, time: int) -> list[tuple[int, bytes]]:
        """Lets `time` ns pass; the frames that left, each with its port."""
        self._packets.wait(time)
        return self._packets.take()

    @property
    def now(self) -> int:
        """The instant, ns."""
        return self._packets.now

    def digests(self) -> list[tuple[str, int, bytes]]:
        """The program's messages to its control plane since the last call: name, time in ns, and
        the fields' bits one behind the other, zeros in front."""
        return self._packets.take_digests()


def open_switch(
    program: str | Path,
    *,
    include_paths: Sequence[str | Path] = (),
    defines: Mapping[str, str] | None = None,
) -> VirtualSwitch:
    """A switch in virtual time that runs a program, with empty tables.

    `program` is a file, or a name as `sojourn aqms` lists it. Raises `ProgramError` with what the
    language has against it.

    >>> switch = sojourn.open_switch("v1model/router")
    >>> routes = switch.table("routes")
    >>> action, parameters = next(iter(routes.actions.items()))
    >>> with switch.batch():
    ...     routes.add({routes.keys[0]: 7}, action, dict.fromkeys(parameters, 1))
    ...     routes.add({routes.keys[0]: 8}, action, dict.fromkeys(parameters, 2))
    >>> len(routes)
    2
    """
    found = find_aqm(str(program)).program
    if found is None:
        raise ScenarioError(f"{program}: a native discipline; name a P4 program")
    folders = with_own_folder(include_paths, found)
    made = compiled(found, include_paths=folders, defines=defines)
    return VirtualSwitch(_core.PacketSwitch(made))
