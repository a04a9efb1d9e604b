"""Packet-hops a second and memory of two fabrics, switches native.

Usage: bench/fabric.py [FABRIC ...]
       bench/fabric.py --write CONFIG.json MICROSECONDS [FABRIC]

A packet-hop is a data packet or an acknowledgement that a switch's port has sent. Each run is a
process of its own with one thread for the engine; seconds are those of the processor, of the engine
and the row writers. Memory is the peak less that of a run without traffic.

`--write` makes a configuration for `crates/net/examples/configured.rs`: of a fabric, else of the
fat tree with tail drop and NewReno, which is compared with another simulator.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from machine import machine
from sojourn.model.scenario import scenario_from_dict
from sojourn.runtime.engine import simulate
from sojourn.runtime.plan import make_plan

ENDS = {"min_rto": "1 ms", "delayed_ack": "1 ms", "congestion_control": "dctcp"}
MARKS = [{"use": "codel", "target": "20 us", "interval": "1 ms", "ecn": True}]
PODS = [f"h{pod}_{edge}_{host}" for pod in range(1, 9) for edge in "1234" for host in "1234"]
FABRICS: dict[str, dict[str, Any]] = {
    # Each of 128 hosts sends without end to the one four pods on: a permutation.
    "fat tree, 128 hosts, 100 Gbit/s": {
        "duration": "2 ms",
        "aqms": MARKS,
        "topology": {"fat_tree": 8, "host_rate": "100 Gbit/s", "measure": ["h1_1_1"]},
        "flows": [
            {
                "from": PODS,
                "to": PODS[64:] + PODS[:64],
                "count": 128,
                "start_jitter": "0 ms",
                **ENDS,
            }
        ],
    },
    # 11,100 starts a second on 144 hosts, lower ends of web search: 88 of 144 Gbit/s.
    "leaf-spine, 144 hosts, 1 and 4 Gbit/s": {
        "duration": "100 ms",
        "aqms": MARKS,
        "topology": {
            "leaf_spine": {"leaves": 9, "spines": 4, "hosts": 16},
            "host_rate": "1 Gbit/s",
            "rate": "4 Gbit/s",
            "host_delay": "20 ns",
            "queue_limit": "146 kB",
            "measure": ["h1_1"],
        },
        "flows": [
            {
                "kind": "transfers",
                "sizes": "websearch",
                "interpolate": "lower",
                "load": "60.9 %",
                "from": "*",
                "to": "*",
                **ENDS,
            }
        ],
    },
}

LEAF_SPINE = FABRICS["leaf-spine, 144 hosts, 1 and 4 Gbit/s"]
SHORT = {"kind": "transfers", "sizes": "rpc", "load": "10 %", "from": "*", "to": "*", **ENDS}
ENDLESS = {"from": "*", "to": "*", "start_jitter": "0 ms", **ENDS}


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(json.loads(sys.argv[2]))))
        return
    if sys.argv[1:2] == ["--write"]:
        write(Path(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
        return
    print(machine())
    print(
        f"{'fabric':40}{'hops':>12}{'seconds':>9}{'hops/s':>12}{'finished':>10}{'live':>7}{'MB':>8}"
    )
    for name in sys.argv[1:] or FABRICS:
        show(name, FABRICS[name])
    runs = [LEAF_SPINE | {"duration": f"{ms} ms", "flows": [SHORT]} for ms in (20, 80)]
    show_growth("finished", *map(in_process, runs))
    runs = [
        LEAF_SPINE | {"duration": "20 ms", "flows": [ENDLESS | {"count": count}]}
        for count in (1_440, 7_200)
    ]
    few, many = map(in_process, runs)
    show_growth("live", few | {"live": 1_440}, many | {"live": 7_200})


def write(path: Path, microseconds: int, name: str | None = None) -> None:
    """A fabric over so many us, as the engine reads it; the fat tree to compare without a name."""
    duration = {"duration": f"{microseconds} us"}
    written = compared() if name is None else FABRICS[name]
    plan = make_plan(scenario_from_dict(written | duration))
    path.write_text(json.dumps(plan.runs[0].config), encoding="utf-8")


def compared() -> dict[str, Any]:
    """The fat tree with tail drop and NewReno."""
    fabric = FABRICS["fat tree, 128 hosts, 100 Gbit/s"]
    topology = fabric["topology"] | {"queue_limit": "150 kB"}
    flows = [fabric["flows"][0] | {"congestion_control": "newreno"}]
    return fabric | {"aqms": ["fifo"], "topology": topology, "flows": flows}


def show_growth(kind: str, few: dict[str, Any], many: dict[str, Any]) -> None:
    """Memory of a flow: that by which a run with more of them has a higher peak."""
    flows = many[kind] - few[kind]
    print(f"{(many['peak'] - few['peak']) / flows:,.0f} bytes a {kind} flow, of {flows:,} more")


def show(name: str, written: dict[str, Any]) -> None:
    found, idle = in_process(written), in_process(without_traffic(written))
    memory = (found["peak"] - idle["peak"]) / 1e6
    hops, seconds = found["hops"], found["seconds"]
    print(
        f"{name:40}{hops:12,}{seconds:9.1f}{hops / seconds:12,.0f}"
        f"{found['finished']:10}{found['live']:7}{memory:8.1f}"
    )


def without_traffic(written: dict[str, Any]) -> dict[str, Any]:
    """The same fabric with one datagram a second."""
    idle = {"kind": "udp", "rate": "10 kbit/s", "from": "h1_1*", "to": "*", "count": 1}
    return written | {"flows": [idle]}


def in_process(written: dict[str, Any]) -> dict[str, Any]:
    """The figures of a run in a process of its own, so that its peak of memory is its own."""
    command = [sys.executable, __file__, "--one", json.dumps(written)]
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(ran.stdout)
    return figures


def measure(written: dict[str, Any]) -> dict[str, Any]:
    """Packet-hops, time, transfers and the peak of memory of a run."""
    plan = make_plan(scenario_from_dict(written))
    hosts = {host.name for host in plan.scenario.hosts}
    with tempfile.TemporaryDirectory() as folder:
        start = time.process_time()
        simulate(plan, Path(folder), threads=1)
        seconds = time.process_time() - start
        own = Path(folder) / plan.runs[0].folder
        counters = json.loads((own / "counters.json").read_text("utf-8"))
        finished, live = transfers(own)
    return {
        "hops": sum(one["frames"] for one in counters["link_loads"] if one["from"] not in hosts),
        "seconds": seconds,
        "finished": finished,
        "live": live,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def transfers(own: Path) -> tuple[int, int]:
    """Those that ended, and those that the end of the run cut short."""
    import pyarrow.parquet as pq

    path = own / "exchanges.parquet"
    if not path.exists():
        return 0, 0
    ended = pq.read_table(path, columns=["finished"]).column("finished")
    # 0 if the run ended before.
    cut = ended.to_pylist().count(0)
    return len(ended) - cut, cut


if __name__ == "__main__":
    main()
