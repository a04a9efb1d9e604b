"""The first process of a lab: hosts, links, and a live switch in a thread for each switch.

    python -m sojourn.tools.lab.lab_init FOLDER

Says `ready` when frames pass and ends when its input does; all that it has made ends with it.
"""

import json
import signal
import sys
import threading
import traceback
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from sojourn.backends.live import LivePlan, live_plan, run_live
from sojourn.backends.live.control_socket import serve_control
from sojourn.backends.live.links import everything_later
from sojourn.backends.live.plan import NOTHING
from sojourn.backends.live.switch_run import Recording
from sojourn.control import read_description
from sojourn.errors import SojournError
from sojourn.tools.lab.entries import ports_of, read_runtime
from sojourn.tools.lab.lab_process import ORDERS, Orders
from sojourn.tools.lab.network import make
from sojourn.tools.lab.topology import Link, Topology, read_topology

_DEPTH = 64
"""Packets that a shaped queue holds, as bmv2's do."""


def main() -> None:
    """Runs the lab until its input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    folder = Path(sys.argv[1])
    orders = Orders(**json.loads((folder / ORDERS).read_text(encoding="utf-8")))
    topology = read_topology(Path(orders.topology))
    make(topology)
    over = threading.Event()
    running = [
        _Running(folder / name, plan_of(topology, name, orders.programs[name]), topology, over)
        for name in topology.switches
    ]
    for one in running:
        one.start()
    for one in running:
        one.wait()
    if not any(one.failed for one in running):
        print("ready", flush=True)
        sys.stdin.read()
    over.set()
    for one in running:
        one.join()
    sys.exit(any(one.failed for one in running))


def plan_of(topology: Topology, name: str, program: str) -> LivePlan:
    """The plan of a switch, with the rates and delays of its links.

    It includes ports that copies go to and no link has; frames to them are discarded.
    """
    links = topology.ports(name)
    runtime = topology.switches[name].runtime
    others = set[int]() if runtime is None else ports_of(runtime) - links.keys()
    plan = live_plan(
        program,
        ports=[
            *(f"{port}={name}-p{port}" for port in links),
            *(f"{port}={NOTHING}" for port in sorted(others)),
        ],
        rates=[f"{port}={link.rate} bit/s" for port, link in links.items() if link.rate],
    )
    around = {port: _around(link) for port, link in links.items() if link.delay}
    return replace(plan, around={"links": around})


def _around(link: Link) -> dict[str, Any]:
    """The delay of a link, as the switch at one end holds it: what it sends into it and, if a host
    is at the other end, what comes from there."""
    held = everything_later(link.delay)
    from_host = any(isinstance(end, str) for end in link.ends)
    return {"outgoing": held} | ({"incoming": held} if from_host else {})


class _Running(threading.Thread):
    """One switch."""

    def __init__(
        self, folder: Path, plan: LivePlan, topology: Topology, over: threading.Event
    ) -> None:
        super().__init__(name=folder.name)
        self._folder, self._plan, self._over = folder, plan, over
        self._runtime = topology.switches[folder.name].runtime
        self._is_up = threading.Event()
        self.failed = False

    def run(self) -> None:
        """Until the lab is over."""
        try:
            run_live(self._plan, self._folder, started=self._configure, over=self._over.wait)
        except SojournError as error:
            print(f"{self._folder.name}: {error}", file=sys.stderr)
            self.failed = True
        except Exception:
            traceback.print_exc()
            self.failed = True
        finally:
            self._is_up.set()

    def _configure(self, recording: Recording) -> AbstractContextManager[None]:
        switch = recording.switch
        operations = [
            {"op": "set_queue", "port": port.number, "depth": _DEPTH}
            for port in recording.plan.measured
        ]
        if self._runtime is not None:
            described = read_description(switch.describe())
            operations += [one.what for one in read_runtime(self._runtime, described)]
        if operations:
            switch.apply(json.dumps(operations))
        self._is_up.set()
        return serve_control(self._folder, switch)

    def wait(self) -> None:
        """Until it runs, or has failed."""
        self._is_up.wait()


if __name__ == "__main__":
    main()
