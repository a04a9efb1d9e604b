"""Instructions that a packet costs in the passes of each program, beside what they were.

Usage: bench/instructions.py [--keep] [PROGRAM.p4 ...]

Counted by valgrind's callgrind, so that neither the machine nor what else it does matters: the
difference between two numbers of packets through `crates/targets/examples/passes`, built as a
release is. The yardstick is p4_codel written by hand in Rust behind the same interface. What has
grown by more than a twentieth is marked. `--keep` writes today's figures into `instructions.json`.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
KEPT = HERE / "instructions.json"
"""The committed figures."""

YARDSTICK = "-"
"""What the example calls the program that is written by hand."""

GROWN = 1.05
"""What is marked: times the committed figure."""

FEW, MANY = 4_000, 24_000
"""Packets of the two runs; the first thousand are other than the rest."""

EXAMPLE = ("cargo", "build", "--locked", "--quiet", "--release", "-p", "sojourn-targets")


def main() -> None:
    parser = argparse.ArgumentParser(description="instructions a packet, program by program")
    parser.add_argument("programs", nargs="*", help="all that are shipped, unless given")
    parser.add_argument("--keep", action="store_true", help="commit to today's figures")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("instructions are not counted: valgrind is not installed (apt-get install valgrind)")
        return
    example = built()
    before: dict[str, int] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    now: dict[str, int] = {}
    print(f"{'instructions a packet':32}{'now':>8}{'before':>8}")
    for program in arguments.programs or [YARDSTICK, *shipped()]:
        now[program] = per_packet(example, program)
        print(line(program, now[program], before.get(program)), flush=True)
    if arguments.keep:
        KEPT.write_text(json.dumps(before | now, indent=1) + "\n", encoding="utf-8")


def built() -> Path:
    """The example, built as a release is."""
    subprocess.run([*EXAMPLE, "--example", "passes"], cwd=ROOT, check=True)
    asked = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    described = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True)
    return Path(json.loads(described.stdout)["target_directory"]) / "release/examples/passes"


def shipped() -> list[str]:
    """The programs whose passes the example knows, from the repository's root."""
    folders = [ROOT / "p4" / name for name in ("tna", "v1model")]
    found = [path for folder in folders for path in sorted(folder.glob("*.p4"))]
    return [str(path.relative_to(ROOT)) for path in found]


def per_packet(example: Path, program: str) -> int:
    few, many = (counted(example, program, packets) for packets in (FEW, MANY))
    return (many - few) // (MANY - FEW)


def counted(example: Path, program: str, packets: int) -> int:
    """Instructions of a whole run."""
    with tempfile.TemporaryDirectory() as folder:
        to = f"--callgrind-out-file={folder}/out"
        command = ["valgrind", "--tool=callgrind", to, str(example), str(packets), program]
        run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or found is None:
        sys.exit(f"{program}: {run.stderr}")
    return int(found[1])


def line(program: str, now: int, before: int | None) -> str:
    name = "p4_codel by hand" if program == YARDSTICK else program
    if before is None:
        return f"{name:32}{now:8,}"
    grown = "  MORE" if now > GROWN * before else ""
    return f"{name:32}{now:8,}{before:8,}{grown}"


if __name__ == "__main__":
    main()
