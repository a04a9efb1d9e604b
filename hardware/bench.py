"""Runs the benches of codel_queue.sv and fq_codel_queue.sv.

    python hardware/bench.py [QUEUES] [PACKETS] [ARRIVALS.json]
    python hardware/bench.py fq [PACKETS]

Frames go through the module at random back-pressure, at full rate and onto a 10 Gbit/s port; every
decision that CoDel made is written to `target/hardware/decisions-QUEUES/*.json`, where
tests/test_hardware.py compares them with the native CoDel. ARRIVALS is a list of [ns, bytes].
FQ-CoDel's decisions are compared where they are made, with those of bench/fq_model.py.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import tools

WORDS = 1024


@dataclass(frozen=True)
class Kind:
    """A module, its bench in bench/, and the parameters of the one that the other has to know."""

    top: str
    bench: str
    parameters: dict[str, int]


CODEL = Kind("codel_queue", "queue_bench", {"QUEUES": 1, "WORDS": WORDS})
FQ_CODEL = Kind("fq_codel_queue", "fq_bench", {"FLOWS": 64, "CELLS": 2048, "ROOM": 320})


def run(queues: int = 1, packets: int = 0, arrivals: Path | None = None) -> Path:
    """Builds and runs that of codel_queue.sv; the folder with the decisions.

    With 0 packets there are enough that some queues come to drop.
    """
    packets = packets or max(600, 60 * queues)
    given = {} if arrivals is None else {"ARRIVALS": str(arrivals.absolute())}
    return run_kind(CODEL, str(queues), {"QUEUES": queues, "PACKETS": packets} | given)


def run_fq(packets: int = 600) -> Path:
    """Builds and runs that of fq_codel_queue.sv; the folder with what it said."""
    return run_kind(FQ_CODEL, "fq", {"PACKETS": packets})


def run_kind(kind: Kind, name: str, settings: dict[str, int | str]) -> Path:
    """Raises `SystemExit` with what went wrong."""
    python = tools.python()
    out = tools.FOLDER / f"decisions-{name}"
    out.mkdir(parents=True, exist_ok=True)
    own = kind.parameters | {"OUT": out, "BENCH": kind.bench} | settings
    log = out / "log.txt"
    with log.open("w") as file:
        done = subprocess.run(
            [python, __file__, "--inside"],
            env=tools.environment() | {key: str(value) for key, value in own.items()},
            stdout=file,
            stderr=subprocess.STDOUT,
            check=False,
        )
    said = log.read_text()
    if done.returncode:
        raise SystemExit(f"{said[-4000:]}\nsee {log}")
    return out


def inside() -> None:
    """In the interpreter that has cocotb."""
    from cocotb_tools.runner import get_results, get_runner

    kind = next(kind for kind in (CODEL, FQ_CODEL) if kind.bench == os.environ["BENCH"])
    parameters = {name: os.environ[name] for name in kind.parameters}
    build = tools.FOLDER / "-".join(["bench", kind.top, *parameters.values()])
    runner = get_runner("verilator")
    runner.build(
        sources=tools.SOURCES,
        hdl_toplevel=kind.top,
        parameters=parameters,
        build_dir=build,
        build_args=[
            *("--public-flat-rw", "-Wall", "-Wno-UNUSEDSIGNAL", "-Wno-DECLFILENAME"),
            *("-Wno-PINCONNECTEMPTY", "--timescale", "1ns/1ps", "-O3"),
            # In one piece: the wheel does not know how a compiler is given a header for many.
            *("--output-split", "0"),
        ],
    )
    results = runner.test(
        hdl_toplevel=kind.top,
        test_module=kind.bench,
        test_dir=tools.HARDWARE / "bench",
        build_dir=build,
        results_xml=str(build / "results.xml"),
    )
    _, failed = get_results(results)
    sys.exit(failed)


if __name__ == "__main__":
    if sys.argv[1:] == ["--inside"]:
        inside()
    try:
        tools.python()
    except tools.MissingError as missing:
        print(missing, file=sys.stderr)
        sys.exit(tools.NOT_THERE)
    if sys.argv[1:2] == ["fq"]:
        folder = run_fq(*(int(word) for word in sys.argv[2:3]))
    else:
        numbers = [int(word) for word in sys.argv[1:3]]
        folder = run(*numbers, *(Path(word) for word in sys.argv[3:4]))
    lines = (folder / "log.txt").read_text().splitlines()
    print(*(line for line in lines if " in " in line and "cycles" in line), sep="\n")
    print("what was decided is in", folder)
