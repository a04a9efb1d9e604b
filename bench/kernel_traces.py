"""Records what the Linux kernel's disciplines do to a course of packets, for the engine's tests.

Usage: bench/kernel_traces.py [--kernel virtual] [FOLDER]

One run for each discipline on the kernel with virtual time (`sojourn linux build-kernel`), whose
taps stamp a packet at the very instant at which the discipline sees it. Each line of a trace is a
packet in the order of arrival: when it came (ns of the kernel's monotonic clock), its bytes, its
flow, and when it left; nothing there if it was dropped. crates/switch has them in `data/`.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

from sojourn.linux.ground import Linux, linux
from sojourn.linux.job import qdisc_of, shaper_of
from sojourn.runner import plan_scenario

SCENARIO = {
    "duration": "4 s",
    "switch": {"rate": "4 Mbit/s", "queue_limit": "500 kB"},
    "aqms": [
        {"use": "codel_linux", "interval": "50 ms"},
        {"use": "fq_codel", "linux": True, "ecn": False, "interval": "50 ms", "limit": 60},
        {
            "use": "red",
            "min_th": 5,
            "max_th": 15,
            "max_p": 0.1,
            "w_q": 0.03125,
            "idle": False,
            "gentle": False,
            "limit_packets": 1000,
        },
    ],
    "flows": [
        {"rtt": "10 ms"},
        {"rtt": "20 ms", "congestion_control": "newreno"},
        {"kind": "udp", "rate": "400 kbit/s", "rtt": "5 ms", "packet_size": "400 B"},
        {"rtt": "15 ms", "start": "1.5 s", "stop": "2.5 s"},
    ],
}


def main() -> None:
    parser = argparse.ArgumentParser(description="what the kernel's disciplines drop")
    parser.add_argument("--kernel", default="virtual")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("crates/switch/data"))
    arguments = parser.parse_args()
    ground = linux(arguments.kernel)
    plan = plan_scenario(SCENARIO, ground=ground)
    for run in plan.runs:
        lines = trace(ground, run)
        text = f"# {lines[0]}\n" + "".join(f"{line}\n" for line in lines[1:])
        (arguments.folder / f"kernel_{run.config['aqm']['name']}.csv").write_text(text)


def trace(ground: Linux, run) -> list[str]:
    """What it is of, then a line a packet."""
    shaper = shaper_of(run.config, virtual_time=ground.kernel.virtual_time)
    aqm = qdisc_of(run.config)
    with tempfile.TemporaryDirectory() as folder:
        attempt = ground._attempt(run, shaper, aqm, Path(folder), lambda _: None)
        if attempt.complaint:
            raise SystemExit(attempt.complaint)
        done = attempt.raw.done
        rows = attempt.measured.every
        clock = done["monotonic_origin"] - done["origin"]
    order = np.argsort(rows.packet)
    columns = (rows.enqueued, rows.size, rows.flow, rows.dequeued, rows.verdict)
    head = f"Linux {done['kernel']}, {aqm.text}: came ns, bytes, flow, left ns"
    return [head] + [
        f"{came + clock},{size},{flow},{left + clock if verdict in (0, 3) else ''}"
        for came, size, flow, left, verdict in zip(*(c[order] for c in columns), strict=True)
    ]


if __name__ == "__main__":
    main()
