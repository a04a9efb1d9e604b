"""The queues that a run measures: their places, the files of their rows, their capacity.

Depends on the model of what lies between the hosts. The order is the engine's: link by link, the
way there before the way back.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sojourn.model.scenario.network import Link, LinkStep, NetworkSwitch


@dataclass(frozen=True)
class Bottleneck:
    """One measured queue."""

    switch: str
    towards: str
    """The node at the other end of its link."""
    ending: str
    """Of the names of its files: nothing for the first one."""
    rate: int
    """bit/s at first."""
    steps: tuple[tuple[int, int], ...] = ()
    """Changes of the rate: time in ns and rate."""
    own_aqm: str | None = None
    """The AQM that its switch names, if it does not take that of the run."""
    packet_rate: int | None = None
    """packets/s, if that holds packets up."""
    parallel: int = 1
    """Place among the links between the two nodes, from 1."""
    captured: bool = False
    """Whether its frames are captured in any run."""

    @property
    def name(self) -> str:
        """As tables have it."""
        number = f" ({self.parallel})" if self.parallel > 1 else ""
        return f"{self.switch}>{self.towards}{number}"

    @property
    def rows(self) -> str:
        """The file of its rows in an AQM's folder."""
        return f"packets{self.ending}.parquet"

    @property
    def totals(self) -> str:
        """The file in place of its rows in a run with `rows = false`."""
        return f"totals{self.ending}.parquet"

    @property
    def capture(self) -> str:
        """The file of its captured frames in an AQM's folder."""
        return f"bottleneck{self.ending}.pcapng"

    def as_built(self, shaper_rate: int) -> "Bottleneck":
        """The same with the rate of its shaper as the hardware has it, or the mean rate of its
        trace, bit/s; 0 without either.

        With a schedule the rates stay those of the scenario: the run records the last one only.
        """
        return replace(self, rate=shaper_rate) if shaper_rate and not self.steps else self

    def mean_rate(self, until: int) -> float:
        """The mean rate up to `until` ns, in bit/s."""
        if not self.steps or until <= 0:
            return self.rate
        bits, rate, since = 0, self.rate, 0
        for at, then in self.steps:
            if at >= until:
                break
            bits, rate, since = bits + rate * (at - since), then, at
        return (bits + rate * (until - since)) / until


def bottlenecks(switches: Sequence[NetworkSwitch], links: Sequence[Link]) -> tuple[Bottleneck, ...]:
    """Those of a network: every direction of a link with a rate that begins at a switch."""
    aqms = {node.name: node.aqm.use if node.aqm else None for node in switches}
    speeds = {node.name: node.port_speed for node in switches}
    found: list[Bottleneck] = []
    times = Counter[tuple[str, str]]()
    for link in links:
        if not link.rows:
            continue
        for back in (False, True):
            near, far = reversed(link.between) if back else link.between
            rate = (link.rate_back if back else None) or link.rate
            packet_rate = None if back else link.packets_per_second
            trace = link.link_trace_back if back else link.link_trace
            if near not in aqms or (rate is None and packet_rate is None and trace is None):
                continue
            times[near, far] += 1
            number = times[near, far]
            ending = f"-{near}-{far}" if found else ""
            ending += f"-{number}" if number > 1 else ""
            steps = _steps(link, back=back)
            possible = speeds[near] if rate is None else rate
            found.append(
                Bottleneck(
                    near,
                    far,
                    ending,
                    possible,
                    steps,
                    aqms[near],
                    packet_rate,
                    number,
                    captured=link.capture,
                )
            )
    return tuple(found)


def _steps(link: Link, *, back: bool) -> tuple[tuple[int, int], ...]:
    def rate(step: LinkStep) -> int | None:
        return step.rate_back if back and link.rate_back is not None else step.rate

    return tuple((step.at, then) for step in link.schedule if (then := rate(step)) is not None)
