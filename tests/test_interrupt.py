"""Ctrl-C in long commands: they end at once with status 130.

For `run` see `test_bad_input.py` and `test_run_folder.py`, for `agree` `test_agree.py`.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import call_sojourn

AT_ONCE = 20
"""s; each of these commands would be at work for many minutes. It takes less than one."""

MANY = 15_000
"""Statements that need each other: placing them takes many minutes, reading them a second."""

PROGRAM = """
#include <core.p4>
#include <tna.p4>
struct headers_t {{}}
struct metadata_t {{ bit<32> a; }}
parser IngressParser(packet_in packet, out headers_t h, out metadata_t m,
    out ingress_intrinsic_metadata_t i) {{
    state start {{
        packet.extract(i); packet.advance(PORT_METADATA_SIZE); m.a = 0; transition accept;
    }}
}}
control Ingress(inout headers_t h, inout metadata_t m, in ingress_intrinsic_metadata_t i,
    in ingress_intrinsic_metadata_from_parser_t p,
    inout ingress_intrinsic_metadata_for_deparser_t d,
    inout ingress_intrinsic_metadata_for_tm_t t) {{ apply {{
{statements}
    t.ucast_egress_port = m.a[8:0];
}} }}
control IngressDeparser(packet_out packet, inout headers_t h, in metadata_t m,
    in ingress_intrinsic_metadata_for_deparser_t d) {{ apply {{ packet.emit(h); }} }}
parser EgressParser(packet_in packet, out headers_t h, out metadata_t m,
    out egress_intrinsic_metadata_t i) {{
    state start {{ packet.extract(i); m.a = 0; transition accept; }}
}}
control Egress(inout headers_t h, inout metadata_t m, in egress_intrinsic_metadata_t i,
    in egress_intrinsic_metadata_from_parser_t p,
    inout egress_intrinsic_metadata_for_deparser_t d,
    inout egress_intrinsic_metadata_for_output_port_t t) {{ apply {{ }} }}
control EgressDeparser(packet_out packet, inout headers_t h, in metadata_t m,
    in egress_intrinsic_metadata_for_deparser_t d) {{ apply {{ packet.emit(h); }} }}
Pipeline(IngressParser(), Ingress(), IngressDeparser(),
         EgressParser(), Egress(), EgressDeparser()) pipe;
Switch(pipe) main;
"""

SWEEP = """
scenario = "bufferbloat"
seeds = "1..4"
[set]
duration = "{duration}"
aqms = ["codel_exact"]
"""


def stopped(folder: Path, busy: Callable[[int], bool], *arguments: object) -> str:
    """Starts a command, interrupts it when it is `busy`, and gives back what it said."""
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", *map(str, arguments)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        give_up = time.monotonic() + 120
        while not busy(process.pid):
            assert process.poll() is None, process.communicate()[1]
            assert time.monotonic() < give_up
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=AT_ONCE)
    finally:
        process.kill()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    return said


def at_work(seconds: float) -> Callable[[int], bool]:
    """A process that has used so much of a processor, more than it takes to start."""
    ticks = os.sysconf("SC_CLK_TCK")

    def busy(pid: int) -> bool:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / ticks > seconds

    return busy


def children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_ctrl_c_ends_a_check_while_a_program_is_placed(tmp_path: Path) -> None:
    statements = "\n".join(f"if (m.a == {i}) {{ m.a = {i + 1}; }}" for i in range(MANY))
    (tmp_path / "long.p4").write_text(PROGRAM.format(statements=statements))
    stopped(tmp_path, at_work(2), "check", "long.p4")


@pytest.mark.parametrize("aqm", ["codel_exact", "v1model/codel"])
def test_ctrl_c_ends_a_replay_and_its_folder_takes_the_next(tmp_path: Path, aqm: str) -> None:
    trace = ("flood", "--rate", "100 Mbit/s", "--duration", "1000 s")
    stopped(tmp_path, at_work(3), "replay", *trace, "--aqm", aqm, "--out", "out")
    done = call_sojourn(tmp_path, "replay", "flood", "--duration", "2 s", "--out", "out")
    assert done.returncode == 0, done.stderr


def test_ctrl_c_ends_a_sweep_with_its_workers_and_the_same_command_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP.format(duration="3000 s"))
    workers: list[int] = []

    def busy(pid: int) -> bool:
        workers[:] = children(pid)
        return any(map(at_work(2), workers))

    stopped(tmp_path, busy, "sweep", "sweep.toml", "--out", "out")
    give_up = time.monotonic() + AT_ONCE
    while any(map(is_alive, workers)):
        assert time.monotonic() < give_up, "a worker outlives its sweep"
        time.sleep(0.02)
    assert not list((tmp_path / "out" / "runs").glob("*")), "no run had ended"
    (tmp_path / "sweep.toml").write_text(SWEEP.format(duration="20 ms"))
    done = call_sojourn(tmp_path, "sweep", "sweep.toml", "--out", "out")
    assert done.returncode == 0, done.stderr


IMPORTING = """
import builtins

real = builtins.__import__

def interrupted(name, *rest, **named):
    if name == "typer":
        raise KeyboardInterrupt
    return real(name, *rest, **named)

builtins.__import__ = interrupted
from sojourn.__main__ import main
main()
"""


def test_ctrl_c_while_the_command_line_is_imported_is_an_interruption() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


DEAF = """
import os, signal, time
from sojourn.cli import signals

class Deaf:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

signals.listen()
try:
    Deaf()
    while True:
        time.sleep(0.01)
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_is_heard_where_an_exception_is_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DEAF], capture_output=True, text=True, timeout=AT_ONCE, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "heard\n", "")
