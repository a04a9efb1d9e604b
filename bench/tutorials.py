"""p4lang's tutorials in `sojourn lab`: their published solutions with their own topologies, entries
and scripts; the results, compared with the exercises' text.

python bench/tutorials.py CLONE [--python PYTHON] [EXERCISE...]

CLONE is a clone of p4lang/tutorials, of which a copy is used. PYTHON is an interpreter that has
scapy, which their scripts want. Needs ping and iperf3. Ends with status 1 if an exercise is wrong.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

SOJOURN = [sys.executable, "-m", "sojourn"]


@dataclass(frozen=True)
class Lab:
    """A lab that runs, in the folder of its exercise."""

    folder: Path
    environment: dict[str, str]

    def on(self, host: str, *words: str, given: str = "", seconds: float = 30) -> str:
        """What a command on a host prints, at most for so long."""
        with self.going(host, *words) as process:
            try:
                return process.communicate(given, timeout=seconds)[0]
            except subprocess.TimeoutExpired as error:
                return str(error.stdout or b"", errors="replace")

    @contextmanager
    def going(self, host: str, *words: str) -> Iterator["subprocess.Popen[str]"]:
        """A command on a host, ended with the block."""
        process = subprocess.Popen(
            [*SOJOURN, "lab", "exec", host, *words], cwd=self.folder, env=self.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def heard(self, host: str, *words: str) -> Iterator[Callable[[], str]]:
        """A command on a host that listens; what it has printed so far."""
        path = self.folder / f"heard-{host}"
        with path.open("w") as out, subprocess.Popen(
            [*SOJOURN, "lab", "exec", host, *words], cwd=self.folder, env=self.environment,
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            try:
                # A script of scapy's takes some seconds to listen.
                until = time.monotonic() + 30
                while "sniffing" not in path.read_text() and time.monotonic() < until:
                    time.sleep(0.2)
                time.sleep(1)
                yield path.read_text
            finally:
                process.kill()


def heard_by(lab: Lab, host: str, sends: Callable[[], object], wanted: str) -> str:
    """What a host's `receive.py` says of what is sent; until `wanted` is in it, or too late."""
    with lab.heard(host, "./receive.py") as said:
        sends()
        until = time.monotonic() + 15
        while not re.search(wanted, said()) and time.monotonic() < until:
            time.sleep(0.2)
        return said()


def loss(text: str) -> str:
    """Of ping."""
    found = re.search(r"(\d+)% packet loss", text)
    return found[1] if found else "?"


def basic(lab: Lab) -> tuple[bool, str]:
    near, far = (lab.on("h1", "ping", "-c3", host) for host in ("10.0.2.2", "10.0.3.3"))
    hops = [set(re.findall(r"ttl=(\d+)", text)) for text in (near, far)]
    return hops == [{"63"}, {"61"}], f"TTL {hops} of answers within a pod and across"


def basic_tunnel(lab: Lab) -> tuple[bool, str]:
    plain = heard_by(lab, "h2", lambda: lab.on("h1", "./send.py", "10.0.2.2", "m"), "dst")

    def tunnel() -> None:
        lab.on("h1", "./send.py", "10.0.3.3", "m", "--dst_id", "2")

    tunnelled = heard_by(lab, "h2", tunnel, "dst_id")
    found = re.search(r"dst_id\s*= (\d+)", tunnelled)
    right = (
        "10.0.2.2" in plain and found is not None and found[1] == "2" and "10.0.3.3" in tunnelled
    )
    return right, f"at h2: by its address; to h3's address with dst_id {found and found[1]}"


def calc(lab: Lab) -> tuple[bool, str]:
    asked = ("7+5", "9-2", "6&3", "6|3", "6^3")
    said = lab.on("h1", "python3", "calc.py", given="\n".join([*asked, "quit", ""]))
    numbers = re.findall(r"^(?:> )?(\d+)$", said, re.MULTILINE)
    reported = ", ".join(asked).replace("|", "\\|")
    return numbers == ["12", "7", "2", "7", "5"], f"{reported}: {', '.join(numbers)}"


@contextmanager
def beside(lab: Lab, client: str, server: str, address: str, rate: str) -> Iterator[None]:
    """UDP of iperf3 meanwhile."""
    with lab.going(server, "iperf3", "-s"):
        time.sleep(1)
        with lab.going(client, "iperf3", "-c", address, "-u", "-b", rate, "-t", "40"):
            time.sleep(4)
            yield


def hello(lab: Lab, count: int = 15) -> None:
    """Several, because most of what shares a full queue with UDP is dropped."""
    lab.on("h1", "./send.py", "10.0.2.2", "hello", str(count))


def ecn(lab: Lab) -> tuple[bool, str]:
    tos = r"tos\s*= (0x\d+)"
    quiet = set(re.findall(tos, heard_by(lab, "h2", lambda: hello(lab, 2), tos)))
    with beside(lab, "h11", "h22", "10.0.2.22", "2M"):
        busy = re.findall(tos, heard_by(lab, "h2", lambda: hello(lab), r"tos\s*= 0x3"))
    return quiet == {"0x1"} and "0x3" in busy, f"tos {quiet} alone, {busy} beside 2 Mbit/s of UDP"


def firewall(lab: Lab) -> tuple[bool, str]:
    found = {}
    for client, server, address in (("h1", "h3", "10.0.3.3"), ("h3", "h1", "10.0.1.1")):
        with lab.going(server, "iperf3", "-s"):
            time.sleep(1)
            said = lab.on(client, "iperf3", "-c", address, "-t", "3", seconds=12)
            rates = re.findall(r"([\d.]+ [MG]bits/sec).*receiver", said)
            found[client] = rates[0] if rates else "no connection"
    right = "bits" in found["h1"] and "no" in found["h3"]
    return right, f"outwards {found['h1']}, inwards {found['h3']}"


