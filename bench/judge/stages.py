"""The stages of programs by p4c's back end for Tofino and by `sojourn check`, as a table.

    python bench/judge/stages.py --judge FOLDER PROGRAM.p4... [-I FOLDER]... [-D NAME]...
    python bench/judge/stages.py --judge FOLDER REPOSITORY... [--keep FILE] [--csv FILE]

FOLDER has the script `p4c-tofino`, which compiles a program and says for each pipeline
`stages: ingress N, egress M`; SOJOURN_JUDGE can name it, too. A repository is a folder as
`corpus.py` takes it: its programs for TNA are compared, with its include folders. p4c takes from
half a minute to minutes for a program; they are compiled one after the other. With --keep what it
said stays in a file, and a program that the file has is not compiled again. With --csv the table
also becomes a data file, as `docs/data/stages-*.csv` are. `--target tofino2` compares programs
for T2NA. Must not depend on what is compiled.
"""

import argparse
import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import corpus

from sojourn.tools.check.stages import estimate

Stages = tuple[int, int]

PIPELINE = re.compile(r"^stages: ingress (\d+), egress (\d+)", re.MULTILINE)
ERROR = re.compile(r"error: (.*)")
SECONDS = 900
"""For one program."""


def compiled(judge: Path, program: Path, options: list[str]) -> Stages | str:
    """What the compiler says: stages of ingress and egress, or why it refuses."""
    command = [str(judge / "p4c-tofino"), str(program), *options]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # a script that is ended leaves its compiler behind
    ) as process:
        try:
            said, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return f"no answer within {SECONDS} s"
    pipelines = [(int(a), int(b)) for a, b in PIPELINE.findall(said)]
    if process.returncode == 0 and pipelines:
        return most(pipelines)
    reason = ERROR.search(said)
    return f"refused: {reason.group(1)[:60]}" if reason else f"failed with {process.returncode}"


def estimated(program: Path, include: list[Path], defines: dict[str, str]) -> Stages | str:
    """What `sojourn check` says: stages of ingress and egress, or why it refuses."""
    try:
        data = estimate(program, include_paths=include, defines=defines).data
    except Exception as error:  # whatever is wrong with one program, the others follow
        said = str(error).strip().splitlines()
        reason = next((line for line in said if line.startswith("error")), said[0])
        return f"refused: {reason[:60]}"
    passes = [one["passes"] for one in (data, *data["others"])]
    return most([(ingress["stages"], egress["stages"]) for ingress, egress in passes])


def most(pipelines: list[Stages]) -> Stages:
    """The most stages of ingress and of egress that a pipeline of the program takes."""
    return max(ingress for ingress, _ in pipelines), max(egress for _, egress in pipelines)


def shown(stages: Stages | str) -> str:
    """A cell of the table."""
    return stages.replace("|", r"\|") if isinstance(stages, str) else f"{stages[0]} + {stages[1]}"


def difference(theirs: Stages | str, ours: Stages | str) -> str:
    """Ours minus theirs, for ingress and egress; a dash where one of them has no number."""
    if isinstance(theirs, str) or isinstance(ours, str):
        same = isinstance(theirs, str) and isinstance(ours, str)
        return "both refuse" if same else "-"
    parts = [our - their for our, their in zip(ours, theirs, strict=True)]
    return "0" if not any(parts) else " / ".join(f"{part:+d}" for part in parts)


def programs(
    given: list[Path], include: list[Path], wanted: str
) -> Iterator[tuple[str, Path, list[Path]]]:
    """What is to be compared: its name in the table, its file and its include folders."""
    for path in given:
        if path.is_file():
            yield path.stem, path, include
            continue
        root = path.resolve()
        for program, architectures, folders in corpus.programs(root):
            if wanted in architectures:
                name = f"{root.name.replace('+', '/')}: {program.relative_to(root)}"
                yield name, program, [*include, *folders]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--judge", type=Path, default=os.environ.get("SOJOURN_JUDGE"))
    parser.add_argument("-I", dest="include", type=Path, action="append", default=[])
    parser.add_argument("--target", default="tofino", help="p4c's target: tofino or tofino2")
    parser.add_argument("-D", dest="defines", action="append", default=[])
    parser.add_argument("--keep", type=Path, help="what the compiler said, a line a program")
    parser.add_argument("--csv", type=Path, help="the table as a data file")
    parser.add_argument("programs", type=Path, nargs="+", help="programs, or repositories")
    args = parser.parse_args()
    if args.judge is None or not (args.judge / "p4c-tofino").is_file():
        print("no judge: name the folder of p4c-tofino with --judge or SOJOURN_JUDGE")
        return 2
    defines = dict(define.partition("=")[::2] for define in args.defines)
    second = args.target.startswith("tofino2")
    defines["__TARGET_TOFINO__"] = "2" if second else "1"
    kept = {}
    if args.keep and args.keep.is_file():
        kept = dict(json.loads(line) for line in args.keep.read_text().splitlines())
    apart: Counter[int] = Counter()
    rows = [("program", "p4c", "sojourn check", "difference")]
    print("| program | p4c | `sojourn check` | difference |\n|---|---|---|---|")
    for name, program, include in programs(
        args.programs, args.include, "t2na" if second else "tna"
    ):
        if name in kept:
            said = kept[name]
            theirs = said if isinstance(said, str) else (said[0], said[1])
        else:
            options = ["--target", args.target]
            options += [word for folder in include for word in ("-I", str(folder))]
            options += [word for define in args.defines for word in ("-D", define)]
            theirs = compiled(args.judge, program, options)
            if args.keep:
                with args.keep.open("a") as file:
                    file.write(json.dumps([name, theirs]) + "\n")
        ours = estimated(program, include, defines)
        off = difference(theirs, ours)
        print(f"| `{name}` | {shown(theirs)} | {shown(ours)} | {off} |", flush=True)
        rows.append((name, shown(theirs), shown(ours), off))
        if not isinstance(theirs, str) and not isinstance(ours, str):
            apart[max(abs(our - their) for our, their in zip(ours, theirs, strict=True))] += 1
    if args.csv:
        with args.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    total = sum(apart.values())
    print(f"\nThe same number in {apart[0]} of {total}, within one in {apart[0] + apart[1]}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
