"""Bench of codel_queue.sv: frames cycle by cycle, for cocotb; run by hardware/bench.py.

A model of the queues, kept beside the module, knows from the frames that came in what every
question to the AQM and every frame that leaves has to be. The decisions themselves are written
down, with what was asked, and compared with the native CoDel outside, where Sojourn is installed.
"""

import json
import os
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cocotb
from backpressure import at_random, wire
from cocotb.triggers import Timer
from frames import codepoint, make_frame
from streams import BEHIND_MEMORY, Leaving, Streams, words

QUEUES = int(os.environ["QUEUES"])
WORDS = int(os.environ["WORDS"])
PACKETS = int(os.environ["PACKETS"])
OUT = Path(os.environ["OUT"])
LEAD = 4
"""Words of the frames before that may still be to be read when CoDel is asked."""


@dataclass
class Held:
    frame: bytes
    enqueued: int


@dataclass
class Bench(Streams[int]):
    """The module, a model of its queues, and what was seen."""

    held: list[deque[Held]] = field(default_factory=lambda: [deque() for _ in range(QUEUES)])
    asked: tuple[int, Held, int, int] | None = None
    decisions: list[list[int]] = field(default_factory=list)
    counts: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = ("queued", "refused", "sent", "dropped", "marked")
        self.counts = {name: [0] * QUEUES for name in names}

    def note(self, what: str, queue: int) -> None:
        self.counts[what][queue] += 1

    async def start(self, target: int, interval: int, maxpacket: int, ecn: bool) -> None:
        """Resets the module and sets CoDel's parameters, in nanoseconds and bytes."""
        self.dut.s_axis_tdest.value = 0
        await self.reset()
        await self.set({0: target, 4: interval, 8: maxpacket, 12: int(ecn)})

    def summary(self) -> object:
        return self.counts

    def waiting(self) -> bool:
        return any(self.held)

    def direct(self, to: int) -> None:
        self.dut.s_axis_tdest.value = to

    def decided(self) -> None:
        dut = self.dut
        if dut.answer.value:
            self.answered(bool(dut.drop.value), bool(dut.mark.value))
        if dut.ask.value and dut.ready.value:
            self.was_asked()

    def arrived(self, to: int, frame: bytes) -> None:
        if self.dut.was_queued.value:
            self.held[to].append(Held(frame, int(self.dut.now.value)))
            self.note("queued", to)
        else:
            assert self.dut.was_refused.value
            self.note("refused", to)

    def was_asked(self) -> None:
        dut = self.dut
        queue = int(dut.ask_queue.value)
        held = self.held[queue].popleft()
        backlog = sum(len(other.frame) for other in self.held[queue])
        now = int(dut.now.value)
        assert int(dut.ask_enqueued.value) == held.enqueued
        assert int(dut.ask_length.value) == len(held.frame)
        assert int(dut.ask_backlog.value) == backlog
        assert bool(dut.ask_capable.value) == (codepoint(held.frame) != 0)
        assert self.asked is None, "a question before the answer"
        assert self.ahead() <= LEAD + BEHIND_MEMORY, "asked before it was needed"
        self.asked = queue, held, now, backlog

    def answered(self, drop: bool, mark: bool) -> None:
        assert self.asked is not None and not (drop and mark)
        queue, held, now, backlog = self.asked
        self.asked = None
        row = [queue, now, now - held.enqueued, backlog, len(held.frame), int(drop), int(mark)]
        self.decisions.append(row)
        if drop:
            self.note("dropped", queue)
            return
        self.note("marked" if mark else "sent", queue)
        self.leaving.append(Leaving(held.frame, held.enqueued, mark, queue))

    def quiet(self) -> bool:
        return not (self.coming or self.whole or any(self.held) or self.asked or self.leaving)

    async def finish(self, name: str) -> None:
        """Everything has left; the counters say what was seen; decisions go to a file."""
        await self.run(self.quiet, 400_000)
        for queue in range(QUEUES):
            await self.write(0x10, queue)
            for number, count in enumerate(self.counts.values()):
                assert await self.read(0x14 + 4 * number) == count[queue]
            queued, _, sent, dropped, marked = (count[queue] for count in self.counts.values())
            assert queued == sent + dropped + marked
        target, interval, maxpacket = [await self.read(address) for address in (0, 4, 8)]
        parameters = {"target": target, "interval": interval, "maxpacket": maxpacket}
        ecn = bool(await self.read(12))
        found = {
            "parameters": parameters,
            "ecn": ecn,
            "queues": QUEUES,
            "decisions": self.decisions,
        }
        (OUT / f"{name}.json").write_text(json.dumps(found))
        totals = {what: sum(count) for what, count in self.counts.items()}
        self.dut._log.info(f"{name}: {totals} in {self.cycle} cycles")


# ---- What comes ----


