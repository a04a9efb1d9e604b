"""Comparison with ns-3: the same flows through the same CoDel, in one run of one command.

Usage: bench/compare_ns3.py [--repeat N] [--seconds S]

ns-3 comes from PyPI into a virtual environment of its own; its scenario is `ns3/dumbbell.cc`,
compiled against the libraries of that package. Each simulator runs in a process of its own, one
after the other. Of repeated runs the fastest counts: what disturbs a run only ever slows it down.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import callgrind
from machine import machine

Command = Callable[[str], list[str]]
"""Of so many simulated seconds."""

HERE = Path(__file__).resolve().parent
WORK = HERE.parent / "target" / "ns3"
NS3 = "ns3==3.44.post0"
LIBRARIES = ("applications", "internet", "traffic-control", "point-to-point", "network", "core")
COUNTED = """\
seconds    by the clock, of the simulation: ns-3's Simulator::Run; Sojourn's from its configuration,
           the network's building included, to closed files
CPU s      processor time of the same, of all threads
process    seconds of the whole process, with its start, imports and the network's building
packets/s  packets offered to the bottleneck over seconds; ratio is that of this
MB         the most memory that the process had
instr.     instructions a packet, from two shorter runs under callgrind, so that starting does not
           count; the last ratio is that of these"""
ENOUGH = 40.0
"""Seconds of runs after which none is repeated."""


@dataclass(frozen=True)
class Case:
    """CUBIC flows behind one port with CoDel; round-trip times are spread evenly."""

    flows: int
    mbit: int
    limit: int
    shortest: int
    longest: int
    counted: tuple[str, str]
    """Seconds of the two runs of ns-3 whose instructions are counted."""
    counted_here: tuple[str, str]
    """Of Sojourn's: longer, for the start of Python differs by 10 million from run to run."""

    @property
    def title(self) -> str:
        return f"{self.flows} flows at {self.mbit} Mbit/s, RTT {self.shortest} to {self.longest} ms"


CASES = (
    Case(10, 100, 1_940_000, 5, 10, ("1", "3"), ("1", "41")),
    Case(50, 1_000, 6_250_000, 3, 25, ("0.2", "0.5"), ("0.2", "4.2")),
)
"""The scenarios `bufferbloat` and `gigabit`."""


