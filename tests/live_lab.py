"""Two hosts and a live switch between them, in namespaces of their own; runs inside `unshare`.

    unshare --user --map-root-user --net python live_lab.py CASE FOLDER

Prints what it saw as JSON. What it starts it ends; the namespaces go with their processes.
"""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from sojourn.live.offloads import features

HOSTS = {
    "sw1": ("10.0.0.1/9", "02:00:00:00:00:01", "10.128.0.1", "02:00:00:00:00:02"),
    "sw2": ("10.128.0.1/9", "02:00:00:00:00:02", "10.0.0.1", "02:00:00:00:00:01"),
}
"""The interface that the switch has -> addresses of the host behind it, and its peer's."""

SEND = """
import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
for frame in sys.stdin.read().split():
    link.send(bytes.fromhex(frame))
"""

SINK = """
import socket, sys
server = socket.create_server(("10.128.0.1", 5001))
server.settimeout(20)
print("ready", flush=True)
peer, _ = server.accept()
peer.settimeout(20)
got = 0
while data := peer.recv(1 << 16):
    got += len(data)
print(got)
"""

SOURCE = """
import socket, time
end = time.monotonic() + 3
peer = socket.create_connection(("10.128.0.1", 5001), timeout=20)
while time.monotonic() < end:
    peer.sendall(bytes(1 << 16))
peer.close()
"""

