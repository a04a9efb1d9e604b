"""A run as the Linux ground makes it: its queues, the guest's job, and how its figures are read.

Stands on both forms of what may lie between the hosts, one switch or a network. Runs nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sojourn.linux.groups import has_groups
from sojourn.linux.job import make_job, qdisc_of, shaper_of, shaper_steps
from sojourn.linux.kernel import Kernel
from sojourn.linux.measured import Measured, Raw, measure
from sojourn.linux.network.job import measured_spots, network_job, plan_of
from sojourn.linux.network.rows import measure_network
from sojourn.linux.topology import Managed
from sojourn.linux.traffic import draw


@dataclass(frozen=True)
class Setup:
    """A run, ready to be made."""

    queues: list[Managed]
    """That are measured, in the order of the scenario's bottlenecks."""
    job: dict[str, Any]
    measure: Callable[[Raw], Measured]


def set_up(config: dict[str, Any], kernel: Kernel, *, traffic: str) -> Setup:
    """That of a run on that kernel whose traffic is sent by `traffic`."""
    drawn, virtual_time = draw(config), kernel.virtual_time
    if not has_groups(config):
        plan = plan_of(config, kernel)
        job = network_job(config, plan, drawn, virtual_time=virtual_time, traffic=traffic)
        spots: list[Managed] = list(measured_spots(plan))
        return Setup(spots, job, lambda raw: measure_network(raw, config, plan, drawn))
    managed = Managed(
        shaper_of(config, virtual_time=virtual_time),
        shaper_steps(config, virtual_time=virtual_time),
        qdisc_of(config, kernel.tick),
    )
    job = make_job(
        config, managed.shaper, managed.aqm, drawn, virtual_time=virtual_time, traffic=traffic
    )
    return Setup([managed], job, lambda raw: measure(raw, config, managed, drawn))