@dataclass(frozen=True)
class Cost:
    """What one run took.

    Seconds, by the clock and by the processor, are of the simulation alone; how long the process
    took and its megabytes are of all of it.
    """

    packets: int
    seconds: float
    processor: float
    process: float
    megabytes: float
    instructions: int | None
    """A packet."""

    @property
    def rate(self) -> float:
        return self.packets / self.seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=12, help="most runs of each (default 12)")
    parser.add_argument("--seconds", type=float, default=10, help="simulated (default 10)")
    parser.add_argument("--sojourn", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.sojourn:
        case, aqm, rows = arguments.sojourn
        print(json.dumps(sojourn(CASES[int(case)], aqm, arguments.seconds, rows=rows == "rows")))
        return
    if not callgrind.is_there():
        print(callgrind.MISSING, file=sys.stderr)
    program = build(install())
    print(f"{arguments.seconds:g} s simulated, best of up to {arguments.repeat}; {machine()}")
    print(f"\n{COUNTED}")
    for number, case in enumerate(CASES):
        print(f"\n{case.title}\n")
        columns = f"{'packets':>10}{'seconds':>9}{'CPU s':>8}{'process':>9}{'packets/s':>11}"
        print(f"{'':32}{columns}{'MB':>6}{'ratio':>7}{'instr.':>9}{'ratio':>7}")
        seconds = f"{arguments.seconds:g}"
        reference = None
        here = case.counted_here
        for label, command, counted in (
            ("ns-3 3.44, nothing written", ns3_command(program, case), case.counted),
            ("Sojourn, a row for each packet", sojourn_command(number, "codel", "rows"), here),
            ("Sojourn, nothing written", sojourn_command(number, "codel", "none"), here),
            ("  the same with tna/p4_codel", sojourn_command(number, "tna/p4_codel", "none"), here),
        ):
            cost = best(command(seconds), arguments.repeat)
            cost = replace(cost, instructions=per_packet(command, counted))
            reference = reference or cost
            show(label, cost, reference)


def install() -> Path:
    """Installs ns-3 unless it is there; the folder with its headers and libraries.

    Without its dependencies: they are for ns-3 scripts in Python, and ours is in C++.
    """
    venv = WORK / "venv"
    python = venv / "bin" / "python"
    # Isolated: `ns3/` beside this file is no package.
    find = "import importlib.util as u; print(u.find_spec('ns3').submodule_search_locations[0])"
    found = python.exists() and run([str(python), "-I", "-c", find], check=False)
    if found:
        return Path(found.strip())
    print(f"installing {NS3} into {venv}", file=sys.stderr)
    try:
        run([sys.executable, "-m", "venv", "--clear", str(venv)])
        run(
            [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--only-binary=:all:",
                NS3,
            ]
        )
    except subprocess.CalledProcessError as error:
        sys.exit(f"ns-3 cannot be installed, so there is nothing to compare with:\n{error.stderr}")
    return Path(run([str(python), "-I", "-c", find]).strip())


def build(
    ns3: Path, source: Path = HERE / "ns3" / "dumbbell.cc", libraries: Sequence[str] = LIBRARIES
) -> Path:
    """Compiles a program against ns-3 unless it is there and newer than its source."""
    program = WORK / source.stem
    if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
        return program
    print(f"compiling {source.name}", file=sys.stderr)
    folder = ns3 / "lib64"
    links = [f"-lns3.44-{name}" for name in libraries]
    flags = ["-std=c++20", "-O3", f"-I{ns3 / 'include'}"]
    search = [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    try:
        run(["g++", *flags, str(source), "-o", str(program), *search, *links])
    except FileNotFoundError:
        sys.exit("g++ is missing: apt-get install g++")
    except subprocess.CalledProcessError as error:
        sys.exit(f"{source.name} does not compile:\n{error.stderr}")
    return program


def ns3_command(program: Path, case: Case) -> Command:
    words = [
        str(program),
        f"--flows={case.flows}",
        f"--rate={case.mbit}Mbps",
        f"--limit={case.limit}B",
        f"--shortest={case.shortest}",
        f"--longest={case.longest}",
    ]
    return lambda seconds: [*words, f"--seconds={seconds}"]


def sojourn_command(number: int, aqm: str, rows: str) -> Command:
    words = [sys.executable, __file__, "--sojourn", str(number), aqm, rows]
    return lambda seconds: [*words, "--seconds", seconds]


def per_packet(command: Command, counted: tuple[str, str]) -> int | None:
    """Instructions that a packet costs by two runs of so many seconds, if valgrind is there."""
    if not callgrind.is_there():
        return None
    with tempfile.TemporaryDirectory() as folder:
        runs = [callgrind.count(command(seconds), Path(folder) / "out") for seconds in counted]
    packets: list[int] = [json.loads(printed)["packets"] for _, printed in runs]
    return (runs[1][0] - runs[0][0]) // (packets[1] - packets[0])


def sojourn(case: Case, aqm: str, seconds: float, *, rows: bool) -> dict[str, float]:
    """Runs the case here and now."""
    # Imported here so that the memory of the process that compares does not count for either.
    import pyarrow.parquet as pq

    from sojourn import _core
    from sojourn.runner import plan_scenario
    from sojourn.runtime.engine import simulate
    from sojourn.runtime.row_writer import ROWS_AT_ONCE
    from sojourn.runtime.run_files import PACKETS

    plan = plan_scenario(
        {
            "title": case.title,
            "duration": f"{seconds:g} s",
            "aqms": [aqm],
            "switch": {"rate": f"{case.mbit} Mbit/s", "queue_limit": f"{case.limit} B"},
            "flows": [{"count": case.flows, "rtt": [f"{case.shortest} ms", f"{case.longest} ms"]}],
        }
    )
    run = plan.runs[0]
    start, processor = time.perf_counter(), time.process_time()

    def reported(packets: int) -> dict[str, float]:
        took, used = time.perf_counter() - start, time.process_time() - processor
        return {"packets": packets, "seconds": took, "processor": used}

    if rows:
        with tempfile.TemporaryDirectory() as folder:
            simulate(plan, Path(folder))
            took = reported(0)
            file = pq.ParquetFile(Path(folder) / run.folder / PACKETS)
            return took | {"packets": file.metadata.num_rows}
    simulation = _core.Simulation(run.configuration, list(run.programs))
    packets = 0
    while not simulation.finished:
        simulation.advance(run.config["duration"], ROWS_AT_ONCE)
        packets += simulation.take_packets(0).count
        simulation.take_flows()
    return reported(packets)


def best(command: list[str], repeat: int) -> Cost:
    """The fastest of some runs of a command."""
    costs: list[Cost] = []
    while len(costs) < repeat and sum(cost.process for cost in costs) < ENOUGH:
        costs.append(measure(command))
    return min(costs, key=lambda cost: cost.seconds)


def measure(command: list[str]) -> Cost:
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    answer = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{command[0]} failed with status {os.waitstatus_to_exitcode(status)}")
    reported = json.loads(answer)
    megabytes = usage.ru_maxrss / 1000
    return Cost(
        reported["packets"], reported["seconds"], reported["processor"], took, megabytes, None
    )


def show(label: str, cost: Cost, reference: Cost) -> None:
    counted = ""
    if cost.instructions is not None and reference.instructions is not None:
        ratio = reference.instructions / cost.instructions
        counted = f"{cost.instructions:9,}{ratio:7.1f}"
    print(
        f"{label:32}{cost.packets:10}{cost.seconds:9.2f}{cost.processor:8.2f}{cost.process:9.2f}"
        f"{cost.rate:11,.0f}{cost.megabytes:6.0f}{cost.rate / reference.rate:7.1f}"
        f"{counted}",
        flush=True,
    )


def run(command: list[str], *, check: bool = True) -> str:
    done = subprocess.run(command, check=check, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else ""


if __name__ == "__main__":
    main()
