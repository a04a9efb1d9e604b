"""Runs the jobs of a sweep that have no outcome yet, and stores each outcome on arrival.

Depends on the store and on workers of any kind. Holds no data of a stored run.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from sojourn.common.resources import shown
from sojourn.errors import Interrupted
from sojourn.studies.sweeps.job import Failure, Job, Outcome
from sojourn.studies.sweeps.plan import SweepPlan
from sojourn.studies.sweeps.store import Store


class Workers(Protocol):
    """Something that runs jobs."""

    @property
    def name(self) -> str:
        """A short description of the workers."""

    def outcomes(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Outcome | Failure]]:
        """Runs `jobs` and yields each with what it came to, in the order in which they end."""


@dataclass
class State:
    """The progress of a sweep."""

    total: int
    found: int
    """Runs that an earlier start left."""
    done: int = 0
    failures: list[tuple[str, Failure]] = field(default_factory=list)


def coordinate(
    plan: SweepPlan,
    store: Store,
    workers: Callable[[], Workers],
    tell: Callable[[State], None] = lambda _: None,
) -> State:
    """Runs what is missing; `workers` are only asked for if something is.

    `tell` is called as often as a run ends. Runs that fail are listed and end nothing.
    """
    missing = {run.job.digest: run for run in plan.runs if not store.has(run.job)}
    state = State(len(plan.runs), len(plan.runs) - len(missing))
    tell(state)
    try:
        jobs = (run.job for run in missing.values())
        for job, outcome in workers().outcomes(jobs) if missing else ():
            match outcome:
                case Outcome():
                    store.keep(job, outcome)
                    state.done += 1
                case Failure():
                    state.failures.append((str(missing[job.digest]), outcome))
            tell(state)
    except KeyboardInterrupt:
        ended = state.found + state.done
        raise Interrupted(
            f"stopped after {ended} of {state.total} runs, which are kept in {shown(store.path)}\n"
            "Give the same command again to go on."
        ) from None
    finally:
        # In the plan's order: the order in which runs end differs from start to start.
        order = {name: place for place, name in enumerate(map(str, missing.values()))}
        state.failures.sort(key=lambda failure: order[failure[0]])
        store.tell_failures(state.failures)
    return state
