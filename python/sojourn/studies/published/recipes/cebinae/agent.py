"""Control plane of Cebinae: reads the round's bytes, taxes the largest flows, swaps two queues.

Source: the loop of `tofino_prototype/main.cpp` of the repository, whose constants and order these
are, with the port's rate of the scenario. It has no virtual time of its own: what takes the C++
152 ms (`L_MS`) takes none here. A repaired one writes 32 bits where the C++ writes 16, and sets the
queues' levels at the bottleneck. `[control] args` has a row's round, ns, and buffer, packets.
"""

from typing import NamedTuple

from sojourn.control.controller import ScriptedSwitch
from sojourn.control.switch import Switch

PORT, QUEUES = 128, (1, 2)
"""The bottleneck, and the queues A and B."""
SENDERS, RECEIVERS = 144, range(0x02000A800001, 0x02000A800013)
"""The port that flows come in by, and the MAC addresses of the hosts behind the bottleneck."""
GENERATED = "00 01 02 03 04 05 06 07 08 09 10 11 12 34 00 00" + " aa" * 48
"""The packet of main.py, two of which rotate both groups of flows."""
PIPE = 1
"""Whose registers are read: `TEST_PIPE`."""
RATE = 100e6
"""bit/s of the bottleneck; the repository's is 25 Gbit/s."""
SLOTS = 1_024
"""Of each of the two stages of the flow table."""
POLL = 100_000
"""ns between two looks for a rotation; the C++ looks as fast as it can."""
KEPT_ROUNDS = 5
"""A port stays saturated for so many rounds."""


class Settings(NamedTuple):
    """What differs from agent to agent; as the C++ has it by default."""

    is_repaired: bool = False
    round: int = 1_000_000_000
    """ns: `DT_MS`, and the period of the packet generator."""
    work: int = 152_000_000
    """ns that are left of a round when its work begins: `L_MS`."""
    threshold: float = 0.1
    """Of the port and of the flows."""
    tax: float = 0.05
    buffer: int = 250
    """Packets that a queue of the bottleneck holds."""

    @property
    def capacity(self) -> int:
        """Bytes that the port sends in a round."""
        return int(RATE / 8 * self.round / 1e9)


SETTINGS = {
    "Cebinae": Settings(),
    "Cebinae, agent repaired": Settings(is_repaired=True),
    "Cebinae, as in ns-3": Settings(True, 33_554_432, 100_000, 0.01, 0.01),
}
"""By the AQM's label. The last has those of ns/index/bigtbl/r0/cebinae/config.json."""


class Slot(NamedTuple):
    """A flow of the flow table in egress."""

    src: int
    dst: int
    octets: int


def of_16_bits(value: int) -> int:
    """The number that the driver reads where the C++ calls `htons` on 32 bits."""
    return (value & 0xFFFF) << 16


