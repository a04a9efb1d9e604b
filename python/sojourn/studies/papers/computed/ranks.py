"""Rank inversions of FIFO, SP-PIFO and PIFO: the queue experiments of the SP-PIFO paper.

A program in P4 writes a random rank into each packet in front of the switch under test. Ranks come
from captured frames, times from the rows. The paper's simulator counts an inversion of FIFO at
arrival and one of SP-PIFO at departure; both ways are counted here for each. Depends on plans and
the engine.
"""

import math
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.compute as pc

from sojourn import _core
from sojourn.common.atomic_write import write_text
from sojourn.runner import plan_scenario
from sojourn.runtime.arrow_tables import PACKET_SCHEMA, SENT, VERDICTS, table_from_columns
from sojourn.runtime.plan import PlannedRun
from sojourn.runtime.row_writer import ROWS_AT_ONCE
from sojourn.studies.papers.computed.finding import Computed, Curve, CurvePlot
from sojourn.studies.papers.computed.ratio import judged
from sojourn.studies.papers.verdict import Found, Status

_SEEDS = (1, 2, 3)
_DURATION = "40 ms"
"""Of the paper's 1 s: some 26,000 packets of each direction."""
_STARTS = 1500
"""Flows of 1 MB per second in both directions together, in figures 5 and 6."""
_RANKS = 128
"""More than the highest rank of any distribution."""
_LEFT = 1
"""The capture's interface of frames that left the queue."""


def _exponential() -> list[float]:
    """Truncated to whole numbers, mean 25, drawn again above 99."""
    return [math.exp(-rank / 25) - math.exp(-(rank + 1) / 25) for rank in range(100)]


def _poisson(mean: int, most: int) -> list[float]:
    return [math.exp(rank * math.log(mean) - mean - math.lgamma(rank + 1)) for rank in range(most)]


def _convex() -> list[float]:
    """A Poisson number of mean 100, modulo 100: most ranks are near either end."""
    weights = [0.0] * 100
    for rank, weight in enumerate(_poisson(100, 200)):
        weights[rank % 100] += weight
    return weights


DISTRIBUTIONS: Mapping[str, Sequence[float]] = {
    "uniform": [1.0] * 100,
    "exponential": _exponential(),
    "inverse exponential": [0.0, *reversed(_exponential())],
    "Poisson": _poisson(50, 100),
    "convex": _convex(),
}
"""Weights of the ranks from 0 on."""


class Inversions(NamedTuple):
    """By rank: of packets that left while a lower rank waited, and of packets that came while a
    higher one did."""

    at_departure: tuple[int, ...]
    at_arrival: tuple[int, ...]


def count_inversions(
    enqueued: Sequence[int], dequeued: Sequence[int], ranks: Sequence[int]
) -> Inversions:
    """Counts over packets in the order of departure."""
    arrivals = sorted(range(len(ranks)), key=lambda packet: (enqueued[packet], dequeued[packet]))
    held, mask, came = [0] * _RANKS, 0, 0
    at_departure, at_arrival = [0] * _RANKS, [0] * _RANKS
    for leaves, rank in zip(dequeued, ranks, strict=True):
        # A packet that comes while another leaves was not there; one that need not wait was.
        while came < len(arrivals) and (
            enqueued[arrivals[came]] < leaves or dequeued[arrivals[came]] <= leaves
        ):
            own = ranks[arrivals[came]]
            at_arrival[own] += mask >> (own + 1) != 0
            held[own] += 1
            mask |= 1 << own
            came += 1
        held[rank] -= 1
        if not held[rank]:
            mask &= ~(1 << rank)
        at_departure[rank] += mask & ((1 << rank) - 1) != 0
    return Inversions(tuple(at_departure), tuple(at_arrival))


