"""All hosts of a namespace: the traffic that they send and the connections that they accept.

The job says which end of each flow is in this namespace. Depends on the modules of each kind of
traffic.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .bulk import BulkSender
from .datagrams import DatagramSender
from .event_loop import Loop
from .exchanges import RequestClient
from .listeners import Listening
from .transfer_log import Log
from .transfers import TransferSource


class Hosts:
    """The hosts of the namespace `side`; they listen from the beginning."""

    def __init__(self, job: dict[str, Any], side: str, folder: Path) -> None:
        self._loop, self._log = Loop(job["duration"]), Log()
        self._folder, self._side = folder, side
        opened_here = [flow for flow in job["flows"] if flow["opener"] == side]
        others = [flow for flow in job["flows"] if flow["acceptor"] == side]
        self._listening = Listening(self._loop, job, others, self._log)
        for flow in opened_here:
            self._open(flow)

    def _open(self, flow: dict[str, Any]) -> None:
        match flow["kind"]:
            case "tcp":
                BulkSender(self._loop, flow)
            case "udp" | "voip":
                DatagramSender(self._loop, flow)
            case "requests":
                RequestClient(self._loop, flow, self._log)
            case "transfers":
                TransferSource(self._loop, flow, self._log)

    def run(self, origin: int, over: Callable[[], object]) -> None:
        """From time zero on for ever; `over` is called when the run's notes are written."""

        def write_and_tell() -> None:
            self._log.write(self._folder, self._side)
            over()

        self._loop.run(origin, write_and_tell)
