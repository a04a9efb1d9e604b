"""The traffic of a scenario: groups of equal flows, each kind with keys of its own.

Depends on quantities and congestion controls. Knows neither hosts nor what carries the packets.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticKnownError

from sojourn.model.congestion import congestion_controls
from sojourn.model.scenario.quantities import (
    FilePath,
    GroupName,
    HexBytes,
    HostNames,
    Load,
    Pacing,
    PositiveTime,
    Rate,
    Size,
    Spread,
    Strict,
    Time,
)

_BLOCK = 131_072
"""What iperf3 writes at once over TCP, bytes."""


def _registered(name: str) -> str:
    known = congestion_controls()
    if name in known:
        return name
    *others, last = (f"'{control}'" for control in known)
    expected = f"{', '.join(others)} or {last}"
    raise PydanticKnownError("literal_error", {"expected": expected})


def _list_names(schema: dict[str, Any]) -> None:
    schema["enum"] = list(congestion_controls())


CongestionControl = Annotated[
    str, AfterValidator(_registered), Field(json_schema_extra=_list_names)
]


class _Flows(Strict):
    name: GroupName | None = None
    """The group's name in tables and plots. Absent: kind and congestion control."""
    count: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Flows of the group."""
    ip_version: Literal[4, 6] = 4
    """Version of IP."""
    rtt: Spread | None = None
    """Round-trip time without queues; in a network, beside that of its links, and by default 0."""
    from_: Annotated[HostNames | None, Field(alias="from")] = None
    """In a network: the host that sends; or several, as a list of names or with `*` for any
    letters. Flows begin at each in turn, and without `count` at each once."""
    to: HostNames | None = None
    """In a network: the host that receives; or several, in turn. Each of `transfers` goes to one of
    them, drawn from the seed. No flow goes to the host that sends it."""
    reverse: bool = False
    """With one switch: from behind the bottleneck to in front of it."""
    dst_port: Annotated[int, Field(ge=1, le=32_767)] | None = None
    """TCP or UDP port of the end that listens, below the ephemeral ports of the end that opens.
    Absent: 5201, and the ports above it where a host has more than 28,232 flows."""
    start: Spread = (0, 0)
    """When flows begin; of two times, spread evenly between them."""
    start_jitter: Time = 10_000_000
    """Each flow starts up to so much later, drawn from the seed. Transfers arrive as they are
    drawn."""
    stop: Time | None = None
    """When the sender has nothing more to send; absent: it never stops."""

    @model_validator(mode="after")
    def _stops_after_it_starts(self) -> Self:
        if self.stop is not None and self.stop <= self.start[1]:
            raise ValueError("stop must be later than start")
        return self


class _TcpEnds(Strict):
    congestion_control: CongestionControl = "cubic"
    """Congestion control of the senders."""
    ecn: bool = False
    """Whether ECN is negotiated."""
    segmentation_offload: bool | Annotated[int, Field(ge=2, le=64)] = False
    """Bursts that leave the sender back to back: as Linux sizes them, or so many segments."""
    min_rto: PositiveTime | None = None
    """Least distance of the retransmission timeout from the smoothed round-trip time, 1 ms to 60 s.
    Absent: Linux's 200 ms. Counted in ticks of `hz`."""
    hz: Literal[100, 250, 300, 1000] = 1000
    """`CONFIG_HZ` of both ends' kernel: ticks a second, which timers and coarse clocks count."""
    initial_window: Annotated[int, Field(ge=1, le=1_000)] | None = None
    """Segments that a sender begins with. Absent: 10."""
    delayed_ack: Time | None = None
    """Longest delay of an acknowledgement, up to 200 ms; `"0 ms"` for none. Absent: Linux's 40 to
    200 ms, as they adapt."""

    base_rtt: PositiveTime | None = None
    """Round-trip time without queues, 1 us to 1 s, for `"hpcc"`."""
    dscp: Annotated[int, Field(ge=0, le=63)] | None = None
    """Differentiated services code point of each packet. Absent: 0."""

    @model_validator(mode="after")
    def _timers_in_range(self) -> Self:
        if self.min_rto is not None and not 1_000_000 <= self.min_rto <= 60_000_000_000:
            raise ValueError("min_rto is 1 ms to 60 s")
        if self.delayed_ack is not None and self.delayed_ack > 200_000_000:
            raise ValueError("delayed_ack is 0 ms to 200 ms")
        if self.base_rtt is not None and not 1_000 <= self.base_rtt <= 1_000_000_000:
            raise ValueError("base_rtt is 1 us to 1 s")
        if (self.base_rtt is None) == (self.congestion_control == "hpcc"):
            raise ValueError('congestion_control = "hpcc" needs base_rtt, which no other reads')
        return self