@cache
def _measured(
    distribution: str, queues: int = 8, starts: int = _STARTS, *, pifo: bool = True
) -> Mapping[str, Sequence[Inversions]]:
    """The inversions of each discipline, one for each seed."""
    found: dict[str, list[Inversions]] = {}
    with tempfile.TemporaryDirectory(prefix="sojourn-paper-") as scratch:
        folder = Path(scratch)
        program = folder / "ranks.p4"
        text = files("sojourn.studies.papers").joinpath("sp_pifo_2020", "ranks.p4")
        write_text(program, text.read_text(encoding="utf-8"))
        write_text(folder / "ranks.toml", _control(DISTRIBUTIONS[distribution]))
        scenario = _scenario(str(program), str(folder / "ranks.toml"), queues, starts)
        if not pifo:
            del scenario["aqms"][-1]
        for seed in _SEEDS:
            for run in plan_scenario(scenario, seed=seed, capture=True).runs:
                found.setdefault(run.label, []).append(_inversions_of(run))
    return found


def _control(weights: Sequence[float]) -> str:
    """The entries of ranks.p4: a range of the 65,536 numbers for each rank."""
    lines, begin, share = ['[[tables]]\nname = "RanksIngress.ranks"\n'], 0, 0.0
    for rank, weight in enumerate(weights):
        share += weight / sum(weights)
        end = min(round(65_536 * share), 65_536)
        if end > begin:
            lines.append(
                f'[[tables.entries]]\nmatch = {{ "md.drawn" = {{ low = {begin}, high = {end - 1} '
                f'}} }}\naction = "set_rank"\nargs = {{ rank = {rank} }}\npriority = 1\n'
            )
            begin = end
    return "\n".join(lines)


def _scenario(program: str, control: str, queues: int, starts: int) -> dict[str, Any]:
    """Two hosts with a port of 10 Gbit/s each, behind the same discipline."""
    writer = {"use": program, "control": control}
    port = {"rate": "10 Gbit/s", "rate_back": "100 Gbit/s", "port_back": 2}
    transfers = {
        "kind": "transfers", "load": f"{starts * 4} Mbit/s",
        "min_size": "1 MB", "max_size": "1000001 B",
        "congestion_control": "newreno", "min_rto": "1 ms", "delayed_ack": "0 ms",
    }  # fmt: skip
    return {
        "duration": _DURATION,
        "aqms": [
            {"use": "sp_pifo", "label": "FIFO", "queues": 1, "queue_packets": 10 * queues},
            {"use": "sp_pifo", "label": "SP-PIFO", "queues": queues, "queue_packets": 10},
            {"use": "pifo", "label": "PIFO", "limit_packets": 10 * queues},
        ],
        "hosts": ["left", "right"],
        "switches": [
            {"name": "switch", "port_speed": "100 Gbit/s"},
            {"name": "near_left", "aqm": writer, "port_speed": "100 Gbit/s"},
            {"name": "near_right", "aqm": writer, "port_speed": "100 Gbit/s"},
        ],
        "links": [
            {"between": ["left", "near_left"], "port": 1},
            {"between": ["near_right", "right"], "port": 1},
            {"between": ["switch", "near_right"], "port": 1} | port,
            {"between": ["switch", "near_left"], "port": 2} | port,
        ],
        "flows": [
            transfers | {"from": "left", "to": "right"},
            transfers | {"from": "right", "to": "left"},
        ],
    }


def _inversions_of(run: PlannedRun) -> Inversions:
    """Those at the first measured queue, of packets that left it; frames leave it in the order of
    the rows."""
    simulation = _core.Simulation(run.configuration, list(run.programs))
    enqueued, dequeued, ranks = list[int](), list[int](), list[int]()
    while not simulation.finished:
        simulation.advance(run.config["duration"], ROWS_AT_ONCE)
        rows = table_from_columns(PACKET_SCHEMA, simulation.take_packets(0))
        sent = pc.equal(rows.column("verdict").cast("string"), VERDICTS[SENT])
        rows = rows.filter(sent)
        enqueued += rows.column("enqueued").to_pylist()
        dequeued += rows.column("dequeued").to_pylist()
        ranks += [
            int.from_bytes(frame[18:20], "big")
            for _, point, frame, _ in simulation.take_capture(0)
            if point == _LEFT
        ]
        for place in range(1, simulation.bottlenecks):
            simulation.take_packets(place)
            simulation.take_capture(place)
        simulation.take_flows()
        simulation.take_exchanges()
    known = min(len(ranks), len(enqueued))
    return count_inversions(enqueued[:known], dequeued[:known], ranks[:known])


