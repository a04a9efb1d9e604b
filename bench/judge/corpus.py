"""Share of public P4 programs that load: one table over folders of other authors' programs.

Usage: bench/judge/corpus.py FOLDER... [--loader PATH] [--details FILE]

Each folder is one repository as it was checked out; a file `.commit` in it names its commit. The
programs are the files that instantiate `main`, and that nothing else includes; the architecture is
that of the first `tna.p4`, `v1model.p4`, `psa.p4`, `t2na.p4` or other that they include, themselves
or through others. A program that includes `t2na.p4`, alone or on a condition, is also asked about
with `__TARGET_TOFINO__` 2.

for us       programs for Tofino 1, v1model or PSA as bmv2 runs them, or Tofino 2
complete     of those, the programs whose every include is there
loaded       of those, taken by the loader, which is this project's example `load`:
             cargo build --release -p sojourn-engine --example load
T2NA ...     the same of all programs that include `t2na.p4`, for Tofino 2
refused      the rest, each with the first reason in --details

A program may be found wrong for a good reason: what its own compiler refuses, too, is named in a
list, one path a line, with --wrong; ` t2na` after the path means the program for Tofino 2. Those
are not counted.
"""

import argparse
import csv
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ["repository", "commit", "programs", "for us", "complete", "wrong themselves", "loaded"]
COLUMNS += ["T2NA complete", "T2NA wrong", "T2NA loaded"]
"""Of the table that goes to standard output as CSV."""
LOADER = ROOT / "target" / "release" / "examples" / "load"
SECONDS = 60
"""For one program; more counts as refused."""
MAIN = re.compile(r"^[^/\n]*\)\s*main\s*;", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
OURS = {"tna.p4": "tna", "v1model.p4": "v1model", "psa.p4": "psa", "bmv2/psa.p4": "psa"}
OURS["t2na.p4"] = "t2na"
OTHERS = {"t3na.p4", "pna.p4", "ebpf_model.p4", "ubpf_model.p4"}
OTHERS |= {"xdp_model.p4", "very_simple_model.p4", "dpdk/pna.p4", "dpdk/psa.p4"}
FOR_TOFINO2 = '#undef __TARGET_TOFINO__\n#define __TARGET_TOFINO__ 2\n#include "{}"\n'
MISSING = re.compile(r"cannot be found|not found|no such file", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """What the loader said of one program; `reason` is empty if it was taken."""

    path: Path
    architecture: str
    reason: str

    @property
    def complete(self) -> bool:
        return not MISSING.search(self.reason)


@cache
def text(path: Path) -> str:
    try:
        return COMMENT.sub(" ", path.read_text(errors="replace"))
    except OSError:
        return ""


def include_paths(program: Path, root: Path) -> list[Path]:
    """The folders above a program up to its repository's, and the usual ones beside them."""
    above = [program.parent, *program.parent.parents]
    above = above[: above.index(root) + 1]
    names = ("", "include", "includes", "p4include", "p4src", "common")
    return [folder / name for folder in above for name in names if (folder / name).is_dir()]


def included(path: Path, paths: list[Path]) -> Iterator[tuple[str, Path | None]]:
    for _, name in INCLUDE.findall(text(path)):
        found = next((d / name for d in [path.parent, *paths] if (d / name).is_file()), None)
        yield name, found


def closure(path: Path, paths: list[Path]) -> dict[str, Path | None]:
    """All that a program includes, by the name it is included as."""
    seen: dict[str, Path | None] = {}
    waiting = [path]
    while waiting:
        for name, found in included(waiting.pop(), paths):
            if name not in seen:
                seen[name] = found
                waiting += [found] if found else []
    return seen


def architectures(names: set[str]) -> list[str]:
    """The first architecture of a program, then T2NA if it is a program for that, too."""
    ours = [OURS[name] for name in OURS if name in names]
    if not ours:
        return [next((name for name in OTHERS if name in names), "unknown")]
    return ours[:1] + [each for each in ours[1:] if each == "t2na"]


def programs(root: Path) -> Iterator[tuple[Path, list[str], list[Path]]]:
    """The main programs of a repository with their architectures and include paths."""
    mains = [path for path in sorted(root.rglob("*.p4")) if MAIN.search(text(path))]
    closures = {path: closure(path, include_paths(path, root)) for path in mains}
    parts = {found.resolve() for each in closures.values() for found in each.values() if found}
    for path, each in closures.items():
        if path.resolve() not in parts:
            yield path, architectures(set(each)), include_paths(path, root)


def ask(loader: Path, path: Path, kind: str, paths: list[Path]) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        program = path
        if kind == "t2na":
            program = Path(folder) / path.name
            program.write_text(FOR_TOFINO2.format(path))
        command = [str(loader), *(f"-I{each}" for each in paths), str(program)]
        return answer(command, path, kind)


def answer(command: list[str], path: Path, kind: str) -> Answer:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return Answer(path, kind, f"no answer within {SECONDS} s")
    if done.returncode < 0:
        return Answer(path, kind, f"the loader died with signal {-done.returncode}")
    lines = [line for line in done.stdout.splitlines() if line.startswith("error")]
    if not lines and done.stdout.rstrip().endswith("1 loaded, 0 refused"):
        return Answer(path, kind, "")
    missing = next((line for line in lines if MISSING.search(line)), None)
    at = next((n for n, line in enumerate(done.stdout.splitlines()) if line in lines[:1]), 0)
    place = "".join(done.stdout.splitlines()[at + 1 : at + 2]).strip().rpartition("/")[2]
    return Answer(path, kind, missing or f"{lines[0] if lines else 'no answer'} {place}")


def name(one: Answer, root: Path) -> str:
    """As --wrong and --details name a program."""
    end = " t2na" if one.architecture == "t2na" else ""
    return f"{root.name}/{one.path.relative_to(root)}{end}"


def line(one: Answer, root: Path, bad: set[Answer]) -> str:
    kind = one.architecture if one.complete else "incomplete"
    return f"{'wrong' if one in bad else kind}\t{name(one, root)}\t{one.reason}"


def counts(answers: list[Answer], bad: set[Answer]) -> list[int]:
    """Complete programs, those wrong themselves, and those that load."""
    complete = [one for one in answers if one.complete]
    return [len(complete), len(bad & set(complete)), sum(not one.reason for one in complete)]


def share(of: str, complete: int, wrong: int, loaded: int) -> None:
    counted = complete - wrong
    percent = 100 * loaded / counted if counted else 0.0
    print(f"{of}{loaded} of {counted} loaded, {percent:.1f} %", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--loader", type=Path, default=LOADER)
    parser.add_argument("--details", type=Path, help="every refusal with its reason, to this file")
    parser.add_argument("--wrong", type=Path, help="programs that their own compiler refuses")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    if not arguments.loader.is_file():
        sys.exit(f"{arguments.loader} is not there; build it as --help says")
    wrong = set(arguments.wrong.read_text().splitlines()) if arguments.wrong else set()
    details: list[str] = []
    total = [0] * (len(COLUMNS) - 2)
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS)
    for root in sorted(folder.resolve() for folder in arguments.folders):
        found = list(programs(root))
        ours = [each for each in found if each[1][0] in OURS.values()]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            asked = [
                [pool.submit(ask, arguments.loader, path, kind, paths) for kind in kinds]
                for path, kinds, paths in ours
            ]
            answers = [[one.result() for one in each] for each in asked]
        every = [one for each in answers for one in each]
        bad = {one for one in every if one.complete and one.reason and name(one, root) in wrong}
        second = [one for one in every if one.architecture == "t2na"]
        row = [len(found), len(ours), *counts([each[0] for each in answers], bad)]
        row += counts(second, bad)
        total = [sum(pair) for pair in zip(total, row, strict=True)]
        commit = root / ".commit"
        sha = commit.read_text().strip() if commit.is_file() else ""
        if found:
            table.writerow((root.name.replace("+", "/"), sha, *row))
            sys.stdout.flush()
        details += [line(one, root, bad) for one in every if one.reason]
    table.writerow(("all", "", *total))
    share("", *total[2:5])
    share("T2NA: ", *total[5:8])
    if arguments.details:
        arguments.details.write_text("\n".join(details) + "\n")


if __name__ == "__main__":
    main()
