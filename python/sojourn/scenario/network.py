"""What lies between the hosts: one switch with one bottleneck, or hosts, switches and links.

Stands on quantities and on how AQMs are chosen. Whether names and links fit together is `fit`'s to
say.
"""

from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from sojourn.scenario.choice import Choice
from sojourn.scenario.quantities import PositiveTime, Rate, Size, Strict, Time
from sojourn.units import RATE

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


class SwitchStep(Strict):
    """A change of the bottleneck's link."""

    at: PositiveTime
    rate: Rate | None = None
    """From then on; absent: as before."""
    delay: Time | None = None
    """One-way, from then on; absent: as before."""


class Switch(Strict):
    """The switch, with the bottleneck's shaper at its second port."""

    rate: Rate
    """Of the port shaper at the bottleneck; the silicon rounds it, and the report says to what. The
    port's own speed, and no shaper, if only `packets_per_second` is given."""
    burst: Size = 1600
    packets_per_second: PacketRate | None = None
    """Beside the shaper: bmv2's way to slow a port down, exactly spaced and without a burst."""
    queue_limit: Size = 1_940_000
    """Tail-drop limit of the bottleneck's queue; counted in cells of 80 bytes."""
    port_speed: Rate = 10 * 10**9
    ingress_latency: Time = 600
    egress_latency: Time = 500
    recirculation_rate: Rate = 100 * 10**9
    recirculation_latency: Time = 400
    delay: Time = 0
    """One-way, of the link behind the bottleneck, beside the flows' round-trip times."""
    schedule: Annotated[list[SwitchStep], Field(default_factory=list, max_length=MOST_STEPS)]
    """What changes while the run goes on, in the order of time."""

    @model_validator(mode="before")
    @classmethod
    def _unshaped(cls, given: Any) -> Any:
        if isinstance(given, dict) and "rate" not in given and given.get("packets_per_second"):
            default = cls.model_fields["port_speed"].default
            return given | {"rate": given.get("port_speed", RATE.format(default))}
        return given


class Host(Strict):
    """Who sends and receives."""

    name: Name
    address: V4 | None = None
    """IPv4; by default 10.0.N.1 for the Nth host."""
    address6: V6 | None = None
    """IPv6; by default fd00:N::1 for the Nth host."""


def _host(value: object) -> object:
    return {"name": value} if isinstance(value, str) else value


class NetworkSwitch(Strict):
    """A switch of several; its ports are numbered from 1 in the order of the links."""

    name: Name
    aqm: Choice | None = None
    """At its shaped ports; absent: the AQM of the run."""
    port_speed: Rate = 10 * 10**9
    ingress_latency: Time = 600
    egress_latency: Time = 500
    recirculation_rate: Rate = 100 * 10**9
    recirculation_latency: Time = 400


class LinkStep(SwitchStep):
    """A change of a link."""

    rate_back: Rate | None = None
    """Of the way back, if the link has a rate of its own for it."""


class Link(Strict):
    """A link, full duplex. One with a rate is a bottleneck: a switch in front of it shapes its port
    and lets its AQM manage the queue."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    """Its two ends: hosts or switches."""
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
    burst: Size = 1600
    queue_limit: Size = 1_940_000
    """Tail-drop limit of the queues in front of it; counted in cells of 80 bytes."""
    rows: bool = True
    """Whether a link with a rate is measured: a row for each packet."""
    schedule: Annotated[list[LinkStep], Field(default_factory=list, max_length=MOST_STEPS)]
    """What changes while the run goes on, in the order of time."""


Hosts = list[Annotated[Host, BeforeValidator(_host)]]


def addresses(hosts: list[Host]) -> list[dict[str, Any]]:
    """Names and addresses of all hosts, as the engine takes them."""
    return [
        {
            "name": host.name,
            "ipv4": str(host.address or f"10.{number >> 8}.{number & 255}.1"),
            "ipv6": str(host.address6 or f"fd00:{number:x}::1"),
        }
        for number, host in enumerate(hosts, start=1)
    ]
