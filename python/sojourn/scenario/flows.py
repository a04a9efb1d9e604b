"""The traffic of a scenario: groups of equal flows, each kind with keys of its own.

Stands on quantities. Knows neither hosts nor what carries the packets.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Discriminator, Field, Tag, model_validator

from sojourn.scenario.quantities import Rate, Size, Spread, Strict, Time


class _Flows(Strict):
    count: Annotated[int, Field(ge=1, le=100_000)] = 1
    ip_version: Literal[4, 6] = 4
    rtt: Spread | None = None
    """Round-trip time without queues; in a network, beside that of its links, and by default 0."""
    from_: Annotated[str | None, Field(alias="from")] = None
    """In a network: the host that sends."""
    to: str | None = None
    """In a network: the host that receives."""
    reverse: bool = False
    """With one switch: from behind the bottleneck to in front of it."""
    start: Spread = (0, 0)
    stop: Time | None = None
    """When the sender has nothing more to send; absent: it never stops."""

    @model_validator(mode="after")
    def _stops_after_it_starts(self) -> Self:
        if self.stop is not None and self.stop <= self.start[1]:
            raise ValueError("stop must be later than start")
        return self


class TcpFlows(_Flows):
    """Long-lived TCP flows."""

    kind: Literal["tcp"] = "tcp"
    congestion_control: Literal["cubic", "newreno", "bbr"] = "cubic"
    rate_cap: Rate | None = None
    """The application offers no more than this, per flow."""
    ecn: bool = False
    segmentation_offload: bool | Annotated[int, Field(ge=2, le=64)] = False
    """Bursts that leave the sender back to back: as Linux sizes them, or so many segments."""


class UdpFlows(_Flows):
    """Constant-rate UDP flows."""

    kind: Literal["udp"]
    rate: Rate
    """Of each flow, counted in bytes on the wire."""
    packet_size: Size = 1514
    """Of each packet, Ethernet header included."""


def _flow_kind(value: Any) -> Any:
    return value.get("kind", "tcp") if isinstance(value, dict) else getattr(value, "kind", "tcp")


FlowGroup = Annotated[
    Annotated[TcpFlows, Tag("tcp")] | Annotated[UdpFlows, Tag("udp")], Discriminator(_flow_kind)
]
