"""Prints the tables of `docs/npu.md`: CoDel's decisions on threads with shared memory, and their
cost.

python bench/npu.py                # two minutes on two cores
"""

import itertools
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sojourn
from sojourn.results.result import AqmResult

SEEDS = range(1, 4)
THREADS = (1, 2, 8, 60, 480)
RATES = {"100 Mbit/s": 121_120, "1 Gbit/s": 12_112}
"""The port's rate, and how long a full frame of 1,514 bytes takes at it, ns (PACKET_TIME)."""
PASS_TIMES = (1, 10, 100, 1000)
"""Mean processing time of a packet, us; each is up to a fifth longer or shorter."""
VARIANTS: dict[str, dict[str, Any]] = {
    "without a mutex": {"use": "npu/codel"},
    "with a mutex": {"use": "npu/codel", "defines": {"CODEL_MUTEX": "1"}},
    "compare-and-swap": {"use": "codel_cas"},
}


def runs(scenario: dict[str, Any], seeds: Iterable[int] = SEEDS) -> Iterator[AqmResult]:
    """The scenario's one AQM for each seed."""
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            result = sojourn.run(scenario, seed=seed, out=Path(folder) / "run")
            yield from result.aqms.values()


def tcp(aqm: dict[str, Any], rate: str, threads: int) -> dict[str, Any]:
    """Ten CUBIC flows of 5 ms through a port of `rate`, for as long as 200,000 full frames take."""
    packet_time = RATES[rate]
    defines = {"THREADS": str(threads), "PACKET_TIME": str(packet_time)}
    return {
        "duration": f"{200_000 * packet_time} ns",
        "aqms": [{**aqm, "defines": defines | aqm.get("defines", {})}],
        "switch": {"rate": rate, "queue_limit": "10 MB"},
        "flows": [{"count": 10, "rtt": "5 ms"}],
    }


def counted(aqm: AqmResult, kind: str) -> int:
    return sum(fault["count"] for fault in aqm.findings.counters["faults"] if fault["kind"] == kind)


def decided(aqm: AqmResult) -> tuple[int, int, float]:
    """Packets that came to CoDel, those it dropped, and the mean delay of the others, ms."""
    verdict = aqm.packets["verdict"].cast(pa.string()).to_numpy(zero_copy_only=False)
    sent = verdict == "sent"
    waited = np.asarray(aqm.packets["dequeued"]) - np.asarray(aqm.packets["enqueued"])
    drops = int((verdict == "ingress").sum())
    return len(verdict), drops, float(waited[sent].mean() / 1e6)


def row(aqm: dict[str, Any], rate: str, threads: int) -> list[str]:
    """Means over the seeds: lost updates and drops per million packets, mean delay."""
    figures, overruns = [], 0
    for run in runs(tcp(aqm, rate, threads)):
        packets, drops, delay = decided(run)
        million = 1e6 / packets
        overruns += counted(run, "overrun")
        figures.append((counted(run, "lost_update") * million, drops * million, delay))
    lost, drops, delay = np.mean(figures, axis=0)
    # Where packets find no thread, the processor is the bottleneck, and its drops are not CoDel's.
    return [f"{lost:,.0f}", "no thread free" if overruns else f"{drops:,.0f}", f"{delay:.3g}"]


def table(head: list[str], rows: Iterator[list[str]]) -> None:
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for cells in rows:
        print(f"| {' | '.join(cells)} |", flush=True)
    print()


def races() -> None:
    head = ["port", "threads", "lost updates", "drops", "mean delay, ms"]
    cases = itertools.product(RATES, THREADS)
    unlocked = VARIANTS["without a mutex"]
    table(head, ([rate, str(n), *row(unlocked, rate, n)] for rate, n in cases))


def cures() -> None:
    head = ["480 threads", "port", "lost updates", "drops", "mean delay, ms"]
    cases = itertools.product(VARIANTS, RATES)
    table(head, ([name, rate, *row(VARIANTS[name], rate, 480)] for name, rate in cases))


