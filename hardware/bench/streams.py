"""Frames into and out of a module by AXI-Stream, and its registers by AXI-Lite, cycle by cycle.

The part that the benches of codel_queue.sv and fq_codel_queue.sv share. It knows no queue and no
AQM: a bench derives from `Streams`, follows the module's decisions in `decided` and `arrived`, and
appends to `leaving` each frame that has to come out.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import cocotb
from backpressure import WIDTH, Ready
from clocks import clock
from cocotb.triggers import RisingEdge
from frames import marked

BEHIND_MEMORY = 3
"""Words that are read from the module's memory and have not left: in its output registers."""
INPUTS = (
    *("s_axis_tvalid", "m_axis_tready", "s_axil_awvalid", "s_axil_wvalid"),
    *("s_axil_arvalid", "s_axil_bready", "s_axil_rready"),
)
"""Ports that are 0 at reset."""

To = TypeVar("To")
"""Destination of a frame: a queue's number, or its flow."""


def words(frame: bytes) -> int:
    """Words that a frame takes on the stream."""
    return (len(frame) + WIDTH - 1) // WIDTH


class Leaving(NamedTuple):
    """A frame that has to come out next but for those before it."""

    frame: bytes
    enqueued: int
    mark: bool
    queue: int | None
    """Its TDEST, for a module that has one."""


@dataclass
class Streams(Generic[To]):
    """The module, what comes in, and what has to come out."""

    dut: Any
    ready: Ready
    cycle: int = 0
    coming: deque[tuple[int, To, bytes]] = field(default_factory=deque)
    """Frames to come: not before that cycle, to that queue or of that flow."""
    at: int = 0
    """Bytes of the first one that are in."""
    whole: tuple[To, bytes] | None = None
    """The frame whose last word has just gone in."""
    leaving: deque[Leaving] = field(default_factory=deque)
    out: bytearray = field(default_factory=bytearray)
    """Bytes of the first one that have come out."""
    taken: int = 0
    """Bytes that have left, with 24 for each frame: FCS, gap and preamble."""
    busy: list[bool] = field(default_factory=list)
    """For each cycle, whether a word was offered."""
    idle: int = 0
    """Cycles in which nothing was offered although a packet waited."""

    # ---- What a bench adds ----

    def decided(self) -> None:
        """Compares the module's questions and decisions at this edge with the model's."""
        raise NotImplementedError

    def arrived(self, to: To, frame: bytes) -> None:
        """A frame is whole since the edge before: the module queues or refuses it now."""
        raise NotImplementedError

    def waiting(self) -> bool:
        """Whether a packet waits for its turn."""
        raise NotImplementedError

    def quiet(self) -> bool:
        """Whether everything that came has left."""
        raise NotImplementedError

    def summary(self) -> object:
        """The counts that a failed run prints."""
        raise NotImplementedError

    def direct(self, to: To) -> None:
        """Sets the entrance's TDEST, where the module has one."""

    # ---- Cycles ----

    async def reset(self) -> None:
        """Starts the clock and holds the module in reset for four cycles."""
        for name in INPUTS:
            getattr(self.dut, name).value = 0
        self.dut.rst.value = 1
        cocotb.start_soon(clock(self.dut))
        for _ in range(4):
            await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0

    async def run(self, until: Callable[[], bool], most: int) -> None:
        """Cycles until `until`; a module that hangs fails after `most`."""
        end = self.cycle + most
        while not until():
            assert self.cycle < end, f"nothing more happens in {most} cycles: {self.summary()}"
            await self.step()

    async def step(self) -> None:
        self.offer()
        self.dut.m_axis_tready.value = int(self.ready(self))
        await RisingEdge(self.dut.clk)
        self.seen()
        self.cycle += 1

    def seen(self) -> None:
        """Compares what happened at this edge with the model."""
        dut = self.dut
        self.decided()
        if self.whole is not None:
            self.arrived(*self.whole)
            self.whole = None
        if dut.s_axis_tvalid.value and dut.s_axis_tready.value:
            self.entered()
        offered = bool(dut.m_axis_tvalid.value)
        self.busy.append(offered)
        self.idle += not offered and self.waiting()
        if offered and dut.m_axis_tready.value:
            self.left()

    # ---- Registers ----

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

    async def set(self, registers: dict[int, int]) -> None:
        """Writes values by address; each reads back."""
        for address, value in registers.items():
            await self.write(address, value)
            assert await self.read(address) == value

    # ---- Frames ----

    def offer(self) -> None:
        """Puts the next word at the module's entrance."""
        dut = self.dut
        if not self.coming or self.coming[0][0] > self.cycle:
            dut.s_axis_tvalid.value = 0
            return
        _, to, frame = self.coming[0]
        word = frame[self.at : self.at + WIDTH]
        dut.s_axis_tvalid.value = 1
        self.direct(to)
        # Bytes that TKEEP excludes may be anything.
        dut.s_axis_tdata.value = int.from_bytes(word.ljust(WIDTH, b"\xa5"), "little")
        dut.s_axis_tkeep.value = (1 << len(word)) - 1
        dut.s_axis_tlast.value = int(self.at + WIDTH >= len(frame))

    def entered(self) -> None:
        """The module has taken a word."""
        self.at += WIDTH
        _, to, frame = self.coming[0]
        if self.at >= len(frame):
            self.coming.popleft()
            self.at = 0
            self.whole = to, frame

    def ahead(self) -> int:
        """Words of frames let through that are still to leave."""
        return sum(words(other.frame) for other in self.leaving) - len(self.out) // WIDTH

    def left(self) -> None:
        """A word has left: its frame is the next that was let through, byte for byte."""
        dut = self.dut
        keep = int(dut.m_axis_tkeep.value)
        count = keep.bit_length()
        self.taken += count + 24 * int(dut.m_axis_tlast.value)
        assert keep == (1 << count) - 1
        self.out += int(dut.m_axis_tdata.value).to_bytes(WIDTH, "little")[:count]
        expected = self.leaving[0]
        assert expected.queue is None or int(dut.m_axis_tdest.value) == expected.queue
        assert int(dut.m_axis_tuser.value) == expected.enqueued
        if not dut.m_axis_tlast.value:
            assert count == WIDTH
            return
        frame = marked(expected.frame) if expected.mark else expected.frame
        assert bytes(self.out) == frame, (self.out.hex(), frame.hex())
        self.leaving.popleft()
        self.out.clear()
