"""Area and clock of the modules: the tables of README.md, by `python hardware/synthesis.py`.

`ROW ...` are rows of the table of cells, from 1, `--clock ROW` is one of the table of clocks, with
`--seed N` from that seed alone. All of both without any.

yosys (Debian: yosys) maps them onto Xilinx' seven series, to which NetFPGA SUME's Virtex-7 belongs;
LUTs are those of all sizes, inverters among them. For a clock, which only place and route can tell
and nothing open tells for a Virtex, the modules are also placed and routed on a Lattice ECP5 by
nextpnr, which comes from PyPI: an older and slower chip, so an estimate from below. Where placing
begins is chance, so it is done from several seeds. yosys leaves the registers of an ECP5's
multiplier unused; there `ecp5/multiplier.sv` takes the place of the module of that name.
"""

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import tools

SEVEN = "synth_xilinx -family xc7 -flatten -noiopad -top {top}"
CASES = (
    ("codel, 1 queue: the decisions", "codel", ""),
    ("codel, 16 queues", "codel", "-set QUEUES 16"),
    (
        "fq_codel, 64 flows, 2,048 packets",
        "fq_codel",
        "-set FLOWS 64 -set PACKETS 2048",
    ),
    (
        "fq_codel, 1,024 flows, 2,048 packets",
        "fq_codel",
        "-set FLOWS 1024 -set PACKETS 2048",
    ),
    ("codel_queue, 1 queue of 64 KB, with AXI-Lite", "codel_queue", ""),
    ("codel_queue, 4 queues of 64 KB", "codel_queue", "-set QUEUES 4"),
    ("fq_codel_queue, 1,024 flows in 64 KB, with AXI-Lite", "fq_codel_queue", ""),
)


SEEDS = (1, 2, 3)
CLOCKS = (CASES[0], CASES[3], CASES[4])
"""Those that are placed and routed."""


def yosys(script: str, folder: Path, sources: list[Path] = tools.SOURCES) -> str:
    """Runs a script after reading the modules; what it printed."""
    read = f"read_verilog -sv {' '.join(map(str, sources))}; "
    command = ["yosys", "-p", read + script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stdout


def cells(printed: str) -> dict[str, int]:
    """Cells by type, from the last statistics of a run."""
    found = re.findall(r"^ +([A-Z][A-Z0-9_]+) +(\d+)$", printed.rpartition("=== ")[2], re.M)
    return {name: int(number) for name, number in found}


def total(found: dict[str, int], pattern: str) -> int:
    return sum(number for name, number in found.items() if re.fullmatch(pattern, name))


def clocks(top: str, changed: str, seeds: Sequence[int], folder: Path) -> list[float]:
    """MHz of a module on an ECP5, from each seed; `tools.MissingError` without a placer."""
    place = tools.placer()
    own = sorted((tools.HARDWARE / "ecp5").glob("*.sv"))
    names = {path.name for path in own}
    sources = own + [path for path in tools.SOURCES if path.name not in names]
    setting = f"chparam {changed} {top}; " if changed else ""
    cells = "read_verilog -lib +/ecp5/cells_bb.v; "
    script = f"{cells}{setting}hierarchy -top {top}; synth_ecp5 -top {top} -json ecp5.json"
    yosys(script, folder, sources)
    found = []
    for seed in seeds:
        words = f"--85k --speed 8 --package CABGA381 --out-of-context --freq 200 --seed {seed}"
        command = [place, *words.split(), "--json", "ecp5.json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        said = done.stderr + done.stdout
        reached = re.findall(r"Max frequency for clock.*?: ([\d.]+) MHz", said)
        if not reached:
            raise SystemExit(said[-2000:])
        found.append(float(reached[-1]))
    return found


def print_cells(rows: Sequence[int], folder: Path) -> None:
    """The table of cells: the rows of these numbers, from 1."""
    print("| | LUT | FF | BRAM (36 Kbit) | DSP |\n|---|---|---|---|---|")
    for what, top, changed in (CASES[row - 1] for row in rows):
        setting = f"chparam {changed} {top}; " if changed else ""
        found = cells(yosys(setting + SEVEN.format(top=top) + "; stat", folder))
        lut = total(found, r"LUT\d|INV") + 4 * total(found, "RAM32M|RAM64M|RAM64X1D|RAM32X1D")
        memory = total(found, "RAMB36E1") + total(found, "RAMB18E1") / 2
        flip_flops, products = total(found, "FD[RSCP]E"), total(found, "DSP48E1")
        print(f"| {what} | {lut} | {flip_flops} | {memory:g} | {products} |", flush=True)


def print_clocks(rows: Sequence[int], seeds: Sequence[int], folder: Path) -> None:
    """The table of clocks: the rows of these numbers, from 1."""
    print("| on an ECP5, speed grade 8 | MHz, from each of three seeds |\n|---|---|")
    for what, top, changed in (CLOCKS[row - 1] for row in rows):
        found = clocks(top, changed, seeds, folder)
        print(f"| {what} | {', '.join(f'{mhz:.0f}' for mhz in found)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="cells and clocks of the modules")
    parser.add_argument("rows", nargs="*", type=int, metavar="ROW")
    parser.add_argument("--clock", type=int, choices=range(1, len(CLOCKS) + 1))
    parser.add_argument("--seed", type=int, help=f"of placing, instead of {SEEDS}")
    asked = parser.parse_args()
    if not all(1 <= row <= len(CASES) for row in asked.rows):
        parser.error(f"rows are numbered from 1 to {len(CASES)}")
    if shutil.which("yosys") is None:
        print("yosys is missing: apt-get install yosys", file=sys.stderr)
        sys.exit(tools.NOT_THERE)
    folder = tools.FOLDER / "synthesis"
    folder.mkdir(parents=True, exist_ok=True)
    everything = not asked.rows and asked.clock is None
    if asked.rows or everything:
        print_cells(asked.rows or range(1, len(CASES) + 1), folder)
    if asked.clock or everything:
        clocked = [asked.clock] if asked.clock else range(1, len(CLOCKS) + 1)
        print_clocks(clocked, SEEDS if asked.seed is None else [asked.seed], folder)


if __name__ == "__main__":
    try:
        main()
    except tools.MissingError as missing:
        print(missing, file=sys.stderr)
        sys.exit(tools.NOT_THERE)
