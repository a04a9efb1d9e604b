"""`[control] script`: a controller in Python that acts on a switch of a run, in virtual time.

The script's functions are called at instants of the run and while they work no time passes, so that
a run with a script is as repeatable as one without, if the script is. Depends on the engine's run
and on the objects of a switch under control. Uses no scenario and no files but the script's.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from sojourn import _core
from sojourn.common.resources import shown
from sojourn.control import ControlError
from sojourn.control.switch import Switch
from sojourn.errors import ScenarioError, SojournError
from sojourn.model.script_modules import ScriptModules, error_place
from sojourn.model.units import TIME

T = TypeVar("T")
Call = Callable[["ScriptedSwitch"], object]


class Digest(NamedTuple):
    """A message of the program to its control plane."""

    name: str
    """The `Digest` object; for v1model the type of the data."""
    time: int
    """Send time, ns."""
    data: bytes
    """The fields' bits one behind the other, zeros in front."""


class PacketIn(NamedTuple):
    """A packet that the program has sent to its controller's port."""

    time: int
    """Departure from the switch, ns."""
    data: bytes
    """All of it, with the header that the program puts in front."""


class Node(NamedTuple):
    """A switch of a run."""

    place: int
    """Among the network's switches."""
    name: str


class _Door:
    """One switch of a run in virtual time; what is read is of one pipe of its chip."""

    def __init__(self, simulation: _core.Simulation, place: int, pipe: int = 0) -> None:
        self._simulation, self._place, self._pipe = simulation, place, pipe

    def describe(self) -> str:
        return self._asked(lambda: self._simulation.describe(self._place))

    def apply(self, operations: str | _core.Operations) -> list[int | None]:
        try:
            return self._simulation.apply(self._place, operations)
        except _core.ConfigError as error:
            raise ControlError(str(error.args[0])) from None

    def read(self, query: dict[str, Any]) -> Any:
        return json.loads(
            self._asked(lambda: self._simulation.read(self._place, json.dumps(query), self._pipe))
        )

    def close(self) -> None:
        pass

    @staticmethod
    def _asked(question: Callable[[], str]) -> str:
        try:
            return question()
        except _core.ConfigError as error:
            raise ControlError(str(error.args[0])) from None


class ScriptedSwitch(Switch):
    """A switch of a run, as a script sees it: a `Switch`, and the run's clock."""

    def __init__(
        self, simulation: _core.Simulation, node: "Node", aqm: str, args: Mapping[str, Any]
    ) -> None:
        super().__init__(_Door(simulation, node.place))
        self._simulation, self._place = simulation, node.place
        self.name = node.name
        """Its name in the scenario's network; empty in a scenario without one."""
        self.aqm = aqm
        """The label of the AQM whose run this is."""
        self.args = args
        """`[control] args`."""
        self._due: list[tuple[int, int, Call]] = []
        self._order = count()

    @property
    def now(self) -> int:
        """The instant, ns."""
        return self._simulation.now

    def pipe(self, number: int) -> Switch:
        """The switch with its reads of another pipe than the first; writes are to all of them."""
        return Switch(_Door(self._simulation, self._place, number))

    def at(self, time: int | str, call: Call) -> None:
        """Has `call(switch)` called at an instant of the run: ns, or as in `"2.5 s"`."""
        at = _ns(time)
        if at < self.now:
            raise ControlError(f"at {at} ns: it is {self.now} ns already")
        heappush(self._due, (at, next(self._order), call))

    def every(self, interval: int | str, call: Call) -> None:
        """Has `call(switch)` called every so often from now on, first after one interval."""
        step = _ns(interval)
        if step <= 0:
            raise ControlError(f"every {interval}: an interval is more than nothing")

        def again(switch: "ScriptedSwitch") -> None:
            switch.at(switch.now + step, again)
            call(switch)

        self.at(self.now + step, again)

    def report(self) -> dict[str, Any]:
        """The switch's counters so far: ports, queues with their depths, buffer."""
        report: dict[str, Any] = json.loads(self._simulation.switch_report(self._place))
        return report

    def take_digests(self) -> list[Digest]:
        """The messages of the program since the last call."""
        return [Digest(*one) for one in self._simulation.take_digests(self._place)]

    def take_packets(self) -> list[PacketIn]:
        """The packets that the program sent to the controller's port since the last call."""
        return [PacketIn(*one) for one in self._simulation.take_controllers_packets(self._place)]

    def packet_out(self, frame: bytes) -> None:
        """Has a frame enter the switch by the controller's port now, as it is."""
        try:
            self._simulation.packet_out(self._place, frame)
        except _core.ConfigError as error:
            raise ControlError(f"{error.args[0]}: give [control] a cpu_port") from None

    def next_call(self) -> int | None:
        """The time of the next call."""
        return self._due[0][0] if self._due else None

    def pop_due(self) -> Call | None:
        """A call that is due now."""
        return heappop(self._due)[2] if self._due and self._due[0][0] <= self.now else None


