"""Share of public P4 programs that load: one table over folders of other authors' programs.

Usage: bench/judge/corpus.py FOLDER... [--loader PATH] [--details FILE]

Each folder is one repository as it was checked out; a file `.commit` in it names its commit. The
programs are the files that instantiate `main`, and that nothing else includes; the architecture is
that of the first `tna.p4`, `v1model.p4` or other that they include, themselves or through others.

counted      programs for Tofino 1 or bmv2's v1model whose every include is there
loaded       of those, taken by the loader, which is this project's example `load`:
             cargo build --release -p sojourn-engine --example load
refused      the rest, each with the first reason in --details

A program may be found wrong for a good reason: what its own compiler refuses, too, is named in a
list, one path a line, with --wrong; those are not counted.
"""

import argparse
import csv
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ["repository", "commit", "programs", "for us", "complete", "wrong themselves", "loaded"]
"""Of the table that goes to standard output as CSV."""
LOADER = ROOT / "target" / "release" / "examples" / "load"
SECONDS = 60
"""For one program; more counts as refused."""
MAIN = re.compile(r"^[^/\n]*\)\s*main\s*;", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
OURS = {"tna.p4": "tna", "v1model.p4": "v1model"}
OTHERS = {"t2na.p4", "t3na.p4", "psa.p4", "pna.p4", "ebpf_model.p4", "ubpf_model.p4"}
OTHERS |= {"xdp_model.p4", "very_simple_model.p4", "dpdk/pna.p4", "dpdk/psa.p4"}
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


def architecture(names: set[str]) -> str:
    ours = next((OURS[name] for name in OURS if name in names), None)
    return ours or next((name for name in OTHERS if name in names), "unknown")


def programs(root: Path) -> Iterator[tuple[Path, str, list[Path]]]:
    """The main programs of a repository with their architecture and include paths."""
    mains = [path for path in sorted(root.rglob("*.p4")) if MAIN.search(text(path))]
    closures = {path: closure(path, include_paths(path, root)) for path in mains}
    parts = {found.resolve() for each in closures.values() for found in each.values() if found}
    for path, each in closures.items():
        if path.resolve() not in parts:
            yield path, architecture(set(each)), include_paths(path, root)


def ask(loader: Path, path: Path, kind: str, paths: list[Path]) -> Answer:
    command = [str(loader), *(f"-I{folder}" for folder in paths), str(path)]
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
    wrong = set(arguments.wrong.read_text().split()) if arguments.wrong else set()
    details: list[str] = []
    total: Counter[str] = Counter()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(COLUMNS)
    for root in sorted(folder.resolve() for folder in arguments.folders):
        found = list(programs(root))
        ours = [each for each in found if each[1] in OURS.values()]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            asked = [pool.submit(ask, arguments.loader, *each) for each in ours]
            answers = [one.result() for one in asked]
        complete = [answer for answer in answers if answer.complete]
        named = {answer.path: f"{root.name}/{answer.path.relative_to(root)}" for answer in answers}
        bad = [each for each in complete if each.reason and named[each.path] in wrong]
        loaded = [answer for answer in complete if not answer.reason]
        commit = root / ".commit"
        row = [len(found), len(ours), len(complete), len(bad), len(loaded)]
        total.update(dict(zip("abcde", row, strict=True)))
        name = root.name.replace("+", "/")
        sha = commit.read_text().strip() if commit.is_file() else ""
        if found:
            table.writerow((name, sha, *row))
            sys.stdout.flush()
        for answer in answers:
            if answer.reason:
                kind = "incomplete" if not answer.complete else answer.architecture
                kind = "wrong" if answer in bad else kind
                details.append(f"{kind}\t{named[answer.path]}\t{answer.reason}")
    table.writerow(("all", "", *(total[letter] for letter in "abcde")))
    counted = total["c"] - total["d"]
    share = 100 * total["e"] / counted if counted else 0.0
    print(f"{total['e']} of {counted} loaded, {share:.1f} %", file=sys.stderr)
    if arguments.details:
        arguments.details.write_text("\n".join(details) + "\n")


if __name__ == "__main__":
    main()