class TcpFlows(_Flows, _TcpEnds):
    """Long-lived TCP flows."""

    kind: Literal["tcp"] = "tcp"
    """Bulk TCP flows."""
    rate_cap: Rate | None = None
    """The application offers no more than this, per flow."""
    block: Size = _BLOCK
    """What a capped application writes at once; iperf3's is 128 KiB (its `-l`)."""
    pacing: Pacing = False
    """Segments are spaced: at the rate that Linux computes of window and round trip, or at a rate
    that is the most (`SO_MAX_PACING_RATE`); otherwise only those of BBR."""

    @model_validator(mode="after")
    def _a_block_is_of_a_cap(self) -> Self:
        if self.block != _BLOCK and self.rate_cap is None:
            raise ValueError(
                "block is what a capped application writes at once: give rate_cap, too"
            )
        return self


class UdpFlows(_Flows):
    """UDP flows at a constant rate, or on and off by turns."""

    kind: Literal["udp"]
    """UDP at a constant rate."""
    rate: Rate
    """Of each flow, counted in bytes on the wire."""
    packet_size: Size = 1514
    """Of each packet, Ethernet header included."""
    dscp: Annotated[int, Field(ge=0, le=63)] = 0
    """Differentiated services code point of each packet."""
    ecn: Literal["not-ect", "ect0", "ect1"] = "not-ect"
    """ECN field of each packet: not ECN-capable, Classic, or L4S. The flow ignores marks."""
    payload_begins: HexBytes | None = None
    """What each payload begins with, for a program that reads it; zeros follow."""
    on: PositiveTime | None = None
    """How long a flow sends at its rate before it is silent; absent: always."""
    off: PositiveTime | None = None
    """How long it is silent then."""
    spans: Literal["fixed", "exponential"] = "fixed"
    """Whether `on` and `off` are the spans, or the means of exponential distributions."""

    @model_validator(mode="after")
    def _both_spans_or_none(self) -> Self:
        if (self.on is None) != (self.off is None):
            raise ValueError("on and off belong together: give both or neither")
        return self


