"""DualPI2 between two network namespaces of this machine, with its kernel's TCP.

    sudo python examples/l4s_live.py
    sudo python examples/l4s_live.py --program tna/dualpi2 --watch 8642 --seconds 60

`sojourn switch` runs between the namespaces. Three flows pass its port of 40 Mbit/s: CUBIC without
ECN; UDP of 5 Mbit/s with ECT(1); and DCTCP with ECT(0), which `any_ect` sends to the L4S queue, or
CUBIC with ECN if the kernel has no DCTCP. The P4 programs have no `any_ect`: there this flow is in
the Classic queue. At the end a table has each flow's delay, marks and drops; with `--watch` a page
shows them meanwhile. Without root:

    unshare --user --map-root-user --net --mount python examples/l4s_live.py
"""

import argparse
import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

HOSTS = {
    "l4s1": ("10.0.0.1", ["10.0.0.1/9"], "02:00:00:00:00:01"),
    "l4s2": ("10.128.0.1", ["10.128.0.1/9", "10.128.0.2/9"], "02:00:00:00:00:02"),
}
"""The switch's interface, which is also its host's namespace -> addresses of the host."""

OFFLOADS = ("tx", "off", "tso", "off", "gso", "off", "gro", "off")

SERVER = """
import socket, threading
def sink(peer):
    while peer.recv(1 << 18):
        pass
server = socket.create_server(("", 5001))
print("ready", flush=True)
while True:
    threading.Thread(target=sink, args=(server.accept()[0],), daemon=True).start()
"""

TCP = """
import socket, sys, time
control, address, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
peer = socket.socket()
peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
peer.connect((address, 5001))
peer.settimeout(1)
end = time.monotonic() + seconds
while time.monotonic() < end:
    try:
        peer.send(bytes(1 << 16))
    except TimeoutError:
        pass
"""

UDP = """
import socket, sys, time
seconds = float(sys.argv[1])
link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
link.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, 1)
begin, sent = time.monotonic(), 0
while (past := time.monotonic() - begin) < seconds:
    while sent < past * 5e6 / 8 / 1242:
        link.sendto(bytes(1200), ("10.128.0.1", 9))
        sent += 1
    time.sleep(0.002)
"""


def run(*words: str) -> None:
    """Runs a command, and fails with its message."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")


def inside(host: str, *words: str) -> list[str]:
    """A command in a namespace."""
    return ["ip", "netns", "exec", host, *words]


@contextlib.contextmanager
def hosts() -> Iterator[None]:
    """The namespaces with their links, while it holds."""
    made: list[str] = []
    try:
        for name, (_, addresses, mac) in HOSTS.items():
            run("ip", "netns", "add", name)
            made.append(name)
            run(*f"ip link add {name} type veth peer name eth0 netns {name}".split())
            run("ip", "link", "set", name, "up")
            run(*inside(name, *f"ip link set eth0 address {mac} up".split()))
            run(*inside(name, *["ip", "link", "set", "lo", "up"]))
            for address in addresses:
                run(*inside(name, "ip", "addr", "add", address, "dev", "eth0"))
            run(
                *inside(
                    name,
                    *[
                        "ethtool",
                        "-K",
                        "eth0",
                        "tx",
                        "off",
                        "tso",
                        "off",
                        "gso",
                        "off",
                        "gro",
                        "off",
                    ],
                )
            )
        for name, other in (("l4s1", "l4s2"), ("l4s2", "l4s1")):
            for address in HOSTS[other][1]:
                at = address.split("/")[0]
                # The route to the first address asks for ECN, the one to the second does not.
                ecn = ["features", "ecn"] if at == "10.128.0.1" else []
                run(*inside(name, "ip", "route", "add", at, "dev", "eth0", *ecn))
                neighbour = f"ip neigh replace {at} lladdr {HOSTS[other][2]} dev eth0 nud permanent"
                run(*inside(name, *neighbour.split()))
        yield
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], check=False)
            subprocess.run(["ip", "link", "del", name], check=False, capture_output=True)


def scalable() -> str:
    """DCTCP if this kernel lets the namespace have it, else CUBIC; says which."""
    with socket.socket() as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"dctcp")
        except OSError:
            print("this kernel has no dctcp (modprobe tcp_dctcp): CUBIC with ECN in its place")
            return "cubic"
    return "dctcp"


def arguments() -> argparse.Namespace:
    """Of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--program", help="tna/dualpi2, t2na/dualpi2 or v1model/dualpi2")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--watch", metavar="ADDRESS", help="port or address of the page")
    parser.add_argument("--out", type=Path, help="the run's folder, by default a temporary one")
    return parser.parse_args()


