"""A run of the Linux backend: its queues, the guest's job, and the reading of its figures.

Depends on the job and on the rows. Runs nothing.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.backends.linux.job import make_job, spaces_of
from sojourn.backends.linux.kernel import Kernel
from sojourn.backends.linux.measurements import Measured, Raw
from sojourn.backends.linux.rows import measure
from sojourn.backends.linux.topology import Managed
from sojourn.backends.linux.traffic import workload_of


@dataclass(frozen=True)
class Setup:
    """A run, ready to be made."""

    queues: Sequence[Managed]
    """That are measured, in the order of the scenario's bottlenecks."""
    job: dict[str, Any]
    measure: Callable[[Raw], Measured]


def set_up(
    config: dict[str, Any], kernel: Kernel, *, traffic: str, sample: int | None = None
) -> Setup:
    """That of a run on that kernel whose traffic is sent by `traffic`; `sample` is ns between two
    samples of its sockets in virtual time, if not the usual."""
    workload = workload_of(config)
    spaces = spaces_of(config, workload, kernel)
    job = make_job(
        config,
        spaces,
        workload,
        virtual_time=kernel.virtual_time,
        traffic=traffic,
        sample=sample if kernel.virtual_time else None,
    )
    return Setup(spaces.measured, job, lambda raw: measure(raw, config, spaces, workload))