class TransferFlows(_Flows, _TcpEnds):
    """Short TCP transfers that arrive at random, each over a connection of its own."""

    kind: Literal["transfers"]
    """TCP transfers that arrive at random."""
    load: Load
    """Payload that the transfers of one source offer together; or a share, as `"60 %"`, of the
    sending host's link, for all sources of the group there."""
    load_of: Literal["host", "uplinks"] = "host"
    """Base of a share: the sending host's link, or those from its switch to other switches."""
    arrivals: Literal["poisson", "lognormal"] = "poisson"
    """Distribution of the times between arrivals at one source."""
    sigma: Annotated[float, Field(ge=0.001, le=5)] = 1.0
    """With `lognormal`: the standard deviation of the logarithm."""
    rank: Literal["remaining", "deadline"] | None = None
    """Each data packet carries its rank in the IPv4 identification, at most 65,535: bytes that
    remain, its own included, in units of 1,024; or the end of `deadline`, in 0.1 ms since the run
    began. Others have 0."""
    deadline: PositiveTime | None = None
    """Time from a transfer's start until it should be over. With the run at most 6.5535 s."""
    sizes: FilePath | None = None
    """In place of the distribution of the next keys: the workload `websearch`, `datamining`,
    `hadoop`, `storage` or `rpc`, or a CSV file: lines of bytes and the cumulative percentage, as
    `10000,15`; the last has 100."""
    interpolate: Literal["linear", "lower"] = "linear"
    """Sizes between two lines: `linear`, each as likely, from 0 below the first line; `lower`, the
    size of the line below, one byte below the first."""
    min_size: Size = 2_000
    """Smallest transfer."""
    max_size: Size = 10_000_000
    """Largest transfer."""
    shape: Annotated[float, Field(ge=0.1, le=10)] = 1.2
    """Of the bounded Pareto distribution of their sizes: the smaller, the heavier the tail."""

    @model_validator(mode="after")
    def _sizes_in_order(self) -> Self:
        # A run's folder has every default written out.
        fields = type(self).model_fields
        keys = ("max_size", "min_size", "shape")
        own = [key for key in keys if getattr(self, key) != fields[key].default]
        if self.sizes is not None and own:
            raise ValueError(f"sizes is in place of {' and '.join(own)}: give one of them")
        if self.sizes is None and self.interpolate != "linear":
            raise ValueError("interpolate is of a table: give sizes, too")
        if self.rank is not None and self.ip_version != 4:
            raise ValueError("rank is of ip_version = 4")
        if (self.deadline is None) == (self.rank == "deadline"):
            raise ValueError('rank = "deadline" needs deadline, which no other rank reads')
        if self.load_of != "host" and isinstance(self.load, int):
            raise ValueError('load_of is of a load that is a share: give load = "60 %", or so')
        if self.arrivals == "poisson" and self.sigma != fields["sigma"].default:
            raise ValueError('sigma is of arrivals = "lognormal"')
        if self.min_size > self.max_size:
            raise ValueError("min_size must not be more than max_size")
        return self


class RequestFlows(_Flows, _TcpEnds):
    """A client that asks again and again over one connection; `from` answers what `to` asks."""

    kind: Literal["requests"]
    """Requests and responses, one after the other."""
    request: Size = 200
    """Payload of a request."""
    response: Size = 20_000
    """Payload of a response."""
    think: PositiveTime = 500_000_000
    """Mean time from a response to the next request; exponential."""


class IncastFlows(_Flows, _TcpEnds):
    """One request to many servers at the same instant: `count` of them answer at once."""

    kind: Literal["incast"]
    """Many responses at one instant."""
    request: Size = 200
    """Payload of a request."""
    response: Size = 32_000
    """Of each server."""
    every: PositiveTime = 500_000_000
    """From one round to the next; the first is that long after the start."""


class VoipFlows(_Flows):
    """Voices: G.711 in RTP, a datagram each 20 ms."""

    kind: Literal["voip"]
    """Voice."""
    payload: Annotated[int, Field(ge=8, le=1400)] = 160
    """Bytes of voice in a datagram."""
    interval: PositiveTime = 20_000_000
    """Time between two packets."""
    jitter_buffer: PositiveTime = 60_000_000
    """How much later than the soonest of the same two seconds a datagram may come to be played."""


FLOW_KINDS: dict[str, type[_Flows]] = {
    "tcp": TcpFlows,
    "udp": UdpFlows,
    "transfers": TransferFlows,
    "requests": RequestFlows,
    "incast": IncastFlows,
    "voip": VoipFlows,
}
"""The kinds of traffic by the names that a scenario gives them."""


def _flow_kind(value: Any) -> Any:
    return value.get("kind", "tcp") if isinstance(value, dict) else getattr(value, "kind", "tcp")


FlowGroup = TcpFlows | UdpFlows | TransferFlows | RequestFlows | IncastFlows | VoipFlows
TaggedFlows = Annotated[
    Annotated[TcpFlows, Tag("tcp")]
    | Annotated[UdpFlows, Tag("udp")]
    | Annotated[TransferFlows, Tag("transfers")]
    | Annotated[RequestFlows, Tag("requests")]
    | Annotated[IncastFlows, Tag("incast")]
    | Annotated[VoipFlows, Tag("voip")],
    Discriminator(_flow_kind),
]
"""A group as the key `flows` has it: what its `kind` says."""
