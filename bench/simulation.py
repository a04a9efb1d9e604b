"""Packets a second through the whole simulation, one AQM at a time and all at once.

Usage: bench/simulation.py [SCENARIO] [--repeat N]

The rate is packets offered to the bottleneck over wall-clock time of the engine and the row
writers; start-up, statistics and plots are left out. The best of N runs is shown: what disturbs a
run only ever slows it down.
"""

import argparse
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from machine import machine
from sojourn.runner import plan_scenario
from sojourn.runtime.engine import simulate
from sojourn.runtime.plan import Plan
from sojourn.runtime.run_files import PACKETS


def main() -> None:
    parser = argparse.ArgumentParser(description="packets/s through the whole simulation")
    parser.add_argument("scenario", nargs="?", default="bufferbloat")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    plan = plan_scenario(arguments.scenario)
    print(f"{plan.name}, {plan.scenario.duration / 1e9:g} s simulated; {machine()}")
    print(f"{'AQM':24}{'packets':>10}{'seconds':>10}{'packets/s':>12}")
    for run in plan.runs:
        show(run.label, *best(Plan(plan.name, plan.scenario, (run,)), arguments.repeat))
    show("all, in parallel", *best(plan, arguments.repeat))


def best(plan: Plan, repeat: int) -> tuple[int, float]:
    """Packets of all of the plan's runs, and the shortest time that they took."""
    return min((measure(plan) for _ in range(repeat)), key=lambda measured: measured[1])


def measure(plan: Plan) -> tuple[int, float]:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        simulate(plan, Path(folder))
        seconds = time.perf_counter() - start
        packets = sum(
            pq.ParquetFile(Path(folder) / run.folder / PACKETS).metadata.num_rows
            for run in plan.runs
        )
    return packets, seconds


def show(label: str, packets: int, seconds: float) -> None:
    print(f"{label:24}{packets:10}{seconds:10.2f}{packets / seconds:12,.0f}")


if __name__ == "__main__":
    main()