class Agent:
    """The loop and what it keeps from round to round."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.head = 0
        self.high = QUEUES[0]
        self.port_bytes = 0
        self.counts = [0] * (2 * SLOTS)
        self.sizes = {PORT: 0, PORT << 1: 0}
        self.top: set[tuple[int, int]] = set()
        self.rates: set[tuple[int, int]] = set()
        self.last_sizes: set[int] = set()
        self.is_saturated = False
        self.saturated_in = self.round = 0

    def look(self, switch: ScriptedSwitch) -> None:
        """Waits for a rotation, then for the time that is left of the round."""
        head = _number(switch.pipe(PIPE).register("ri_headq")[0])
        if head != self.head:
            self.head = head
            switch.at(switch.now + self.settings.round - self.settings.work, self.update)
        else:
            switch.at(switch.now + POLL, self.look)

    def update(self, switch: ScriptedSwitch) -> None:
        """A round's work."""
        self.swap(switch)
        sent = _number(switch.pipe(PIPE).register("port_cts")[PORT])
        in_round = (sent - self.port_bytes) & 0xFFFF_FFFF
        self.port_bytes = sent
        slots = read_flows(switch.pipe(PIPE))
        flows = [
            Slot(slot.src, slot.dst, (slot.octets + before) // 2)
            for slot, before in zip(slots, self.counts, strict=True)
        ]
        self.counts = [slot.octets for slot in slots]
        if self.saturation(switch, in_round):
            self.tax(switch, flows)
        self.round += 1
        self.look(switch)

    def swap(self, switch: ScriptedSwitch) -> None:
        """Gives the queue that was second the higher level."""
        low, self.high = self.high, QUEUES[0] if self.high == QUEUES[1] else QUEUES[1]
        self.set_level(switch, self.high, 1)
        self.set_level(switch, low, 0)

    def set_level(self, switch: ScriptedSwitch, queue: int, level: int) -> None:
        """The C++ adds 128 to a port that has it already, and sets the levels of port 256."""
        if self.settings.is_repaired:
            switch.apply({"op": "set_queue", "port": PORT, "priority": queue, "level": level})

    def saturation(self, switch: ScriptedSwitch, in_round: int) -> bool:
        """Whether the port's flows are to be taxed in this round."""
        table = switch.table("tiCalcSaturated")
        match = {"ig_tm_md.ucast_egress_port": PORT}
        if in_round / self.settings.capacity >= 1 - self.settings.threshold:
            if not self.is_saturated:
                table.add(match, "aiSaturated")
            self.is_saturated, self.saturated_in = True, self.round
        elif self.is_saturated and self.round - self.saturated_in > KEPT_ROUNDS:
            table.delete(match)
            self.is_saturated = False
        return self.is_saturated

    def tax(self, switch: ScriptedSwitch, flows: list[Slot]) -> None:
        """Groups the flows near the largest, and gives both groups their bytes of a round."""
        most = max(slot.octets for slot in flows[:SLOTS])
        if most == 0:
            return
        least = most * (1 - self.settings.threshold)
        table, total = switch.table("tiCalcF"), 0
        for slot in flows:
            key, is_top = (slot.src, slot.dst), slot.octets >= least
            match = {"hdr.ip.src_addr": slot.src, "hdr.ip.dst_addr": slot.dst}
            total += slot.octets if is_top else 0
            if is_top and key not in self.top:
                self.top.add(key)
                table.add(match, "aiSetFTop")
            elif not is_top and key in self.top:
                self.top.remove(key)
                table.delete(match)
        top = int(total * (1 - self.settings.tax))
        bottom = (self.settings.capacity - top) & 0xFFFF_FFFF
        for group, size in ((PORT << 1, top), (PORT, bottom)):
            self.write(switch, group, size)

    def write(self, switch: ScriptedSwitch, group: int, size: int) -> None:
        """Sets a group's rate and size for the queue of this round, and the size before."""
        sent = (lambda value: value) if self.settings.is_repaired else of_16_bits
        values = (sent(size * 1_000 // self.settings.round), sent(size))
        is_new = (group, self.head) not in self.rates
        self.rates.add((group, self.head))
        for end in ("head", "tail"):
            table = switch.table(f"tiGetRates_{end}")
            args = dict(zip((f"r_{end}", f"r_{end}_x_dT"), values, strict=True))
            match = {"f": group, f"{end}q": self.head}
            (table.add if is_new else table.modify)(match, f"aiGetRates_{end}", args)
        table = switch.table("tiReadLastSize")
        change = table.modify if group in self.last_sizes else table.add
        change({"f": group}, "aiReadLastSize", {"lastRate_x_dT": sent(self.sizes[group])})
        self.last_sizes.add(group)
        self.sizes[group] = size


def read_flows(switch: Switch) -> list[Slot]:
    """The slots of both stages, which are then empty."""
    slots = []
    for stage in (1, 2):
        cells = [switch.register(f"flow_{name}{stage}") for name in ("src", "dst", "ct")]
        for at in range(SLOTS):
            # A slot without a source is empty.
            is_taken = _number(cells[0][at]) != 0
            slots.append(Slot(*(_number(cell[at]) if is_taken else 0 for cell in cells)))
        for cell in cells:
            cell.fill(0)
    return slots


def _number(cell: int | tuple[int, ...]) -> int:
    return cell if isinstance(cell, int) else cell[0]


def start(switch: ScriptedSwitch) -> None:
    """Sets ways, buffers, packet generator and the queues' first levels, and begins the loop."""
    settings = SETTINGS[switch.aqm]._replace(**switch.args)
    agent = Agent(settings)
    forward = switch.table("tiForward")
    for address in RECEIVERS:
        match = {"md.ingress_port": SENDERS, "hdr.ethernet.dst_addr": address}
        forward.add(match, "aiSetEgress", {"egr_port": PORT})
    switch.apply({"op": "set_queue", "port": PORT, "depth": settings.buffer})
    generator = {"pipe": PIPE, "app": 1, "packets": 2, "packet": GENERATED}
    trigger = {"periodic": settings.round}
    switch.apply({"op": "set_packet_generator", "trigger": trigger} | generator)
    for queue, level in ((0, 7), (QUEUES[0], 1), (QUEUES[1], 0)):
        agent.set_level(switch, queue, level)
    agent.look(switch)
