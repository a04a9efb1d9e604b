"""Prints the live switch's speed against a bare forwarder in C (table in bench/README.md).

python bench/live.py               # six minutes on two cores; as root

Each thing is measured in turn with the forwarder, in front of it and behind it, because a machine's
speed changes from minute to minute; a ratio is that to the mean of the two, and the table has the
middle of the rounds. The hosts go before other processes of the machine, and what stands between
them before the hosts. Needs iperf3, ping and a C compiler.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hosts import PORTS, SERVER, Host, compiled, enclose, sent, started, two_hosts
from machine import machine

SWITCH = [sys.executable, "-m", "sojourn", "switch"]
CANDIDATES = {
    "a wire (`--aqm fifo`)": ["--aqm", "fifo"],
    "`v1model/router`": ["v1model/router"],
    "`v1model/codel`": ["v1model/codel"],
    "`codel_exact`": ["codel_exact"],
}
"""What the switch is started with."""
FORWARDER = "the forwarder"
PAYLOAD = 1448
"""Bytes of TCP in a full frame."""
PINGS = 200
FIRST = ("chrt", "--rr", "1")
"""In front of what the hosts run."""


@dataclass(frozen=True)
class Carried:
    """What one of them carried."""

    goodput: float
    """Mbit/s."""
    trip: float
    """us, half of them below."""
    small: float
    """Frames of 60 bytes a second that came out again."""


def main() -> None:
    """Everything, or what is asked for."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=int, default=4)
    given = options.parse_args()
    enclose()
    with tempfile.TemporaryDirectory() as place, two_hosts() as (one, other):
        folder = Path(place)
        forwarder, generator = (compiled(name, folder) for name in ("forwarder.c", "generator.c"))
        frames = folder / "frames"
        frames.write_bytes(small_frames())
        server = subprocess.Popen(other.command(*FIRST, "iperf3", "-s"), stdout=subprocess.DEVNULL)

        def measured() -> Carried:
            trip = pinged(one)
            goodput = iperf(one, given.seconds)
            return Carried(goodput, trip, flooded(one, generator, frames))

        def bare() -> Carried:
            with started([forwarder, *PORTS], "ready"):
                return measured()

        try:
            found = alternated(bare, measured, given.rounds, folder)
        finally:
            server.kill()
            server.wait()
    show(found, given)


def alternated(
    bare: Callable[[], Carried], measured: Callable[[], Carried], rounds: int, folder: Path
) -> dict[str, list[tuple[Carried, Carried]]]:
    """For each candidate and round what it carried, and the mean of the forwarder around it."""
    found: dict[str, list[tuple[Carried, Carried]]] = {name: [] for name in CANDIDATES}
    before = bare()
    for number in range(rounds):
        for name, words in CANDIDATES.items():
            with live(words, folder / f"{len(found)}-{number}-{words[-1].replace('/', '-')}"):
                here = measured()
            after = bare()
            found[name].append((here, mean(before, after)))
            before = after
            print(f"round {number + 1}, {name}: {here}, forwarder {after}", file=sys.stderr)
    return found


@contextmanager
def live(words: list[str], folder: Path) -> Iterator[None]:
    """The switch, once frames pass."""
    ports = [f"--port={number}={name}" for number, name in enumerate(PORTS, 1)]
    with started([*SWITCH, *words, *ports, "--out", str(folder)], "rows and control"):
        yield


def mean(one: Carried, other: Carried) -> Carried:
    """Of two."""
    return Carried(
        (one.goodput + other.goodput) / 2,
        (one.trip + other.trip) / 2,
        (one.small + other.small) / 2,
    )


def iperf(host: Host, seconds: int) -> float:
    """Mbit/s that arrived of one TCP flow."""
    said = json.loads(
        host.run(*FIRST, "iperf3", "-c", SERVER, "-C", "cubic", "-t", str(seconds), "-J")
    )
    return float(said["end"]["sum_received"]["bits_per_second"] / 1e6)


def pinged(host: Host) -> float:
    """us there and back, half of them below."""
    said = host.run(*FIRST, "ping", "-c", str(PINGS), "-i", "0.005", SERVER)
    return statistics.median(float(found) for found in re.findall(r"time=([\d.]+)", said)) * 1000


def flooded(host: Host, generator: str, frames: Path) -> float:
    """Frames a second that came to the other host, which no socket there wants."""
    count = 200_000
    before = sent(PORTS[1])
    with frames.open("rb") as given:
        done = subprocess.run(
            host.command(*FIRST, generator, "eth0", str(count), "0"),
            stdin=given,
            capture_output=True,
            text=True,
            check=True,
        )
    seconds = float(done.stdout.split()[1])
    # Until the last of those that wait has passed.
    seen, since = sent(PORTS[1]), time.monotonic()
    while True:
        time.sleep(0.02)
        now = sent(PORTS[1])
        if now == seen:
            break
        seen = now
        seconds += time.monotonic() - since
        since = time.monotonic()
    return (seen - before) / seconds


def small_frames() -> bytes:
    """64 flows of UDP in frames of 60 bytes, which are 64 with their FCS."""
    records = b""
    for number in range(64):
        header = bytearray.fromhex("4500002e00000000401100000a0000010a800001")
        total = sum(int.from_bytes(header[at : at + 2]) for at in range(0, 20, 2))
        header[10:12] = (~((total & 0xFFFF) + (total >> 16)) & 0xFFFF).to_bytes(2)
        segment = (10_000 + number).to_bytes(2) + bytes.fromhex("0009001a0000") + bytes(18)
        frame = bytes.fromhex("0200000000020200000000010800") + header + segment
        records += len(frame).to_bytes(2) + frame
    return records


def show(found: dict[str, list[tuple[Carried, Carried]]], given: argparse.Namespace) -> None:
    """The table."""
    load = os.getloadavg()
    print(
        f"{given.rounds} rounds, {given.seconds} s of iperf3 and {PINGS} pings each; "
        f"{machine()}; load average at the end {load[0]:.1f} (1 min), {load[2]:.1f} (15 min)\n"
    )
    print("| in between | goodput | of the forwarder's | round trip | of the forwarder's |", end="")
    print(" full frames/s | 64-byte frames/s | of the forwarder's |")
    print("|---|---|---|---|---|---|---|---|")
    bare = [around for pairs in found.values() for _, around in pairs]
    lines = {FORWARDER: [(one, one) for one in bare]} | found
    for name, pairs in lines.items():
        middle = statistics.median
        goodput = middle(here.goodput for here, _ in pairs)
        cells = [
            name,
            f"{goodput / 1000:.2f} Gbit/s",
            ratio([here.goodput / there.goodput for here, there in pairs]),
            f"{middle(here.trip for here, _ in pairs):.0f} us",
            ratio([here.trip / there.trip for here, there in pairs]),
            f"{goodput * 1e6 / 8 / PAYLOAD:,.0f}",
            f"{middle(here.small for here, _ in pairs):,.0f}",
            ratio([here.small / there.small for here, there in pairs]),
        ]
        print(f"| {' | '.join(cells)} |")


def ratio(each: list[float]) -> str:
    """The middle, and the bounds."""
    return f"{statistics.median(each):.2f} ({min(each):.2f} to {max(each):.2f})"


if __name__ == "__main__":
    main()
