"""A native discipline of the engine as the kernel's own qdisc: its parameters as arguments of `tc`.

The only place that maps one to the other and lists what has no counterpart. Takes the defaults from
the engine's register (units as there: ns, bytes, packets, ppm, mHz). Runs nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sojourn.backends.linux import dualpi2
from sojourn.model.parameters import disciplines

FULL_FRAME = 1514
"""Bytes of the largest frame, Ethernet header included, FCS not: what a qdisc counts."""
_CELL = 80


@dataclass(frozen=True)
class Qdisc:
    """A qdisc as `tc` takes it."""

    kind: str
    module: str
    """The kernel module that has it."""
    arguments: tuple[str, ...]
    limit: int | None
    """Packets at which it is full; absent if that is not a number of packets."""
    drops_at: str
    """`enqueue` or `dequeue`: where its AQM decides."""
    differences: tuple[str, ...] = ()
    """Settings that the kernel implements otherwise."""
    options: tuple[dualpi2.Option, ...] = ()
    """Those that go over netlink, in place of arguments of `tc`."""

    @property
    def text(self) -> str:
        """Kind and arguments, as they stand in a command; options by name."""
        named = (f"{option.name} {option.value}" for option in self.options)
        return " ".join((self.kind, *self.arguments, *named))


Parameters = Mapping[str, int]


def qdisc(aqm: Mapping[str, Any], queue_limit: int, tick: int) -> Qdisc:
    """The qdisc for the engine's configuration of a native discipline.

    `queue_limit`, in bytes of 80-byte cells, is the queue's own tail-drop limit; `tick`, in ns, is
    what the kernel counts its timers in. `KeyError` if the kernel has no such discipline;
    `kernel_disciplines` names those it has.
    """
    name = aqm["name"]
    make = _MAKERS[name]
    known = {p.name: p.default for d in disciplines() if d.name == name for p in d.parameters}
    given = {key: value for key, value in aqm.items() if key not in ("kind", "name")}
    values = {key: value for key, value in known.items() if value is not None} | given
    return make(values | {"tick": tick}, full_frames(queue_limit))


def kernel_disciplines() -> list[str]:
    """The native disciplines that the kernel has, in order of name."""
    return sorted(_MAKERS)


def full_frames(queue_limit: int) -> int:
    """The number of full frames in a queue of that many bytes, in the switch's cells."""
    return max(queue_limit // (-(-FULL_FRAME // _CELL) * _CELL), 1)


def _time(nanoseconds: int) -> str:
    return f"{nanoseconds / 1000:.3f}us"


def _packets(values: Parameters, room: int) -> int:
    """The tightest of the limits, in packets of a full frame."""
    limits = [room]
    limits += [values[key] for key in ("limit_packets", "limit") if key in values]
    limits += [values["limit_bytes"] // FULL_FRAME] if "limit_bytes" in values else []
    return max(min(limits), 1)


def _ecn(values: Parameters) -> tuple[str, ...]:
    return ("ecn",) if values.get("ecn") else ("noecn",)


def _ce_threshold(values: Parameters) -> tuple[str, ...]:
    given = values.get("ce_threshold")
    return () if given is None else ("ce_threshold", _time(given))


def _fifo(values: Parameters, room: int) -> Qdisc:
    packets = _packets(values, room)
    if "limit_packets" in values and packets == values["limit_packets"]:
        return Qdisc("pfifo", "sch_fifo", ("limit", f"{packets}"), packets, "enqueue")
    return Qdisc("bfifo", "sch_fifo", ("limit", f"{packets * FULL_FRAME}"), None, "enqueue")


def _codel(values: Parameters, room: int) -> Qdisc:
    packets = _packets(values, room)
    arguments = (
        *("limit", f"{packets}"),
        *("target", _time(values["target"])),
        *("interval", _time(values["interval"])),
        *_ecn(values),
        *_ce_threshold(values),
    )
    return Qdisc("codel", "sch_codel", arguments, packets, "dequeue")


def _fq_codel(values: Parameters, room: int) -> Qdisc:
    packets = _packets(values, room)
    arguments = (
        *("limit", f"{packets}"),
        *("flows", f"{values['flows']}"),
        *("quantum", f"{values['quantum']}"),
        *("target", _time(values["target"])),
        *("interval", _time(values["interval"])),
        *("drop_batch", f"{values['drop_batch']}"),
        *_ecn(values),
        *_ce_threshold(values),
    )
    return Qdisc("fq_codel", "sch_fq_codel", arguments, packets, "dequeue")


def _pie(values: Parameters, room: int) -> Qdisc:
    """The kernel's timer wheel adds a tick: PIE configured with n ticks updates every n + 1."""
    packets = _packets(values, room)
    tick = values["tick"]
    ticks = max(-(-values["t_update"] // tick) - 1, 1)
    update = (ticks + 1) * tick
    differences = []
    if update != values["t_update"]:
        differences.append(
            f"t_update is {update / 1e6:g} ms, not {values['t_update'] / 1e6:g} ms: the kernel "
            f"counts it in ticks of {tick / 1e6:g} ms, two at least"
        )
    if not values.get("derandomize", True):
        differences.append("derandomize is on: the kernel always keeps drops apart")
    if values.get("max_burst", 150_000_000) != 150_000_000:
        differences.append("max_burst is 150 ms: the kernel has no option for it")
    arguments = (
        *("limit", f"{packets}"),
        *("target", _time(values["qdelay_ref"])),
        *("tupdate", _time(ticks * tick)),
        *("alpha", f"{round(values['alpha'] * 16 / 1000)}"),
        *("beta", f"{round(values['beta'] * 16 / 1000)}"),
        *_ecn(values),
    )
    return Qdisc("pie", "sch_pie", arguments, packets, "enqueue", tuple(differences))


def _red(values: Parameters, room: int) -> Qdisc:
    """Linux counts bytes, has no gentle mode, and weights that are powers of two."""
    size = values["packet_size"]
    weight = _weight(values["w_q"])
    low, high = values["min_th"] * size, values["max_th"] * size
    differences = []
    if values["idle"]:
        differences.append(
            "idle and s have no effect: the shaper never asks an empty queue for a packet, so the "
            "kernel's RED does not see it idle, and its average falls only as packets arrive"
        )
    if values["gentle"]:
        differences.append("not gentle: the kernel drops everything above max_th")
    if abs(values["w_q"] - 1e6 / 2**weight) > 0.05 * values["w_q"]:
        differences.append(f"w_q is 2^-{weight}, the nearest that the kernel has")
    arguments = (
        *("limit", f"{_packets(values, room) * FULL_FRAME}"),
        *("min", f"{low}"),
        *("max", f"{high}"),
        *("avpkt", f"{size}"),
        *("burst", f"{_burst(low, size, weight)}"),
        *("probability", f"{values['max_p'] / 1e6:g}"),
        *("bandwidth", f"{size * 8 * 10**9 // values['s']}bit"),
        *(("ecn",) if values.get("ecn") else ()),
        *(("harddrop",) if values.get("ecn") and values.get("harddrop", True) else ()),
    )
    return Qdisc("red", "sch_red", arguments, None, "enqueue", tuple(differences))


def _weight(millionths: int) -> int:
    """The exponent of the power of two that is nearest to a weight."""
    return min(range(1, 32), key=lambda log: abs(10**6 / 2**log - millionths))


def _burst(low: int, size: int, weight: int) -> int:
    """The burst from which `tc` works out that weight (Floyd's inequality, as `tc` applies it)."""

    def works_out(burst: int) -> int:
        allowed = burst + 1 - low / size
        share = 0.5
        for log in range(1, 32):
            if allowed <= (1 - (1 - share) ** burst) / share:
                return log
            share /= 2
        return -1

    first = low // size + 1
    candidates = range(first, first + (4 << weight))
    return next((burst for burst in candidates if works_out(burst) == weight), first)


def _cake(values: Parameters, room: int) -> Qdisc:
    """One tin without the qdisc's own shaper."""
    mode = _CAKE_MODES[bool(values["srchost"]), bool(values["dsthost"]), bool(values["flows"])]
    return _cake_qdisc(values, room, mode, values["rtt"], ())


def _cobalt(values: Parameters, room: int) -> Qdisc:
    """CAKE's AQM with one queue for all flows."""
    interval, target = values["interval"], values["target"]
    differences = []
    if target != max(interval // _RTT_PER_TARGET, 1000):
        differences.append("target is a twentieth of interval: the kernel has no option for it")
    return _cake_qdisc(values, room, "flowblind", interval, tuple(differences))


def _cake_qdisc(
    values: Parameters, room: int, mode: str, rtt: int, differences: tuple[str, ...]
) -> Qdisc:
    arguments = (
        *("unlimited", "besteffort", mode, "no-split-gso"),
        *("rtt", _time(rtt)),
        *("memlimit", f"{min(values['memlimit'], room * FULL_FRAME)}"),
    )
    return Qdisc("cake", "sch_cake", arguments, None, "dequeue", differences)


def _dualpi2(values: Parameters, room: int) -> Qdisc:
    packets = _packets(values, room)
    return Qdisc(
        dualpi2.KIND,
        dualpi2.MODULE,
        (),
        packets,
        "dequeue",
        dualpi2.differences(values),
        dualpi2.options(values, packets),
    )


_RTT_PER_TARGET = 20
_CAKE_MODES = {
    (False, False, False): "flowblind",
    (True, False, False): "srchost",
    (False, True, False): "dsthost",
    (True, True, False): "hosts",
    (False, False, True): "flows",
    (True, False, True): "dual-srchost",
    (False, True, True): "dual-dsthost",
    (True, True, True): "triple-isolate",
}
"""`tc`'s word for sources, destinations, flows."""

_MAKERS: dict[str, Callable[[Parameters, int], Qdisc]] = {
    "fifo": _fifo,
    "red": _red,
    "codel": _codel,
    "codel_linux": _codel,
    "fq_codel": _fq_codel,
    "pie": _pie,
    "pie_linux": _pie,
    "cobalt": _cobalt,
    "cake": _cake,
    "dualpi2": _dualpi2,
    "dualpi2_linux": _dualpi2,
}
