"""The network of a scenario: hosts and groups of hosts, switches, and the links between them.

Depends on quantities and on AQM specifications; the engine supplies defaults. `plan_checks` checks
that names and links fit together.
"""

import json
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, PlainSerializer, model_validator

from sojourn import _core
from sojourn.model.scenario.aqm_spec import Choice
from sojourn.model.scenario.buffering import Buffering
from sojourn.model.scenario.quantities import (
    FilePath,
    PositiveTime,
    Rate,
    Share,
    Size,
    Strict,
    Time,
)

_ENGINE = json.loads(_core.default_network())
_SWITCH, _LINK = _ENGINE["switches"][0], _ENGINE["links"][0]
ACCESS_RATE: int = _ENGINE["hosts"][0]["access_rate"]
"""bit/s of the links that the hosts of a group share, unless a scenario says another."""

_CLASS_E = 240 << 24
"""From here on IPv4 has no address of a host."""

MOST_STEPS = 1_000
"""Changes of one link: each is a phase of the results and a line in the plots."""

MOST_HOSTS = 10_000

PacketRate = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")]
V4 = Annotated[
    IPv4Address,
    BeforeValidator(lambda value: _address(value, IPv4Address)),
    PlainSerializer(str, when_used="json"),
]
V6 = Annotated[
    IPv6Address,
    BeforeValidator(lambda value: _address(value, IPv6Address)),
    PlainSerializer(str, when_used="json"),
]


def _address(value: object, kind: type[IPv4Address] | type[IPv6Address]) -> object:
    if not isinstance(value, str):
        return value
    address = kind(value)
    for what in ("unspecified", "loopback", "multicast", "link_local"):
        if getattr(address, f"is_{what}"):
            raise ValueError(f"a host cannot have this address, which is {what.replace('_', '-')}")
    if kind is IPv4Address and int(address) >= _CLASS_E:
        raise ValueError("a host cannot have this address, which is reserved or broadcast")
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        raise ValueError("a host cannot have this address, which stands for one of IPv4")
    return address


class HostShaper(Strict):
    """A token bucket on the way out of a host, as `tc`'s `tbf`."""

    rate: Rate
    """Of whole frames without FCS."""
    burst: Size = 1_600
    """May go at once."""
    limit: Annotated[int, Field(ge=1, le=10**8)] = 1_000
    """Packets that may wait; more are dropped."""


class Netem(Strict):
    """Where the flows' round-trip times are met, and how many packets are held there."""

    at: Literal["behind", "senders", "receivers", "both"] = "behind"
    """`behind`: half on the way from the last link to the receiver, half from the last link to the
    sender. Else on the hosts, in front of their links, as `tc`'s `netem` there: all of it at the
    senders, so that data is delayed before the switch, all at the receivers, which delays
    acknowledgements, or half at both."""
    limit: Annotated[int | None, Field(ge=1, le=10**8)] = None
    """Packets that a queue of it holds; more are dropped. Absent: it holds all. Linux's default is
    1000."""
    shared: bool = False
    """One queue for all flows of a host; else one for each flow."""

    @model_validator(mode="after")
    def _holds_on_a_host(self) -> Self:
        if self.at == "behind" and (self.limit is not None or self.shared):
            raise ValueError('limit and shared are of a host\'s queue: give at = "senders", too')
        return self


class Host(Strict):
    """Who sends and receives: one host, or a group with a host for each flow."""

    name: Name
    """Its name in links and keys."""
    group: Literal["clients", "servers"] | None = None
    """A group: its hosts have the addresses 10.0.0.0/9 and fd00::/64, or 10.128.0.0/9 and
    fd00:0:0:1::/64."""
    access_rate: Rate | None = None
    """Of a link that all who are there share, either way, behind the link to their switch."""
    shaper: HostShaper | None = None
    """What all who are there send goes through it first."""
    address: V4 | None = None
    """IPv4; by default 10.0.N.1 for the Nth host."""
    address6: V6 | None = None
    """IPv6; by default fd00:N::1 for the Nth host."""

    @model_validator(mode="after")
    def _has_one_kind_of_addresses(self) -> Self:
        if self.group and (self.address or self.address6):
            raise ValueError("a group has the addresses of its kind: give group or an address")
        return self


