"""The shipped scenarios with more than long flows, in the simulator and on the Linux kernel.

python bench/same_traffic.py [--out FOLDER] > docs/data/linux-same-traffic.csv     # 15 min

Prints a table of docs/linux.md: simulator / kernel in virtual time, a run each. Needs the kernel
that `sojourn linux build-kernel` makes. Runs that FOLDER has already are not made again.
"""

import argparse
import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

AQMS = ("fifo", "codel_linux", "fq_codel")

Of = Callable[[dict[str, Any]], float]
"""A figure out of what a run's summary says of an AQM."""


def voice(name: str, scale: float, digits: int) -> tuple[Of, int]:
    """Of the calls; times are in ns."""
    return lambda aqm: aqm["voices"][0][name] * scale, digits


def completed(what: str, name: str, scale: float = 1e-6, digits: int = 3) -> tuple[Of, int]:
    """Of completion times, in ns, by what was completed."""

    def of(aqm: dict[str, Any]) -> float:
        (found,) = (one for one in aqm["completion_times"] if one["what"] == what)
        return float(found[name]) * scale

    return of, digits


def count(what: str) -> tuple[Of, int]:
    """How many were completed."""
    return completed(what, "count", 1, 6)


def drops(aqm: dict[str, Any]) -> float:
    """Of the AQM and for want of room."""
    return float(aqm["aqm_drops"] + aqm["tail_drops"])


ROWS: dict[str, dict[str, tuple[Of, int]]] = {
    "voip": {
        "one-way delay, mean, ms": voice("mean", 1e-6, 3),
        "95th percentile, ms": voice("p95", 1e-6, 3),
        "RFC 3550's jitter, ms": voice("jitter", 1e-6, 3),
        "lost, %": voice("lost", 100, 2),
        "too late to be played, %": voice("late", 100, 3),
        "MOS": voice("score", 1, 3),
    },
    "requests": {
        "answered in 30 s": count("requests cubic"),
        "response time, median, ms": completed("requests cubic", "median"),
        "95th percentile, ms": completed("requests cubic", "p95"),
    },
    "short_transfers": {
        "completed in 30 s": count("transfers cubic"),
        "below 10 kB, median, ms": completed("below 10 kB", "median"),
        "95th percentile, ms": completed("below 10 kB", "p95"),
        "10 to 100 kB, median, ms": completed("10 to 100 kB", "median"),
        "100 kB to 1 MB, median, ms": completed("100 kB to 1 MB", "median"),
    },
    "reverse": {
        "downloads and upload, Mbit/s": (lambda aqm: aqm["goodput"] / 1e6, 3),
        "queue of the way up, mean, ms": (
            lambda aqm: aqm["bottlenecks"]["home>isp"]["mean"] / 1e6,
            3,
        ),
    },
    "incast": {
        "whole rounds, median, ms": completed("whole rounds", "median"),
        "99th percentile, ms": completed("whole rounds", "p99"),
        "packets dropped in 5 s": (drops, 6),
    },
}
"""By scenario: what is said, how it is read, and with how many digits."""


def main() -> None:
    """Each scenario on both backends."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--out", type=Path, default=Path("same_traffic"))
    given = options.parse_args()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(("scenario", "figure", "tail drop", "CoDel", "fq_codel"))
    for scenario, rows in ROWS.items():
        runs = [run(scenario, given.out / f"{scenario}-{name}", name) for name in ("sim", "linux")]
        for what, (of, digits) in rows.items():
            pairs = [
                " / ".join(f"{of(aqm):.{digits}g}" for aqm in both)
                for both in zip(*runs, strict=True)
            ]
            table.writerow((f"`{scenario}`", what, *pairs))
            sys.stdout.flush()


def run(scenario: str, out: Path, backend: str) -> list[dict[str, Any]]:
    """What the run's summary says of each AQM."""
    if not (out / "summary.json").exists():
        command = [sys.executable, "-m", "sojourn", "run", scenario, "--no-report"]
        command += ["--out", str(out), *(f"--aqm={aqm}" for aqm in AQMS)]
        if backend == "linux":
            command += ["--on", "linux", "--kernel", "virtual"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    found: list[dict[str, Any]] = json.loads((out / "summary.json").read_text())["aqms"]
    return found


if __name__ == "__main__":
    main()