OFF = """
import os
from sojourn.live.offloads import switched_off
off = switched_off(["eth0"])
off.__enter__()
os._exit(0)  # so that they stay off
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def inside(holder: subprocess.Popen[bytes], *command: str) -> list[str]:
    return ["nsenter", "-t", str(holder.pid), "-n", *command]


@contextlib.contextmanager
def hosts(mtu: int = 1500) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    holders: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, (address, mac, peer, peer_mac) in HOSTS.items():
            holder = subprocess.Popen(["unshare", "--net", "sleep", "60"])
            holders[name] = holder
            ours = Path("/proc/self/ns/net").readlink()
            while Path(f"/proc/{holder.pid}/ns/net").readlink() == ours:
                time.sleep(0.01)
            ip(
                "link",
                "add",
                name,
                "type",
                "veth",
                "peer",
                "name",
                "eth0",
                "netns",
                f"{holder.pid}",
            )
            ip("link", "set", name, "mtu", str(mtu), "up")
            for words in (
                f"link set eth0 address {mac} mtu {mtu} up",
                f"addr add {address} dev eth0",
                f"route add {peer} dev eth0",
                f"neigh add {peer} lladdr {peer_mac} dev eth0 nud permanent",
            ):
                subprocess.run(inside(holder, "ip", *words.split()), check=True)
            subprocess.run(inside(holder, sys.executable, "-c", OFF), check=True)
        yield holders
    finally:
        for holder in holders.values():
            holder.kill()
            holder.wait()


@contextlib.contextmanager
def switch(folder: Path, *arguments: str) -> Iterator[dict[str, object]]:
    """A switch while it runs; what it printed is in what it yields once it has ended."""
    command = [sys.executable, "-m", "sojourn", "switch", *arguments, "--json"]
    command += ["--port", "1=sw1", "--port", "2=sw2", "--out", str(folder / "run")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    said: dict[str, object] = {}
    try:
        until = time.monotonic() + 30
        while not (folder / "run" / "switch.json").exists() and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(0.3)
        yield said
    finally:
        process.send_signal(signal.SIGTERM)
        text, _ = process.communicate(timeout=30)
        said["status"] = process.returncode
        said |= json.loads(text) if text else {}


def frames(folder: Path) -> object:
    given = json.loads(sys.stdin.read())
    with hosts(mtu=9000) as there, switch(folder, "--aqm", "fifo", *RATE, "--pcap") as said:
        text = "\n".join(given)
        command = inside(there["sw1"], sys.executable, "-c", SEND)
        subprocess.run(command, input=text, text=True, check=True)
        time.sleep(1)
    return said


def tcp(folder: Path, *arguments: str) -> object:
    with hosts() as there, switch(folder, *arguments) as said:
        sink = subprocess.Popen(
            inside(there["sw2"], sys.executable, "-c", SINK), stdout=subprocess.PIPE, text=True
        )
        assert sink.stdout is not None
        sink.stdout.readline()
        subprocess.run(inside(there["sw1"], sys.executable, "-c", SOURCE), check=True, timeout=40)
        delivered = int(sink.communicate(timeout=30)[0] or 0)
    return said | {"delivered": delivered}


def offloads(folder: Path) -> object:
    with hosts():
        before = features("sw1")
        with switch(folder, "--aqm", "fifo") as said:
            during = features("sw1")
        return said | {"before": before, "during": during, "after": features("sw1")}


def control(folder: Path) -> object:
    """Operations on a switch that runs, and a client that dies in the middle of a request."""
    run = folder / "run"

    def ctl(*commands: str) -> dict[str, object]:
        words = [sys.executable, "-m", "sojourn", "ctl", str(run), *commands]
        done = subprocess.run(words, capture_output=True, text=True, timeout=30)
        return {"status": done.returncode, "said": [*done.stdout.splitlines(), done.stderr]}

    routes = [f"10.{number}.0.0/16" for number in range(1, 9)]
    added = [f"table_add routes send {route} => 2 1 2" for route in routes]
    seen: dict[str, object] = {}
    with hosts(), switch(folder, "v1model/codel", "--rate", "2=20 Mbit/s") as said:
        seen["mode"] = oct((run / "control.sock").stat().st_mode & 0o777)
        seen["before"] = ctl("table_num_entries routes")
        seen["batch"] = ctl(*added, "table_num_entries routes")
        seen["refused"] = ctl("table_delete routes 3", "table_delete routes 77")
        seen["after refusal"] = ctl("table_num_entries routes")
        request = {"apply": [{"op": "clear_table", "table": "routes"}]}
        with socket.socket(socket.AF_UNIX) as dying:
            dying.connect(str(run / "control.sock"))
            dying.sendall(json.dumps(request).encode())
        time.sleep(0.2)
        seen["after death"] = ctl("table_num_entries routes")
        seen["changed"] = ctl(
            "table_delete routes 3",
            "table_dump routes",
            "register_write count_of 7 42",
            "register_read count_of 7",
            "set_port_rate 2 5 Mbit/s",
            "show_ports",
        )
        seen["unknown"] = ctl("table_add rootes send 10.0.0.0/8 => 2 1 2")
    seen["ended"] = ctl("show_ports")
    seen["left"] = (run / "control.sock").exists()
    shaper = [port["shaper"] for port in said["counters"]["switch"]["ports"]]  # type: ignore
    return said | {"seen": seen, "shaper": shaper[1]}


def watch(folder: Path) -> object:
    """What metrics and page say after some TCP."""

    def fetched(at: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{at}", timeout=10) as answer:
            text: str = answer.read().decode()
            return text

    ip("link", "set", "lo", "up")
    arguments = ("v1model/codel", "--rate", "2=20 Mbit/s", "--metrics", "9464", "--watch", "8642")
    with hosts() as there, switch(folder, *arguments) as said:
        sink = subprocess.Popen(
            inside(there["sw2"], sys.executable, "-c", SINK), stdout=subprocess.PIPE, text=True
        )
        assert sink.stdout is not None
        sink.stdout.readline()
        subprocess.run(inside(there["sw1"], sys.executable, "-c", SOURCE), check=True, timeout=40)
        sink.communicate(timeout=30)
        time.sleep(0.6)
        seen = {
            "metrics": fetched("9464/metrics"),
            "page": fetched("8642/"),
            "data": json.loads(fetched("8642/data?since=0")),
        }
    return said | seen


RATE = ("--rate", "2=1 Gbit/s")

if __name__ == "__main__":
    case, place, *more = sys.argv[1:]
    print(json.dumps(globals()[case](Path(place), *more)))
