"""The live switch of a run, as the process that stands between the run's hosts.

    python -m sojourn.live.station FOLDER

Finds its orders in the folder, says `ready` once frames pass, is told time zero on its input and
ends when that does. What it changes while the run goes on, rates and delays, it changes in a thread
that sleeps until then.
"""

import json
import select
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from sojourn.live.ask import LivePlan, LivePort
from sojourn.live.job import RECEIVERS_PORT, STATION
from sojourn.live.running import Recording, run_live
from sojourn.writing import write_text

ORDERS = "switch-job.json"
CHANGED = "changed.json"
"""How late each change was made, ns."""


def main() -> None:
    """Runs the switch until its input ends."""
    # The first process of the run ends this one; nobody else does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = Path(sys.argv[1])
    orders = json.loads((folder / ORDERS).read_text(encoding="utf-8"))
    changes: list[int] = []

    def started(recording: Recording) -> None:
        print("ready", flush=True)
        origin = int(sys.stdin.readline())
        recording.origin = origin - json.loads(recording.switch.report())["live"]["started"]
        steps = (recording, orders["steps"], origin, changes)
        threading.Thread(target=_change, args=steps, daemon=True).start()

    run_live(_plan(orders), folder / STATION, started=started, over=_input_ends)
    write_text(folder / STATION / CHANGED, json.dumps(changes) + "\n")


def _plan(orders: dict[str, Any]) -> LivePlan:
    interfaces = {int(port): name for port, name in orders["interfaces"].items()}
    rates = {port["id"]: port.get("rate") for port in orders["switch"]["ports"]}
    ports = tuple(
        LivePort(port, interface, rates[port], None) for port, interface in interfaces.items()
    )
    delays = {RECEIVERS_PORT: [(delay, prefixes) for delay, prefixes in orders["delays"]]}
    return LivePlan("run", ports, orders["switch"], [], delays)


def _input_ends(seconds: float) -> bool:
    """Waits so long; true if nothing will come any more."""
    readable, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(readable)


def _change(
    recording: Recording, steps: list[dict[str, Any]], origin: int, late: list[int]
) -> None:
    for step in steps:
        due = origin + step["at"]
        time.sleep(max(due - time.monotonic_ns(), 0) / 1e9)
        if "delay" in step:
            recording.switch.delay(RECEIVERS_PORT, step["class"], step["delay"])
        else:
            shape = {"op": "shape_port", "port": RECEIVERS_PORT, "rate": step["rate"]}
            recording.switch.apply(json.dumps([shape | {"burst": step["burst"]}]))
        late.append(time.monotonic_ns() - due)


if __name__ == "__main__":
    main()
