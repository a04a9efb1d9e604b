"""`topology`: short for the hosts, switches and links of a data centre's network.

Holds the keys of the short form, its checks, and the network that it stands for. No other module
depends on the short form. Depends on the model of the network and on the checks of any scenario.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import product
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from sojourn.model.scenario.aqm_spec import Choice
from sojourn.model.scenario.buffering import Buffering
from sojourn.model.scenario.model import Common, Scenario
from sojourn.model.scenario.network import (
    Host,
    Link,
    LinkStep,
    NetworkSwitch,
    Ports,
    Queue,
)
from sojourn.model.scenario.plan_checks import Problem, problems
from sojourn.model.scenario.quantities import HostName, PositiveTime, Rate, Strict, Time

_MOST_PORTS = 64
"""Links of a switch."""
_MOST_LINKS = 20_000
"""Links of a network."""
Few = Annotated[int, Field(ge=1, le=_MOST_PORTS)]


def _short(key: str) -> BeforeValidator:
    """A number alone stands for a table with that key."""

    def read(value: object) -> object:
        is_number = isinstance(value, int) and not isinstance(value, bool)
        return {key: value} if is_number else value

    return BeforeValidator(read)


class LeafSpine(Strict):
    """Leaves with hosts `h1_1`, `h1_2` and so on at `leaf1`, and each leaf at each spine."""

    leaves: Few
    """Leaf switches."""
    spines: Few
    """Spine switches."""
    hosts: Few
    """At each leaf."""
    parallel: Few = 1
    """Links between a leaf and a spine."""

    @property
    def tiers(self) -> tuple[str, ...]:
        """The kinds of switches."""
        return ("leaf", "spine")

    def edges(self) -> Iterator[tuple[str, str, str, str]]:
        """Each link's ends and their tiers, those of hosts first."""
        leaves, spines = range(1, self.leaves + 1), range(1, self.spines + 1)
        for leaf, host in product(leaves, range(1, self.hosts + 1)):
            yield f"h{leaf}_{host}", f"leaf{leaf}", "host", "leaf"
        for leaf, spine, _ in product(leaves, spines, range(self.parallel)):
            yield f"leaf{leaf}", f"spine{spine}", "leaf", "spine"


