"""Model of FQ-CoDel (RFC 8290) with the CoDel of RFC 8289's pseudocode: the reference for
fq_codel_queue.sv.

Packets are numbers; the control law is that of control_law.sv. Uses no module.
"""

from collections import deque
from dataclasses import dataclass, field
from math import isqrt

SENT, MARKED, DROPPED = "sent", "marked", "dropped"

Fate = tuple[int, str]
"""A packet's number, and what became of it."""


@dataclass(frozen=True)
class Parameters:
    target: int = 5_000_000
    interval: int = 100_000_000
    maxpacket: int = 1514
    ecn: bool = False
    quantum: int = 1514
    limit: int = 1024
    batch: int = 64


@dataclass(frozen=True)
class Packet:
    number: int
    length: int
    capable: bool
    enqueued: int


@dataclass
class Flow:
    packets: deque[Packet] = field(default_factory=deque)
    active: bool = False
    credits: int = 0
    first_above_time: int = 0
    drop_next: int = 0
    count: int = 0
    lastcount: int = 0
    dropping: bool = False

    def bytes(self) -> int:
        return sum(packet.length for packet in self.packets)


def spacing(interval: int, count: int) -> int:
    """INTERVAL / sqrt(count) by control_law.sv's ROM and shift."""
    pairs = (32 - count.bit_length()) // 2
    j = (count << 2 * pairs) >> 22
    rom = min((isqrt(2**78 // j) + 1) // 2, 2**34 - 1)
    return ((interval * rom >> 33 >> (15 - pairs)) + 1) >> 1


class FqCodel:
    def __init__(self, flows: int, parameters: Parameters) -> None:
        self.flows = [Flow() for _ in range(flows)]
        self.parameters = parameters
        self.new: deque[int] = deque()
        self.old: deque[int] = deque()
        self.held = 0

    def put(self, index: int, packet: Packet) -> list[Fate]:
        flow = self.flows[index]
        flow.packets.append(packet)
        self.held += 1
        if not flow.active:
            flow.active, flow.credits = True, self.parameters.quantum
            self.new.append(index)
        fates: list[Fate] = []
        while self.held > self.parameters.limit:
            fates += self.shed()
        return fates

    def shed(self) -> list[Fate]:
        """Section 4.1: half of the packets of the flow with the most bytes, at most a batch."""
        fattest = max(self.flows, key=Flow.bytes)
        half = min((len(fattest.packets) + 1) // 2, self.parameters.batch)
        self.held -= half
        return [(fattest.packets.popleft().number, DROPPED) for _ in range(half)]

    def take(self, now: int) -> list[Fate]:
        """Section 4.2: what is dropped, and at the end what is sent, if anything is."""
        fates: list[Fate] = []
        while turn := self.new or self.old:
            flow = self.flows[turn[0]]
            if flow.credits <= 0:
                flow.credits += self.parameters.quantum
                self.old.append(turn.popleft())
                continue
            sent = self.dequeue(flow, now, fates)
            if sent is not None:
                flow.credits -= sent.length
                return fates
            if turn is self.new:
                self.old.append(turn.popleft())
            else:
                flow.active = False
                turn.popleft()
        return fates

    # ---- RFC 8289, section 5 ----

    def dodequeue(self, flow: Flow, now: int) -> tuple[Packet | None, bool]:
        if not flow.packets:
            flow.first_above_time = 0
            return None, False
        packet = flow.packets.popleft()
        self.held -= 1
        ours = self.parameters
        if now - packet.enqueued < ours.target or flow.bytes() <= ours.maxpacket:
            flow.first_above_time = 0
            return packet, False
        if flow.first_above_time == 0:
            flow.first_above_time = now + ours.interval
            return packet, False
        return packet, now >= flow.first_above_time

    def dequeue(self, flow: Flow, now: int, fates: list[Fate]) -> Packet | None:
        ours = self.parameters
        packet, ok_to_drop = self.dodequeue(flow, now)
        marked = False
        if flow.dropping:
            if not ok_to_drop:
                flow.dropping = False
            while packet is not None and flow.dropping and now >= flow.drop_next:
                flow.count += 1
                if ours.ecn and packet.capable:
                    marked = True
                    flow.drop_next += spacing(ours.interval, flow.count)
                    break
                fates.append((packet.number, DROPPED))
                packet, ok_to_drop = self.dodequeue(flow, now)
                if ok_to_drop:
                    flow.drop_next += spacing(ours.interval, flow.count)
                else:
                    flow.dropping = False
        elif packet is not None and ok_to_drop:
            if ours.ecn and packet.capable:
                marked = True
            else:
                fates.append((packet.number, DROPPED))
                packet, _ = self.dodequeue(flow, now)
            flow.dropping = True
            delta = flow.count - flow.lastcount
            recently = now - flow.drop_next < 16 * ours.interval
            flow.count = delta if delta > 1 and recently else 1
            flow.drop_next = now + spacing(ours.interval, flow.count)
            flow.lastcount = flow.count
        if packet is not None:
            fates.append((packet.number, MARKED if marked else SENT))
        return packet
