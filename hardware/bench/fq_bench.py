"""Bench of fq_codel_queue.sv: frames cycle by cycle, for cocotb; run by hardware/bench.py.

FQ-CoDel as its RFC has it (fq_model.py) runs beside the module. It is told what the module's own
FQ-CoDel is told, which has to be what came in, and says what has to become of each packet; and each
frame that leaves has to be the next of those, byte for byte.
"""

import os
import random
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import cocotb
from backpressure import WIDTH, Ready, at_random, wire
from clocks import clock
from cocotb.triggers import RisingEdge
from fq_model import DROPPED, MARKED, SENT, Fate, FqCodel, Packet, Parameters
from frames import codepoint, flow_frame, flow_header, marked

FLOWS = int(os.environ["FLOWS"])
CELLS = int(os.environ["CELLS"])
ROOM = int(os.environ["ROOM"])
PACKETS = int(os.environ["PACKETS"])
LEAD = 16
"""Words of the frames before that may still be to be read when it is asked which is next."""
BEHIND_MEMORY = 3
"""Words that are read, and have not left: of fq_queue.sv's registers."""
WAITING = 32
"""Frames that may wait to be put."""
CYCLE = 5
"""Nanoseconds."""

Flow = bytes
"""What its frames have in common: flow_header's."""

FlowOf = Callable[[random.Random, list[Flow]], Callable[[], Flow]]
"""Which flow is next, of these."""


def words(frame: bytes) -> int:
    return (len(frame) + WIDTH - 1) // WIDTH


@dataclass
class Held:
    """A frame that is whole, and its flow."""

    frame: bytes
    flow: Flow
    enqueued: int = 0


