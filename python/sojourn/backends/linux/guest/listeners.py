"""Listening sockets of a namespace: each accepted connection is passed to its end.

The opener's address identifies the flow. Depends on the kernel's sockets.
"""

import contextlib
import resource
import select
import socket
from collections.abc import Callable
from functools import partial
from typing import Any

from .bulk import BulkReceiver
from .event_loop import Loop
from .exchanges import RequestServer
from .tcp import End
from .transfer_log import Log
from .transfers import TransferReceiver, transfer_index

_PORT_ANY = {int(socket.AF_INET): "0.0.0.0", int(socket.AF_INET6): "::"}
_QUEUE = 4096
_FILES = 1 << 18
_EXACT = "dctcp"
"""Its SYN is ECN-capable, which a kernel grants only to an end that speaks it from the start on."""

Flow = dict[str, Any]
Accept = Callable[[socket.socket], object]


class Listening:
    """Listens on a port for TCP and takes in UDP, by the versions of IP that are used."""

    def __init__(self, loop: Loop, job: dict[str, Any], flows: list[Flow], log: Log) -> None:
        _allow_files()
        self._loop, self._log = loop, log
        self._flows = {tuple(flow["client"]): flow for flow in flows if "client" in flow}
        self._sources = [flow for flow in flows if flow["kind"] == "transfers"]
        self._udp = []
        for family in job["families"]:
            address = _PORT_ANY[family]
            listening = _bound(family, socket.SOCK_STREAM, (address, job["port"]))
            if _EXACT in {flow.get("congestion_control") for flow in flows}:
                control = _EXACT.encode()
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
            listening.listen(_QUEUE)
            listening.setblocking(False)
            loop.watch(listening, select.EPOLLIN, partial(self._accept, listening))
            # Never read: the capture counts datagrams, and a full buffer drops them quietly.
            self._udp.append(_bound(family, socket.SOCK_DGRAM, (address, job["port"])))

    def _accept(self, listening: socket.socket, _: int) -> None:
        while True:
            try:
                one, (address, port, *_) = listening.accept()
            except OSError:
                return
            one.setblocking(False)
            self._begin(one, (address, port))

    def _begin(self, one: socket.socket, peer: End) -> None:
        flow = self._flows.get(peer)
        if flow is None:
            source, place = self._transfer(peer)
            TransferReceiver(self._loop, one, self._log, source, place)
        elif flow["kind"] == "requests":
            RequestServer(self._loop, one, flow)
        else:
            BulkReceiver(one, flow)

    def _transfer(self, peer: End) -> tuple[Flow, int]:
        """The source of the transfer that this end opens, and its place there."""
        for flow in self._sources:
            place = transfer_index(flow, peer)
            if place is not None:
                return flow, place
        raise RuntimeError(f"a connection from {peer}, which no flow has")


def _allow_files() -> None:
    """As many sockets at once as can be had: the kernel's default is a thousand."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, max(_FILES, most)))
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _bound(family: int, kind: int, end: tuple[str, int]) -> socket.socket:
    one = socket.socket(family, kind)
    if family == socket.AF_INET6:
        one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    one.bind(end)
    return one