def _host(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


Pipes = Annotated[int, Field(ge=1, le=4)]


class Ports(Strict):
    """What all switches have."""

    port_speed: Rate = _SWITCH["port_speed"]
    """Line rate of the ports."""
    pipes: Pipes | None = None
    """Pipes of a Tofino, each with 128 port numbers and with registers and tables of its own.
    Absent: as many as the numbers of its ports need. A single pipe has the recirculation port 68;
    several have 68 to 71, 196 to 199, and so on."""
    ingress_latency: Time = _SWITCH["ingress_latency"]
    """From arrival to the traffic manager."""
    egress_latency: Time = _SWITCH["egress_latency"]
    """From the queue to the wire."""
    recirculation_rate: Rate = _SWITCH["recirculation_rate"]
    """Rate of the recirculation port."""
    recirculation_latency: Time = _SWITCH["recirculation_latency"]
    """From that port back to ingress."""


class ControlStep(Strict):
    """What the control plane of a switch's program does at an instant."""

    at: PositiveTime
    """When, from the start of the run."""
    operations: Annotated[list[dict[str, JsonValue]], Field(min_length=1, max_length=1_000)]
    """All are carried out, or none: tables with `op` and what it takes (docs/network.md)."""


Control = Annotated[list[ControlStep], Field(default_factory=list, max_length=MOST_STEPS)]


PortNumber = Annotated[int, Field(ge=0, le=511)]


class NetworkSwitch(Ports, Buffering):
    """A switch; its ports are numbered from 1 in the order of the links, unless a link gives the
    number."""

    name: Name
    """Its name in links and keys."""
    aqm: Choice | None = None
    """At its shaped ports; absent: the AQM of the run."""
    control: Control
    """What its program's control plane does while the run goes on, in the order of time."""


class LinkStep(Strict):
    """A change of a link."""

    at: PositiveTime
    """When, from the start of the run."""
    rate: Rate | None = None
    """From then on; absent: as before."""
    rate_back: Rate | None = None
    """Of the way back, if the link has a rate of its own for it."""
    delay: Time | None = None
    """One-way, from then on; absent: as before."""
    delay_back: Time | None = None
    """Of the way back, if the link has a delay of its own for it."""
    up: bool | None = None
    """Whether a link between two switches carries frames from then on; absent: as before."""
    reroute: Time | None = None
    """Delay until the routers of the network know of a change of `up`; absent: none."""

    @model_validator(mode="after")
    def _reroutes_after_a_change(self) -> Self:
        if self.reroute is not None and self.up is None:
            raise ValueError("reroute is of a link that fails or returns: give up, too")
        return self

    def in_engine(self) -> dict[str, Any]:
        """The same as the engine takes it."""
        failure = ("up", "reroute")
        return {
            key: value
            for key, value in self.model_dump().items()
            if key not in failure or value is not None
        }


class Queue(Strict):
    """What all queues in front of a link have."""

    burst: Size = _LINK["burst"]
    """Burst that the shaper allows."""
    queue_limit: Size = _LINK["queue_limit"]
    """Tail-drop limit; counted in cells of 80 bytes."""


class LinkNetem(Strict):
    """Random loss, jitter, reordering and duplication on one direction of a link, as with netem.

    A correlation is the weight of the previous random number in the next one. As in netem, a
    correlated loss below 50 % is rarer than its probability."""

    loss: Share = 0
    """Probability that a packet is lost."""
    loss_correlation: Share = 0
    """Correlation of losses."""
    duplicate: Share = 0
    """Probability that a packet arrives twice, with the same bytes."""
    duplicate_correlation: Share = 0
    """Correlation of duplicates."""
    reorder: Share = 0
    """Probability that a packet at the end of a gap takes no delay and overtakes others. The
    direction needs a delay."""
    reorder_correlation: Share = 0
    """Correlation of reorderings."""
    gap: Annotated[int, Field(ge=1, le=10**6)] = 1
    """Packets from one reordered packet to the earliest next one."""
    jitter: Time = 0
    """Deviation of the delay: half the width of a uniform distribution, or the standard deviation
    of a normal one. A packet with a shorter delay overtakes others."""
    jitter_correlation: Share = 0
    """Correlation of the jitter."""
    distribution: Literal["uniform", "normal"] = "uniform"
    """Distribution of the jitter."""

    @property
    def reorders(self) -> bool:
        """Whether a packet can overtake another."""
        return self.reorder > 0 or self.jitter > 0


class Impaired(Strict):
    """What else a link does."""

    link_trace: FilePath | None = None
    """In place of a rate: a file in mahimahi's format, a millisecond a line, each an opportunity to
    send 1,504 bytes from the first end to the second. It repeats. A bottleneck, too."""
    link_trace_back: FilePath | None = None
    """The same from the second end to the first; absent: nothing holds packets up there."""
    netem: LinkNetem | None = None
    """Random loss, jitter, reordering and duplication from the first end to the second."""
    netem_back: LinkNetem | None = None
    """The same from the second end to the first; absent: none."""

    @property
    def traces(self) -> list[str]:
        """The files that it names."""
        return [path for path in (self.link_trace, self.link_trace_back) if path is not None]


class Link(Queue, Impaired):
    """A link, full duplex. One with a rate is a bottleneck: a switch in front of it shapes its port
    and lets its AQM manage the queue."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    """Its two ends: hosts or switches."""
    port: PortNumber | None = None
    """The number of the switch's port; of the first end's, if both ends are switches. Absent: the
    place of the link among those of the switch, from 1."""
    port_back: PortNumber | None = None
    """The number of the second end's port, if both ends are switches."""
    rate: Rate | None = None
    """Absent: that of the ports, with nothing shaped, and measured only if `packets_per_second` is
    given."""
    rate_back: Rate | None = None
    """From the second end to the first; absent: the same."""
    packets_per_second: PacketRate | None = None
    """From the first end to the second, exactly spaced and without a burst; the way back is not
    held up by it. A bottleneck, too."""
    delay: Time = 0
    """One-way."""
    delay_back: Time | None = None
    """From the second end to the first; absent: the same."""
    rows: bool = True
    """Whether a link with a rate is measured: a row for each packet."""
    capture: bool = False
    """Whether a measured link's frames are captured without `--pcap`, too."""
    schedule: Annotated[list[LinkStep], Field(default_factory=list, max_length=MOST_STEPS)]
    """What changes while the run goes on, in the order of time."""


Hosts = list[Annotated[Host, BeforeValidator(_host)]]


def addresses(hosts: list[Host]) -> list[dict[str, Any]]:
    """All hosts with their addresses, as the engine takes them."""
    return [
        {
            "name": host.name,
            "addresses": host.group or {"own": _own_addresses(number, host)},
            "access_rate": host.access_rate,
            "shaper": host.shaper.model_dump() if host.shaper else None,
        }
        for number, host in enumerate(hosts, start=1)
    ]


def _own_addresses(number: int, host: Host) -> dict[str, str]:
    return {
        "ipv4": str(host.address or f"10.{number >> 8}.{number & 255}.1"),
        "ipv6": str(host.address6 or f"fd00:{number:x}::1"),
    }
