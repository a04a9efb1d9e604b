"""Makes the files that our disciplines are tested with: what second sources drop on fixed traces.

    .venv/bin/python bench/second_sources/make.py

Asks `cargo run -p sojourn-switch --example second_sources` for the jobs and the traces, runs each
job in the program of its source and writes `crates/switch/tests/second_sources/drops/`. It stands
on `bench/ns3/compare.py` for ns-3; it must not know what a discipline does.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DROPS = ROOT / "crates" / "switch" / "tests" / "second_sources" / "drops"

sys.path.insert(0, str(HERE.parent / "ns3"))
import compare  # noqa: E402

NS3_LIBRARIES = ("traffic-control", "network", "core")


@dataclass(frozen=True)
class Job:
    """One run of a second source."""

    file: str
    trace: str
    ecn: str
    fingerprint: str
    command: str

    @property
    def source(self) -> str:
        return self.command.split()[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="files whose names contain this")
    arguments = parser.parse_args()
    chosen = {job.file: job for job in jobs() if arguments.only in job.file}
    if not arguments.only:
        for old in DROPS.glob("*.txt"):
            old.unlink()
    DROPS.mkdir(exist_ok=True)
    programs: dict[str, tuple[Path, str]] = {}
    for job in chosen.values():
        if job.source not in programs:
            programs[job.source] = BUILDERS[job.source]()
        run(job, *programs[job.source])
    print(f"{len(chosen)} files in {DROPS.relative_to(ROOT)}")


def jobs() -> Iterator[Job]:
    for line in example("jobs").splitlines():
        yield Job(*line.split("\t"))


def example(*words: str) -> str:
    cargo = ["cargo", "run", "--quiet", "--locked", "-p", "sojourn-switch"]
    command = [*cargo, "--example", "second_sources", "--", *words]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def build_ns3() -> tuple[Path, str]:
    """The program with ns-3's queue discs, and what to call it."""
    program = compare.build(compare.install(), HERE / "ns3_drops.cc", NS3_LIBRARIES)
    return program, compare.NS3.replace("==", " ")


BUILDERS = {"ns3": build_ns3}


def run(job: Job, program: Path, name: str) -> None:
    arrivals = example("trace", job.trace, job.ecn)
    command = [str(program), *job.command.split()[1:]]
    done = subprocess.run(command, input=arrivals, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{job.file}: `{' '.join(command)}` failed with status {done.returncode}")
    head = [
        f"# source: {name}",
        f"# job: {job.command}",
        f"# trace: {job.trace}, {arrivals.count(chr(10))} packets, {job.fingerprint}",
        "# packet, time in ns; marked, else dropped",
    ]
    (DROPS / job.file).write_text("\n".join(head) + "\n" + done.stdout, encoding="ascii")


if __name__ == "__main__":
    main()
