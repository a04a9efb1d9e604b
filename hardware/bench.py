"""Runs the benches of codel_queue.sv.

    python hardware/bench.py [QUEUES] [PACKETS] [ARRIVALS.json]

Frames go through the module at random back-pressure, at full rate and onto a 10 Gbit/s port; every
decision that CoDel made is written to `target/hardware/decisions-QUEUES/*.json`, where
tests/test_hardware.py compares them with the native CoDel. ARRIVALS is a list of [ns, bytes].
"""

import os
import subprocess
import sys
from pathlib import Path

import tools

WORDS = 1024


def run(queues: int = 1, packets: int = 600, arrivals: Path | None = None) -> Path:
    """Builds and runs; the folder with the decisions. Raises `SystemExit` with what went wrong."""
    python = tools.python()
    out = tools.FOLDER / f"decisions-{queues}"
    out.mkdir(parents=True, exist_ok=True)
    settings = {"QUEUES": queues, "WORDS": WORDS, "PACKETS": packets, "OUT": out}
    extra = {name: str(value) for name, value in settings.items()}
    if arrivals is not None:
        extra["ARRIVALS"] = str(arrivals.absolute())
    log = out / "log.txt"
    with log.open("w") as file:
        done = subprocess.run(
            [python, __file__, "--inside"],
            env=tools.environment() | extra,
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

    queues = os.environ["QUEUES"]
    build = tools.FOLDER / f"bench-{queues}"
    runner = get_runner("verilator")
    runner.build(
        sources=tools.SOURCES,
        hdl_toplevel="codel_queue",
        parameters={"QUEUES": queues, "WORDS": os.environ["WORDS"]},
        build_dir=build,
        build_args=[
            *("--public-flat-rw", "-Wall", "-Wno-UNUSEDSIGNAL", "-Wno-DECLFILENAME"),
            *("--timescale", "1ns/1ps", "-O3"),
            *("-MAKEFLAGS", "OPT_FAST=-O1 OPT_GLOBAL=-O0 OPT_SLOW=-O0"),
        ],
    )
    results = runner.test(
        hdl_toplevel="codel_queue",
        test_module="queue_bench",
        test_dir=tools.HARDWARE / "bench",
        build_dir=build,
        results_xml=str(build / "results.xml"),
    )
    _, failed = get_results(results)
    sys.exit(failed)


if __name__ == "__main__":
    if sys.argv[1:] == ["--inside"]:
        inside()
    numbers = [int(word) for word in sys.argv[1:3]]
    try:
        tools.python()
    except tools.MissingError as missing:
        print(missing, file=sys.stderr)
        sys.exit(tools.NOT_THERE)
    folder = run(*numbers, *(Path(word) for word in sys.argv[3:4]))
    lines = (folder / "log.txt").read_text().splitlines()
    print(*(line for line in lines if " in " in line and "cycles" in line), sep="\n")
    print("decisions are in", folder)
