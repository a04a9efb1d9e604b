"""Makes the files that our disciplines are tested with: what second sources drop on fixed traces.

    .venv/bin/python bench/second_sources/make.py --fq_codel TREE --dualpi2 TREE

TREE is a source tree of the Linux kernel, such as Debian's packages `linux-source-6.1` and
`linux-source-7.2` have, unpacked. Asks `cargo run -p sojourn-switch --example second_sources` for
the jobs and the traces, runs each job in the program of its source and writes
`crates/switch/tests/second_sources/drops/`. It stands on `bench/beside_ns3.py` for ns-3; it must
not know what a discipline does.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DROPS = ROOT / "crates" / "switch" / "tests" / "second_sources" / "drops"

sys.path.insert(0, str(HERE.parent))
import beside_ns3  # noqa: E402

NETLINK = re.compile(
    r"^static (?:const )?struct (?:nla_policy|netlink_range_validation)\b", re.MULTILINE
)
"""Where a qdisc's decisions end and its configuration begins."""

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
    parser.add_argument("--fq_codel", type=Path, help="source tree of Linux 6.1", required=True)
    parser.add_argument("--dualpi2", type=Path, help="source tree of Linux 7.2", required=True)
    arguments = parser.parse_args()
    builders = {
        "ns3": build_ns3,
        "linux-fq_codel": lambda: build_kernel(arguments.fq_codel, "fq_codel"),
        "linux-dualpi2": lambda: build_kernel(arguments.dualpi2, "dualpi2"),
    }
    chosen = {job.file: job for job in jobs() if arguments.only in job.file}
    if not arguments.only:
        for old in DROPS.glob("*.txt"):
            old.unlink()
    DROPS.mkdir(exist_ok=True)
    programs: dict[str, tuple[Path, str]] = {}
    for job in chosen.values():
        if job.source not in programs:
            programs[job.source] = builders[job.source]()
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
    program = beside_ns3.build(beside_ns3.install(), HERE / "ns3_drops.cc", NS3_LIBRARIES)
    return program, beside_ns3.NS3.replace("==", " ")


KERNEL_HEADERS = ("net/codel.h", "net/codel_impl.h", "net/codel_qdisc.h")
"""The kernel's own headers that are used; of the others `kernel.h` has what is needed."""


def build_kernel(tree: Path, qdisc: str) -> tuple[Path, str]:
    """The program with a qdisc of a kernel's source tree, and what to call it.

    Of the qdisc's file everything is taken that stands before its netlink code, unchanged. What is
    made of it stays in `target/`: it is the kernel's, under its licence.
    """
    source = tree / "net" / "sched" / f"sch_{qdisc}.c"
    if not source.exists():
        sys.exit(f"{source} is missing: --{qdisc} takes a source tree of Linux; see --help")
    work = beside_ns3.WORK.parent / "second_sources" / qdisc
    work.mkdir(parents=True, exist_ok=True)
    text = source.read_text(encoding="utf-8")
    algorithm = work / "algorithm.c"
    algorithm.write_text(re.split(NETLINK, text, maxsplit=1)[0], encoding="utf-8")
    own = [tree / "include" / header for header in KERNEL_HEADERS]
    own = [header for header in own if header.exists()]
    for file in [algorithm, *own]:
        for header in re.findall(r"#include <(.*)>", file.read_text(encoding="utf-8")):
            copy = work / header
            copy.parent.mkdir(parents=True, exist_ok=True)
            given = tree / "include" / header
            copy.write_bytes(given.read_bytes() if given in own else b"")
    program = work / "drops"
    flags = ["-std=gnu11", "-O1", "-w", f"-D{qdisc.upper()}", f'-DQDISC="{algorithm}"', f"-I{work}"]
    try:
        beside_ns3.run(["gcc", *flags, str(HERE / "kernel_drops.c"), "-o", str(program)])
    except FileNotFoundError:
        sys.exit("gcc is missing: apt-get install gcc")
    except subprocess.CalledProcessError as error:
        sys.exit(f"sch_{qdisc}.c does not compile below kernel.h:\n{error.stderr}")
    makefile = (tree / "Makefile").read_text(encoding="utf-8")
    parts = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", makefile, re.MULTILINE))
    version = ".".join(parts[part] for part in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
    return program, f"Linux {version}, net/sched/sch_{qdisc}.c"


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
