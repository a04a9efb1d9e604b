"""A switch's packet buffer in a scenario, and its links of equal cost.

Depends on quantities alone. The closed forms by which the rules are judged are in
`docs/datacentre.md`.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from sojourn.model.scenario.quantities import HostName, PositiveTime, Size, Strict

Alpha = Annotated[float, Field(ge=0.001, le=1024)]


def thousandths(alpha: float) -> int:
    """A multiple of what is free as the engine takes it."""
    return round(alpha * 1000)


class BufferPool(Strict):
    """A part of a shared buffer for some queues."""

    towards: Annotated[list[HostName], Field(min_length=1, max_length=1_000)]
    """The other ends of the queues' links, `*` standing for any letters. The first pool that names
    one counts."""
    size: Size
    """Bytes of the shared buffer. The queues of no pool share what is left."""
    alpha: Alpha = 1.0
    """A queue holds at most `alpha` times what the pool has free."""

    def in_engine(self, neighbours: Sequence[str]) -> dict[str, Any]:
        """The same as the engine takes it, with those of `neighbours` that it names."""
        named = [one for one in neighbours if any(fnmatchcase(one, name) for name in self.towards)]
        return {"towards": named, "size": self.size, "alpha": thousandths(self.alpha)}


class FlowControl(Strict):
    """When priority flow control would pause the sender of a link."""

    xoff: Size | None = None
    """Bytes that came by the link and are in the buffer before that."""
    alpha: Alpha | None = None
    """In place of `xoff`: a multiple of what the buffer has free."""
    resume_below: Size = 3_000
    """How far below that it goes on."""
    headroom: Size
    """Bytes beyond it for packets on their way."""

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if (self.xoff is None) == (self.alpha is None):
            raise ValueError("give one of xoff, in bytes, and alpha, a multiple of what is free")
        return self

    def in_engine(self) -> dict[str, Any]:
        """The same as the engine takes it."""
        threshold = (
            {"xoff": self.xoff} if self.alpha is None else {"alpha": thousandths(self.alpha)}
        )
        return {**threshold, "resume_below": self.resume_below, "headroom": self.headroom}


class Buffering(Strict):
    """Use of a switch's buffer and of its links of equal cost."""

    multipath: Literal["first", "ecmp", "spray", "flowlet"] = "first"
    """Use of several links of equal cost. `first`: the one that is written first. `ecmp`: by a hash
    of addresses, protocol and ports. `spray`: packets in turn. `flowlet`: as `ecmp`, with a new
    link after a gap. A P4 program chooses by its own tables."""
    hash_seed: Annotated[int, Field(ge=0, lt=2**63)] | None = None
    """Seed of the hash; absent: the place of the switch in the list, from 1. Switches with one seed
    choose alike, and a part of their links stays empty."""
    flowlet_gap: PositiveTime = 100_000
    """The gap after which a flow may take another link."""
    shared_buffer: Size | None = None
    """Bytes that all queues share, by a dynamic threshold. Absent: each has its `queue_limit`."""
    alpha: Alpha = 1.0
    """A queue of a shared buffer holds at most `alpha` times what is free, and at most its
    `queue_limit`."""
    guaranteed: Size | None = None
    """Bytes of a shared buffer that each queue finds whatever others hold."""
    headroom: Size | None = None
    """Bytes of a shared buffer that each queue has for packets beyond its limit."""
    pools: Annotated[list[BufferPool], Field(default_factory=list, max_length=3)]
    """Parts of a shared buffer for some queues."""
    sharing: Literal["dynamic", "abm"] = "dynamic"
    """`abm` (SIGCOMM 2022): `alpha` over the number of congested queues, times a queue's part of
    its port."""
    pfc: FlowControl | None = None
    """Counts pauses of priority flow control, and pauses nobody."""

    @model_validator(mode="after")
    def _given_together(self) -> Self:
        if self.multipath == "first" and self.hash_seed is not None:
            raise ValueError('hash_seed is of multipath = "ecmp", "spray" or "flowlet"')
        if self.multipath != "flowlet" and self.flowlet_gap != 100_000:
            raise ValueError('flowlet_gap is of multipath = "flowlet"')
        given = {
            "alpha": self.alpha != 1,
            "guaranteed": self.guaranteed is not None,
            "headroom": self.headroom is not None,
            "pools": bool(self.pools),
            "sharing": self.sharing != "dynamic",
            "pfc": self.pfc is not None,
        }
        for key in given:
            if self.shared_buffer is None and given[key]:
                raise ValueError(f"{key} is of a shared buffer: give shared_buffer, too")
        return self

    def in_engine(self, neighbours: Sequence[str]) -> dict[str, Any]:
        """The same as the engine takes it; `neighbours` are the other ends of the links."""
        found: dict[str, Any] = {}
        if self.multipath != "first":
            own = {"seed": self.hash_seed} if self.hash_seed is not None else {}
            gap = {"gap": self.flowlet_gap} if self.multipath == "flowlet" else {}
            found["multipath"] = {"mode": self.multipath, **own, **gap}
        if self.shared_buffer is not None:
            pools = [pool.in_engine(neighbours) for pool in self.pools]
            found["shared_buffer"] = {
                "size": self.shared_buffer,
                "alpha": thousandths(self.alpha),
                "guaranteed": self.guaranteed or 0,
                "headroom": self.headroom or 0,
                "pools": [pool for pool in pools if pool["towards"]],
                "sharing": self.sharing,
                **({"pfc": self.pfc.in_engine()} if self.pfc else {}),
            }
        return found
