"""The stages of programs by p4c's back end for Tofino 1 and by `sojourn check`, as a table.

    python bench/judge/stages.py --judge FOLDER PROGRAM.p4... [-I FOLDER]... [-D NAME]...

FOLDER has the script `p4c-tofino`, which compiles a program and says for each pipeline
`stages: ingress N, egress M`; SOJOURN_JUDGE can name it, too. p4c takes most of a minute for a
program. Knows nothing of what is compiled.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from sojourn.stages import estimate

Stages = tuple[int, int]

PIPELINE = re.compile(r"^stages: ingress (\d+), egress (\d+)", re.MULTILINE)
ERROR = re.compile(r"error: (.*)")


def compiled(judge: Path, program: Path, options: list[str]) -> Stages | str:
    """What the compiler says: stages of ingress and egress, or why it refuses."""
    command = [str(judge / "p4c-tofino"), str(program), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    pipelines = [(int(a), int(b)) for a, b in PIPELINE.findall(done.stdout)]
    if done.returncode == 0 and len(pipelines) == 1:
        return pipelines[0]
    if done.returncode == 0:
        return f"{len(pipelines)} pipelines"
    reason = ERROR.search(done.stdout)
    return f"refused: {reason.group(1)[:60]}" if reason else f"failed with {done.returncode}"


def estimated(program: Path, include: list[Path], defines: dict[str, str]) -> Stages | str:
    """What `sojourn check` says: stages of ingress and egress, or why it refuses."""
    try:
        passes = estimate(program, include_paths=include, defines=defines).data["passes"]
    except Exception as error:  # whatever is wrong with one program, the others follow
        return f"refused: {str(error).strip().splitlines()[0][:60]}"
    return passes[0]["stages"], passes[1]["stages"]


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--judge", type=Path, default=os.environ.get("SOJOURN_JUDGE"))
    parser.add_argument("-I", dest="include", type=Path, action="append", default=[])
    parser.add_argument("-D", dest="defines", action="append", default=[])
    parser.add_argument("programs", type=Path, nargs="+")
    args = parser.parse_args()
    if args.judge is None or not (args.judge / "p4c-tofino").is_file():
        print("no judge: name the folder of p4c-tofino with --judge or SOJOURN_JUDGE")
        return 2
    defines = dict(define.partition("=")[::2] for define in args.defines)
    options = [word for folder in args.include for word in ("-I", str(folder))]
    options += [word for define in args.defines for word in ("-D", define)]
    print("| program | p4c | `sojourn check` | difference |\n|---|---|---|---|")
    for program in args.programs:
        theirs = compiled(args.judge, program, options)
        ours = estimated(program, args.include, defines)
        print(
            f"| `{program.stem}` | {shown(theirs)} | {shown(ours)} | {difference(theirs, ours)} |",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
