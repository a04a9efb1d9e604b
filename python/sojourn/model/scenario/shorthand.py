"""`[switch]`: short for a network of senders, one switch and receivers.

Holds the keys of the short form, its checks, and the network that it stands for. No other module
depends on the short form. Depends on the model of the network and on the checks of any scenario.
"""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Self, TypeVar

from pydantic import Field, ModelWrapValidatorHandler, model_validator

from sojourn.model.scenario.flows import FlowGroup
from sojourn.model.scenario.model import Common, Scenario
from sojourn.model.scenario.network import (
    ACCESS_RATE,
    MOST_STEPS,
    V4,
    V6,
    Control,
    Host,
    HostShaper,
    Impaired,
    Link,
    LinkStep,
    NetworkSwitch,
    PacketRate,
    PortNumber,
    Ports,
    Queue,
)
from sojourn.model.scenario.plan_checks import (
    Keys,
    Problem,
    in_order,
    of_the_whole,
    operations_read,
    shaped,
    steps_forward,
)
from sojourn.model.scenario.quantities import PositiveTime, Rate, Strict, Time
from sojourn.model.units import RATE, in_units

SENDERS, SWITCH, RECEIVERS = "senders", "switch", "receivers"
"""What its network calls them."""
_Model = TypeVar("_Model", bound=Strict)
LONG_FORM = ("hosts", "switches", "links")
"""What cannot stand beside it."""


class SwitchStep(Strict):
    """A change of the bottleneck's link."""

    at: PositiveTime
    """When, from the start of the run."""
    rate: Rate | None = None
    """From then on; absent: as before."""
    delay: Time | None = None
    """One-way, from then on; absent: as before."""


