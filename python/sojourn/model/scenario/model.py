"""A scenario: everything that a run depends on, key by key, with units and defaults.

Depends on the models of its parts. Must not depend on files.
"""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from sojourn.model.scenario.aqm_spec import AqmChoice, Choice, choice_keys, choose
from sojourn.model.scenario.bottleneck import Bottleneck, bottlenecks
from sojourn.model.scenario.flows import TaggedFlows, TcpFlows, UdpFlows
from sojourn.model.scenario.network import MOST_HOSTS, Hosts, Link, Name, Netem, NetworkSwitch
from sojourn.model.scenario.quantities import (
    Argument,
    FilePath,
    Paragraphs,
    PositiveTime,
    Strict,
    Time,
    Title,
)

__all__ = [
    "AqmChoice",
    "Common",
    "Scenario",
    "TcpFlows",
    "UdpFlows",
    "choice_keys",
    "choose",
]


_OF_PROCESS = ("server", "latency", "timeout", "port", "device")
"""Keys of a controller that is a process."""


class Controller(Strict):
    """A controller that acts on switches while the run goes on: a script, or a process."""

    script: FilePath | None = None
    """The file, below the scenario's folder, with `start(switch)` and, for messages of the program,
    `digest(switch, message)`, for its packets `packet(switch, packet)` (docs/control.md). It is
    code that the run executes."""
    process: Annotated[list[Argument], Field(min_length=1, max_length=1_000)] | None = None
    """The command of a controller, with `{python}`, `{address}`, `{host}`, `{port}`, `{device}`,
    `{clock}` (docs/control.md). It is code that the run executes."""
    server: Literal["p4runtime", "bfrt"] = "p4runtime"
    """The protocol that the process speaks."""
    latency: Time = 1_000_000
    """Virtual time that a request or message of the process takes."""
    timeout: PositiveTime = 30_000_000_000
    """Real time after which a process that hangs ends the run."""
    port: Annotated[int, Field(ge=1, le=65_535)] | None = None
    """Of the first switch's server on 127.0.0.1; absent: a free one."""
    device: Annotated[int, Field(ge=0, lt=2**32)] | None = None
    """The first switch's number for the process; absent: 1, for BfRt 0."""
    aqms: Annotated[list[Title], Field(min_length=1, max_length=1_000)] | None = None
    """Labels of the AQMs whose runs have it; absent: all."""
    switch: Name | Annotated[list[Name], Field(min_length=1, max_length=100)] | None = None
    """The switch, or several; absent: the first."""
    args: Annotated[dict[str, int | float | str], Field(max_length=100)] = Field(
        default_factory=dict
    )
    """Values for the script: `switch.args`."""
    poll: PositiveTime = 1_000_000
    """How often it is looked for messages and packets of the program."""
    cpu_port: Annotated[int, Field(ge=0, le=511)] | None = None
    """The port of the switch by which packets go to the controller and come from it."""

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        if (self.script is None) == (self.process is None):
            raise ValueError("give a script or a process")
        given = [key for key in _OF_PROCESS if key in self.model_fields_set]
        if self.script is None and self.args:
            raise ValueError("args: of a script; a process has arguments in its command")
        if self.script is not None and given:
            raise ValueError(f"{', '.join(given)}: of a process alone, and this is a script")
        return self

    @model_serializer(mode="wrap")
    def _of_its_kind(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The keys that a reader of the text may give: none of a process for a script."""
        fields: dict[str, Any] = write(self)
        left_out = () if self.script is None else _OF_PROCESS
        return {key: value for key, value in fields.items() if key not in left_out}


class Common(Strict):
    """What a scenario says beside what lies between the hosts."""

    title: Title = ""
    """One line, above figures and pages."""
    description: Paragraphs = ""
    """Paragraphs at the head of the report."""
    look_at: Title = ""
    """What to look at in what a run says: a sentence."""
    notes: Paragraphs = ""
    """Why it comes out so; paragraphs of the report."""
    duration: PositiveTime
    """Simulated time."""
    warm_up: Time = 0
    """The start of the run that figures exclude; rows and courses over time include it."""
    rows: bool = True
    """Whether the run writes a row for each packet and flow sample; without them there are no
    percentiles of queue delay, no courses over time, no plots and no report."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 1
    """Of all random numbers of the run."""
    target: PositiveTime = 5_000_000
    """The delay against which results are judged and drawn; AQMs have their own."""
    aqms: Annotated[list[Choice], Field(min_length=1, max_length=1_000)]
    """The AQMs to compare: names or paths, or tables with options."""
    netem: Netem = Netem()
    """Where the flows' round-trip times are met."""
    control: Controller | None = None
    """A controller of one's own."""
    flows: Annotated[list[TaggedFlows], Field(min_length=1, max_length=MOST_HOSTS)]
    """Groups of equal flows; `kind` says of what traffic."""


class Scenario(Common):
    """Everything that a run depends on."""

    hosts: Annotated[Hosts, Field(default_factory=list, max_length=MOST_HOSTS)]
    """Hosts, by name."""
    switches: Annotated[list[NetworkSwitch], Field(default_factory=list, max_length=MOST_HOSTS)]
    """Switches, each with a name."""
    links: Annotated[list[Link], Field(default_factory=list, max_length=2 * MOST_HOSTS)]
    """Links, each between two of them."""

    @property
    def bottlenecks(self) -> tuple[Bottleneck, ...]:
        """The queues that are measured; the first is the one that figures are of unless they say
        otherwise."""
        return bottlenecks(self.switches, self.links)
