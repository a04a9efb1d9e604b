"""Every measured queue of a result, with all runs side by side, for tables and plots.

Depends on a result and on the scenario's bottlenecks. Draws nothing.
"""

from dataclasses import dataclass

from sojourn.model.scenario.bottleneck import Bottleneck
from sojourn.results.result import Result
from sojourn.results.statistics import Findings, Summary
from sojourn.results.style import SHORT_DELAY


@dataclass(frozen=True)
class QueueRun:
    """One AQM's run at a queue."""

    label: str
    """The run's label in tables and plots."""
    aqm: str
    """The AQM of this queue."""
    findings: Findings

    @property
    def summary(self) -> Summary:
        """The figures."""
        return self.findings.summary


@dataclass(frozen=True)
class Queue:
    """A measured queue in all runs, in the scenario's order."""

    bottleneck: Bottleneck
    runs: tuple[QueueRun, ...]

    @property
    def title(self) -> str:
        """Its name, and its AQM if that is its own."""
        own = self.bottleneck.own_aqm
        return self.bottleneck.name + (f" ({own})" if own else "")

    @property
    def highest(self) -> float:
        """The longest delay in any run, ms."""
        return max((run.summary.max or 0) for run in self.runs) / 1e6


_MOST_MARKED = 50
"""Changes of a rate that a plot has room for; with more none is marked."""


def rates(result: Result, queue: Queue) -> list[tuple[int, int]]:
    """The changes of a queue's link rate within the run: time in ns and rate, the first at 0;
    nothing if it is constant."""
    bottleneck = queue.bottleneck
    steps = [step for step in bottleneck.steps if step[0] < result.scenario.duration]
    return [(0, bottleneck.rate), *steps] if 0 < len(steps) <= _MOST_MARKED else []


def queues(result: Result) -> tuple[Queue, ...]:
    """The queues that a packet came to; the first one always."""
    found = []
    for place, bottleneck in enumerate(result.scenario.bottlenecks):
        runs = tuple(
            QueueRun(label, bottleneck.own_aqm or label, aqm.bottlenecks[bottleneck.name])
            for label, aqm in result.aqms.items()
        )
        came = tuple(run for run in runs if run.summary.packets)
        if came or not place:
            found.append(Queue(bottleneck, came if place else runs))
    return tuple(found)


def plotted(result: Result) -> tuple[Queue, ...]:
    """The queues that plots are of: the first one, and those in which a packet waited for longer
    than a short delay, which the target may be."""
    first, *others = queues(result)
    short = min(SHORT_DELAY, result.scenario.target / 1e6)
    return (first, *(queue for queue in others if queue.highest > short))


def heading(result: Result, queue: Queue) -> str:
    """ " at NAME" where there are several queues, or nothing."""
    return f" at {queue.title}" if len(result.scenario.bottlenecks) > 1 else ""