@contextlib.contextmanager
def switch(asked: argparse.Namespace, folder: Path) -> Iterator[None]:
    """The switch, while it holds."""
    what = [asked.program] if asked.program else ["--aqm", "dualpi2_linux", "--set", "any_ect=true"]
    ports = ["--port", "1=l4s1", "--port", "2=l4s2", "--rate", "2=40 Mbit/s"]
    page = ["--watch", asked.watch] if asked.watch else []
    command = [sys.executable, "-m", "sojourn", "switch", *what, *ports, *page]
    process = subprocess.Popen([*command, "--out", str(folder)], stdout=subprocess.DEVNULL)
    try:
        until = time.monotonic() + 60
        while not (folder / "switch.json").exists():
            if process.poll() is not None or time.monotonic() > until:
                sys.exit("the switch has not begun")
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait()


def traffic(control: str, seconds: float) -> None:
    """The three flows."""
    server = subprocess.Popen(
        inside("l4s2", sys.executable, "-c", SERVER), stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    server.stdout.readline()
    try:
        senders = [
            subprocess.Popen(inside("l4s1", sys.executable, "-c", script, *words, str(seconds)))
            for script, words in (
                (TCP, (control, "10.128.0.1")),
                (TCP, ("cubic", "10.128.0.2")),
                (UDP, ()),
            )
        ]
        for sender in senders:
            sender.wait()
    finally:
        server.kill()
        server.wait()


def show(folder: Path, control: str) -> None:
    """A line for each of the three flows."""
    rows = pq.read_table(folder / "packets-port-2.parquet")
    verdict = np.array(rows["verdict"].to_pylist())
    flow, size = rows["flow"].to_numpy(), rows["size"].to_numpy()
    waited = (rows["dequeued"].to_numpy() - rows["enqueued"].to_numpy()) / 1e6
    seconds = max(float(rows["dequeued"].to_numpy().max(initial=1)) / 1e9, 1e-9)
    names = {
        ("10.128.0.1", 6): f"{control}, ECN",
        ("10.128.0.2", 6): "cubic",
        ("10.128.0.1", 17): "UDP, ECT(1)",
    }
    print(f"{'flow':<14}{'Mbit/s':>8}{'mean ms':>9}{'p99 ms':>8}{'marks':>7}{'drops':>7}")
    for number, (_, to, protocol, _, _) in enumerate(
        json.loads((folder / "flows.json").read_text()), 1
    ):
        own = flow == number
        sent = own & np.isin(verdict, ("sent", "mark"))
        if (to, protocol) not in names or sent.sum() < 10:
            continue
        rate = size[sent].sum() * 8 / seconds / 1e6
        print(
            f"{names[to, protocol]:<14}{rate:>8.1f}{waited[sent].mean():>9.2f}"
            f"{np.percentile(waited[sent], 99):>8.2f}{(own & (verdict == 'mark')).sum():>7}"
            f"{own.sum() - sent.sum():>7}"
        )


def main() -> None:
    """Makes the network, sends, and shows what each flow got."""
    asked = arguments()
    if missing := [name for name in ("ip", "ethtool") if shutil.which(name) is None]:
        sys.exit(f"not installed: {', '.join(missing)}: apt-get install iproute2 ethtool")
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.out or Path(temporary) / "run"
        with hosts():
            control = scalable()
            with switch(asked, folder):
                traffic(control, asked.seconds)
        show(folder, control)


if __name__ == "__main__":
    main()
