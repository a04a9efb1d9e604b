"""The grid: disciplines, numbers of flows, rates, round-trip times, congestion controls, switches.

A cell is a scenario that means the same on both backends: queue limits, thresholds and timers are
set to values that the kernel can hold exactly; ECN is on where DCTCP sends, else off. DualPI2's
cells have as many flows of DCTCP as of CUBIC. Depends on the scenario model. Runs nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

from sojourn.errors import ScenarioError
from sojourn.model.congestion import kernel_controls
from sojourn.model.units import RATE, TIME

AQMS = ("fifo", "codel", "fq_codel", "red", "pie")
ISOLATING = ("cake", "cobalt")
"""Further AQMs, whose cells are run if they are asked for."""
FLOWS = (1, 3, 10, 30)
RATES = (10_000_000, 100_000_000)
RTTS = (10_000_000, 100_000_000)
MARKED = "dctcp"
"""The congestion control whose cells have queues that mark."""
MIXED = "dctcp+cubic"
"""Both, with the cell's number of flows each: whose cells are those of `COUPLED`."""
COUPLED = "dualpi2"
"""The discipline of two coupled queues, one for each of the two."""
CONGESTION_CONTROLS = tuple(name for name in kernel_controls() if name != MARKED)
"""Those of the whole grid; cells of the other are run if it is asked for."""
UNMARKING = "fifo"
"""Tail drop: to DCTCP it is what it is to NewReno."""
SWITCHES = (1, 2)
"""One between groups of hosts, as all cells have it if nothing is said; or a network of two, the
bottleneck between them."""

_T = TypeVar("_T")
_FRAME = 1514
_BUFFER = 120_000_000
"""ns of the bottleneck's rate that tail drop holds."""


@dataclass(frozen=True)
class Cell:
    """One place of the grid."""

    aqm: str
    flows: int
    rate: int
    rtt: int
    congestion_control: str
    switches: int = 1

    @property
    def name(self) -> str:
        """Short, and a file's name."""
        rate, rtt = self.rate // 10**6, self.rtt // 10**6
        beyond = f"-{self.switches}s" if self.switches > 1 else ""
        return f"{self.aqm}-{self.flows}x{self.congestion_control}-{rate}M-{rtt}ms{beyond}"

    def scenario(self, duration: int, seed: int) -> dict[str, Any]:
        """The scenario that both backends run."""
        common = {
            "duration": TIME.format(duration),
            "seed": seed,
            "aqms": [_choice(self.aqm, self.rate, ecn=self.congestion_control == MARKED)],
        }
        bottleneck = {"rate": RATE.format(self.rate), "queue_limit": "3 MB"}
        flows = [
            {"count": self.flows, "congestion_control": control}
            for control in self.congestion_control.split("+")
        ]
        if self.switches == 1:
            rtt = {"rtt": TIME.format(self.rtt)}
            return common | {"switch": bottleneck, "flows": [group | rtt for group in flows]}
        quarter = {"delay": TIME.format(self.rtt // 4)}
        return common | {
            "hosts": ["a", "b"],
            "switches": [{"name": "r"}, {"name": "s"}],
            "links": [
                {"between": ["a", "r"]} | quarter,
                {"between": ["r", "s"]} | bottleneck | quarter,
                {"between": ["s", "b"]},
            ],
            "flows": [{"from": "a", "to": "b"} | group for group in flows],
        }


def cells(
    aqms: Sequence[str] = (),
    flows: Sequence[int] = (),
    rates: Sequence[int] = (),
    rtts: Sequence[int] = (),
    controls: Sequence[str] = (),
    switches: Sequence[int] = (),
) -> Iterator[Cell]:
    """The cells that have one of each of these; a filter that is empty lets all pass, but that of
    `switches` those with one."""
    axes = (
        _chosen("aqm", aqms, AQMS, also=(*ISOLATING, COUPLED)),
        _chosen("flows", flows, FLOWS),
        _chosen("rate", rates, RATES),
        _chosen("rtt", rtts, RTTS),
        _chosen("cc", controls, CONGESTION_CONTROLS, also=(MARKED, MIXED)),
        _chosen("switches", switches or SWITCHES[:1], SWITCHES),
    )
    for aqm, count, rate, rtt, control, between in product(*axes):
        if (aqm, control) != (UNMARKING, MARKED) and (aqm == COUPLED) == (control == MIXED):
            yield Cell(aqm, count, rate, rtt, control, between)


def _chosen(
    name: str, given: Sequence[_T], known: Sequence[_T], *, also: Sequence[_T] = ()
) -> Sequence[_T]:
    for value in given:
        if value not in (*known, *also):
            all_known = ", ".join(map(str, (*known, *also)))
            raise ScenarioError(f"--{name} {value}: not in the grid, which has {all_known}")
    return given or known


def _packets(rate: int, time: int) -> int:
    """The number of full frames at that rate in that time."""
    return max(rate * time // (8 * 10**9 * _FRAME), 1)


def _choice(aqm: str, rate: int, *, ecn: bool) -> dict[str, Any]:
    """The discipline with parameters that mean the same in the engine and in the kernel."""
    if aqm in ISOLATING:
        # They mark whatever is capable of ECN.
        return {"use": aqm}
    low = max(_packets(rate, 5_000_000), 10)
    marks = {"ecn": True} if ecn else {}
    if ecn and aqm == "red":
        # The kernel's default.
        marks["harddrop"] = False
    choice: dict[str, Any] = {
        # Round numbers of packets: 100 at 10 Mbit/s, 1000 at 100 Mbit/s.
        "fifo": {"use": "fifo", "limit_packets": round(_packets(rate, _BUFFER), -2)},
        "codel": {"use": "codel_linux", "limit": 1000},
        "fq_codel": {"use": "fq_codel", "limit": 1000, "ecn": False, "linux": True},
        # The kernel's RED is not gentle, has weights that are powers of two, and below a shaper
        # does not see its queue idle. With the usual weight of 2^-9 its average would take seconds
        # to fall.
        "red": {
            "use": "red",
            "min_th": low,
            "max_th": 3 * low,
            "max_p": 0.1,
            "w_q": 0.03125,
            "idle": False,
            "gentle": False,
            "limit_packets": 1000,
        },
        # A whole number of ticks, whether the kernel has 100 or 1000 a second.
        "pie": {"use": "pie_linux", "t_update": "20 ms", "limit_packets": 1000},
        # DCTCP sends ECT(0).
        "dualpi2": {"use": "dualpi2_linux", "any_ect": True, "limit_packets": 1000},
    }[aqm]
    return choice | marks
