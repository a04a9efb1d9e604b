"""Two hosts and a live switch between them, in namespaces of their own; runs inside `unshare`.

    unshare --user --map-root-user --net python live_lab.py CASE FOLDER

Prints what it saw as JSON. What it starts it ends; the namespaces go with their processes.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.backends.live import live_plan
from sojourn.backends.live.control_socket import RemoteSwitch
from sojourn.backends.live.offloads import features
from sojourn.control.file import as_plain
from sojourn.runtime.arrow_tables import MARK, SENT

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

TAP = """
import select, socket, struct, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
link.bind(("eth0", 0x0800))
print("ready", flush=True)
with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
    while sys.stdin not in (ready := select.select([link, sys.stdin], [], [])[0]) or link in ready:
        frame, address = link.recvfrom(2048)
        if address[2] != socket.PACKET_OUTGOING:
            out.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
"""

OFF = """
import os
from sojourn.backends.live.offloads import switched_off
off = switched_off(["eth0"])
off.__enter__()
os._exit(0)  # so that they stay off
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def inside(holder: subprocess.Popen[bytes], *command: str) -> list[str]:
    return ["nsenter", "-t", str(holder.pid), "-n", *command]


def connect(name: str, holder: subprocess.Popen[bytes], mtu: int = 1500) -> None:
    """Makes the link between the switch's interface and its host."""
    address, mac, peer, peer_mac = HOSTS[name]
    there = f"peer name eth0 netns {holder.pid}"
    ip(*f"link add {name} type veth {there}".split())
    ip("link", "set", name, "mtu", str(mtu), "up")
    for words in (
        f"link set eth0 address {mac} mtu {mtu} up",
        f"addr add {address} dev eth0",
        f"route add {peer} dev eth0",
        f"neigh add {peer} lladdr {peer_mac} dev eth0 nud permanent",
    ):
        subprocess.run(inside(holder, "ip", *words.split()), check=True)
    subprocess.run(inside(holder, sys.executable, "-c", OFF), check=True)


@contextlib.contextmanager
def hosts(mtu: int = 1500) -> Iterator[dict[str, subprocess.Popen[bytes]]]:
    holders: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name in HOSTS:
            holder = subprocess.Popen(["unshare", "--net", "sleep", "60"])
            holders[name] = holder
            ours = Path("/proc/self/ns/net").readlink()
            while Path(f"/proc/{holder.pid}/ns/net").readlink() == ours:
                time.sleep(0.01)
            connect(name, holder, mtu)
        yield holders
    finally:
        for holder in holders.values():
            holder.kill()
            holder.wait()


@contextlib.contextmanager
def switch(folder: Path, *arguments: str, **environment: str) -> Iterator[dict[str, Any]]:
    """A switch while it runs; what it printed is in what it yields once it has ended."""
    command = [sys.executable, "-m", "sojourn", "switch", *arguments, "--json"]
    command += ["--port", "1=sw1", "--port", "2=sw2", "--out", str(folder / "run")]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | environment
    )
    (folder / "pid").write_text(str(process.pid))
    said: dict[str, Any] = {}
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


