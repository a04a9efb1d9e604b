"""Bench of fq_codel_queue.sv: frames cycle by cycle, for cocotb; run by hardware/bench.py.

FQ-CoDel as in its RFC (fq_model.py) runs beside the module. It is given what the module's own
FQ-CoDel is given, which has to be what came in, and says what has to become of each packet; each
frame that leaves has to be the next of those, byte for byte.
"""

import os
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import cocotb
from backpressure import WIDTH, at_random, wire
from cocotb.triggers import RisingEdge
from fq_model import DROPPED, MARKED, SENT, Fate, FqCodel, Packet, Parameters
from frames import codepoint, flow_frame, flow_header
from streams import BEHIND_MEMORY, Leaving, Streams, words

FLOWS = int(os.environ["FLOWS"])
CELLS = int(os.environ["CELLS"])
ROOM = int(os.environ["ROOM"])
PACKETS = int(os.environ["PACKETS"])
LEAD = 16
"""Words of the frames before that may still be to be read when it is asked which is next."""
WAITING = 32
"""Frames that may wait to be put."""
CYCLE = 5
"""Nanoseconds."""

Flow = bytes
"""What its frames have in common: flow_header's."""

FlowOf = Callable[[random.Random, list[Flow]], Callable[[], Flow]]
"""Which flow is next, of these."""


@dataclass
class Held:
    """A frame that is whole, and its flow."""

    frame: bytes
    flow: Flow
    enqueued: int = 0


