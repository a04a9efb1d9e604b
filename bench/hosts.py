"""Two hosts in network namespaces, with interfaces for the switch between them.

    here 1 ══ a        b ══ 2 here

All of it is in an enclosure that is gone with the command. Must not depend on what is measured.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sojourn.backends.live.namespaces import enclosed, require
from sojourn.backends.live.offloads import switched_off

INSIDE = "SOJOURN_BENCH_INSIDE"
PORTS = ("sw1", "sw2")
"""The interfaces here."""
_ADDRESSES = {
    "sw1": ("10.0.0.1/9", "02:00:00:00:00:01", "10.128.0.1", "02:00:00:00:00:02"),
    "sw2": ("10.128.0.1/9", "02:00:00:00:00:02", "10.0.0.1", "02:00:00:00:00:01"),
}
"""Of the host behind each, and its peer's: those of the shipped control planes."""
SERVER = _ADDRESSES["sw2"][0].partition("/")[0]
CLIENT = _ADDRESSES["sw1"][0].partition("/")[0]
_OFF = """
import os
from sojourn.backends.live.offloads import switched_off
off = switched_off(["eth0"])
off.__enter__()
os._exit(0)  # so that they stay off
"""


def enclose() -> None:
    """Runs the command again in an enclosure, unless this is there."""
    if INSIDE not in os.environ:
        require()
        inside = os.environ | {INSIDE: "1", "PYTHONUNBUFFERED": "1"}
        raise SystemExit(
            subprocess.run(enclosed([sys.executable, *sys.argv]), env=inside).returncode
        )


@dataclass(frozen=True)
class Host:
    """One of the two."""

    holder: "subprocess.Popen[bytes]"

    def command(self, *words: str) -> list[str]:
        """What runs `words` there."""
        return ["nsenter", "-t", str(self.holder.pid), "-n", *words]

    def run(self, *words: str, timeout: float = 60) -> str:
        """What `words` print there."""
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=timeout)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stdout}{done.stderr}")
        return done.stdout


def ip(*words: str) -> None:
    """Of iproute2."""
    subprocess.run(["ip", *words], check=True)


@contextlib.contextmanager
def two_hosts(mtu: int = 1500) -> Iterator[tuple[Host, Host]]:
    """Those behind `sw1` and `sw2`, all offloads off."""
    hosts: list[Host] = []
    try:
        for port in PORTS:
            hosts.append(_host(port, mtu))
        with switched_off(PORTS):
            yield hosts[0], hosts[1]
    finally:
        for host in hosts:
            host.holder.kill()
            host.holder.wait()
        for port in PORTS:
            # Else it is there until the kernel has taken the host's namespace down.
            subprocess.run(["ip", "link", "del", port], capture_output=True)


def _host(port: str, mtu: int) -> Host:
    host = Host(subprocess.Popen(["unshare", "--net", "sleep", "infinity"]))
    ours = Path("/proc/self/ns/net").readlink()
    while Path(f"/proc/{host.holder.pid}/ns/net").readlink() == ours:
        time.sleep(0.01)
    connect(port, host, mtu)
    return host


def connect(port: str, host: Host, mtu: int = 1500) -> None:
    """Makes the link between an interface here and its host."""
    address, mac, _, _ = _ADDRESSES[port]
    ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", f"{host.holder.pid}")
    # Questions of IPv6 would be among the frames that are counted.
    Path(f"/proc/sys/net/ipv6/conf/{port}/disable_ipv6").write_text("1", encoding="ascii")
    ip("link", "set", port, "mtu", str(mtu), "up")
    for words in (
        "link set lo up",
        f"link set eth0 address {mac} mtu {mtu} up",
        f"addr add {address} dev eth0",
    ):
        host.run("ip", *words.split())
    reach(port, host)
    host.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
    host.run(sys.executable, "-c", _OFF)


def reach(port: str, host: Host) -> None:
    """Tells a host where its peer is; it forgets that when its interface goes down."""
    _, _, peer, peer_mac = _ADDRESSES[port]
    host.run(*f"ip route replace {peer} dev eth0".split())
    host.run(*f"ip neigh replace {peer} lladdr {peer_mac} dev eth0 nud permanent".split())


@contextlib.contextmanager
def started(command: Sequence[str], ready: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that has printed a line with `ready` in it; SIGTERM ends it."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if ready in line:
                break
        else:
            raise RuntimeError(f"{command[0]} ended with status {process.wait()}")
        yield process
    finally:
        process.terminate()
        try:
            # Rows of millions of packets become a file now.
            process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def sent(port: str) -> int:
    """Frames that have been sent on an interface here."""
    lines = Path("/proc/self/net/dev").read_text(encoding="ascii").splitlines()
    (counts,) = (line.split() for line in lines if line.split()[0] == f"{port}:")
    return int(counts[10])


def compiled(source: str, folder: Path, *how: str) -> str:
    """The path of the program, or library, that a C file of `bench/live` becomes."""
    program = folder / Path(source).stem
    path = Path(__file__).with_name("live") / source
    subprocess.run(["cc", "-O2", *how, "-o", str(program), str(path)], check=True)
    return str(program)