class FatTree(Strict):
    """A fat tree of switches with `k` ports: `k` pods of `k`/2 edge and `k`/2 aggregation switches,
    (`k`/2)^2 core switches, and `k`/2 hosts at each edge switch, as `h1_2_1` at `edge1_2`."""

    k: Annotated[int, Field(ge=2, le=32, multiple_of=2)]
    """Ports of a switch."""

    @property
    def tiers(self) -> tuple[str, ...]:
        """The kinds of switches."""
        return ("edge", "agg", "core")

    def edges(self) -> Iterator[tuple[str, str, str, str]]:
        """Each link's ends and their tiers, those of hosts first."""
        pods, half = range(1, self.k + 1), range(1, self.k // 2 + 1)
        for pod, edge, host in product(pods, half, half):
            yield f"h{pod}_{edge}_{host}", f"edge{pod}_{edge}", "host", "edge"
        for pod, edge, agg in product(pods, half, half):
            yield f"edge{pod}_{edge}", f"agg{pod}_{agg}", "edge", "agg"
        for pod, agg, core in product(pods, half, half):
            yield f"agg{pod}_{agg}", f"core{agg}_{core}", "agg", "core"


class ParkingLot(Strict):
    """A chain of `links` fabric links between `s1`, `s2` and so on. Traffic from `long_in` to
    `long_out` passes all; that from `in1` to `out1` passes the first one, and so on."""

    links: Annotated[int, Field(ge=1, le=1_000)]
    """Links in a row."""

    @property
    def tiers(self) -> tuple[str, ...]:
        """The kinds of switches."""
        return ("s",)

    def edges(self) -> Iterator[tuple[str, str, str, str]]:
        """Each link's ends and their tiers, those of hosts first."""
        yield "long_in", "s1", "host", "s"
        yield "long_out", f"s{self.links + 1}", "host", "s"
        for place in range(1, self.links + 1):
            yield f"in{place}", f"s{place}", "host", "s"
            yield f"out{place}", f"s{place + 1}", "host", "s"
        for place in range(1, self.links + 1):
            yield f"s{place}", f"s{place + 1}", "s", "s"


class Dumbbell(Strict):
    """Hosts `left1` and so on at the switch `left`, `right1` and so on at `right`, and one link."""

    senders: Few
    """Hosts at the left."""
    receivers: Few = 1
    """Hosts at the right."""

    @property
    def tiers(self) -> tuple[str, ...]:
        """The kinds of switches."""
        return ("left", "right")

    def edges(self) -> Iterator[tuple[str, str, str, str]]:
        """Each link's ends and their tiers, those of hosts first."""
        for side, count in (("left", self.senders), ("right", self.receivers)):
            for host in range(1, count + 1):
                yield f"{side}{host}", side, "host", side
        yield "left", "right", "left", "right"


SHAPES: dict[str, type[Strict]] = {
    "leaf_spine": LeafSpine,
    "fat_tree": FatTree,
    "parking_lot": ParkingLot,
    "dumbbell": Dumbbell,
}
"""The shapes by their keys."""


class Failure(Strict):
    """A link between two switches that fails."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    """Its two switches."""
    at: PositiveTime
    """When it fails."""
    until: PositiveTime | None = None
    """When it is up again; absent: never."""
    reroute: Time = 0
    """Delay until the routers of the network know of either."""

    @model_validator(mode="after")
    def _returns_later(self) -> Self:
        if self.until is not None and self.until <= self.at:
            raise ValueError("until must be later than at")
        return self


class Topology(Queue, Buffering):
    """A network by its shape; one of the first four keys says which."""

    leaf_spine: LeafSpine | None = None
    """Leaves with hosts, each linked to every spine."""
    fat_tree: Annotated[FatTree | None, _short("k")] = None
    """A number is `k`."""
    parking_lot: Annotated[ParkingLot | None, _short("links")] = None
    """A number is `links`."""
    dumbbell: Annotated[Dumbbell | None, _short("senders")] = None
    """A number is `senders`."""
    host_rate: Rate = 10_000_000_000
    """Of the links between hosts and switches."""
    rate: Rate | None = None
    """Of the links between switches; absent: `host_rate`."""
    host_delay: Time = 1_000
    """One-way, of the links between hosts and switches."""
    delay: Time | None = None
    """One-way, of the links between switches; absent: `host_delay`."""
    measure: Literal["access", "fabric", "all"] | list[HostName] = "access"
    """Queues with rows and figures: towards hosts, between switches, or all; or those of links that
    have one of these nodes as an end, `*` standing for any letters."""
    multipath: Literal["first", "ecmp", "spray", "flowlet"] = "ecmp"
    """Use of several links of equal cost, as of a switch."""
    hash_seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """One seed for all switches, by which they choose alike; absent: one for each."""
    failures: list[Failure] = Field(default_factory=list, max_length=1_000)
    """Links that fail; of several between two switches the first."""
    ingress_latency: Time = Ports.model_fields["ingress_latency"].default
    """From arrival to the traffic manager."""
    egress_latency: Time = Ports.model_fields["egress_latency"].default
    """From the queue to the wire."""
    aqm_of: dict[str, Choice] = Field(default_factory=dict)
    """AQMs of the switches of a tier (`leaf`, `spine`; `edge`, `agg`, `core`; `s`; `left`,
    `right`). Absent: the AQM of the run."""

    @model_validator(mode="after")
    def _has_one_shape(self) -> Self:
        given = [key for key in SHAPES if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"give one of {', '.join(SHAPES)}")
        for tier in self.aqm_of:
            if tier not in self.shape.tiers:
                known = ", ".join(self.shape.tiers)
                raise ValueError(f'aqm_of: {given[0]} has no tier "{tier}" (tiers: {known})')
        return self

    @property
    def shape(self) -> LeafSpine | FatTree | ParkingLot | Dumbbell:
        """The one that is given."""
        found = next(shape for key in SHAPES if (shape := getattr(self, key)) is not None)
        assert isinstance(found, LeafSpine | FatTree | ParkingLot | Dumbbell)
        return found

    def measures(self, link: tuple[str, str], *, access: bool) -> bool:
        """Whether the queues of a link have rows."""
        if isinstance(self.measure, list):
            return any(fnmatchcase(end, name) for end in link for name in self.measure)
        return self.measure in ("all", "access" if access else "fabric")


class Fabric(Common):
    """A scenario with a network by its shape."""

    topology: Topology
    """The shape."""

    def problems(self) -> list[Problem]:
        """All that does not fit, as keys and a sentence."""
        topology = self.topology
        edges = list(topology.shape.edges())
        if len(edges) > _MOST_LINKS:
            return [(("topology",), f"{len(edges)} links; at most {_MOST_LINKS} are allowed")]
        hosts = {near for near, _, tier, _ in edges if tier == "host"}
        links = Counter(end for edge in edges for end in edge[:2])
        most = max(count for end, count in links.items() if end not in hosts)
        if most > _MOST_PORTS:
            reason = f"a switch with {most} links; at most {_MOST_PORTS} are allowed"
            return [(("topology",), reason)]
        fabric = {tuple(sorted(edge[:2])) for edge in edges if edge[2] != "host"}
        seen = set[tuple[str, ...]]()
        for index, failure in enumerate(topology.failures):
            both = tuple(sorted(failure.between))
            if both not in fabric:
                reason = f"{' and '.join(failure.between)}: no link between these two switches"
                return [(("topology", "failures", index, "between"), reason)]
            if both in seen:
                return [(("topology", "failures", index), "this link fails already: give it once")]
            seen.add(both)
        # Nodes and links come from the shape; flows and times are what a person wrote.
        return [
            problem if problem[0][0] not in ("links", "switches", "hosts") else _at_shape(problem)
            for problem in problems(self.expanded())
        ]

    def expanded(self) -> Scenario:
        """The network that it is short for."""
        topology = self.topology
        edges = list(topology.shape.edges())
        tiers = {end: tier for a, b, *both in edges for end, tier in zip((a, b), both, strict=True)}
        shared = {key: getattr(self, key) for key in Common.model_fields}
        return Scenario.model_construct(
            **shared,
            hosts=[
                Host.model_construct(name=name) for name, tier in tiers.items() if tier == "host"
            ],
            switches=[self._switch(name, tier) for name, tier in tiers.items() if tier != "host"],
            links=list(self._links(edges)),
        )

    def _links(self, edges: Sequence[tuple[str, str, str, str]]) -> Iterator[Link]:
        failures = {tuple(sorted(one.between)): one for one in self.topology.failures}
        for near, far, tier, _ in edges:
            failure = failures.pop(tuple(sorted((near, far))), None)
            yield self._link((near, far), failure, access=tier == "host")

    def _switch(self, name: str, tier: str) -> NetworkSwitch:
        topology = self.topology
        same = (*Buffering.model_fields, "ingress_latency", "egress_latency")
        return NetworkSwitch.model_construct(
            name=name,
            aqm=topology.aqm_of.get(tier),
            port_speed=max(topology.host_rate, topology.rate or 0),
            control=[],
            **{key: getattr(topology, key) for key in same},
        )

    def _link(self, between: tuple[str, str], failure: Failure | None, *, access: bool) -> Link:
        topology = self.topology
        rate, delay = topology.host_rate, topology.host_delay
        if not access:
            rate = topology.rate or rate
            delay = delay if topology.delay is None else topology.delay
        queue: dict[str, Any] = {key: getattr(topology, key) for key in Queue.model_fields}
        return Link.model_construct(
            between=list(between),
            rate=rate,
            delay=delay,
            rows=topology.measures(between, access=access),
            schedule=_steps(failure),
            **queue,
        )


def _steps(failure: Failure | None) -> list[LinkStep]:
    """The schedule of a link that fails."""
    if failure is None:
        return []
    reroute = failure.reroute or None
    down = LinkStep.model_construct(at=failure.at, up=False, reroute=reroute)
    if failure.until is None:
        return [down]
    return [down, LinkStep.model_construct(at=failure.until, up=True, reroute=reroute)]


def _at_shape(problem: Problem) -> Problem:
    keys, reason = problem
    if keys[0] == "switches" and "pools" in keys:
        # The shape's own key, at each of its switches.
        return ("topology", *keys[2:]), reason
    where = ".".join(str(key) for key in keys)
    return ("topology",), f"{where}: {reason}"