def _ratios(runs: Mapping[str, Sequence[Inversions]], *, alike: bool = False) -> list[float]:
    """The inversions of SP-PIFO over those of FIFO in each seed: as the paper counts, or both at
    departure."""
    return [
        sum(own.at_departure) / sum(fifo.at_departure if alike else fifo.at_arrival)
        for own, fifo in zip(runs["SP-PIFO"], runs["FIFO"], strict=True)
    ]


def uniform() -> Computed:
    """Figure 5: totals, the course over ranks, and PIFO."""
    eight, more = _measured("uniform"), _measured("uniform", 32, pifo=False)
    sp_pifo, fifo = (_by_rank(eight[name], at) for name, at in _COUNTED)
    low, high = (sum(sp_pifo[rank - 5 : rank + 5]) for rank in (40, 80))
    flat = sum(fifo[75:85]) / sum(fifo[0:10])
    none = sum(sum(one.at_departure) for one in eight["PIFO"])
    status = Status.HOLDS if none == 0 else Status.FAILS
    found = (
        judged(
            "8 queues: SP-PIFO to FIFO, all ranks",
            0.306,
            _ratios(eight),
            _ratios(eight, alike=True),
        ),
        judged(
            "32 queues: SP-PIFO to FIFO, all ranks", 0.103, _ratios(more), _ratios(more, alike=True)
        ),
        judged("SP-PIFO, ranks about 80 to about 40", 4.17, [high / max(low, 1)]),
        judged("FIFO, ranks about 80 to the lowest ten", 0.96, [flat]),
        Found("PIFO has none", "0", f"{none}", status),
    )
    return Computed(found, (_figure("fig-5", "Figure 5", "uniform", eight),))


def others() -> Computed:
    """Figure 6: other distributions of ranks."""
    found, figures = [], []
    for name, paper in _OTHERS.items():
        runs = _measured(name)
        both = _ratios(runs, alike=True)
        found.append(judged(f"{name}: SP-PIFO to FIFO", paper, _ratios(runs), both))
        file = f"fig-6-{name.lower().replace(' ', '-')}"
        figures.append(_figure(file, "Figure 6", name, runs))
    return Computed(tuple(found), tuple(figures))


def loads() -> Computed:
    """The gain by the load of the link."""
    found = []
    for share, starts, paper in _LOADS:
        runs = _measured("uniform", 8, starts, pifo=False)
        found.append(judged(f"{share} %: SP-PIFO to FIFO", paper, _ratios(runs)))
    return Computed(tuple(found))


_COUNTED = (("SP-PIFO", "at_departure"), ("FIFO", "at_arrival"))
"""The way in which the paper counts."""
_OTHERS = {"exponential": 0.285, "inverse exponential": 0.401, "Poisson": 0.309, "convex": 0.291}
"""SP-PIFO's inversions over FIFO's: sums of the columns of plots/sppifo_analysis/**/*.dat."""
_LOADS = (
    (20, 450, 0.226),
    (40, 880, 0.252),
    (60, 1250, 0.275),
    (80, 1690, 0.326),
    (90, 1900, 0.375),
)
"""Load as the paper names it, flow starts per second, and the same ratio."""


def _by_rank(runs: Sequence[Inversions], at: str) -> list[float]:
    """The mean over the seeds."""
    return [float(value) for value in np.mean([getattr(one, at) for one in runs], axis=0)]


def _figure(
    name: str, source: str, ranks: str, runs: Mapping[str, Sequence[Inversions]]
) -> CurvePlot:
    curves = [
        *((label, at, f"{label}, {at.replace('_', ' ')}") for label, at in _COUNTED),
        ("FIFO", "at_departure", "FIFO, at departure"),
        ("PIFO", "at_departure", "PIFO"),
    ]
    along = tuple(float(rank) for rank in range(101))
    drawn = [
        Curve(text, along, tuple(_by_rank(runs[label], at)[:101])) for label, at, text in curves
    ]
    caption = f"Inversions by rank, {ranks} ranks, 8 queues of 10 packets, {_DURATION}"
    return CurvePlot(name, source, caption, "rank", "inversions", tuple(drawn))
