"""Makes the files that our disciplines are tested with: the drops of second sources on fixed
traces.

    .venv/bin/python bench/second_sources/make.py --linux TREE --dualpi2 TREE

TREE is a source tree of the Linux kernel, unpacked: `--linux` of 6.1, as Debian's package
`linux-source-6.1` has it, and `--dualpi2` of 6.17 or later, as its `linux-source-7.2`. Asks
`cargo run -p sojourn-switch --example second_sources` for the jobs and the traces, runs each job in
the program of its source and writes `crates/switch/tests/second_sources/drops.tar.gz`. It uses
`bench/compare_ns3.py` for ns-3; it must not know what a discipline does.
"""

import argparse
import gzip
import io
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DROPS = ROOT / "crates" / "switch" / "tests" / "second_sources" / "drops.tar.gz"

sys.path.insert(0, str(HERE.parent))
import compare_ns3  # noqa: E402

Cuts = tuple[tuple[str, str | None], ...]
CUTS: dict[str, Cuts] = {
    "codel": (("static const struct nla_policy ", None),),
    "fq_codel": (("static const struct nla_policy ", None),),
    "pie": (
        ("static const struct nla_policy ", "void pie_process_dequeue("),
        ("static void pie_timer(", "static struct sk_buff *pie_qdisc_dequeue("),
        ("static void pie_reset(", None),
    ),
    "cake": (
        ("static bool cake_update_flowkeys(", "static bool cake_dsrc("),
        ("static struct iphdr *cake_get_iphdr(", "static u64 cake_ewma("),
        ("static u32 cake_calc_overhead(", "static void cake_heap_swap("),
        ("static u8 cake_handle_diffserv(", "static u32 cake_classify("),
        ("static const struct nla_policy ", None),
    ),
    "dualpi2": (("static struct netlink_range_validation ", None),),
}
"""Parts left out of a qdisc's file: configuration, timers, and of CAKE ACK filter and DSCPs. Each
goes from a line to another."""

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
    parser.add_argument("--linux", type=Path, help="source tree of Linux 6.1")
    parser.add_argument("--dualpi2", type=Path, help="source tree of Linux 6.17 or later")
    arguments = parser.parse_args()
    chosen = {job.file: job for job in jobs() if arguments.only in job.file}
    sources = {job.source for job in chosen.values()}
    programs = {
        source: build(source, arguments.linux, arguments.dualpi2) for source in sorted(sources)
    }
    files = recorded() if arguments.only else {}
    files |= {job.file: run(job, *programs[job.source]) for job in chosen.values()}
    write(files)
    print(f"{len(chosen)} of {len(files)} files in {DROPS.relative_to(ROOT)}")


def recorded() -> dict[str, str]:
    """The texts of the archive by the names of their files."""
    with tarfile.open(DROPS) as archive:
        members = [(member.name, archive.extractfile(member)) for member in archive]
        return {name: file.read().decode("ascii") for name, file in members if file}


def write(files: dict[str, str]) -> None:
    """The archive, the same bytes for the same files."""
    with (
        DROPS.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for name, text in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode("ascii")))


def jobs() -> Iterator[Job]:
    for line in example("jobs").splitlines():
        yield Job(*line.split("\t"))


def example(*words: str) -> str:
    cargo = ["cargo", "run", "--quiet", "--locked", "-p", "sojourn-switch"]
    command = [*cargo, "--example", "second_sources", "--", *words]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def build(source: str, linux: Path | None, dualpi2: Path | None) -> tuple[list[str], str]:
    """The command of a second source, and what to call it."""
    if source == "ns3":
        return build_ns3()
    if source == "rfc9332":
        return [sys.executable, str(HERE / "rfc9332.py")], "RFC 9332, appendix A in rfc9332.py"
    qdisc = source.removeprefix("linux-")
    option, tree = ("--dualpi2", dualpi2) if qdisc == "dualpi2" else ("--linux", linux)
    if tree is None:
        sys.exit(f"{source} needs {option} TREE, a source tree of Linux; see --help")
    return build_kernel(tree, qdisc, option)