@dataclass
class Bench(Streams[Flow]):
    """The module, the model, and what was seen."""

    model: FqCodel = field(default_factory=lambda: FqCodel(FLOWS, Parameters()))
    come: deque[Held] = field(default_factory=deque)
    """Frames that wait to be put."""
    waited: int = 0
    """So many of them at the cycle's beginning."""
    held: dict[int, Held] = field(default_factory=dict)
    """Frames that FQ-CoDel holds, by number."""
    fates: deque[Fate] = field(default_factory=deque)
    """What it has to say next."""
    for_room: bool = False
    """Those drops are not CoDel's."""
    hashes: dict[Flow, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    order: list[Flow] = field(default_factory=list)
    """Of what frames were sent, the flows."""

    def __post_init__(self) -> None:
        names = ("dropped", "marked", "for_room", "sent", "queued", "refused")
        self.counts = dict.fromkeys(names, 0)

    async def start(self, parameters: Parameters, seed: int = 1) -> None:
        dut = self.dut
        await self.reset()
        self.model = FqCodel(FLOWS, parameters)
        values = (parameters.target, parameters.interval, parameters.maxpacket, parameters.ecn)
        values += (parameters.quantum, parameters.limit, seed)
        await self.set({4 * number: int(value) for number, value in enumerate(values)})
        while not (dut.s_axis_tready.value and dut.ready.value):
            await RisingEdge(dut.clk)
        assert int(dut.fq_queue.free.value) == CELLS

    def summary(self) -> object:
        return self.counts

    def waiting(self) -> bool:
        return bool(self.held)

    def decided(self) -> None:
        dut = self.dut
        self.waited = len(self.come)
        if dut.answer.value:
            self.answered()
        if dut.ready.value:
            self.asked()

    def cells_used(self) -> int:
        """At most: of a frame that leaves, all until it has left."""
        frames = [held.frame for held in (*self.come, *self.held.values())]
        frames += [expected.frame for expected in self.leaving]
        if self.whole is not None:
            frames.append(self.whole[1])
        return sum(map(words, frames)) + (self.at + WIDTH - 1) // WIDTH

    def arrived(self, to: Flow, frame: bytes) -> None:
        if self.dut.was_queued.value:
            self.come.append(Held(frame, to))
            self.counts["queued"] += 1
            return
        assert self.dut.was_refused.value
        full = self.cells_used() + words(frame) >= CELLS - 1
        assert full or self.waited == WAITING, "there was room"
        self.counts["refused"] += 1

    def asked(self) -> None:
        """A packet is put, or one is asked for, or room is wanted."""
        dut = self.dut
        put, ask, shed = (bool(wire.value) for wire in (dut.put, dut.ask, dut.shed))
        assert put + ask + shed <= 1 and (not self.fates or not (put or ask or shed)), self.fates
        now = int(dut.now.value)
        if put:
            held = self.come.popleft()
            number = int(dut.arriving.value)
            assert number not in self.held and int(dut.length.value) == len(held.frame)
            capable = codepoint(held.frame) != 0
            assert bool(dut.capable.value) == capable
            hashed = int(dut.hash.value)
            assert self.hashes.setdefault(held.flow, hashed) == hashed, "one flow, two hashes"
            held.enqueued = now
            self.held[number] = held
            packet = Packet(number, len(held.frame), capable, now)
            self.expect(self.model.put(hashed % FLOWS, packet), room=True)
        elif ask:
            assert self.ahead() <= LEAD + BEHIND_MEMORY, "before it was needed"
            self.expect(self.model.take(now), room=False)
        elif shed:
            assert CELLS - self.cells_used() < ROOM, "there is room"
            self.expect(self.model.shed(), room=True)

    def expect(self, fates: list[Fate], room: bool) -> None:
        self.fates.extend(fates)
        self.for_room = room

    def answered(self) -> None:
        """The module's FQ-CoDel says what becomes of a packet: the model's next fate."""
        dut = self.dut
        assert self.fates, "nothing was to be said"
        number, fate = self.fates.popleft()
        said = DROPPED if dut.drop.value else MARKED if dut.mark.value else SENT
        assert (int(dut.leaving.value), said) == (number, fate)
        held = self.held.pop(number)
        self.counts["for_room" if fate == DROPPED and self.for_room else fate] += 1
        if fate != DROPPED:
            self.leaving.append(Leaving(held.frame, held.enqueued, fate == MARKED, None))
            self.order.append(held.flow)

    def quiet(self) -> bool:
        return not (self.coming or self.whole or self.come or self.held or self.leaving)

    async def finish(self, name: str) -> None:
        """Everything has left; the counters say what was seen; all cells are free again."""
        await self.run(self.quiet, 400_000)
        for _ in range(4):
            await self.step()
        assert int(self.dut.fq_queue.free.value) == CELLS
        addresses = (0x20, 0x24, 0x28, 0x2C, 0x34, 0x38)
        for address, count in zip(addresses, self.counts.values(), strict=True):
            assert await self.read(address) == count, self.counts
        self.dut._log.info(f"{name}: {self.counts} in {self.cycle} cycles")


# ---- What comes ----


def flows(rng: random.Random, count: int) -> list[Flow]:
    return [flow_header(rng) for _ in range(count)]


def frames(
    rng: random.Random,
    count: int,
    load: Callable[[int], float],
    size: Callable[[], int],
    flow: Callable[[], Flow],
) -> Iterator[tuple[int, Flow, bytes]]:
    """Frames at `load` bytes a cycle, gaps and all."""
    cycle = 0.0
    for number in range(count):
        whose = flow()
        frame = flow_frame(rng, whose, size())
        yield int(cycle), whose, frame
        cycle += rng.expovariate(1.0) * (len(frame) + 24) / load(number)


def some_fat(rng: random.Random, known: list[Flow]) -> Callable[[], Flow]:
    """The first flows have most of the frames."""
    return lambda: known[int(len(known) * rng.random() ** 3)]


def mixed(rng: random.Random) -> int:
    """Bytes of a frame: small and full ones, any, now and then a jumbo."""
    if rng.random() < 0.01:
        return 9000
    return rng.choice((64, 64, 1514, 1514, rng.randrange(60, 1515), rng.randrange(60, 400)))


@cocotb.test()
async def frames_pass_or_are_dropped_whole_at_any_back_pressure(dut: Any) -> None:
    rng = random.Random(1)
    bench = Bench(dut, at_random(rng))
    await bench.start(Parameters(1_000, 3_000, 256, ecn=True, quantum=600, limit=90))
    flow = some_fat(rng, flows(rng, 12))
    # A load that the exit can and cannot carry, in turn.
    load = frames(rng, PACKETS, lambda n: 26 if n // 150 % 2 else 9, lambda: mixed(rng), flow)
    bench.coming.extend(load)
    await bench.finish("back_pressure")
    assert min(bench.counts[what] for what in ("dropped", "marked", "for_room")) > 5, bench.counts


@cocotb.test()
async def the_fattest_flow_pays_when_there_is_no_room(dut: Any) -> None:
    rng = random.Random(2)
    bench = Bench(dut, wire(1.0))
    await bench.start(Parameters(limit=65_535))
    flow = some_fat(rng, flows(rng, 20))
    # Ten times what the port carries: most of it is dropped for room, none refused.
    bench.coming.extend(frames(rng, PACKETS, lambda _: 6.25, lambda: mixed(rng), flow))
    await bench.finish("no_room")
    assert bench.counts["for_room"] > 20 and bench.counts["refused"] == 0, bench.counts


@cocotb.test()
async def what_has_no_cell_is_refused(dut: Any) -> None:
    rng = random.Random(3)
    bench = Bench(dut, at_random(rng))
    await bench.start(Parameters(limit=65_535))
    known = flows(rng, 3)
    # Jumbo frames, a word in each cycle; the smallest ones; and one that no memory would hold.
    bench.coming.extend((0, known[0], flow_frame(rng, known[0], 9000)) for _ in range(12))
    bench.coming.append((0, known[1], flow_frame(rng, known[1], 32 * CELLS + 100)))
    bench.coming.extend((0, known[2], flow_frame(rng, known[2], 60)) for _ in range(300))
    await bench.finish("refused")
    assert bench.counts["refused"] > 50 and bench.counts["for_room"] > 0, bench.counts


@cocotb.test()
async def there_is_no_bubble_between_frames_of_words_enough(dut: Any) -> None:
    rng = random.Random(4)
    held_back = [True]
    bench = Bench(dut, lambda _: not held_back[0])
    # A flow's turn has no end: to pass one costs two cycles, and several may have to be passed.
    await bench.start(Parameters(1_000_000_000, 1_000_000_000, quantum=100_000))
    known = flows(rng, 12)
    sizes = [512, 513, 1514, 1514, 9000, 512, 512, 700]
    sizes += [rng.randrange(512, 1515) for _ in range(20)]
    if CELLS < 2048:
        sizes.remove(9000)
    for number, size in enumerate(sizes):
        whose = known[number % 12]
        bench.coming.append((0, whose, flow_frame(rng, whose, size)))
    await bench.run(lambda: not (bench.coming or bench.come or bench.whole), 10_000)
    await bench.run(lambda: bool(dut.ready.value), 1_000)
    assert bench.counts["refused"] == 0
    held_back[0] = False
    begin = bench.cycle
    await bench.run(bench.quiet, 10_000)
    assert bench.cycle - begin == sum(words(bytes(size)) for size in sizes)
    await bench.finish("no_bubble")


async def slots_lost(dut: Any, name: str, known: int, flow_of: FlowOf) -> tuple[Bench, int]:
    """64-byte frames at more than 10 Gbit/s, onto such a port; cycles that are lost meanwhile."""
    rng = random.Random(5)
    bench = Bench(dut, wire(10.0))
    # Room for all: what a drop for room costs is another question.
    await bench.start(Parameters(1_000, 5_000, 128, limit=65_535))
    flow = flow_of(rng, flows(rng, known))
    bench.coming.extend(
        frames(rng, 2 * PACKETS, lambda n: 6.2 if n // 300 % 2 else 9, lambda: 64, flow)
    )
    lost = 0
    await bench.run(lambda: bench.counts["sent"] > 2, 2_000)
    while not bench.quiet():
        before = bench.idle
        await bench.step()
        oldest = min((held.enqueued for held in bench.held.values()), default=None)
        # From the moment in which a frame is put to its first word on the wire.
        waits = oldest is not None and int(dut.now.value) - oldest > 20 * CYCLE
        lost += bool(dut.m_axis_tready.value) and waits and bench.idle > before
    dut._log.info(f"{name}: {lost} cycles of the wire were lost")
    await bench.finish(name)
    return bench, lost


@cocotb.test()
async def a_port_of_10_gbits_is_never_idle_while_64_byte_frames_wait(dut: Any) -> None:
    bench, lost = await slots_lost(dut, "few_flows", 5, some_fat)
    assert lost == 0 and bench.counts["dropped"] > 5, bench.counts


@cocotb.test()
async def it_is_at_times_if_there_are_so_many_flows_that_all_have_to_be_passed(dut: Any) -> None:
    bench, lost = await slots_lost(
        dut, "many_flows", 400, lambda rng, known: lambda: rng.choice(known)
    )
    assert lost < bench.cycle / 100, f"{lost} of {bench.cycle}"


@cocotb.test()
async def flows_are_told_apart_by_what_says_them_and_by_nothing_else(dut: Any) -> None:
    rng = random.Random(6)
    bench = Bench(dut, lambda _: True)
    await bench.start(Parameters(), seed=0xDEADBEEF)
    known = flows(rng, 300)
    for whose in known:
        # Frames of a flow differ in all but that (bench.hashes); they are told apart from ...
        bench.coming.extend((0, whose, flow_frame(rng, whose, 120)) for _ in range(2))
    neighbours = []
    for whose in known[:40]:
        # ... those of one that has one bit else, anywhere.
        for place in range(4, len(whose)):
            other = bytearray(whose)
            other[place] ^= 1 << rng.randrange(8)
            neighbours.append(bytes(other))
            bench.coming.append((0, bytes(other), flow_frame(rng, bytes(other), 120)))
    bench.coming = deque((16 * at, *rest[1:]) for at, rest in enumerate(bench.coming))
    await bench.finish("hashes")
    assert len(set(bench.hashes.values())) == len(bench.hashes) > 1000
    # As many as chance would have in each place of the table: chi-square, 5 deviations of it.
    found = [0] * FLOWS
    for hashed in bench.hashes.values():
        found[hashed % FLOWS] += 1
    mean = len(bench.hashes) / FLOWS
    square = sum((count - mean) ** 2 / mean for count in found)
    assert square < FLOWS - 1 + 5 * (2 * FLOWS) ** 0.5, square
