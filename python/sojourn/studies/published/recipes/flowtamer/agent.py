"""Control plane of FlowTamer: round trips and window scales of connections, window per 10 ms.

Source: `control_plane/algo/algo.cpp`, `pcpp/WorkerThread.cpp`, `bfrt/bfrt.cpp` and
`setup_scripts/LookUpTable.py` of the repository, whose constants and order these are. A copy of
each SYN, SYN-ACK and handshake ACK reaches it by the CPU port with a time or a round trip in place
of its source MAC address. Each round it halves or raises the window by the queue's mean depth.
"""

import math
import struct

from sojourn.control.controller import PacketIn, ScriptedSwitch

PORT, PIPE = 133, 1
"""The bottleneck, and the pipe whose registers are read."""
LEAST, MOST, STEP = 15_000, 1_751_122, 1_500
"""Bytes of a window for a round trip of 10 ms: `minimumRwnd`, `maximumRwnd`, `rwndIncrement`."""
LOW, HIGH = 25_000, 250_000
"""Bytes of the mean depth: `--thresh-low`, `--thresh-high` of run.sh."""
CELL = 80
ROUNDS = {"FlowTamer": 20_000_000_000, "FlowTamer, rounds of 20 ms": 20_000_000}
"""ns by the AQM's label: the default of algo.hpp, and what the comment in algo.cpp says."""
UNIT = 10_000_000
"""ns of a round trip with the multiplier 1."""
WIDTH, EXACT, RESULT = 32, 6, 16
"""Bits of a number, of its exact part in the logarithm's table, and of a logarithm."""
LOGARITHMS = {"log_rwnd": "ig_meta.base_rwnd", "log_rtt_multiplier": "rtt_multiplier"}
"""The key of each table of logarithms."""
SYN, ACK = 2, 16


class Agent:
    """The loop and what it keeps."""

    def __init__(self) -> None:
        self.window = MOST
        self.copy = 0
        self.scales: dict[tuple[bytes, int], int] = {}
        self.known: set[tuple[int, ...]] = set()

    def round(self, switch: ScriptedSwitch) -> None:
        """Changes the working copy, reads the other one, and moves the window."""
        before, self.copy = self.copy, 1 - self.copy
        switch.register("working_copy").fill(self.copy)
        sums, counts = (f"{name}{before}" for name in ("sum_eg_deq_qdepth", "pkt_count"))
        registers = [switch.pipe(PIPE).register(name) for name in (sums, counts)]
        cells, packets = (_number(register[PORT]) for register in registers)
        for register in registers:
            register[PORT] = 0
        depth = cells * CELL // packets if packets else 0
        if depth > HIGH:
            self.window = max(LEAST, self.window // 2)
        elif depth < LOW:
            self.window = min(MOST, self.window + STEP)
        switch.register("new_rwnd")[PORT] = self.window

    def packet(self, switch: ScriptedSwitch, data: bytes) -> None:
        """A copy: a SYN or SYN-ACK gives a window scale, a handshake ACK the round trip."""
        tcp = data[34:]
        if len(tcp) < 20:
            return
        near, far = struct.unpack_from("!HH", tcp)
        source, destination, flags = data[26:30], data[30:34], tcp[13]
        if flags & SYN:
            self.scales.setdefault((source, near), window_scale(tcp))
            return
        key = (int.from_bytes(source, "big"), int.from_bytes(destination, "big"), near, far)
        scales = [self.scales.get(end) for end in ((source, near), (destination, far))]
        if not flags & ACK or None in scales or key in self.known:
            return
        self.known.add(key)
        multiplier = round(int.from_bytes(data[6:12], "big") / UNIT)
        back = (key[1], key[0], key[3], key[2])
        fields = ("ipv4.src_addr", "ipv4.dst_addr", "tcp.src_port", "tcp.dst_port")
        for values, scale in zip((key, back), scales, strict=True):
            match = {f"hdr.{field}": value for field, value in zip(fields, values, strict=True)}
            args = {"rtt_mul": multiplier, "ws": scale or 0}
            switch.table("fetch_rtt_mul_and_ws").add(match, "set_rtt_mul_and_ws", args)


def window_scale(tcp: bytes) -> int:
    """The shift of a segment's window scale option (RFC 7323); 0 without one."""
    options, at = tcp[20 : 4 * (tcp[12] >> 4)], 0
    while at < len(options) and options[at] != 0:
        if options[at] == 1:
            at += 1
            continue
        if at + 2 >= len(options) or options[at + 1] < 2:
            break
        if options[at] == 3:
            return options[at + 2]
        at += options[at + 1]
    return 0


def logarithms() -> list[tuple[int, int, int]]:
    """Value, mask and logarithm of each entry: the 6 leading bits are exact."""
    whole = (1 << RESULT) - 1
    entries = []
    for top in range(WIDTH):
        free = max(0, top + 1 - EXACT)
        for part in range(1 << (top - free)):
            low = ((1 << (top - free)) + part) << free
            middle = low + ((1 << free) - 1) / 2
            result = round(math.log(middle) / math.log(2**WIDTH - 1) * whole)
            entries.append((low, ((1 << WIDTH) - 1) >> free << free, result))
    return entries


def exponentials() -> list[int]:
    """The number of each logarithm."""
    whole = (1 << RESULT) - 1
    return [round(math.exp(at / whole * math.log(2**WIDTH - 1))) for at in range(whole + 1)]


def _number(cell: int | tuple[int, ...]) -> int:
    return cell if isinstance(cell, int) else cell[0]


agent = Agent()


def start(switch: ScriptedSwitch) -> None:
    """Fills the tables of logarithms and begins the rounds with the largest window."""
    with switch.batch():
        for name, key in LOGARITHMS.items():
            for value, mask, result in logarithms():
                match = {key: {"value": value, "mask": mask}}
                logs = switch.table(f"tbl_{name}")
                logs.add(match, f"set_{name}", {"result": result}, priority=1)
        table = switch.table("tbl_antilog_log_sum")
        for at, result in enumerate(exponentials()):
            table.add({"log_sum": at}, "set_rtt_scaled_rwnd", {"result": result})
    switch.register("new_rwnd")[PORT] = MOST
    switch.every(ROUNDS[switch.aqm], agent.round)


def packet(switch: ScriptedSwitch, packet: PacketIn) -> None:
    """Called for each copy."""
    agent.packet(switch, packet.data)