def build_ns3() -> tuple[list[str], str]:
    """The program with ns-3's queue discs, and what to call it."""
    program = compare_ns3.build(compare_ns3.install(), HERE / "ns3_drops.cc", NS3_LIBRARIES)
    return [str(program)], compare_ns3.NS3.replace("==", " ")


KERNEL_HEADERS = ("net/codel.h", "net/codel_impl.h", "net/codel_qdisc.h", "net/pie.h")
"""The kernel's own headers that are used; of the others `kernel.h` has what is needed."""


def build_kernel(tree: Path, qdisc: str, option: str) -> tuple[list[str], str]:
    """The program with a qdisc of a kernel's source tree, and what to call it.

    Of the qdisc's file everything is taken but its netlink code and timers, unchanged. What is made
    of it stays in `target/`: it is the kernel's, under its licence.
    """
    source = tree / "net" / "sched" / f"sch_{qdisc}.c"
    if not source.exists():
        sys.exit(f"{source} is missing: {option} takes a source tree of Linux; see --help")
    work = compare_ns3.WORK.parent / "second_sources" / qdisc
    work.mkdir(parents=True, exist_ok=True)
    algorithm = work / "algorithm.c"
    text = without(source.read_text(encoding="utf-8"), CUTS[qdisc])
    algorithm.write_text(text, encoding="utf-8")
    own = [tree / "include" / header for header in KERNEL_HEADERS]
    own = [header for header in own if header.exists()]
    for file in [algorithm, *own]:
        for header in re.findall(r"#include <(.*)>", file.read_text(encoding="utf-8")):
            copy = work / header
            copy.parent.mkdir(parents=True, exist_ok=True)
            given = tree / "include" / header
            copy.write_bytes(given.read_bytes() if given in own else b"")
    program = work / "drops"
    parts = (f'-DQDISC="{algorithm}"', f'-DDRIVER="{qdisc}.c"', f"-I{work}")
    gcc = ["gcc", "-std=gnu11", "-O1", "-w", *parts, str(HERE / "kernel" / "drops.c")]
    try:
        compare_ns3.run([*gcc, "-o", str(program)])
    except FileNotFoundError:
        sys.exit("gcc is missing: apt-get install gcc")
    except subprocess.CalledProcessError as error:
        sys.exit(f"sch_{qdisc}.c does not compile below kernel.h:\n{error.stderr}")
    makefile = (tree / "Makefile").read_text(encoding="utf-8")
    found = dict(re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL) = (\d+)$", makefile, re.MULTILINE))
    version = ".".join(found[part] for part in ("VERSION", "PATCHLEVEL", "SUBLEVEL"))
    return [str(program)], f"Linux {version}, net/sched/sch_{qdisc}.c"


def without(text: str, cuts: Cuts) -> str:
    """A source file without some spans of it, the last of which goes to its end."""
    for start, end in cuts:
        before, found, after = text.partition(f"\n{start}")
        if not found or (end is not None and f"\n{end}" not in after):
            sys.exit(f"a qdisc's file is not as expected: no `{start}` before `{end}` in it")
        text = before + "\n"
        if end is not None:
            text += "\n" + end + after.partition(f"\n{end}")[2]
    return text


def run(job: Job, program: list[str], name: str) -> str:
    """The text of the job's file."""
    arrivals = example("trace", job.trace, job.ecn)
    command = [*program, *job.command.split()[1:]]
    done = subprocess.run(command, input=arrivals, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{job.file}: `{' '.join(command)}` failed with status {done.returncode}")
    head = [
        f"# source: {name}",
        f"# job: {job.command}",
        f"# trace: {job.trace}, {arrivals.count(chr(10))} packets, {job.fingerprint}",
        "# packet, time in ns; marked, else dropped",
    ]
    return "\n".join(head) + "\n" + done.stdout


if __name__ == "__main__":
    main()