class Controller:
    """A script at work on switches of a run.

    The script has `start(switch)`, called for each switch at the run's beginning, and may have
    `digest(switch, message)`, called for each message of the program, and `packet(switch, packet)`,
    called for each packet that has left by the controller's port: they are looked for every `poll`
    ns.
    """

    def __init__(
        self,
        script: Path,
        simulation: _core.Simulation,
        nodes: Sequence[Node],
        poll: int,
        aqm: str,
        args: Mapping[str, Any],
    ) -> None:
        self._script, self._simulation = script, simulation
        self._modules = ScriptModules(script)
        self._switches = [ScriptedSwitch(simulation, node, aqm, args) for node in nodes]
        module = self._called(self._modules.load)
        start = getattr(module, "start", None)
        if start is None:
            raise ScenarioError(f"{shown(script)}: a controller has a function start(switch)")
        self._digest = getattr(module, "digest", None)
        self._packet = getattr(module, "packet", None)
        hears = self._digest is not None or self._packet is not None
        self._poll = poll if hears else None
        self._looked = 0
        for switch in self._switches:
            self._called(lambda one=switch: start(one))  # type: ignore[misc]
        self.act()

    def due(self) -> int | None:
        """Up to when the run may go on before the script is to act."""
        looks = None if self._poll is None else self._looked + self._poll
        waits = [looks, *(switch.next_call() for switch in self._switches)]
        return min((at for at in waits if at is not None), default=None)

    def act(self) -> None:
        """Calls what is due, switch by switch."""
        now = self._simulation.now
        if self._poll is not None and now >= self._looked + self._poll:
            self._looked = now
            for switch in self._switches:
                self._hand_over(switch)
        for switch in self._switches:
            while call := switch.pop_due():
                self._called(lambda due=call, one=switch: due(one))  # type: ignore[misc]

    def _hand_over(self, switch: ScriptedSwitch) -> None:
        """Calls the script for each message and packet of a switch."""
        if self._digest is not None:
            for message in switch.take_digests():
                self._called(lambda digest=message: self._digest(switch, digest))  # type: ignore[misc]
        if self._packet is not None:
            for packet in switch.take_packets():
                self._called(lambda one=packet: self._packet(switch, one))  # type: ignore[misc]

    def _called(self, call: Callable[[], T]) -> T:
        """The result of `call`; an error in the script becomes a `ScenarioError` with its line."""
        try:
            return call()
        except Exception as error:
            files = set(map(str, self._modules.files))
            place = error_place(error, files) or shown(self._script)
            kind = "" if isinstance(error, SojournError) else f"{type(error).__name__}: "
            raise ScenarioError(f"{place}: {kind}{error}") from error


def _ns(time: int | str) -> int:
    if isinstance(time, int):
        return time
    try:
        return int(TIME.parse(time))
    except ValueError as error:
        raise ControlError(str(error)) from None