def pairs() -> None:
    """Drops that follow another one so closely that both were found due at once."""
    head = ["480 threads, 100 Mbit/s, a run", "drops", "within 20 us of another", "of its flow"]

    def close(aqm: dict[str, Any]) -> list[str]:
        for run in runs(tcp(aqm, "100 Mbit/s", 480), [1]):
            drops = run.packets.filter(
                pc.equal(run.packets["verdict"].cast(pa.string()), "ingress")
            )
        order = np.argsort(np.asarray(drops["enqueued"]), kind="stable")
        soon = np.diff(np.asarray(drops["enqueued"])[order]) <= 20_000
        same = np.diff(np.asarray(drops["flow"]).astype(np.int64)[order]) == 0
        return [f"{len(order):,}", f"{soon.sum():,}", f"{(soon & same).sum():,}"]

    table(head, ([name, *close(aqm)] for name, aqm in VARIANTS.items()))


def small_frames(aqm: dict[str, Any] | str, rate: str, threads: int) -> dict[str, Any]:
    """64-byte frames at a constant rate through a port of 10 Gbit/s."""
    if not isinstance(aqm, str):
        defines = {"THREADS": str(threads), "PACKET_TIME": "1211", "IN_ORDER": "true"}
        aqm = {**aqm, "defines": defines | aqm.get("defines", {})}
    return {
        "duration": "20 ms",
        "aqms": [aqm],
        "switch": {"rate": "10 Gbit/s", "queue_limit": "10 MB"},
        "flows": [{"kind": "udp", "rate": rate, "packet_size": "60 B", "rtt": "100 us"}],
    }


def first_arrival(aqm: dict[str, Any] | str) -> float:
    """When packets enter the queue, on average, at a rate at which none waits for another, us."""
    (mean,) = (
        np.asarray(run.packets["enqueued"]).mean()
        for run in runs(small_frames(aqm, "10 Mbit/s", 480), [1])
    )
    return float(mean / 1e3)


def carried(aqm: dict[str, Any], threads: int) -> float:
    """Millions of packets a second that pass when more come than can, in the second half."""
    for run in runs(small_frames(aqm, "7 Gbit/s", threads), [1]):
        sent = run.packets.filter(pc.equal(run.packets["verdict"].cast(pa.string()), "sent"))
        dequeued = np.asarray(sent["dequeued"])
    half = dequeued.max() / 2
    return float((dequeued > half).sum() / half * 1e3)


def cost() -> None:
    head = ["CoDel", "added latency, us", "Mpacket/s, 1 thread", "60 threads", "480 threads"]
    wire = first_arrival("codel")
    cases = VARIANTS.items()
    rows = (
        [
            name,
            f"{first_arrival(aqm) - wire:.1f}",
            *(f"{carried(aqm, threads):.2f}" for threads in (1, 60, 480)),
        ]
        for name, aqm in cases
    )
    table(head, rows)


def round_trips() -> None:
    """A flow's round trip and its goodput, by how long a pass of the program takes."""
    head = ["a pass, us", "round trip, 10 Mbit/s offered, ms", "saturated, ms", "goodput, Mbit/s"]

    def flow(aqm: dict[str, Any], **offered: str) -> tuple[float, float]:
        """Mean smoothed round trip, ms, and goodput, Mbit/s."""
        scenario = {
            "duration": "2 s",
            "aqms": [aqm],
            "switch": {"rate": "1 Gbit/s", "queue_limit": "10 MB"},
            "flows": [{"count": 1, "rtt": "1 ms", **offered}],
        }
        figures = []
        for run in runs(scenario):
            trips = np.asarray(run.flows["srtt"], np.float64)
            # Before the first acknowledgement there is none.
            figures.append((float(trips[trips > 0].mean()) / 1e6, run.summary.goodput / 1e6))
        trip, goodput = np.mean(figures, axis=0)
        return trip, goodput

    def row(name: str, aqm: dict[str, Any]) -> list[str]:
        thin, (trip, goodput) = flow(aqm, rate_cap="10 Mbit/s")[0], flow(aqm)
        return [name, f"{thin:.2f}", f"{trip:.2f}", f"{goodput:.0f}"]

    def rows() -> Iterator[list[str]]:
        yield row("none: native CoDel", {"use": "codel"})
        for pass_time in PASS_TIMES:
            defines = {
                "PROCESSING_MIN": str(pass_time * 800),
                "PROCESSING_MAX": str(pass_time * 1200),
                "PACKET_TIME": str(RATES["1 Gbit/s"]),
            }
            yield row(f"{pass_time:,}", {"use": "npu/codel", "defines": defines})

    table(head, rows())


if __name__ == "__main__":
    for part in (races, cures, pairs, cost, round_trips):
        part()
