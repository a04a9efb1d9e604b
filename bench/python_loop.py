"""Speed of Python code in a run: a discipline's packets/s, an environment's steps/s.

python bench/python_loop.py
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import sojourn
from sojourn import Decision, Discipline, QueuedPacket, QueueState, _core
from sojourn.runner import plan_scenario
from sojourn.runtime.row_writer import ROWS_AT_ONCE

SCENARIO: dict[str, Any] = {
    "duration": "10 s",
    "aqms": ["fifo"],
    "switch": {"rate": "100 Mbit/s", "queue_limit": "250 kB"},
    "flows": [{"count": 10, "rtt": ["5 ms", "10 ms"]}],
}
ROUNDS = 3


class Both(Discipline):
    """Decides at arrival and at departure, and keeps every packet."""

    def enqueue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
        return Decision.KEEP

    def dequeue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
        return Decision.KEEP


class Head(Discipline):
    """Drops one packet an interval while the delay is above a target."""

    def __init__(self) -> None:
        self.next = 0

    def dequeue(self, packet: QueuedPacket, queue: QueueState, now: int) -> Decision:
        if packet.sojourn < 5_000_000:
            self.next = now + 100_000_000
            return Decision.KEEP
        if now < self.next:
            return Decision.KEEP
        self.next = now + 100_000_000
        return Decision.DROP


def packets_per_second(aqm: str) -> tuple[int, float]:
    """Packets at the queue of a run without files, and as many a second."""
    (run,) = plan_scenario(SCENARIO, aqms=aqm).runs
    simulation = _core.Simulation(run.configuration, list(run.programs))
    packets, began = 0, time.perf_counter()
    while not simulation.finished:
        simulation.advance(run.config["duration"], ROWS_AT_ONCE)
        packets += simulation.take_packets().count
        simulation.take_flows()
    return packets, packets / (time.perf_counter() - began)


def steps_per_second() -> tuple[int, float]:
    """Steps of 10 ms in an episode, and as many a second."""
    env = sojourn.QueueEnv(SCENARIO, lambda queue: -queue.delay)
    env.reset(seed=1)
    action = np.array([0.005])
    steps, done, began = 0, False, time.perf_counter()
    while not done:
        _, _, _, done, _ = env.step(action)
        steps += 1
    return steps, steps / (time.perf_counter() - began)


def best(measure: Callable[[], tuple[int, float]]) -> tuple[int, float]:
    """The fastest of some rounds."""
    return max((measure() for _ in range(ROUNDS)), key=lambda found: found[1])


def main() -> None:
    """Prints a line for each loop."""
    sojourn.register_discipline("both", Both)
    sojourn.register_discipline("head", Head)
    for name, what in (
        ("fifo", "native tail drop"),
        ("codel", "native CoDel"),
        ("head", "Python, dequeue"),
        ("both", "Python, enqueue and dequeue"),
    ):
        count, rate = best(lambda name=name: packets_per_second(name))  # type: ignore[misc]
        print(f"{what:<30}{count:>9} packets{rate:>12,.0f} packets/s")
    count, rate = best(steps_per_second)
    print(f"{'QueueEnv, steps of 10 ms':<30}{count:>9} steps  {rate:>12,.0f} steps/s")


if __name__ == "__main__":
    main()
