"""Endurance test of a live switch: hostile frames, failing interfaces, pauses, floods, clock steps.

python bench/soak.py frames [--count 10000000] [PROGRAM...]    # hostile frames through each program
python bench/soak.py trouble [--minutes 10]                    # interfaces, pauses, floods, clocks

Both end with status 1 if anything was wrong. `frames` goes on until so many have come into the
switch, two to three minutes for each program, `trouble` for the given time; as root, or in a
user namespace with `unshare -Ur`.
"""

import argparse
import itertools
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hosts import (
    PORTS,
    SERVER,
    Host,
    compiled,
    connect,
    enclose,
    ip,
    reach,
    sent,
    started,
    two_hosts,
)
from machine import machine
from sojourn import _core
from sojourn.backends.live.control_socket import RemoteSwitch

ROOT = Path(__file__).parent.parent
ADDRESSES = bytes.fromhex("020000000002020000000001")


def main() -> int:
    """One of them."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    which = options.add_subparsers(dest="which", required=True)
    frames = which.add_parser("frames")
    frames.add_argument("--count", type=int, default=10_000_000)
    frames.add_argument("--rate", type=int, default=0, help="frames a second; 0 is no limit")
    frames.add_argument("programs", nargs="*")
    trouble = which.add_parser("trouble")
    trouble.add_argument("--minutes", type=float, default=10)
    given = options.parse_args()
    enclose()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        print(f"{machine()}; load average {os.getloadavg()[0]:.1f}\n")
        if given.which == "frames":
            return through_programs(given, folder)
        return through_trouble(given.minutes * 60, folder)


def shipped() -> list[str]:
    """The programs, and a native discipline below none."""
    folders = ("tna", "v1model", "npu", "psa")
    names = [f"{one}/{path.stem}" for one in folders for path in (ROOT / "p4" / one).glob("*.p4")]
    return [*sorted(names), "fq_codel", "dualpi2"]


NATIVE = {name for name, *_ in _core.native_disciplines()}


@contextmanager
def live(
    name: str, folder: Path, *more: str, before: tuple[str, ...] = ()
) -> Iterator[tuple["subprocess.Popen[str]", dict[str, Any]]]:
    """The switch, shaped at its second port; what it said in the end is in the mapping then."""
    what = ["--aqm", name] if name in NATIVE else [name]
    ports = [f"--port={number}={port}" for number, port in enumerate(PORTS, 1)]
    command = [*before, sys.executable, "-m", "sojourn", "switch", *what, *ports, *more]
    said: dict[str, Any] = {}
    with started([*command, "--out", str(folder)], "rows and control") as process:
        yield process, said
    said["status"] = process.returncode
    counters = folder / "counters.json"
    said["counters"] = json.loads(counters.read_text(encoding="utf-8"))


def hostile(seed: int = 1) -> list[bytes]:
    """Frames of a hostile network: valid ones, valid ones with an error, and noise."""
    dice = random.Random(seed)
    found = []
    for _ in range(4096):
        frame = bytearray(dice.choice((udp4, udp4, tcp4, udp6, arp, vlan, noise))(dice))
        for _ in range(dice.choice((0, 0, 0, 1, 4))):
            frame[dice.randrange(len(frame))] = dice.randrange(256)
        cut = dice.random()
        if cut < 0.05:
            del frame[max(14, dice.randrange(len(frame))) :]
        # A frame that ends within its VLAN tag is dropped by the kernel before any program sees it.
        shortest = 20 if bytes(frame[12:14]) in (b"\x81\0", b"\x88\xa8") else 14
        found.append(bytes(frame[:1514]).ljust(shortest, b"\0"))
    return found


def ipv4(dice: random.Random, protocol: int, segment: bytes) -> bytes:
    """Its header in front of a segment."""
    header = bytearray.fromhex("450000000000400040000000")
    header[1], header[9] = dice.choice((0, 1, 2, 3, 0xB8)), protocol
    header[2:4] = (20 + len(segment)).to_bytes(2)
    header += bytes([10, dice.choice((0, 128)), 0, 1, 10, dice.choice((0, 128, 128, 128)), 0, 1])
    total = sum(int.from_bytes(header[at : at + 2]) for at in range(0, 20, 2))
    header[10:12] = (~((total & 0xFFFF) + (total >> 16)) & 0xFFFF).to_bytes(2)
    return ADDRESSES + b"\x08\x00" + bytes(header) + segment


def payload(dice: random.Random) -> bytes:
    """Of a length that packets have."""
    return bytes(dice.choice((0, 18, 18, 200, 600, 1400)))


def udp(dice: random.Random) -> bytes:
    """A datagram of one of 64 flows, as a segment."""
    data = payload(dice)
    return (
        (1024 + dice.randrange(64)).to_bytes(2)
        + b"\0\x09"
        + (8 + len(data)).to_bytes(2)
        + b"\0\0"
        + data
    )


def udp4(dice: random.Random) -> bytes:
    """IPv4."""
    return ipv4(dice, 17, udp(dice))


def tcp4(dice: random.Random) -> bytes:
    """A segment with or without data."""
    ports = (1024 + dice.randrange(64)).to_bytes(2) + b"\x14\x51"
    return ipv4(dice, 6, ports + dice.randbytes(8) + b"\x50\x10\xff\xff\0\0\0\0" + payload(dice))


def udp6(dice: random.Random) -> bytes:
    """IPv6."""
    segment = udp(dice)
    ends = bytes.fromhex("fd000000000000000000000000000001fd000000000000010000000000000001")
    return (
        ADDRESSES + b"\x86\xdd\x60\0\0\0" + len(segment).to_bytes(2) + b"\x11\x40" + ends + segment
    )


def arp(dice: random.Random) -> bytes:
    """A question or something like it."""
    return ADDRESSES + b"\x08\x06\0\1\x08\0\6\4\0\1" + dice.randbytes(20)


def vlan(dice: random.Random) -> bytes:
    """One tag or two in front of IPv4."""
    inner = udp4(dice)
    tags = b"\x81\0" + dice.randbytes(2)
    return inner[:12] + tags * dice.choice((1, 2)) + inner[12:]


def noise(dice: random.Random) -> bytes:
    """Bytes."""
    return ADDRESSES + dice.randbytes(dice.choice((2, 20, 100, 1000)))


def written(frames: list[bytes], path: Path) -> Path:
    """As the generator reads them."""
    path.write_bytes(b"".join(len(frame).to_bytes(2) + frame for frame in frames))
    return path


def through_programs(given: argparse.Namespace, folder: Path) -> int:
    """The frames through each program: what came, what was lost, what was faulty."""
    generator = compiled("generator.c", folder)
    frames = written(hostile(), folder / "frames")
    print(
        "| program | frames | a second | lost at the socket | rows | sent | dropped in queues | ",
        end="",
    )
    print("faults of the program | status |")
    print("|---|---|---|---|---|---|---|---|---|")
    wrong = 0
    for name in given.programs or shipped():
        out = folder / name.replace("/", "-")
        with two_hosts() as (one, _), live(name, out, "--rate", "2=20 Mbit/s") as (_, said):
            taken, seconds = send(given, one, generator, frames, out)
        live_said, switch = said["counters"]["live"], said["counters"]["switch"]
        came = sum(port["received"] for port in live_said["ports"])
        lost = sum(port["lost"] for port in live_said["ports"])
        measured = switch["ports"][1]
        kinds = ("tail_drops", "discipline_drops", "egress_drops")
        drops = sum(queue[kind]["packets"] for queue in measured["queues"] for kind in kinds)
        faults = sum(fault["count"] for fault in switch["faults"])
        right = (
            said["status"] == 0
            and came >= given.count
            and came + lost >= taken
            and switch["received"]["packets"] == came
            and switch["held"] == 0
        )
        wrong += not right
        print(
            f"| `{name}` | {came:,} | {came / seconds:,.0f} | {lost:,} | "
            f"{rows_in(out):,} | {measured['sent']['packets']:,} | {drops:,} | {faults:,} | "
            f"{'right' if right else 'WRONG'} |",
            flush=True,
        )
        if not right:
            print(json.dumps(said), file=sys.stderr)
    return int(wrong > 0)


def send(
    given: argparse.Namespace, host: Host, generator: str, frames: Path, folder: Path
) -> tuple[int, float]:
    """Has the generator send until `given.count` frames have come into the switch, those that were
    lost at its socket again; how many the interface took, and the seconds that it needed."""
    remote = RemoteSwitch(folder)
    taken, seconds, came, before = 0, 0.0, 0, -1
    try:
        while before < came < given.count:
            with frames.open("rb") as source:
                command = host.command(generator, "eth0", str(given.count - came), str(given.rate))
                done = subprocess.run(
                    command, stdin=source, capture_output=True, text=True, check=True
                )
            more, needed = done.stdout.split()
            taken, seconds = taken + int(more), seconds + float(needed)
            settle()
            before, came = came, remote.report()["live"]["ports"][0]["received"]
    finally:
        remote.close()
    return taken, seconds


class Trouble:
    """A live switch with TCP through it, and what may happen to both."""

    def __init__(
        self, one: Host, other: Host, process: int, folder: Path, generator: str, clock: Path
    ) -> None:
        self.one, self.other, self.process = one, other, process
        self.folder, self.generator, self.clock = folder, generator, clock
        self.hour = 1
        self.small = written([udp4_of(18, flow) for flow in range(64)], folder.with_name("small"))
        self.odd = written([*hostile(2), jumbo(), SHORT], folder.with_name("odd"))

    def events(self) -> dict[str, Callable[[], None]]:
        """What may happen, by its name."""
        return {
            "carrier down for 0.5 s": self.carrier,
            "interface down for 0.5 s": self.interface,
            "interface gone for 0.5 s": self.gone,
            "10,000 frames of all kinds and lengths": self.frames,
            "3 s of 64-byte frames as fast as they go": self.flood,
            "the wall clock an hour off, and back": self.steps,
            "stopped for 2 s": self.stopped,
            "a control client that dies in the middle": self.dying,
            "a table emptied: everything dropped for 1 s": self.nothing,
        }

    def carrier(self) -> None:
        self.other.run("ip", "link", "set", "eth0", "down")
        time.sleep(0.5)
        self.other.run("ip", "link", "set", "eth0", "up")
        reach(PORTS[1], self.other)

    def interface(self) -> None:
        ip("link", "set", PORTS[1], "down")
        time.sleep(0.5)
        ip("link", "set", PORTS[1], "up")

    def gone(self) -> None:
        ip("link", "del", PORTS[1])
        time.sleep(0.5)
        connect(PORTS[1], self.other, MTU)

    def frames(self) -> None:
        self.generate(self.odd, 10_000, 5_000)

    def flood(self) -> None:
        end = time.monotonic() + 3
        while time.monotonic() < end:
            self.generate(self.small, 200_000, 0)

    def generate(self, frames: Path, count: int, rate: int) -> None:
        with frames.open("rb") as source:
            words = self.one.command(self.generator, "eth0", str(count), str(rate))
            subprocess.run(words, stdin=source, stdout=subprocess.DEVNULL, check=True)

    def steps(self) -> None:
        for seconds in (3600.0 * self.hour, 0.0):
            self.clock.write_bytes(struct.pack("d", seconds))
            time.sleep(0.5)
        self.hour = -self.hour

    def stopped(self) -> None:
        os.kill(self.process, signal.SIGSTOP)
        time.sleep(2)
        os.kill(self.process, signal.SIGCONT)

    def dying(self) -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.folder / "control.sock"))
            client.sendall(b'{"apply": [{"op": "clear_table", "table": "routes"}]}')

    def nothing(self) -> None:
        remote = RemoteSwitch(self.folder)
        try:
            before = remote.read({"read": "entries", "table": "Router.routes"})
            cleared = {"op": "clear_table", "table": "Router.routes"}
            remote.apply(json.dumps([cleared]))
            time.sleep(1)
            add = {"op": "add_entry", "table": "Router.routes"}
            remote.apply(json.dumps([add | {"entry": one["entry"]} for one in before]))
        finally:
            remote.close()


MTU = 9000
SHORT = ADDRESSES + b"\x88\xb5"
"""The shortest frame: no payload."""


def udp4_of(length: int, flow: int) -> bytes:
    """One datagram."""
    segment = (1024 + flow).to_bytes(2) + b"\0\x09" + (8 + length).to_bytes(2) + bytes(2 + length)
    return ipv4(random.Random(flow), 17, segment)


def jumbo() -> bytes:
    """A frame of 9,014 bytes."""
    return udp4_of(MTU - 28, 7)


def through_trouble(seconds: float, folder: Path) -> int:
    """Each event in turn, TCP going on meanwhile; after each packets pass again, or they do not."""
    generator = compiled("generator.c", folder)
    library = compiled("steps.c", folder, "-shared", "-fPIC")
    clock = folder / "clock"
    clock.write_bytes(struct.pack("d", 0.0))
    stepping = ("env", f"STEPS={clock}", f"LD_PRELOAD={library}")
    out = folder / "run"
    with two_hosts(MTU) as (one, other):
        server = subprocess.Popen(other.command("iperf3", "-s"), stdout=subprocess.DEVNULL)
        rate = ("--rate", "2=50 Mbit/s")
        with live("v1model/codel", out, *rate, before=stepping) as (process, said):
            trouble = Trouble(one, other, process.pid, out, generator, clock)
            memory = resident(process.pid)
            failed, times = suffer(trouble, seconds, one)
            grown = resident(process.pid) - memory
        server.kill()
        server.wait()
    counters = said["counters"]
    ports = counters["live"]["ports"]
    print(f"{sum(times.values())} events in {seconds:.0f} s:")
    for what, count in times.items():
        print(f"  {count} times {what}; packets did not pass after {failed[what]} of them")
    for port in ports:
        counters = ("received", "sent", "lost", "not_sent", "oversized", "unfinished", "failures")
        print(f"  port {port['port']}: " + ", ".join(f"{port[key]:,} {key}" for key in counters))
    faults = sum(fault["count"] for fault in counters["switch"]["faults"])
    held = counters["switch"]["held"]
    print(
        f"  rows {rows_in(out):,}, lost {counters['live']['rows_lost']:,}; faults {faults:,}; "
        f"packets still held {held}; memory grew by {grown / 1e6:.0f} MB; status {said['status']}"
    )
    return int(sum(failed.values()) > 0 or said["status"] != 0 or held > 0)


def suffer(trouble: Trouble, seconds: float, one: Host) -> tuple[Counter[str], Counter[str]]:
    """How often packets did not pass within 5 s after each kind of event, and how often it was."""
    failed: Counter[str] = Counter()
    times: Counter[str] = Counter()
    end = time.monotonic() + seconds
    flow: subprocess.Popen[bytes] | None = None
    for what, event in itertools.cycle(trouble.events().items()):
        if time.monotonic() > end:
            break
        if flow is None or flow.poll() is not None:
            words = one.command("iperf3", "-c", SERVER, "-t", "20", "-M", "1400", "-C", "cubic")
            flow = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(1)
        event()
        asked = one.command("ping", "-c1", "-W1", SERVER)
        tries = (subprocess.run(asked, capture_output=True).returncode for _ in range(5))
        passes = 0 in tries
        times[what] += 1
        failed[what] += not passes
        if not passes:
            print(f"  no answer after {what}", file=sys.stderr, flush=True)
    if flow is not None:
        flow.kill()
        flow.wait()
    return failed, times


def resident(process: int) -> int:
    """Bytes of memory that a process has."""
    words = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE")


def settle() -> None:
    """Until nothing has come out for two seconds."""
    before = -1
    while (now := sent(PORTS[1])) != before:
        before = now
        time.sleep(2)


def rows_in(folder: Path) -> int:
    """Of all measured ports."""
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(path).num_rows for path in folder.glob("packets-port-*.parquet"))


if __name__ == "__main__":
    sys.exit(main())
