"""Comparison of our `bf-rt.json` with that of p4c's back end for Tofino, table by table.

Usage: bench/judge/bfrt.py THEIRS.json PROGRAM.p4 [-I FOLDER]... [--writer PATH]

THEIRS.json is what `p4c-barefoot --bf-rt-schema THEIRS.json` has written for the program. The order
of the tables does not count, all else does. Tables that the assembler makes, and no program
declares, are left out: debug counters. The settings of snapshots have the number of one of the two
passes; the back end takes it by where they lie in its memory, so that either is right.

The writer is this project's example `schemas`:
cargo build --release -p sojourn-protocols --example schemas
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
WRITER = ROOT / "target" / "release" / "examples" / "schemas"
DRIVER = {"TblDbgCnt"}


def tables(document: dict[str, Any]) -> dict[str, Any]:
    """Tables and learn filters by name and type, those of the driver left out."""
    found = {
        f"{table['name']} ({table['table_type']})": settled(table)
        for table in document["tables"]
        if table["table_type"] not in DRIVER
    }
    return found | {f"{each['name']} (filter)": each for each in document["learn_filters"]}


def settled(table: dict[str, Any]) -> dict[str, Any]:
    """A table without what depends on where things lie in the back end's memory."""
    if table["table_type"] != "SnapshotCfg":
        return table
    passes = sorted(table["depends_on"])
    of_a_pass = table["id"] & 0xFFFFFF in {number & 0xFFFFFF for number in passes}
    return table | {"depends_on": passes, "id": of_a_pass or table["id"]}


def differences(theirs: Any, ours: Any, place: str = "") -> list[str]:
    """Where two documents differ: the innermost places."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        keys = sorted(theirs.keys() | ours.keys())
        nested = (differences(theirs.get(k), ours.get(k), f"{place}.{k}") for k in keys)
        return [line for lines in nested for line in lines]
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        pairs = enumerate(zip(theirs, ours, strict=True))
        nested = (differences(a, b, f"{place}[{at}]") for at, (a, b) in pairs)
        return [line for lines in nested for line in lines]
    return [] if theirs == ours else [f"{place}: theirs {theirs}, ours {ours}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("theirs", type=Path)
    parser.add_argument("program", type=Path)
    parser.add_argument("-I", dest="include", action="append", default=[])
    parser.add_argument("--writer", type=Path, default=WRITER)
    given = parser.parse_args()
    folders = [str(ROOT / "p4" / "include"), *given.include]
    with tempfile.TemporaryDirectory() as folder:
        includes = [word for path in folders for word in ("-I", path)]
        subprocess.run([given.writer, folder, *includes, str(given.program)], check=True)
        written = Path(folder) / f"{given.program.name}.bfrt.json"
        if not written.is_file():
            error = Path(folder) / f"{given.program.name}.error"
            sys.exit(error.read_text())
        ours = tables(json.loads(written.read_text()))
    theirs = tables(json.loads(given.theirs.read_text()))
    same = [name for name in theirs if name in ours and theirs[name] == ours[name]]
    print(f"{len(theirs)} tables: {len(same)} same")
    for name in sorted(theirs.keys() | ours.keys()):
        if name not in ours:
            print(f"  {name}: not in ours")
        elif name not in theirs:
            print(f"  {name}: not in theirs")
        else:
            for line in differences(theirs[name], ours[name])[:5]:
                print(f"  {name}{line[:160]}")


if __name__ == "__main__":
    main()