def frames(
    rng: random.Random, count: int, load: Callable[[int], float], size: Callable[[], int]
) -> Iterator[tuple[int, int, bytes]]:
    """Frames at `load` bytes a cycle, gaps and all."""
    cycle = 0.0
    for number in range(count):
        length = size()
        yield int(cycle), rng.randrange(QUEUES), make_frame(rng, length)
        cycle += rng.expovariate(1.0) * (length + 24) / load(number)


def mixed(rng: random.Random) -> int:
    """Bytes of a frame: small and full ones, any, now and then a jumbo."""
    return rng.choice((64, 64, 1514, 1514, rng.randrange(60, 1515), rng.randrange(60, 400)))


@cocotb.test()
async def frames_pass_or_are_dropped_whole_at_any_back_pressure(dut: Any) -> None:
    rng = random.Random(1)
    bench = Bench(dut, at_random(rng))
    # One queue has one CoDel, which signals less often than several.
    await bench.start(2_000, 10_000 if QUEUES > 1 else 5_000, 1514, ecn=True)

    def size() -> int:
        return 9000 if rng.random() < 0.01 else mixed(rng)

    # A load that the exit can and cannot carry, in turn.
    bench.coming.extend(frames(rng, PACKETS, lambda n: 24 if n // 150 % 2 else 9, size))
    await bench.finish("back_pressure")
    assert sum(bench.counts["dropped"]) > 10 and sum(bench.counts["marked"]) > 10, bench.counts
    if QUEUES * WORDS <= 4096:
        assert sum(bench.counts["refused"]) > 0, bench.counts


@cocotb.test()
async def there_is_no_bubble_between_frames_of_any_size(dut: Any) -> None:
    rng = random.Random(2)
    held_back = [True]
    bench = Bench(dut, lambda _: not held_back[0])
    await bench.start(1_000_000_000, 1_000_000_000, 1514, ecn=False)
    sizes = [60, 64, 64, 65, 96, 97, 128, 129, 1514, 64, 64, 64, 200, 64, 9000]
    sizes += [rng.choice((64, rng.randrange(60, 300))) for _ in range(40)]
    if WORDS < 512:
        sizes.remove(9000)
    bench.coming.extend((0, 0, make_frame(rng, size)) for size in sizes)
    await bench.run(lambda: not bench.coming, 10_000)
    assert bench.counts["refused"] == [0] * QUEUES
    held_back[0] = False
    begin = bench.cycle
    await bench.run(bench.quiet, 10_000)
    assert bench.cycle - begin == sum(words(bytes(size)) for size in sizes), "a word in every cycle"
    # And at full rate through and through: in as fast as out.
    bench.coming.extend((0, 0, make_frame(rng, 64)) for _ in range(200))
    await bench.run(lambda: any(bench.leaving), 100)
    begin = len(bench.busy)
    await bench.run(bench.quiet, 1_000)
    offered = bench.busy[begin:]
    first = offered.index(True)
    assert all(offered[first : first + 400])
    await bench.finish("no_bubble")


@cocotb.test()
async def a_port_of_10_gbits_is_never_idle_while_64_byte_frames_wait(dut: Any) -> None:
    rng = random.Random(3)
    bench = Bench(dut, wire(10.0))
    await bench.start(1_000, 5_000, 128, ecn=False)
    arrivals = frames(rng, 2 * PACKETS, lambda n: 5 if n // 300 % 2 else 10, lambda: 64)
    bench.coming.extend(arrivals)
    slots = 0
    await bench.run(lambda: sum(bench.counts["sent"]) > 2, 2_000)
    while not bench.quiet():
        before = bench.idle
        await bench.step()
        # From the end of a frame's arrival to its first word on the wire it takes ten cycles.
        oldest = min(held[0].enqueued for held in bench.held if held) if any(bench.held) else None
        waits = oldest is not None and int(dut.now.value) - oldest > 10 * 5
        slots += bool(dut.m_axis_tready.value) and waits and bench.idle > before
    assert slots == 0, f"{slots} cycles of the wire were lost"
    assert sum(bench.counts["dropped"]) > 5, bench.counts
    await bench.finish("line_rate")


@cocotb.test(skip="ARRIVALS" not in os.environ)
async def recorded_arrivals_are_decided_upon(dut: Any) -> None:
    """Arrivals of a run at 100 Mbit/s, a hundred times as fast: 10 Gbit/s. TARGET and INTERVAL are
    shorter still, so that a short record has drops."""
    rng = random.Random(4)
    bench = Bench(dut, wire(10.0))
    await bench.start(2_000, 20_000, 1514, ecn=False)
    arrivals = json.loads(Path(os.environ["ARRIVALS"]).read_text())
    bench.coming.extend((at // 500, 0, make_frame(rng, max(60, size))) for at, size in arrivals)
    await bench.finish("recorded")


@cocotb.test()
async def the_control_laws_rom_is_written_down(dut: Any) -> None:
    await Timer(1, "ns")
    rom = dut.codel.control_law.rom
    (OUT / "rom.txt").write_text(" ".join(str(int(rom[entry].value)) for entry in range(1024)))
