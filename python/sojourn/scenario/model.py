"""What may stand in a scenario file, key by key, with units and defaults.

Stands on pydantic, `units` and the register of the native disciplines' parameters. Quantities are
exact integers in the engine's units once read, and are written back with a unit. Knows no files.
"""

from functools import cache
from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    SerializeAsAny,
    Tag,
    create_model,
    model_validator,
)

from sojourn.parameters import Parameter, disciplines
from sojourn.units import RATE, SIZE, TIME, Dimension


def _reads(dimension: Dimension, *, least: int = 0) -> BeforeValidator:
    def read(value: object) -> int:
        amount = dimension.parse(value)
        if amount < least:
            raise ValueError("must be more than zero")
        return amount

    return BeforeValidator(read)


def _writes(dimension: Dimension) -> PlainSerializer:
    return PlainSerializer(dimension.format, when_used="json")


Time = Annotated[int, _reads(TIME), _writes(TIME)]
PositiveTime = Annotated[int, _reads(TIME, least=1), _writes(TIME)]
Rate = Annotated[int, _reads(RATE, least=1), _writes(RATE)]
Size = Annotated[int, _reads(SIZE, least=1), _writes(SIZE)]


def _read_spread(value: object) -> tuple[int, int]:
    if isinstance(value, list):
        if len(value) != 2:
            raise ValueError('write one time, or two to spread evenly, like ["5 ms", "10 ms"]')
        low, high = (TIME.parse(part) for part in value)
        if low > high:
            raise ValueError("the first time of a range must not be the longer one")
        return low, high
    single = TIME.parse(value)
    return single, single


def _write_spread(value: tuple[int, int]) -> str | list[str]:
    low, high = value
    return TIME.format(low) if low == high else [TIME.format(low), TIME.format(high)]


Spread = Annotated[
    tuple[int, int],
    BeforeValidator(_read_spread),
    PlainSerializer(_write_spread, when_used="json"),
]
"""One time for all flows of a group, or two between which they are spread evenly."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Flows(_Strict):
    count: Annotated[int, Field(ge=1, le=100_000)] = 1
    ip_version: Literal[4, 6] = 4
    rtt: Spread
    """Round-trip time without queues."""
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


class Switch(_Strict):
    """The switch, with the bottleneck's shaper at its second port."""

    rate: Rate
    """Of the port shaper at the bottleneck; the silicon rounds it, and the report says to what."""
    burst: Size = 1600
    queue_limit: Size = 1_940_000
    """Tail-drop limit of the bottleneck's queue; counted in cells of 80 bytes."""
    port_speed: Rate = 10 * 10**9
    ingress_latency: Time = 600
    egress_latency: Time = 500
    recirculation_rate: Rate = 100 * 10**9
    recirculation_latency: Time = 400


class AqmChoice(_Strict):
    """One AQM to run, and how; `choose` makes it with the parameters of its discipline."""

    use: str
    """A native discipline, a shipped program, or the path of a `.p4` file."""
    label: str | None = None
    architecture: Literal["tofino1", "v1model"] | None = None
    """P4: what the program must be for; it says itself what it is for."""
    math_unit: Literal["vendor", "paper"] | None = None
    """P4: how the stateful ALU's math unit decides odd and even exponents."""
    include_paths: list[str] = []
    defines: dict[str, str | int] = {}
    control: str | None = None
    """P4: control-plane file; by default the program's name with `.toml`."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of native disciplines that are given, as the engine takes them."""
        given = ((name, getattr(self, name)) for name in type(self).model_fields)
        return {
            name: value
            for name, value in given
            if value is not None and name not in AqmChoice.model_fields
        }


def choose(value: object) -> AqmChoice:
    """The choice that a scenario writes as `value`: a name, or a table with `use` and options."""
    if isinstance(value, AqmChoice):
        return value
    if isinstance(value, str):
        value = {"use": value}
    use = value.get("use") if isinstance(value, dict) else None
    models = _choice_models()
    model = models.get(use, models["other"]) if isinstance(use, str) else models["other"]
    return model.model_validate(value)


def choice_keys(use: str) -> list[str]:
    """The keys that may stand beside `use`."""
    native = {discipline.name: discipline for discipline in disciplines()}.get(use)
    if native is None:
        return list(AqmChoice.model_fields)
    return ["use", "label", *(parameter.name for parameter in native.parameters)]


@cache
def _choice_models() -> dict[str, type[AqmChoice]]:
    """For each native discipline, what may be said of it: its own parameters beside the rest.

    `other` takes any discipline's parameters as they are: only whoever finds out what `use` means
    there can say whether the parameter or the name is the mistake.
    """
    models = {
        discipline.name: _with_fields(
            discipline.name, {p.name: _field(p) for p in discipline.parameters}
        )
        for discipline in disciplines()
    }
    anyones = sorted({p.name for discipline in disciplines() for p in discipline.parameters})
    return models | {"other": _with_fields("other", dict.fromkeys(anyones, Any))}


def _field(parameter: Parameter) -> Any:
    kind = parameter.kind
    return Annotated[
        int, BeforeValidator(kind.parse), PlainSerializer(kind.format, when_used="json")
    ]


def _with_fields(name: str, types: dict[str, Any]) -> type[AqmChoice]:
    fields: dict[str, Any] = {key: (type_ | None, None) for key, type_ in types.items()}
    return create_model(f"AqmChoice_{name}", __base__=AqmChoice, **fields)


class Scenario(_Strict):
    """Everything that a run depends on."""

    title: str = ""
    description: str = ""
    notes: str = ""
    """What to look at and why it comes out so; paragraphs of the report."""
    duration: PositiveTime
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    target: PositiveTime = 5_000_000
    """The delay against which results are judged and drawn; AQMs have their own."""
    access_rate: Rate = 10 * 10**9
    """Of the links between all senders and the switch, and the switch and all receivers."""
    switch: Switch
    aqms: Annotated[
        list[Annotated[SerializeAsAny[AqmChoice], BeforeValidator(choose)]], Field(min_length=1)
    ]
    flows: Annotated[list[FlowGroup], Field(min_length=1)]
