"""Feeds the packets of a run on the Linux kernel to our discipline and compares the drops.

    .venv/bin/python bench/second_sources/kernel_run.py RUN

RUN is a folder of `sojourn run --on linux` with `codel_linux` or `fq_codel`, without ECN. Our
discipline gets each packet when the kernel's got it and is asked for one whenever the kernel's
sent one, so what TCP did of the drops is in the arrivals. It uses the run's `packets.parquet`
and must not know what a discipline does.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = {"codel_linux": ["codel_linux"], "fq_codel": ["fq_codel", "linux=1"]}
"""By the run's name of the AQM: our discipline, and how it is the kernel's."""

PHASES = range(0, 1024, 256)
"""The kernel's CoDel counts ticks of 1024 ns, which began we do not know when before the run."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path)
    folder = parser.parse_args().run
    if not (folder / "run.json").exists():
        sys.exit(f"{folder} is no run: it has no run.json")
    ground = json.loads((folder / "run.json").read_text(encoding="utf-8")).get("ground") or {}
    if ground.get("name") != "linux":
        sys.exit(f"{folder} was not run on the Linux kernel: sojourn run SCENARIO --on linux")
    print("| AQM | kernel | packets | sent | equal | dropped by the kernel | by ours | equal |")
    print("|---|---|---|---|---|---|---|---|")
    for aqm, words in OURS.items():
        if (folder / aqm / "packets.parquet").exists():
            limit = re.search(r"\blimit (\d+)", ground["runs"][aqm]["qdisc"])
            words = [*words, f"limit={limit[1]}"] if limit else words
            clock = f"{ground['kernel']}, {ground['clock']} time"
            print(f"| {aqm} | {clock} | {compared(folder / aqm, words)} |")


def compared(folder: Path, words: list[str]) -> str:
    """The counts at that phase of the kernel's ticks at which most drops are equal."""
    rows = pq.read_table(folder / "packets.parquet").to_pylist()
    sent = {(row["dequeued"], row["packet"]) for row in rows if row["verdict"] == "sent"}
    dropped = {(row["dequeued"], row["packet"]) for row in rows if row["verdict"] != "sent"}
    best: tuple[int, ...] = ()
    for phase in PHASES:
        ours = follow(words, events(rows, phase))
        ours_sent = {(time - phase, packet) for kind, time, packet in ours if kind == "sent"}
        ours_dropped = {(time - phase, packet) for kind, time, packet in ours if kind == "drop"}
        equal = (
            len(sent & ours_sent),
            len(dropped),
            len(ours_dropped),
            len(dropped & ours_dropped),
        )
        best = max(best, (equal[-1], len(rows), len(sent), *equal))
    return " | ".join(f"{count:,}" for count in best[1:])


def events(rows: list[dict[str, Any]], phase: int) -> str:
    """What came and what left, in the order of time; what came at an instant comes first."""
    came = [(row["enqueued"] + phase, 0, row) for row in rows]
    left = [(row["dequeued"] + phase, 1, row) for row in rows if row["verdict"] == "sent"]
    in_order = sorted(came + left, key=lambda event: (event[0], event[1], event[2]["packet"]))
    return "\n".join(
        f"out {time}" if out else f"in {time} {row['packet']} {row['size']} {row['flow'] + 1}"
        for time, out, row in in_order
    )


def follow(words: list[str], lines: str) -> list[tuple[str, int, int]]:
    cargo = ["cargo", "run", "--quiet", "--locked", "-p", "sojourn-switch"]
    command = [*cargo, "--example", "second_sources", "--", "follow", *words]
    done = subprocess.run(
        command, cwd=ROOT, input=lines, check=True, stdout=subprocess.PIPE, text=True
    )
    reported = (line.split() for line in done.stdout.splitlines())
    return [(kind, int(time), int(packet)) for kind, time, packet in reported]


if __name__ == "__main__":
    main()
