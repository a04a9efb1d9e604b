"""Instructions that a packet costs in the simulator and in the passes of each program, compared
with the recorded ones.

Usage: bench/instructions.py [--keep] [--short] [PROGRAM.p4 ...]

Counted by valgrind's callgrind, so that neither the machine nor what else it does matters: the
difference between two numbers of packets through `crates/bench/examples/passes.rs`, and between two
lengths of the run of `crates/net/examples/simulate`, native CoDel, by components; both built as a
release is. A packet of that run is one at the bottleneck, its acknowledgement included. Programs
have a yardstick, p4_codel written by hand in Rust behind the same interface. What has grown by more
than a twentieth is marked. `--keep` writes today's figures into `instructions.json`.

Where valgrind is not installed it is processor time of longer runs of the same, beside nothing.

`--short` counts a few packets, of the simulator and of a few programs, in the examples as `cargo
test` builds them, beside figures of such builds, and ends in 1 if one has grown by more than 15 %.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import callgrind
import processor
from components import by_component

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
KEPT = HERE / "instructions.json"
"""The committed figures."""

YARDSTICK = "-"
"""What the example calls the program that is written by hand."""


class Kind(NamedTuple):
    """How it is counted."""

    name: str
    """Of its figures in the file."""
    profile: str
    """Cargo's."""
    folder: str
    """Where that puts what it builds."""
    packets: tuple[int, int]
    """Of the two runs of a program."""
    milliseconds: tuple[int, int]
    """Of the two runs of the simulator."""
    grown: float
    """What is marked: times the committed figure."""


RELEASE = Kind("release", "release", "release", (60_000, 80_000), (1_000, 3_000), 1.05)
"""The first are other than the rest: what runs for one packet in 250 is compiled among them."""
SHORT = Kind("test", "dev", "debug", (1_000, 2_000), (100, 300), 1.15)

TIMED_PACKETS, TIMED_MILLISECONDS = (20_000, 320_000), (5_000, 45_000)
"""Where time is measured: enough for a clock that counts milliseconds."""

SIMULATOR = "the simulator, native CoDel"
"""What a packet costs where nothing runs a program."""

FEW = [YARDSTICK, "p4/tna/p4_codel.p4", "p4/v1model/codel.p4"]
"""What `--short` counts."""


def main() -> None:
    parser = argparse.ArgumentParser(description="instructions a packet, program by program")
    parser.add_argument("programs", nargs="*", help="all that are shipped, unless given")
    parser.add_argument("--keep", action="store_true", help="commit to today's figures")
    parser.add_argument("--short", action="store_true", help="few programs, as tests are built")
    arguments = parser.parse_args()
    if not callgrind.is_there():
        print(callgrind.MISSING)
        if not arguments.short:
            show_times(arguments.programs)
        return
    kind = SHORT if arguments.short else RELEASE
    passes, simulate = built(kind)
    kept: dict[str, dict[str, int]] = json.loads(KEPT.read_text("utf-8")) if KEPT.exists() else {}
    before = kept.get(kind.name, {})
    now: dict[str, int] = {}
    print(f"{'instructions a packet':34}{'now':>8}{'before':>8}")
    if not arguments.programs:
        parts = simulator(simulate, kind)
        for name in [SIMULATOR] if arguments.short else parts:
            now[name] = parts[name]
            print(line(name, now[name], before.get(name), kind), flush=True)
    all_of_kind = FEW if arguments.short else [YARDSTICK, *shipped()]
    for program in arguments.programs or all_of_kind:
        now[program] = per_packet(passes, program, kind)
        print(line(program, now[program], before.get(program), kind), flush=True)
    if arguments.keep:
        figures = kept | {kind.name: before | now}
        KEPT.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    elif arguments.short and any(grown(now[p], before.get(p), kind) for p in now):
        sys.exit("more than is committed to; to commit to it: bench/instructions.py --short --keep")


def show_times(programs: list[str]) -> None:
    """Processor time a packet, of the same as instructions are."""
    passes, simulate = built(RELEASE)
    print(f"{'processor time a packet, ns':34}{'now':>8}")
    if not programs:
        (few, before), (many, after) = (
            processor.seconds([str(simulate), str(milliseconds)], ROOT)
            for milliseconds in TIMED_MILLISECONDS
        )
        print(time_line(SIMULATOR, (many - few) / (int(after) - int(before))), flush=True)
    for program in programs or [YARDSTICK, *shipped()]:
        few, many = (
            processor.seconds([str(passes), str(packets), program], ROOT)[0]
            for packets in TIMED_PACKETS
        )
        packets = TIMED_PACKETS[1] - TIMED_PACKETS[0]
        print(time_line(program, (many - few) / packets), flush=True)


def built(kind: Kind) -> list[Path]:
    """The examples of the passes and of the simulator."""
    names = ["passes", "simulate"]
    # With the features that everything together has, as `cargo test --workspace` builds it.
    what = ("--workspace", *(f"--example={name}" for name in names), "--profile", kind.profile)
    # A release has no tables of lines, by which the components are distinguished.
    environment = os.environ | {"CARGO_PROFILE_RELEASE_DEBUG": "line-tables-only"}
    command = ["cargo", "build", "--locked", "--quiet", *what]
    subprocess.run(command, cwd=ROOT, check=True, env=environment)
    asked = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    described = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True)
    target = Path(json.loads(described.stdout)["target_directory"])
    return [target / kind.folder / "examples" / name for name in names]


def shipped() -> list[str]:
    """The programs whose passes the example knows, from the repository's root."""
    folders = [ROOT / "p4" / name for name in ("tna", "v1model")]
    found = [path for folder in folders for path in sorted(folder.glob("*.p4"))]
    return [str(path.relative_to(ROOT)) for path in found]


def per_packet(example: Path, program: str, kind: Kind) -> int:
    """Of the passes of a program."""
    few, many = (counted(example, str(packets), program).whole for packets in kind.packets)
    return (many - few) // (kind.packets[1] - kind.packets[0])


def simulator(example: Path, kind: Kind) -> dict[str, int]:
    """Of the simulator: the whole, then its components."""
    short, long = (counted(example, str(milliseconds)) for milliseconds in kind.milliseconds)
    packets = int(long.printed) - int(short.printed)
    parts = long.components - short.components
    return {SIMULATOR: (long.whole - short.whole) // packets} | {
        f"  {name}": cost // packets for name, cost in parts.most_common()
    }


class Counted(NamedTuple):
    """A whole run under callgrind."""

    whole: int
    """Instructions."""
    components: Counter[str]
    """Instructions of each component of the simulator."""
    printed: str
    """By the run."""


def counted(example: Path, *words: str) -> Counted:
    """A run with these arguments."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        whole, printed = callgrind.count([str(example), *words], out, ROOT)
        return Counted(whole, by_component(out), printed)


def grown(now: int, before: int | None, kind: Kind) -> bool:
    """Whether a figure is to be marked."""
    return before is not None and now > kind.grown * before


def shown(program: str) -> str:
    return "p4_codel by hand" if program == YARDSTICK else program


def time_line(program: str, seconds: float) -> str:
    return f"{shown(program):34}{seconds * 1e9:8,.0f}"


def line(program: str, now: int, before: int | None, kind: Kind) -> str:
    committed = "" if before is None else f"{before:8,}"
    return f"{shown(program):34}{now:8,}{committed}{'  MORE' if grown(now, before, kind) else ''}"


if __name__ == "__main__":
    main()
