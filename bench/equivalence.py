"""Writes docs/equivalence-tables.md and its CSV files from the measurements of `make equivalence`.

python bench/equivalence.py FOLDER DOCS
"""

import csv
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from sojourn.model.units import RATE
from sojourn.runtime.arrow_tables import NEVER_QUEUED

HEAD = """\
# Equivalence: all tables

Made by `make equivalence`; `docs/equivalence.md` says what they show.

Each table is a CSV file in `docs/data/`; an empty cell means that there is no value.

equal: packets about which the program decides as RFC 8289 does. same, <1 us: the RFC's drops that
it makes at the very same packet, or within 1 us. missed, extra: the RFC's drops and its own drops
without a partner in time. median, p99, max: how far away in time the partners of the RFC's drops
are.

In tables of latencies: unsynchronised are the packets that came while a copy was under way; wrong
the drops that the program does not make if copies take no time; missed those that it makes only
then; at once those of them at unsynchronised packets.
"""

REPLAYS = (
    ("rfc", "Synthetic traces, TARGET 5 ms, INTERVAL 100 ms, copies take 1 us"),
    ("data-centre", "Synthetic traces, TARGET 50 us, INTERVAL 1 ms, copies take 1 us"),
    ("recorded", "Traces recorded at the bottleneck of the two runs below, copies take 1 us"),
    ("race", "Latency of copies, TARGET 50 us, INTERVAL 1 ms"),
)
RUNS = ("demo", "gigabit")


def rate_of(group: str) -> int:
    """Of a group's line, in bit/s; recorded traces have none."""
    return 0 if group == "recorded" else RATE.parse(group)


def pooled_table(folder: Path) -> str:
    """All traces of a rate together, copies at the shortest latency."""
    described = json.loads((folder / "replay.json").read_text())
    sums: dict[tuple[str, str], list[int]] = {}
    figures = ("packets", "reference_drops", "drops", "same_packet", "within_1_us", "extra")
    for trace in described["traces"]:
        for outcome in trace["outcomes"]:
            if outcome["recirculation_latency"] == min(described["recirculation_latency"]):
                key = (trace["group"], outcome["aqm"])
                so_far = sums.get(key, [0] * len(figures))
                sums[key] = [
                    sum(pair) for pair in zip(so_far, map(outcome.get, figures), strict=True)
                ]
    lines = [
        "| all traces | AQM | packets | RFC 8289 drops | drops | same % | <1 us % | extra |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (group, aqm), figures_of in sorted(sums.items(), key=lambda each: rate_of(each[0][0])):
        packets, reference, drops, same, near, extra = figures_of
        shares = (f"{100 * part / max(reference, 1):.2f}" for part in (same, near))
        cells = (group, aqm, f"{packets:,}", f"{reference:,}", f"{drops:,}", *shares, f"{extra:,}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


SETTLED = 3_000_000_000
"""ns; slow start is over by then."""


def settled(rows: Path) -> tuple[float, float]:
    """Mean and 99th percentile of queue delay, ns, of packets that left after slow start."""
    packets = pq.read_table(rows, columns=["enqueued", "dequeued", "verdict"])
    time = packets["dequeued"].to_numpy()
    delay = (time - packets["enqueued"].to_numpy())[time > SETTLED]
    verdict = np.array(packets["verdict"].cast("string").to_pylist())[time > SETTLED]
    queued = ~np.isin(verdict, NEVER_QUEUED)
    return float(delay[queued].mean()), float(np.percentile(delay[queued], 99))


def run_table(folder: Path) -> str:
    """Delay, goodput and drops of each AQM of a run."""
    described = json.loads((folder / "run.json").read_text())
    lines = [
        f"\n## Closed loop: {described['scenario']['title']}\n",
        "| AQM | mean ms | median | p95 | p99 | max | mean after 3 s | p99 after 3 s "
        "| goodput Mbit/s | drops | copies |",
        "|---" * 11 + "|",
    ]
    folders = {run["label"]: run["folder"] for run in described["runs"]}
    for aqm in json.loads((folder / "summary.json").read_text())["aqms"]:
        whole = (f"{aqm[name] / 1e6:.1f}" for name in ("mean", "median", "p95", "p99", "max"))
        later = settled(folder / folders[aqm["aqm"]] / "packets.parquet")
        delays = (*whole, *(f"{delay / 1e6:.1f}" for delay in later))
        rest = (f"{aqm['goodput'] / 1e6:.1f}", f"{aqm['aqm_drops']:,}", f"{aqm['mirrored']:,}")
        lines.append("| " + " | ".join((aqm["aqm"], *delays, *rest)) + " |")
    return "\n".join(lines)


_TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)
_GROUPED = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")


def cells_of(line: str) -> list[str]:
    """The cells of a table's line: numbers without separators, a dash as an empty cell."""
    cells = (cell.strip() for cell in line.strip().strip("|").split("|"))
    plain = (cell.replace(",", "") if _GROUPED.fullmatch(cell) else cell for cell in cells)
    return ["" if cell == "-" else cell for cell in plain]


def write_section(name: str, text: str, docs: Path) -> str:
    """The section with each table as a reference to a CSV file, which is written below `docs`."""
    data = docs / "data"
    data.mkdir(exist_ok=True)
    number = 0

    def move(found: re.Match[str]) -> str:
        nonlocal number
        number += 1
        header, _, *rows = found[0].splitlines()
        file = data / f"equivalence-{name}-{number}.csv"
        with file.open("w", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(map(cells_of, [header, *rows]))
        return f"```{{csv-table}}\n:file: data/{file.name}\n:header-rows: 1\n```\n"

    return _TABLE.sub(move, text)


def sections(root: Path) -> Iterator[tuple[str, str]]:
    """Name and Markdown of each section, from the folders of `make equivalence`."""
    for folder, title in REPLAYS:
        pooled = "" if folder == "race" else f"{pooled_table(root / folder)}\n\n"
        yield folder, f"## {title}\n\n{pooled}{(root / folder / 'tables.md').read_text()}"
    for folder in RUNS:
        yield folder, f"{run_table(root / folder).lstrip()}\n"


def main() -> None:
    """Reads the folder of the first argument, writes into that of the second."""
    root, docs = map(Path, sys.argv[1:])
    written = [write_section(name, text, docs).strip() for name, text in sections(root)]
    (docs / "equivalence-tables.md").write_text("\n\n".join([HEAD.strip(), *written]) + "\n")


if __name__ == "__main__":
    main()