@dataclass
class Bench:
    """The module, the model, and what was seen."""

    dut: Any
    ready: Ready
    model: FqCodel = field(default_factory=lambda: FqCodel(FLOWS, Parameters()))
    cycle: int = 0
    coming: deque[tuple[int, Flow, bytes]] = field(default_factory=deque)
    """Frames to come: not before that cycle, of that flow."""
    at: int = 0
    """Bytes of the first one that are in."""
    whole: Held | None = None
    """The frame whose last word has just gone in."""
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
    leaving: deque[tuple[Held, bool]] = field(default_factory=deque)
    out: bytearray = field(default_factory=bytearray)
    taken: int = 0
    """Bytes that have left, with 24 for each frame: FCS, gap and preamble."""
    hashes: dict[Flow, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    order: list[Flow] = field(default_factory=list)
    """Of what frames were sent, the flows."""
    busy: list[bool] = field(default_factory=list)
    """For each cycle, whether a word was offered."""
    idle: int = 0
    """Cycles in which nothing was offered although a frame could have been."""

    def __post_init__(self) -> None:
        names = ("dropped", "marked", "for_room", "sent", "queued", "refused")
        self.counts = dict.fromkeys(names, 0)

    async def start(self, parameters: Parameters, seed: int = 1) -> None:
        dut = self.dut
        for name in ("s_axis_tvalid", "m_axis_tready", "s_axil_awvalid", "s_axil_wvalid"):
            getattr(dut, name).value = 0
        for name in ("s_axil_arvalid", "s_axil_bready", "s_axil_rready"):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        cocotb.start_soon(clock(dut))
        for _ in range(4):
            await RisingEdge(dut.clk)
        dut.rst.value = 0
        self.model = FqCodel(FLOWS, parameters)
        values = (parameters.target, parameters.interval, parameters.maxpacket, parameters.ecn)
        values += (parameters.quantum, parameters.limit, seed)
        for number, value in enumerate(values):
            await self.write(4 * number, int(value))
            assert await self.read(4 * number) == value
        while not (dut.s_axis_tready.value and dut.ready.value):
            await RisingEdge(dut.clk)
        assert int(dut.fq_queue.free.value) == CELLS

    async def write(self, address: int, value: int) -> None:
        dut = self.dut
        dut.s_axil_awaddr.value, dut.s_axil_wdata.value = address, value
        dut.s_axil_awvalid.value = dut.s_axil_wvalid.value = dut.s_axil_bready.value = 1
        await RisingEdge(dut.clk)
        while not dut.s_axil_awready.value:
            await RisingEdge(dut.clk)
        dut.s_axil_awvalid.value = dut.s_axil_wvalid.value = 0
        await RisingEdge(dut.clk)

    async def read(self, address: int) -> int:
        dut = self.dut
        dut.s_axil_araddr.value, dut.s_axil_arvalid.value, dut.s_axil_rready.value = address, 1, 1
        await RisingEdge(dut.clk)
        dut.s_axil_arvalid.value = 0
        await RisingEdge(dut.clk)
        while not dut.s_axil_rvalid.value:
            await RisingEdge(dut.clk)
        return int(dut.s_axil_rdata.value)

    async def run(self, until: Callable[[], bool], most: int) -> None:
        """Cycles until `until`; a module that hangs fails after `most`."""
        end = self.cycle + most
        while not until():
            assert self.cycle < end, f"nothing more happens in {most} cycles: {self.counts}"
            await self.step()

    async def step(self) -> None:
        self.offer()
        self.dut.m_axis_tready.value = int(self.ready(self))
        await RisingEdge(self.dut.clk)
        self.seen()
        self.cycle += 1

    def offer(self) -> None:
        """Puts the next word at the module's entrance."""
        dut = self.dut
        if not self.coming or self.coming[0][0] > self.cycle:
            dut.s_axis_tvalid.value = 0
            return
        frame = self.coming[0][2]
        word = frame[self.at : self.at + WIDTH]
        dut.s_axis_tvalid.value = 1
        # Bytes that are not there may be anything.
        dut.s_axis_tdata.value = int.from_bytes(word.ljust(WIDTH, b"\xa5"), "little")
        dut.s_axis_tkeep.value = (1 << len(word)) - 1
        dut.s_axis_tlast.value = int(self.at + WIDTH >= len(frame))

    def seen(self) -> None:
        """What happened at this edge, against the model."""
        dut = self.dut
        self.waited = len(self.come)
        if dut.answer.value:
            self.said()
        if dut.ready.value:
            self.was_told()
        if self.whole is not None:
            self.arrived(self.whole)
            self.whole = None
        if dut.s_axis_tvalid.value and dut.s_axis_tready.value:
            self.entered()
        offered = bool(dut.m_axis_tvalid.value)
        self.busy.append(offered)
        self.idle += not offered and bool(self.held)
        if offered and dut.m_axis_tready.value:
            self.left()

    def entered(self) -> None:
        self.at += WIDTH
        _, flow, frame = self.coming[0]
        if self.at >= len(frame):
            self.coming.popleft()
            self.at = 0
            self.whole = Held(frame, flow)

    def cells_used(self) -> int:
        """At most: of a frame that leaves, all until it has left."""
        there = [*self.come, *self.held.values(), *(held for held, _ in self.leaving)]
        if self.whole is not None:
            there.append(self.whole)
        return sum(words(held.frame) for held in there) + (self.at + WIDTH - 1) // WIDTH

    def arrived(self, whole: Held) -> None:
        """A cycle later it is known whether there was room."""
        if self.dut.was_queued.value:
            self.come.append(whole)
            self.counts["queued"] += 1
            return
        assert self.dut.was_refused.value
        full = self.cells_used() + words(whole.frame) >= CELLS - 1
        assert full or self.waited == WAITING, "there was room"
        self.counts["refused"] += 1

    def was_told(self) -> None:
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
            ahead = sum(words(other.frame) for other, _ in self.leaving)
            assert ahead - len(self.out) // WIDTH <= LEAD + BEHIND_MEMORY, "before it was needed"
            self.expect(self.model.take(now), room=False)
        elif shed:
            assert CELLS - self.cells_used() < ROOM, "there is room"
            self.expect(self.model.shed(), room=True)

    def expect(self, fates: list[Fate], room: bool) -> None:
        self.fates.extend(fates)
        self.for_room = room

    def said(self) -> None:
        dut = self.dut
        assert self.fates, "nothing was to be said"
        number, fate = self.fates.popleft()
        said = DROPPED if dut.drop.value else MARKED if dut.mark.value else SENT
        assert (int(dut.leaving.value), said) == (number, fate)
        held = self.held.pop(number)
        self.counts["for_room" if fate == DROPPED and self.for_room else fate] += 1
        if fate != DROPPED:
            self.leaving.append((held, fate == MARKED))
            self.order.append(held.flow)

    def left(self) -> None:
        """A word has left: its frame is the next that was let through, byte for byte."""
        dut = self.dut
        keep = int(dut.m_axis_tkeep.value)
        count = keep.bit_length()
        self.taken += count + 24 * int(dut.m_axis_tlast.value)
        assert keep == (1 << count) - 1
        self.out += int(dut.m_axis_tdata.value).to_bytes(WIDTH, "little")[:count]
        held, mark = self.leaving[0]
        assert int(dut.m_axis_tuser.value) == held.enqueued
        if not dut.m_axis_tlast.value:
            assert count == WIDTH
            return
        expected = marked(held.frame) if mark else held.frame
        assert bytes(self.out) == expected, (self.out.hex(), expected.hex())
        self.leaving.popleft()
        self.out.clear()

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
    assert bench.cycle - begin == sum((size + WIDTH - 1) // WIDTH for size in sizes)
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
