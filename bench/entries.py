"""Cost of 16,000 table entries by each interface of a switch: milliseconds and megabytes.

Usage: bench/entries.py

Each way is taken in a process of its own, after 100 entries by the same way. Printed are the
processor time from the input, a file or entries in Python, to the configured switch, and the peak
memory of the process; both less those of a process that takes 100 entries again.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from machine import machine

ENTRIES, FEW = 16_000, 100
REPEAT = 5
WANTED = (20, 5)
"""Milliseconds and megabytes."""

PROGRAM = """
#include <core.p4>
#include <v1model.p4>

const bit<32> INTERVAL = 100000000;

header ethernet_t { bit<48> destination; bit<48> source; bit<16> kind; }
struct headers_t { ethernet_t ethernet; }
struct metadata_t { bit<32> count; bit<32> gap; }

parser Read(packet_in packet, out headers_t hdr, inout metadata_t md,
            inout standard_metadata_t standard_metadata) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control Verify(inout headers_t hdr, inout metadata_t md) { apply {} }
control Look(inout headers_t hdr, inout metadata_t md,
                inout standard_metadata_t standard_metadata) {
    action set_gap(bit<32> gap) { md.gap = gap; }
    table gaps {
        key = { md.count : exact; }
        actions = { set_gap; }
        size = 16384;
    }
    apply {
        md.count = hdr.ethernet.source[31:0];
        gaps.apply();
        hdr.ethernet.destination[31:0] = md.gap;
    }
}
control Pass(inout headers_t hdr, inout metadata_t md,
               inout standard_metadata_t standard_metadata) { apply {} }
control Update(inout headers_t hdr, inout metadata_t md) { apply {} }
control Write(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }

V1Switch(Read(), Verify(), Look(), Pass(), Update(), Write()) main;
"""
KEY, ACTION, TABLE = "md.count", "set_gap", "Look.gaps"


def law(entries: int) -> Iterator[str]:
    """Computed by the engine."""
    counts = f'interval = "INTERVAL", counts = [1, {entries}]'
    yield f'[[tables]]\nname = "{TABLE}"\nentries_from = {{ control_law = {{ {counts} }} }}\n'


def toml(entries: int) -> Iterator[str]:
    """Written out in a control plane's file."""
    yield f'[[tables]]\nname = "{TABLE}"\n'
    for n in range(1, entries + 1):
        yield f'\n[[tables.entries]]\nmatch = {{ "{KEY}" = {n} }}\naction = "{ACTION}"\n'
        yield f"args = {{ gap = {n} }}\n"


def commands(entries: int) -> Iterator[str]:
    """As simple_switch_CLI reads them."""
    return (f"table_add gaps {ACTION} {n} => {n}\n" for n in range(1, entries + 1))


def started(text: Iterator[str], suffix: str) -> Callable[[], object]:
    """A run's start with the text in a file, which is never whole in the memory of this process."""
    from sojourn import _core
    from sojourn.runner import plan_scenario

    folder = Path(tempfile.mkdtemp())
    program, control = folder / "program.p4", folder / f"control{suffix}"
    program.write_text(PROGRAM)
    with control.open("w") as file:
        file.writelines(text)
    scenario = {
        "duration": "1 s",
        "aqms": [{"use": str(program), "control": str(control)}],
        "switch": {"rate": "1 Mbit/s"},
        "flows": [{"rtt": "1 ms"}],
    }

    def start() -> object:
        run = plan_scenario(scenario).runs[0]
        return _core.Simulation(run.configuration, list(run.programs))

    return start


def batch(entries: int) -> Callable[[], object]:
    """Entries added to a switch in virtual time, together."""
    import sojourn

    program = Path(tempfile.mkdtemp()) / "program.p4"
    program.write_text(PROGRAM)

    def add() -> object:
        switch = sojourn.open_switch(program)
        table = switch.table(TABLE)
        with switch.batch():
            for n in range(1, entries + 1):
                table.add({KEY: n}, ACTION, {"gap": n})
        return switch

    return add


WAYS: dict[str, Callable[[int], Callable[[], object]]] = {
    "computed: entries_from": lambda entries: started(law(entries), ".toml"),
    "a file, TOML": lambda entries: started(toml(entries), ".toml"),
    "a file, commands": lambda entries: started(commands(entries), ".txt"),
    "a batch of a Switch": batch,
}


def main() -> None:
    if len(sys.argv) == 3:
        print(json.dumps(measured(sys.argv[1], int(sys.argv[2]))))
        return
    print(f"{ENTRIES:,} entries; wanted: {WANTED[0]} ms and {WANTED[1]} MB; {machine()}\n")
    print(f"{'by':28}{'ms':>8}{'MB':>8}")
    for way in WAYS:
        few, many = (of(way, entries) for entries in (FEW, ENTRIES))
        milliseconds, megabytes = (more - less for less, more in zip(few, many, strict=True))
        print(f"{way:28}{milliseconds:8.1f}{megabytes:8.1f}", flush=True)


def of(way: str, entries: int) -> tuple[float, float]:
    """Milliseconds and megabytes of a way, the least of some processes."""
    command = [sys.executable, __file__, way, str(entries)]
    reported = [
        json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(REPEAT)
    ]
    return min(one[0] for one in reported), min(one[1] for one in reported)


def measured(way: str, entries: int) -> tuple[float, float]:
    """Milliseconds of processor time and the most megabytes of this process."""
    WAYS[way](FEW)()
    take = WAYS[way](entries)
    begun = time.process_time()
    kept = take()
    took = time.process_time() - begun
    del kept
    return 1e3 * took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    main()