def measured(folder: Path) -> object:
    """TCP through a program that writes into packets; what comes to the host's own interface."""
    arguments = ("queue_measurement", "-D", "MEASURED_PAYLOAD=1000", "--rate", "2=20 Mbit/s")
    with hosts() as there, switch(folder, *arguments) as said:
        tap = subprocess.Popen(
            inside(there["sw2"], sys.executable, "-c", TAP, str(folder / "wire.pcap")),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        sink = subprocess.Popen(
            inside(there["sw2"], sys.executable, "-c", SINK), stdout=subprocess.PIPE, text=True
        )
        assert sink.stdout is not None and tap.stdout is not None
        sink.stdout.readline()
        tap.stdout.readline()
        source = SOURCE.replace("monotonic() + 3", "monotonic() + 1")
        subprocess.run(inside(there["sw1"], sys.executable, "-c", source), check=True, timeout=40)
        sink.communicate(timeout=30)
        tap.communicate("", timeout=30)
    return said


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


PING = """
import socket, sys
link = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
link.settimeout(1)
link.sendto(bytes.fromhex("0800f7fc00020001"), (sys.argv[1], 0))
while link.recv(2000)[20]:
    pass
"""

FLOOD = """
import socket
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0))
frame = bytes.fromhex("02000000000202000000000188b5") + bytes(50)
for _ in range(200_000):
    link.send(frame)
"""


def trouble(folder: Path, stepping: str) -> object:
    """What happens to a network beside its packets; whether packets pass after it. `stepping` is a
    library that steps the wall clock of the process that it is loaded into."""
    seen: dict[str, bool] = {}
    clock = folder / "clock"
    clock.write_bytes(struct.pack("d", 0.0))
    arguments = ("v1model/codel", "--rate", "2=20 Mbit/s")
    environment = {"STEPS": str(clock), "LD_PRELOAD": stepping}
    with hosts() as there, switch(folder, *arguments, **environment) as said:
        process = int((folder / "pid").read_text())

        def answered(times: int) -> bool:
            asked = inside(there["sw1"], sys.executable, "-c", PING, "10.128.0.1")
            tries = (subprocess.run(asked, capture_output=True).returncode for _ in range(times))
            return 0 in tries

        def passes(what: str) -> None:
            seen[what] = answered(5)

        passes("nothing")
        for down, what in ((("sw2",), "the interface down"), ((), "the carrier down")):
            for state in ("down", "up"):
                words = ["ip", "link", "set", *(down or ("eth0",)), state]
                subprocess.run(words if down else inside(there["sw2"], *words), check=True)
                time.sleep(0.2)
            if not down:
                route = "ip route replace 10.0.0.1 dev eth0"
                neighbour = "ip neigh replace 10.0.0.1 lladdr 02:00:00:00:00:01 dev eth0"
                for words in (route, neighbour):
                    subprocess.run(inside(there["sw2"], *words.split()), check=True)
            passes(what)
        ip("link", "del", "sw2")
        time.sleep(0.3)
        connect("sw2", there["sw2"])
        passes("the interface gone")
        os.kill(process, signal.SIGSTOP)
        # More than wait at its socket meanwhile, however fast the machine is.
        subprocess.run(inside(there["sw1"], sys.executable, "-c", FLOOD), check=True)
        time.sleep(2)
        os.kill(process, signal.SIGCONT)
        passes("the process stopped in a flood of 64-byte frames")
        for seconds in (3600.0, -3600.0, 0.0):
            clock.write_bytes(struct.pack("d", seconds))
            time.sleep(0.2)
            passes(f"the wall clock off by {seconds:.0f} s")
        with contextlib.closing(RemoteSwitch(folder / "run")) as remote:
            table = "Router.routes"
            entries = remote.read({"read": "entries", "table": table})
            remote.apply(json.dumps([{"op": "clear_table", "table": table}]))
            seen["everything dropped"] = not answered(2)
            add = {"op": "add_entry", "table": table}
            remote.apply(json.dumps([add | {"entry": one["entry"]} for one in entries]))
        passes("everything dropped for a while")
    return said | {"seen": seen}


def mixture() -> list[bytes]:
    """Frames of several kinds, most of them in four flows from port 1's side to port 2's."""
    found = []
    for number in range(400):
        flow, ecn = number % 4, (0, 1, 2)[number % 3]
        length = (1472, 700, 22, 1472, 1472)[number % 5]
        header = bytearray(struct.pack(
            ">BBHHHBBH4s4s", 0x45, ecn, 28 + length, number, 0, 64, 17, 0,
            bytes([10, 0, 0, 1 + flow]), bytes([10, 128, 0, 1]),
        ))  # fmt: skip
        total = sum(struct.unpack(">10H", header))
        header[10:12] = struct.pack(">H", ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
        udp = struct.pack(">HHHH", 40_000 + flow, 9, 8 + length, 0) + bytes(length)
        ethernet = bytes.fromhex("020000000002020000000001")
        found.append(ethernet + b"\x08\x00" + bytes(header) + udp)
        if number % 40 == 7:
            v6 = struct.pack(">IHBB", 6 << 28, len(udp), 17, 64)
            v6 += bytes.fromhex("fd000000000000000000000000000001fd000000000000010000000000000001")
            found.append(ethernet + b"\x86\xdd" + v6 + udp)
            found.append(ethernet + bytes.fromhex("810000650800") + bytes(header) + udp)
            found.append(ethernet + b"\x08\x06" + bytes(28))
            found.append(ethernet + b"\x08\x00" + bytes(header)[:11])
            found.append(ethernet + b"\x88\xb5")
    return found


def counted(statistics: dict[str, Any]) -> dict[str, Any]:
    """What a switch has counted; not until when."""
    recirculation = statistics["recirculation"] | {"elapsed": None}
    return statistics | {"now": None, "recirculation": recirculation}


def decisions(folder: Path) -> object:
    """What each of many switches decided live about the same frames, and once more in virtual time
    with the frames at the instants at which they came."""
    names = json.loads(sys.stdin.read())
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    plans, switches, senders = [], [], []
    for place, name in enumerate(names):
        for side in "ab":
            ip(*f"link add w{side}{place} type veth peer name p{side}{place}".split())
            ip(*f"link set w{side}{place} up".split())
            ip(*f"link set p{side}{place} up".split())
        interfaces = {1: f"wa{place}", 2: f"wb{place}"}
        ports = [f"{port}={interface}" for port, interface in interfaces.items()]
        native = name in NATIVE
        plan = live_plan(
            None if native else name, ports=ports, rates=["2=2 Mbit/s"],
            aqm=name if native else None,
        )  # fmt: skip
        config = json.dumps(plan.config, default=as_plain)
        switches.append(_core.LiveSwitch(config, interfaces, 0, plan.programs, "{}", True))
        plans.append((config, plan.programs))
        sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        sender.bind((f"pa{place}", 0))
        senders.append(sender)
    frames = mixture()
    due = time.monotonic()
    for number, frame in enumerate(frames):
        for sender in senders:
            sender.send(frame)
        # So slowly that a busy machine can keep up. The first third comes at three quarters of the
        # port's rate, at which every discipline sends. Of the rest the port sends a third, so that
        # queues build also where the machine is several times slower than asked.
        due += 0.005 if number < len(frames) // 3 else 0.00125
        time.sleep(max(due - time.monotonic(), 0))
    time.sleep(1)
    found = {}
    for name, (config, programs), live in zip(names, plans, switches, strict=True):
        live.stop()
        seen, report = live.take_packets(2), json.loads(live.report())
        arrivals, until = live.take_arrivals(), report["live"]["elapsed"]
        again, statistics = _core.drive_switch(config, programs, arrivals, until)
        later = [(at + 10**7 * (place > 200), *one) for place, (at, *one) in enumerate(arrivals)]
        other, _ = _core.drive_switch(config, programs, later, until + 10**7)
        verdicts = Counter(seen["verdict"])
        sent = verdicts[SENT] + verdicts[MARK]
        found[name] = {
            "arrived": len(arrivals),
            "sent": sent,
            "dropped": sum(verdicts.values()) - sent,
            "same": again[2] == seen
            and counted(json.loads(statistics)) == counted(report["switch"]),
            "same when they come later": other[2] == seen,
        }
    return found | {"frames": len(frames)}


SNIFF = """
import socket, sys, threading
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
link.bind(("eth0", 3))
print("ready", flush=True)
def each():
    while True:
        frame, address = link.recvfrom(10000)
        if address[2] != socket.PACKET_OUTGOING:
            print(frame.hex(), flush=True)
threading.Thread(target=each, daemon=True).start()
sys.stdin.read()
"""


def controllers(folder: Path, pushed: str, info: str) -> object:
    """A controller that pushes a program to a switch that runs another, writes entries into it, and
    has packets from it and for it."""
    import live_controller

    ip("link", "set", "lo", "up")
    frames = {name: f"02000000000{to}020000000001" + "88cc" + name.encode().hex() * 8
              for name, to in (("told", 1), ("sent", 2), ("lost", 3), ("out", 4))}  # fmt: skip
    address = "127.0.0.1:9559"
    with hosts() as there, switch(folder, "v1model/router", "--p4runtime", address) as said:
        sniffing = subprocess.Popen(
            inside(there["sw2"], sys.executable, "-c", SNIFF),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert sniffing.stdout is not None
        sniffing.stdout.readline()
        with live_controller.primary(address) as controller:
            controller.push(Path(pushed).read_bytes(), Path(info).read_bytes())
            controller.add("Forward.exact_t", bytes.fromhex(frames["told"][:12]),
                           "Forward.to_controller", b"\x05")  # fmt: skip
            controller.add("Forward.exact_t", bytes.fromhex(frames["sent"][:12]),
                           "Forward.send", b"\x02")  # fmt: skip
            text = "\n".join(frames[name] for name in ("lost", "sent", "told"))
            command = inside(there["sw1"], sys.executable, "-c", SEND)
            subprocess.run(command, input=text, text=True, check=True)
            came = controller.packet_in()
            controller.packet_out(bytes.fromhex(frames["out"]), egress_port=2)
            entries = controller.entries("Forward.exact_t")
            time.sleep(0.5)
        heard, _ = sniffing.communicate("", timeout=30)
    names = {bytes.fromhex(frame): name for name, frame in frames.items()}
    behind = [names.get(bytes.fromhex(line)) for line in heard.split()]
    payload, metadata = came
    return said | {
        "packet in": names.get(payload), "metadata": metadata,
        "behind port 2": [name for name in behind if name], "entries": entries,
    }  # fmt: skip


RATE = ("--rate", "2=1 Gbit/s")
NATIVE = {name for name, *_ in _core.native_disciplines()}

if __name__ == "__main__":
    case, place, *more = sys.argv[1:]
    print(json.dumps(globals()[case](Path(place), *more)))
