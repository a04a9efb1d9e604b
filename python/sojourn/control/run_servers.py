"""The servers in front of the switches of a run that one controller process acts on.

A request waits at its switch until the run's clock has gone on by `latency`; switches answer
independently of one another. Uses the engine's run and its servers. Must not depend on processes
or scenarios.
"""

import contextlib
from collections.abc import Sequence
from typing import NamedTuple

from sojourn import _core
from sojourn.common.closing import Closing
from sojourn.control import process_state


class ServedSwitch(NamedTuple):
    """A switch of a run behind a server of its own."""

    place: int
    """Among the network's switches."""
    program: _core.Program
    port: int
    """Where its server listens on 127.0.0.1; 0 for a free port."""
    device: int
    """Its number for the controller."""


class RunServers(Closing):
    """The servers of a controller's switches, in the order of the scenario."""

    def __init__(
        self,
        simulation: _core.Simulation,
        switches: Sequence[ServedSwitch],
        protocol: str,
        latency: int,
    ) -> None:
        self._simulation, self._latency = simulation, latency
        self._servers: list[_core.VirtualServer] = []
        with contextlib.ExitStack() as opened:
            for one in switches:
                address = f"127.0.0.1:{one.port}"
                server = _core.VirtualServer(
                    simulation, one.place, protocol, address, one.device, one.program
                )
                opened.callback(server.close)
                self._servers.append(server)
            self._closing = opened.pop_all()
        self._until: list[int | None] = [None] * len(self._servers)
        """The end of the request that has waited longest at each."""

    @property
    def addresses(self) -> list[str]:
        """`127.0.0.1:PORT` of each."""
        return [server.address for server in self._servers]

    @property
    def unmet(self) -> list[str]:
        """The addresses of those that no request has reached."""
        return [server.address for server in self._servers if server.requests[0] == 0]

    @property
    def arrived(self) -> int:
        """Requests and messages of the controller so far."""
        return sum(server.requests[0] for server in self._servers)

    @property
    def waiting(self) -> int:
        """Requests that wait for the run's clock."""
        return sum(server.requests[1] for server in self._servers)

    @property
    def sent(self) -> int:
        """Messages to the controller so far."""
        return sum(server.sent for server in self._servers)

    @property
    def missed(self) -> int:
        """Messages lost because the controller did not read them."""
        return sum(server.missed for server in self._servers)

    @property
    def ends(self) -> int | None:
        """The instant at which the next request ends, ns."""
        return min((at for at in self._until if at is not None), default=None)

    def admit(self, now: int) -> bool:
        """Executes the requests that end at `now`; false if there are none."""
        admitted = False
        for place, server in enumerate(self._servers):
            until = self._until[place]
            if until is not None and now >= until:
                server.admit(self._simulation)
                self._until[place], admitted = None, True
        return admitted

    def begin(self, now: int) -> None:
        """Gives the oldest waiting request of each switch its end."""
        for place, server in enumerate(self._servers):
            if server.requests[1] and self._until[place] is None:
                self._until[place] = now + self._latency

    def settle(self) -> None:
        """Returns once the servers have read what the controller has sent, and have answered."""
        for server in self._servers:
            server.settle()
            server.execute(self._simulation)

    def poll(self) -> None:
        """Sends packets and messages of the programs to the controller."""
        for server in self._servers:
            server.poll(self._simulation)

    def are_under_way(self) -> bool:
        """True if bytes between a server and the controller have not been read."""
        return any(process_state.are_under_way(address) for address in self.addresses)

    def connections(self) -> int:
        """The number of open connections to all of them."""
        return sum(process_state.connections(address) for address in self.addresses)

    def close(self) -> None:
        """Ends the servers."""
        self._closing.close()
