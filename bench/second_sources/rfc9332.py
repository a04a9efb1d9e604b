"""A fixed arrival trace through DualPI2 as appendix A of RFC 9332 lists it, before a link.

    python bench/second_sources/rfc9332.py SEED NAME=VALUE... < arrivals > signals

Line by line in floats: figures 2 (parameters), 3 (enqueue), 5 (ramp), 7 (dequeue, with overload),
8 (update), and the scheduler of figure 10. Where the listing leaves something open, a comment says
what is taken. Times are given in ns, gains in Hz. The trace and the steps of the link, which has
10 Mbit/s, are those of `crates/switch/tests/second_sources/`. It must not know Sojourn's DualPI2;
nothing in it is random.
"""

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

BYTE = 800
"""ns on the link."""
SECOND = 1e9
MTU = 1514


@dataclass
class Packet:
    number: int
    timestamp: int
    size: int
    ecn: int
    marked: bool = False


@dataclass
class Queue:
    packets: deque[Packet] = field(default_factory=deque)
    count: float = 0.0

    def byt(self) -> int:
        return sum(packet.size for packet in self.packets)

    def time(self, now: int) -> int:
        """How long the head has waited; an empty queue has no delay."""
        return now - self.packets[0].timestamp if self.packets else 0

    def recur(self, likelihood: float) -> bool:
        self.count += likelihood
        if self.count > 1:
            self.count -= 1
            return True
        return False


@dataclass
class DualPi2:
    target: int = 15_000_000
    t_update: int = 15_000_000
    alpha: float = 0.15
    beta: float = 3.0
    k: float = 2
    min_th: int = 800_000
    range: int = 400_000
    th_len: int = 1
    tshift: int = 50_000_000
    limit: int = sys.maxsize
    lq: Queue = field(default_factory=Queue)
    cq: Queue = field(default_factory=Queue)
    p: float = 0.0
    prevq: int = 0

    def enqueue(self, packet: Packet) -> bool:
        if self.lq.byt() + self.cq.byt() + MTU > self.limit:
            return False
        queue = self.lq if packet.ecn % 2 == 1 else self.cq
        queue.packets.append(packet)
        return True

    def update(self, now: int) -> None:
        curq = max(self.cq.time(now), self.lq.time(now))
        self.p += self.alpha * (curq - self.target) / SECOND
        self.p += self.beta * (curq - self.prevq) / SECOND
        # "p' has to be bounded (omitted from the pseudocode)."
        self.p = min(max(self.p, 0.0), 1.0)
        self.prevq = curq

    def scheduler(self, now: int) -> Queue:
        """Of two heads; a queue without one has no turn."""
        if not self.lq.packets or not self.cq.packets:
            return self.lq if self.lq.packets else self.cq
        ahead = self.lq.time(now) + self.tshift >= self.cq.time(now)
        return self.lq if ahead else self.cq

    def laqm(self, qdelay: int) -> float:
        if qdelay >= self.min_th + self.range:
            return 1.0
        if qdelay > self.min_th:
            return (qdelay - self.min_th) / self.range
        return 0.0

    def dequeue(self, now: int, dropped: list[Packet]) -> Packet | None:
        # Above one, p_CL would let `count` grow without end; "all remaining packets will be marked"
        p_cl, p_c = min(self.k * self.p, 1.0), self.p**2
        while self.lq.packets or self.cq.packets:
            queue = self.scheduler(now)
            # The queuing delay is the sojourn time of the packet that leaves (note a).
            qdelay = queue.time(now)
            packet = queue.packets.popleft()
            if queue is self.cq:
                if queue.recur(p_c):
                    if packet.ecn == 0 or p_c >= min(1 / self.k**2, 1):
                        dropped.append(packet)
                        continue
                    packet.marked = True
            elif p_cl < 1:
                native = self.laqm(qdelay) if len(queue.packets) > self.th_len else 0.0
                packet.marked = queue.recur(max(native, p_cl))
            elif queue.recur(p_c):
                dropped.append(packet)
                continue
            else:
                packet.marked = queue.recur(p_cl)
            return packet
        return None


def main() -> None:
    queue = DualPi2()
    for name, value in (pair.split("=") for pair in sys.argv[2:]):
        setattr(queue, name, type(getattr(queue, name))(value))
    for signal in link(queue, [tuple(map(int, line.split())) for line in sys.stdin]):
        print(signal)


def link(queue: DualPi2, arrivals: list[tuple[int, ...]]) -> Iterator[str]:
    """What is signalled: packet and time, with `mark` if it was not dropped."""
    free, update, number = None, queue.t_update, 0
    while number < len(arrivals) or free is not None:
        due = arrivals[number][0] if number < len(arrivals) else sys.maxsize
        now = min(due, sys.maxsize if free is None else free)
        while update <= now:
            queue.update(update)
            update += queue.t_update
        if free != now:
            time, size, _flow, ecn = arrivals[number]
            if not queue.enqueue(Packet(number, time, size, ecn)):
                yield f"{number} {now}"
            number += 1
        if free is None or free == now:
            dropped: list[Packet] = []
            sent = queue.dequeue(now, dropped)
            yield from (f"{packet.number} {now}" for packet in dropped)
            if sent and sent.marked:
                yield f"{sent.number} {now} mark"
            free = now + sent.size * BYTE if sent else None


if __name__ == "__main__":
    main()
