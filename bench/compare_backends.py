"""A scenario in the simulator, through the live switch and on the Linux kernel.

Goodput and the mean delay in the queue.

python bench/compare_backends.py [SCENARIO] [--seeds 3]     # ten minutes; as root

Prints a table: the median of the seeds, and its difference from the simulation.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from machine import machine
from sojourn.results.result import AqmResult, read_result
from sojourn.runtime.folder import RunFolder

ALL = ("fifo", "codel", "codel_exact")
AQMS: dict[str, tuple[str, ...]] = {"sim": ALL, "live": ALL, "linux": ALL[:2]}
"""By backend; the kernel runs no P4."""


@dataclass(frozen=True)
class Figures:
    """Of a run."""

    goodput: float
    """Mbit/s of TCP's payload at the receivers."""
    delay: float
    """ms, mean of the packets that were sent."""
    disturbed: str


def main() -> None:
    """Each backend with each seed."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("scenario", nargs="?", default="three_flows")
    options.add_argument("--seeds", type=int, default=3)
    given = options.parse_args()
    found: dict[tuple[str, str], list[Figures]] = {}
    for seed in range(1, given.seeds + 1):
        for backend, aqms in AQMS.items():
            for aqm, figures in measured(given.scenario, backend, aqms, seed).items():
                found.setdefault((aqm, backend), []).append(figures)
                print(f"seed {seed}, {aqm} on {backend}: {figures}", file=sys.stderr, flush=True)
    load = os.getloadavg()
    print(
        f"`{given.scenario}`, {given.seeds} seeds; {machine()}; load average {load[2]:.1f} (15 min)"
    )
    print("\n| AQM | on | goodput, Mbit/s | of the simulation's | mean delay, ms | ", end="")
    print("of the simulation's | disturbed |\n|---|---|---|---|---|---|---|")
    for (aqm, backend), each in sorted(found.items(), key=lambda pair: ALL.index(pair[0][0])):
        simulated = found[aqm, "sim"]
        cells = [aqm, backend]
        for name in ("goodput", "delay"):
            here, there = (
                statistics.median(getattr(one, name) for one in runs) for runs in (each, simulated)
            )
            cells += [f"{here:.2f}", f"{100 * (here / there - 1):+.1f} %"]
        print(f"| {' | '.join(cells)} | {sum(bool(one.disturbed) for one in each)} |")


def measured(scenario: str, backend: str, aqms: tuple[str, ...], seed: int) -> dict[str, Figures]:
    """By AQM."""
    with tempfile.TemporaryDirectory() as place:
        out = Path(place) / "run"
        command = [sys.executable, "-m", "sojourn", "run", scenario, "--on", backend, "--no-report"]
        command += ["--set", f"seed={seed}", "--out", str(out), *(f"--aqm={aqm}" for aqm in aqms)]
        if backend != "sim":
            command.append("--accept-disturbed")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        result = read_result(RunFolder.open(out))
        reported = result.folder.backend.get("runs", {})
        return {
            label: figures_of(run, reported.get(label, {}).get("disturbed", ""))
            for label, run in result.aqms.items()
        }


def figures_of(run: AqmResult, disturbed: str) -> Figures:
    """From a run's rows and counters."""
    packets, counters = run.packets, run.findings.counters
    sent = packets["verdict"].cast("string").to_numpy(zero_copy_only=False) == "sent"
    waited = packets["dequeued"].to_numpy() - packets["enqueued"].to_numpy()
    duration = packets["dequeued"].to_numpy().max()
    delivered = sum(flow["delivered"] for flow in counters["flows"])
    return Figures(delivered * 8e3 / duration, float(np.mean(waited[sent])) / 1e6, disturbed)


if __name__ == "__main__":
    main()
