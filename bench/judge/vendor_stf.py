"""Runs a folder of another project's packet tests (STF) for Tofino 1 and compares the results with
the recorded ones.

    python bench/judge/vendor_stf.py FOLDER... [-I DIR] [--known FILE] [--only WORD] [--verbose]

Meant are the folders `stf` and `internal/stf` of `p4-tests/p4_16`, the tests of p4c's Tofino back
end, in the repository p4lang/bf-p4c, branch `hanw/update-p4c-v1.2.4.16`, with `-I` the folder
`includes` next to them; nothing of them is stored here. A program is a test's neighbour of the same
name. What is not for TNA (v1model, PSA, Tofino 2 and 3) is counted and left out.
`docs/data/vendor-tests.csv` has every test that does not pass with its cause. A test with another
result is printed, and the status is then 1.
"""

import argparse
import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sojourn.errors import SojournError
from sojourn.tools.stf import run_stf

_KNOWN = Path(__file__).parents[2] / "docs" / "data" / "vendor-tests.csv"
_OTHER = {
    "v1model.p4": "v1model",
    "psa.p4": "PSA",
    "t2na.p4": "Tofino 2",
    "t3na.p4": "Tofino 3",
    "t5na.p4": "Tofino 5",
    "tofino.h": "an architecture of the tests' own",
}


@dataclass(frozen=True)
class Outcome:
    """What became of one test."""

    name: str
    verdict: str
    """`passed`, `failed`, `not run`, `no program`, or the architecture that it is for."""
    detail: str = ""


def architecture(
    program: Path, seen: frozenset[Path] = frozenset(), folders: tuple[Path, ...] = ()
) -> str:
    """The architecture of a program by the files it includes; `TNA` if none of the others."""
    if program in seen:
        return "TNA"
    text = program.read_text(errors="replace")
    for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.M):
        if name in ("tna.p4", "tofino.p4"):
            return "TNA"
        if name in _OTHER and not _chooses(text):
            return _OTHER[name]
        for folder in (program.parent, *folders):
            if (folder / name).is_file():
                found = architecture(folder / name, seen | {program}, folders)
                if found != "TNA":
                    return found
    return "TNA"


def _chooses(text: str) -> bool:
    """True if TNA is among the architectures that the program asks for."""
    return bool(re.search(r'include\s*[<"]tna\.p4', text))


def judge(test: Path, program: Path, folders: tuple[Path, ...]) -> Outcome:
    """Runs one test."""
    name = f"{test.parent.name}/{test.stem}"
    if not program.is_file():
        return Outcome(name, "no program")
    other = architecture(program, folders=folders)
    if other != "TNA":
        return Outcome(name, other)
    try:
        result = run_stf(program, test, include_paths=[str(folder) for folder in folders])
    except SojournError as error:
        return Outcome(name, "not run", _text(error))
    if result.passed:
        return Outcome(name, "passed")
    return Outcome(
        name,
        "failed",
        "\n".join(
            f"{f.line}: {f.message}" + "".join(f"\n    {d}" for d in f.detail)
            for f in result.failures[:3]
        ),
    )


def _text(error: BaseException) -> str:
    text = str(error.args[0] if error.args else error)
    return "\n".join(text.splitlines()[:12])


def known(table: Path) -> set[str]:
    """The tests in the first column of a data file: those that do not pass."""
    if not table.is_file():
        return set()
    with table.open(newline="") as lines:
        _, *rows = csv.reader(lines)
    return {row[0] for row in rows}


def find(folders: list[Path], only: str | None) -> Iterator[tuple[Path, Path]]:
    """Tests with their programs."""
    for folder in folders:
        for test in sorted(folder.rglob("*.stf")):
            if only is None or only in test.stem:
                yield test, test.with_suffix(".p4")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-I", dest="include", action="append", type=Path, default=[])
    parser.add_argument(
        "--known", type=Path, default=_KNOWN, help="data file of the tests that do not pass"
    )
    parser.add_argument("--only", help="tests whose names contain this")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--verbose", "-v", action="store_true")
    options = parser.parse_args()
    tests = list(find(options.folders, options.only))
    if not tests:
        print("no .stf file there", file=sys.stderr)
        return 2
    include = tuple(options.include)
    with ProcessPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(judge, test, program, include) for test, program in tests]
        outcomes = [job.result() for job in jobs]
    expected = known(options.known)
    surprises = 0
    for outcome in outcomes:
        ours = outcome.verdict in ("passed", "failed", "not run")
        surprise = ours and (outcome.verdict != "passed") != (outcome.name in expected)
        surprises += surprise
        if ours and (surprise or outcome.verdict != "passed"):
            remark = "  (not as the data file says)" if surprise else ""
            print(f"{outcome.verdict:8} {outcome.name}{remark}")
            if options.verbose:
                print("".join(f"    {line}\n" for line in outcome.detail.splitlines()), end="")
    for verdict, count in Counter(outcome.verdict for outcome in outcomes).most_common():
        print(f"{count:4} {verdict}")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
