"""A live switch of a run, as the process between the run's hosts.

    python -m sojourn.backends.live.switch_process FOLDER PLACE

Reads its orders from the folder, writes `ready` once frames pass, reads time zero from its input
and ends when that does. A thread sleeps until each scheduled change of rates, delays or control
plane and applies it.
"""

import json
import select
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.backends.live.job import switch_folder
from sojourn.backends.live.plan import LivePlan, LivePort
from sojourn.backends.live.switch_run import Recording, run_live
from sojourn.common.atomic_write import write_text

CHANGED = "changed.json"
"""Lateness of each change, ns."""


def orders_for(place: int) -> str:
    """The name of the file, in the job's folder, with the orders of the switch at that place."""
    return f"switch-job-{place}.json"


def main() -> None:
    """Runs the switch until its input ends."""
    # Only the first process of the run ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder, place = Path(sys.argv[1]), int(sys.argv[2])
    orders = json.loads((folder / orders_for(place)).read_text(encoding="utf-8"))
    changes: list[int] = []

    def started(recording: Recording) -> None:
        print("ready", flush=True)
        origin = int(sys.stdin.readline())
        recording.origin = origin - json.loads(recording.switch.report())["live"]["started"]
        steps = (recording.switch, orders["steps"], origin, changes)
        threading.Thread(target=_change, args=steps, daemon=True).start()

    left = folder / switch_folder(place)
    run_live(_plan(orders), left, started=started, over=_input_ends)
    write_text(left / CHANGED, json.dumps(changes) + "\n")


def _plan(orders: dict[str, Any]) -> LivePlan:
    interfaces = {int(port): name for port, name in orders["interfaces"].items()}
    rates = {port["id"]: port["rate"] for port in orders["switch"]["ports"]}
    ports = tuple(
        LivePort(port, interface, rates[port], None) for port, interface in interfaces.items()
    )
    return LivePlan("run", ports, orders["switch"], [], orders["around"])


def _input_ends(seconds: float) -> bool:
    """Waits so long; true if nothing will come any more."""
    readable, _, _ = select.select([sys.stdin], [], [], seconds)
    return bool(readable)


def _change(
    switch: _core.LiveSwitch, steps: list[dict[str, Any]], origin: int, late: list[int]
) -> None:
    for step in steps:
        due = origin + step["at"]
        time.sleep(max(due - time.monotonic_ns(), 0) / 1e9)
        _carry_out(switch, step)
        late.append(time.monotonic_ns() - due)


def _carry_out(switch: _core.LiveSwitch, step: dict[str, Any]) -> None:
    match step:
        case {"operations": operations}:
            switch.apply(json.dumps(operations))
        case {"delay": delay, "port": port, "class": place, "outgoing": outgoing}:
            switch.set_delay(port, outgoing, place, delay)
        case {"rate_of_host": rate, "port": port}:
            switch.set_rate(port, rate)
        case {"rate": rate, "burst": burst, "port": port}:
            shape = {"op": "shape_port", "port": port, "rate": rate, "burst": burst}
            switch.apply(json.dumps([shape]))


if __name__ == "__main__":
    main()