def link_monitor(lab: Lab) -> tuple[bool, str]:
    with beside(lab, "h1", "h4", "10.0.4.4", "2M"), lab.going("h1", "./send.py"):
        wanted = r"(Switch \d+ - Port \d+): ([\d.e-]+) Mbps"
        with lab.heard("h1", "./receive.py") as said:
            time.sleep(10)
            rates: dict[str, float] = {}
            for port, rate in re.findall(wanted, said())[-8:]:
                rates[port] = float(rate)
    used = {port: rate for port, rate in rates.items() if rate > 1}
    reported = ", ".join(f"{port} {rate:.2f}" for port, rate in used.items())
    return bool(used) and all(1.5 < rate < 2.5 for rate in used.values()), f"Mbit/s: {reported}"


def load_balance(lab: Lab) -> tuple[bool, str]:
    with lab.heard("h2", "./receive.py") as two, lab.heard("h3", "./receive.py") as three:
        for number in range(8):
            lab.on("h1", "./send.py", "10.0.0.1", f"message {number}")
        time.sleep(1)
        counts = [said().count("got a packet") for said in (two, three)]
    return sum(
        counts
    ) == 8 and 0 not in counts, f"of eight messages {counts[0]} at h2, {counts[1]} at h3"


def mri(lab: Lab) -> tuple[bool, str]:
    depth = r"swid\s*= (\d+)[\s|\\]*qdepth\s*= (\d+)"
    with beside(lab, "h11", "h22", "10.0.2.22", "2M"):
        said = heard_by(lab, "h2", lambda: hello(lab), depth)
    found = dict(re.findall(depth, said))
    right = {*found} == {"1", "2"} and int(found["1"]) > 10 and int(found["2"]) < 3
    return right, f"qdepth by switch: {found}"


def multicast(lab: Lab) -> tuple[bool, str]:
    losses = [loss(lab.on("h1", "ping", "-c3", f"10.0.0.{host}")) for host in (2, 3)]
    return losses == ["0", "0"], f"lost of pings to h2 and h3: {losses} %"


def qos(lab: Lab) -> tuple[bool, str]:
    found = []
    for protocol in ("UDP", "TCP"):
        words = ("./send.py", f"--p={protocol}", "--des=10.0.2.2", "--m=hello", "--dur=3")
        said = heard_by(lab, "h2", partial(lab.on, "h1", *words), r"tos\s*= 0x[b0-9a-f]+")
        found += re.findall(r"tos\s*= (0x[0-9a-f]+)", said)[:1]
    return found == ["0xb9", "0xb1"], f"tos of UDP and TCP: {found}"


def source_routing(lab: Lab) -> tuple[bool, str]:
    def send() -> None:
        lab.on("h1", "./send.py", "10.0.2.2", given="2 3 2 2 1\nq\n")

    found = re.findall(r"ttl\s*= (\d+)", heard_by(lab, "h2", send, r"ttl\s*="))
    return found[:1] == ["59"], f"by 2 3 2 2 1 at h2 with TTL {found}"


EXERCISES: dict[str, tuple[str, tuple[str, ...], Callable[[Lab], tuple[bool, str]]]] = {
    "basic": ("pod-topo/topology.json", (), basic),
    "basic_tunnel": ("topology.json", (), basic_tunnel),
    "calc": ("topology.json", (), calc),
    "ecn": ("topology.json", (), ecn),
    "firewall": ("pod-topo/topology.json", ("--switch", "s1=solution/firewall.p4"), firewall),
    "link_monitor": ("pod-topo/topology.json", (), link_monitor),
    "load_balance": ("topology.json", (), load_balance),
    "mri": ("topology.json", (), mri),
    "multicast": ("sig-topo/topology.json", (), multicast),
    "qos": ("topology.json", (), qos),
    "source_routing": ("topology.json", (), source_routing),
}
"""Their topology, options of the lab, and what is done."""


def main() -> int:
    """Each in turn."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("clone", type=Path)
    options.add_argument("--python", type=Path, default=Path(sys.executable))
    options.add_argument("exercises", nargs="*")
    given = options.parse_intermixed_args()
    path = f"{given.python.absolute().parent}{os.pathsep}{os.environ['PATH']}"
    print("| exercise | what came | as the exercise says |\n|---|---|---|")
    wrong = 0
    with tempfile.TemporaryDirectory() as place:
        exercises = Path(place) / "exercises"
        shutil.copytree(given.clone / "exercises", exercises)
        environment = os.environ | {"PATH": path, "XDG_CACHE_HOME": place}
        for name in given.exercises or EXERCISES:
            right, came = done(name, exercises / name, environment)
            wrong += not right
            print(f"| `{name}` | {came} | {'yes' if right else 'NO'} |", flush=True)
    return int(wrong > 0)


def done(name: str, folder: Path, environment: dict[str, str]) -> tuple[bool, str]:
    """One exercise."""
    topology, more, act = EXERCISES[name]
    for entries in folder.glob("solution/*-runtime.json"):
        shutil.copy(entries, (folder / topology).parent)
    # Of the firewall only one switch has it.
    program = "basic.p4" if name == "firewall" else f"{name}.p4"
    solution = f"../basic/solution/{program}" if name == "firewall" else f"solution/{program}"
    lab = subprocess.Popen(
        [*SOJOURN, "lab", *more, "--out", "lab", topology, solution],
        cwd=folder, env=environment, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert lab.stdout is not None
        if not any("Ctrl-C" in line for line in lab.stdout):
            return False, "the lab did not start"
        return act(Lab(folder, environment))
    finally:
        lab.terminate()
        lab.wait(timeout=60)


if __name__ == "__main__":
    sys.exit(main())