class Switch(Ports, Queue, Impaired):
    """The switch, with the bottleneck's shaper at its second port."""

    rate: Rate
    """Of the port shaper at the bottleneck; the silicon rounds it, and the report says to what. The
    port's own speed, and no shaper, if only `packets_per_second` or `link_trace` is given. Ports
    are at least as fast, unless `port_speed` is given."""
    packets_per_second: PacketRate | None = None
    """Beside the shaper: bmv2's way to slow a port down, exactly spaced and without a burst."""
    delay: Time = 0
    """One-way, of the link behind the bottleneck, beside the flows' round-trip times."""
    ports: Annotated[list[PortNumber], Field(min_length=2, max_length=2)] | None = None
    """The numbers of its two ports, towards the senders and towards the receivers. Absent: 1, 2."""
    schedule: Annotated[list[SwitchStep], Field(default_factory=list, max_length=MOST_STEPS)]
    """What changes while the run goes on, in the order of time."""
    control: Control
    """What its program's control plane does while the run goes on, in the order of time."""

    @model_validator(mode="before")
    @classmethod
    def _unshaped(cls, given: Any) -> Any:
        if not isinstance(given, dict) or "rate" in given:
            return given
        if given.get("packets_per_second") or given.get("link_trace"):
            default = cls.model_fields["port_speed"].default
            return given | {"rate": given.get("port_speed", RATE.format(default))}
        return given

    @model_validator(mode="wrap")
    @classmethod
    def _fast_enough(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """A port that is not said to be slower is as fast as what it is shaped to."""
        switch = read(given)
        fastest = max([switch.rate, *(step.rate or 0 for step in switch.schedule)])
        return _at_least(switch, "port_speed", fastest)


class OneSwitch(Common):
    """A scenario in the short form."""

    switch: Switch
    """The one switch, between senders and receivers."""
    access_rate: Rate = ACCESS_RATE
    """Of the links between all senders and the switch, and the switch and all receivers; if it is
    not given at least the ports' speed."""
    sender_shaper: HostShaper | None = None
    """What all senders send goes through it first."""
    sender_address: V4 | None = None
    """All flows are sent by one host with this address; absent: each flow by a host of its own in
    10.0.0.0/9 and fd00::/64."""
    sender_address6: V6 | None = None
    """The same with an IPv6 address."""
    receiver_address: V4 | None = None
    """All flows go to one host with this address; absent: each to a host of its own in 10.128.0.0/9
    and fd00:0:0:1::/64."""
    receiver_address6: V6 | None = None
    """The same with an IPv6 address."""

    @model_validator(mode="wrap")
    @classmethod
    def _fast_enough(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """Links that are not said to be slower are as fast as the switch's ports."""
        scenario = read(given)
        return _at_least(scenario, "access_rate", scenario.switch.port_speed)

    def problems(self) -> list[Problem]:
        """All that does not fit, as keys and a sentence."""
        placed = (problem for index in range(len(self.flows)) for problem in self._flow(index))
        steps = steps_forward(("switch",), self.switch.schedule)
        control = in_order(("switch", "control"), self.switch.control)
        misread = operations_read(("switch", "control"), self.switch.control)
        rates: list[tuple[Keys, int | None]] = [(("switch", "rate"), self.switch.rate)]
        later = enumerate(self.switch.schedule)
        rates += [
            (("switch", "schedule", index, "rate"), step.rate)
            for index, step in later
            if step.rate is not None
        ]
        slow = shaped(rates, self.switch.port_speed, self.switch.burst)
        return [*steps, *control, *misread, *slow, *placed, *of_the_whole(self)]

    def _flow(self, index: int) -> Iterator[Problem]:
        group = self.flows[index]
        if group.rtt is None:
            yield ("flows", index, "rtt"), "missing, and it has no default"
        for key, name in (("from", group.from_), ("to", group.to)):
            if name is not None:
                reason = "hosts have names only in a network; reverse = true turns a flow round"
                yield ("flows", index, key), reason

    def expanded(self) -> Scenario:
        """The network that it is short for. The delay of the link behind the bottleneck is met on
        the way to either side."""
        shared = {key: getattr(self, key) for key in Common.model_fields}
        return Scenario.model_construct(
            **shared | {"flows": [_placed(group) for group in self.flows]},
            hosts=[
                _made(
                    Host,
                    name=SENDERS,
                    access_rate=self.access_rate,
                    shaper=self.sender_shaper,
                    **_addresses("clients", self.sender_address, self.sender_address6),
                ),
                _made(
                    Host,
                    name=RECEIVERS,
                    access_rate=self.access_rate,
                    **_addresses("servers", self.receiver_address, self.receiver_address6),
                ),
            ],
            switches=[self._switch()],
            links=self._links(),
        )

    def _switch(self) -> NetworkSwitch:
        ports, control = _of(Ports, self.switch), self.switch.control
        switch: NetworkSwitch = _made(NetworkSwitch, name=SWITCH, control=control, **ports)
        return switch

    def _links(self) -> list[Link]:
        switch, queue = self.switch, _of(Queue, self.switch)
        delays = [step for step in switch.schedule if step.delay is not None]
        access = _made(
            Link,
            between=[SENDERS, SWITCH],
            port=switch.ports and switch.ports[0],
            delay_back=switch.delay,
            link_trace_back=switch.link_trace_back,
            netem_back=switch.netem_back,
            schedule=[_made(LinkStep, at=step.at, delay_back=step.delay) for step in delays],
            **queue,
        )
        bottleneck = _made(
            Link,
            between=[SWITCH, RECEIVERS],
            port=switch.ports and switch.ports[1],
            rate=None if switch.link_trace else switch.rate,
            packets_per_second=switch.packets_per_second,
            delay=switch.delay,
            delay_back=0,
            link_trace=switch.link_trace,
            netem=switch.netem,
            schedule=[
                _made(LinkStep, at=step.at, rate=step.rate, delay=step.delay)
                for step in switch.schedule
            ],
            **queue,
        )
        return [access, bottleneck]


def _addresses(group: str, address: V4 | None, address6: V6 | None) -> dict[str, Any]:
    """Of one host, if any is given; else of a group with a host for each flow."""
    if address is None and address6 is None:
        return {"group": group}
    return {"address": address, "address6": address6}


def _at_least(model: _Model, key: str, speed: int) -> _Model:
    """The model with a speed that is raised to this one, unless it was given."""
    if key in model.model_fields_set or getattr(model, key) >= speed:
        return model
    return model.model_copy(update={key: speed})


def _made(model: Any, **values: Any) -> Any:
    """One of values that were read already."""
    return model.model_construct(**values)


def _of(part: type[Strict], switch: Switch) -> dict[str, Any]:
    return {key: getattr(switch, key) for key in part.model_fields}


def _placed(group: FlowGroup) -> FlowGroup:
    """The same flows between the two groups of hosts."""
    ends = (RECEIVERS, SENDERS) if group.reverse else (SENDERS, RECEIVERS)
    return group.model_copy(update={"from_": ends[0], "to": ends[1], "reverse": False})


def as_written(message: str, scenario: Scenario) -> str:
    """The engine's message about a network, in the keys of the scenario."""
    between = [name for link in scenario.links for name in link.between]
    if between == [SENDERS, SWITCH, SWITCH, RECEIVERS]:
        access, bottleneck = scenario.links
        written = [step.at for step in bottleneck.schedule]

        def of_the_switch(step: re.Match[str]) -> str:
            at = access.schedule[int(step[1])].at
            return f"links[1].schedule[{written.index(at)}]" if at in written else step[0]

        # The access link has only the steps that change a delay.
        message = re.sub(r"links\[0\]\.schedule\[(\d+)\]", of_the_switch, message)
        message = re.sub(r"network\.(links\[\d\]\.|switches: switch: )", "switch.", message)
        message = re.sub(r"network\.hosts: \w+: access_rate", "access_rate", message)
        message = re.sub(r"network\.hosts: \w+: shaper", "sender_shaper", message)
    return in_units(message.replace("network.", ""))
