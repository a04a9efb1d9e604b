"""The hosts with iperf3 as their application: a server and a client a flow.

Uses the program. A client is started when its flow is; its data follows when iperf3 has talked
with its server, over a control connection that passes the bottleneck too.
"""

import subprocess
import time
from pathlib import Path
from typing import Any

from .system import sleep_until

_FOR_EVER = "86400"
_FASTEST = 30_000_000_000
"""bit/s; more than iperf3's 32 bits of bytes per second hold is no limit to it."""

Flow = dict[str, Any]


class IperfServers:
    """The receiving side: one server a flow, each at its own address."""

    def __init__(self, flows: list[Flow], log: Path) -> None:
        self._servers = [
            _start(["-s", "-B", flow["server"][0], "-p", str(flow["server"][1])], log)
            for flow in flows
        ]

    def run(self) -> None:
        """Until the guest ends."""
        for server in self._servers:
            server.wait()


class IperfClients:
    """The sending side. At the end their interface goes down, so that nothing follows."""

    def __init__(self, flows: list[Flow], duration: int, log: Path, interface: str) -> None:
        self._flows, self._duration = flows, duration
        self._log, self._interface = log, interface

    def run(self, origin: int) -> None:
        """Starts and stops each client in its time."""
        clients: dict[int, subprocess.Popen[bytes]] = {}
        due = [(origin + flow["start"], i, True) for i, flow in enumerate(self._flows)]
        due += [
            (origin + flow["stop"], i, False)
            for i, flow in enumerate(self._flows)
            if flow["stop"] is not None
        ]
        for instant, number, begins in sorted(due):
            if instant >= origin + self._duration:
                break
            sleep_until(instant)
            if begins:
                clients[number] = _start(client_arguments(self._flows[number]), self._log)
            else:
                clients[number].terminate()
        sleep_until(origin + self._duration)
        subprocess.run(["ip", "link", "set", self._interface, "down"], check=True)
        for client in clients.values():
            client.kill()
        while time.monotonic_ns():
            time.sleep(3600)


def client_arguments(flow: Flow) -> list[str]:
    """Arguments of iperf3 for a flow."""
    (server, port), (client, client_port) = flow["server"], flow["client"]
    common = ["-c", server, "-p", str(port), "-B", client, "--cport", str(client_port)]
    if flow["kind"] == "udp":
        # iperf3 counts payload, the scenario whole frames.
        rate = flow["rate"] * flow["payload"] // flow["packet_size"]
        kind = ["-u", "-b", str(rate), "-l", str(flow["payload"])]
    else:
        capped = flow["rate_cap"] is not None
        cap = ["-b", str(flow["rate_cap"]), "-l", str(flow["block"])] if capped else []
        if flow["pacing"] is not False:
            most = _FASTEST if flow["pacing"] is True else flow["pacing"]
            cap += ["--fq-rate", str(most)]
        kind = ["-C", flow["congestion_control"], *cap]
    return [*common, "-t", _FOR_EVER, "-i", "0", *kind]


def _start(arguments: list[str], log: Path) -> "subprocess.Popen[bytes]":
    with log.open("ab") as file:
        return subprocess.Popen(
            ["iperf3", *arguments], stdin=subprocess.DEVNULL, stdout=file, stderr=file
        )
