"""Comparison of our P4Info with that of p4c's own tests, byte by byte.

Usage: bench/judge/p4info.py CLONE_OF_P4C [--arch v1model] [--writer PATH] [--details FILE]

p4c publishes the P4Info of its sample programs. Each of them for the architecture whose program the
language takes here is made again and compared as text.

same         not a byte differs
order        the same objects in another order
different    the rest, with the first line that differs in --details
unread       the language refuses the program here

The writer is this project's example `schemas`:
cargo build --release -p sojourn-protocols --example schemas
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WRITER = ROOT / "target" / "release" / "examples" / "schemas"
SAMPLES = Path("testdata") / "p4_16_samples"
OUTPUTS = Path("testdata") / "p4_16_samples_outputs"
ENDING = ".p4info.txtpb"


def published(clone: Path, arch: str) -> dict[str, str]:
    """The P4Info that p4c publishes for an architecture, by the program's name."""
    found = {}
    for path in sorted((clone / OUTPUTS).glob(f"*.p4{ENDING}")):
        name = path.name.removesuffix(ENDING)
        text = path.read_text()
        if f'arch: "{arch}"' in text and (clone / SAMPLES / name).is_file():
            found[name] = text
    return found


def objects(text: str) -> list[str]:
    """The objects of a P4Info, sorted."""
    return sorted(re.split(r"\n(?=\S)", text))


def first_difference(theirs: str, ours: str) -> str:
    """The first line in which two texts differ, as both have it."""
    ends = [""] * abs(theirs.count("\n") - ours.count("\n"))
    pairs = zip(theirs.splitlines() + ends, ours.splitlines() + ends, strict=False)
    theirs, ours = next((a, b) for a, b in pairs if a != b)
    return f"theirs `{theirs.strip()}`, ours `{ours.strip()}`"


def compared(theirs: str, written: Path) -> tuple[str, str]:
    """What became of a program: a word of the table above, and why."""
    if not written.is_file():
        error = written.with_name(written.name.removesuffix(ENDING) + ".error")
        return "unread", error.read_text().splitlines()[0]
    ours = written.read_text()
    if ours == theirs:
        return "same", ""
    if objects(ours) == objects(theirs):
        return "order", ""
    return "different", first_difference(theirs, ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clone", type=Path)
    parser.add_argument("--arch", default="v1model")
    parser.add_argument("--writer", type=Path, default=WRITER)
    parser.add_argument("--details", type=Path)
    given = parser.parse_args()
    wanted = published(given.clone, given.arch)
    if not wanted:
        sys.exit(f"{given.clone / OUTPUTS}: no P4Info for {given.arch}")
    with tempfile.TemporaryDirectory() as folder:
        programs = [str(given.clone / SAMPLES / name) for name in wanted]
        include = str(ROOT / "p4" / "include")
        subprocess.run([given.writer, folder, "-I", include, *programs], check=True)
        found = {
            name: compared(text, Path(folder) / f"{name}{ENDING}") for name, text in wanted.items()
        }
    counted = Counter(word for word, _ in found.values())
    words = ("same", "order", "different", "unread")
    print(f"{len(found)} programs: " + ", ".join(f"{counted[word]} {word}" for word in words))
    lines = [f"{name}: {word}: {why}" for name, (word, why) in found.items() if word != "same"]
    for line in lines:
        print("  " + line)
    if given.details:
        given.details.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
