"""ConWeave's test of a paused queue: the repository's two scripts, and what its README does then.

`cp/setup.py`, for the vendor's shell, and `cp/rpc_afc_config.py`, for `run_pd_rpc`, are executed
unmodified; then the README's steps, with the functions of `setup.py`. The frames that
`send_afc_pause.py` sends from a host come from the packet generator, whose header stands where
their destination would. Must not depend on the engine.
"""

import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from sojourn.control.bfrt_client import Connection
from sojourn.control.bfrt_script import run_script

FRONT = {(1, 0): 136, (1, 1): 137, (4, 0): 128, (32, 0): 129}
"""The board's ports by connector and lane; the last two are unused, looped back on the board, here
recirculation ports."""
PORT, QUEUE = 137, 0
AFC = 0x2001
"""The EtherType of a request."""
GENERATOR, APP = 6, 1
PAUSE, RESUME = 1, 0
"""The credit of a request."""
BEGIN, BETWEEN = 0.1, 0.01
"""Seconds: when the test begins, and how long each of its steps is looked at."""


class TrafficManager:
    """`tm` of `run_pd_rpc`, as far as the script uses it, over the tables `tf2.tm.*`."""

    def __init__(self, bfrt: Any) -> None:
        self._pipe, self._queue = bfrt.tf2.tm.pipe.sched_cfg, bfrt.tf2.tm.queue.sched_cfg
        self._port = bfrt.tf2.tm.port.cfg

    def sched_adv_fc_mode_enable_get(self, dev: int, pipe: int) -> bool:
        """Whether a pipe's queues may be paused."""
        return bool(self._pipe.get(pipe=pipe)["advanced_flow_control_enable"])

    def sched_adv_fc_mode_enable_set(self, dev: int, pipe: int, enable: bool) -> None:
        """Lets a pipe's queues be paused."""
        self._pipe.mod(pipe=pipe, advanced_flow_control_enable=enable)

    def sched_q_adv_fc_mode_get(self, dev: int, port: int, q: int) -> int:
        """A queue's mode: 1 is XOFF, 0 CREDIT."""
        return int(self._queue.get(**self._place(port, q))["advanced_flow_control"] == "XOFF")

    def sched_q_adv_fc_mode_set(self, dev: int, port: int, q: int, mode: int) -> None:
        """Sets a queue's mode."""
        name = "XOFF" if mode else "CREDIT"
        self._queue.mod(**self._place(port, q), advanced_flow_control=name)

    def _place(self, port: int, queue: int) -> dict[str, int]:
        found = self._port.get(port)
        number = found["egress_qid_queues"][queue]
        return {"pipe": port >> 7, "pg_id": found["pg_id"], "pg_queue": number}


def request(credit: int) -> int:
    """The word of advanced flow control for the queue."""
    group, lane = divmod(PORT % 128, 8)
    return 1 << 31 | PORT >> 7 << 29 | group << 25 | (lane * 16 + QUEUE) << 15 | credit


def send(bfrt: Any, credit: int) -> None:
    """One request for the queue: has the packet generator make the frame of `send_afc_pause.py`."""
    frame = bytes(6) + AFC.to_bytes(2, "big") + request(credit).to_bytes(4, "big") + b"0" * 48
    generator = bfrt.tf2.pktgen
    generator.pkt_buffer.mod(pkt_buffer_offset=0, pkt_buffer_size=len(frame), buffer=frame)
    generator.app_cfg.mod_with_trigger_timer_one_shot(app_id=APP, app_enable=False, timer_nanosec=0)
    generator.app_cfg.mod_with_trigger_timer_one_shot(
        app_id=APP,
        app_enable=True,
        pkt_len=len(frame),
        timer_nanosec=0,
        pipe_local_source_port=GENERATOR,
    )
    time.sleep(BETWEEN)


def main(setup: Path, configuration: Path) -> None:
    """The scripts, then the README's steps."""
    socket.gethostname = lambda: "tofino2a"
    connection = Connection(os.environ["SOJOURN_CONTROL"], front=FRONT)
    shell = run_script(connection, setup)
    bfrt = shell["bfrt"]
    run_script(connection, configuration, tm=TrafficManager(bfrt))
    bfrt.tf2.pktgen.port_cfg.mod(dev_port=GENERATOR, pktgen_enable=True)
    shell["set_afc_forward"](PORT)
    shell["set_afc_activate"](1)
    shell["set_afc_egress_bypass"](0)
    send(bfrt, PAUSE)
    # The second waits in the paused queue, before the pings.
    send(bfrt, PAUSE)
    time.sleep(BEGIN + BETWEEN - time.monotonic())
    pipe, group, queue = shell["get_pg_info"](PORT, QUEUE)
    counter = bfrt.tf2.tm.counter.queue
    print("waiting cells:", counter.get(pipe=pipe, pg_id=group, pg_queue=queue)["usage_cells"])
    shell["set_afc_activate"](0)
    shell["set_afc_egress_bypass"](1)
    send(bfrt, RESUME)
    print("still:", counter.get(pipe=pipe, pg_id=group, pg_queue=queue)["usage_cells"])


if __name__ == "__main__":
    main(*(Path(script).absolute() for script in sys.argv[1:]))
