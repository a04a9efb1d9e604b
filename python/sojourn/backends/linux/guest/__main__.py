"""The guest's first process: makes the network, starts the hosts, measures, powers the guest off.

Its argument is the job's folder; `here` behind it means namespaces of the machine's own kernel, in
which this may be the first process too. Whatever goes wrong is written there and on the console.
"""

import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .hosts import Hosts
from .iperf import IperfClients, IperfServers
from .measurement import Watch
from .middlebox import Between
from .offload import offloads_off
from .qdisc_options import add_qdisc, statistics
from .socket_diag import SocketDump
from .system import FIRST, call, enter_namespace, exact_timers, load_modules, mount, power_off
from .tick_alignment import next_turn

_FAILED = "the process of the {} failed; the guest's console.log says why"
_LEAD = 600_000_000
"""ns between the last preparation and time zero, beside what the job asks for. A qdisc has
a life before the traffic: PIE's first update comes half a second after it was made."""


def main() -> None:
    """Runs the job and writes `done.json` or `failed.txt` into its folder."""
    own_kernel = os.getpid() == 1 and "here" not in sys.argv[2:]
    host_path = sys.argv[1]
    try:
        folder = _prepare(host_path) if own_kernel else _prepare_on_the_host(host_path)
        job = json.loads((folder / "job.json").read_text())
        try:
            done = _run(job, folder)
            (folder / "done.json").write_text(json.dumps(done))
        except Exception:
            (folder / "failed.txt").write_text(traceback.format_exc())
            raise
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        if own_kernel:
            power_off()


def _prepare(host_path: str) -> Path:
    """The file systems of a guest that has just booted on the host's own, read-only."""
    mount("proc", "/proc")
    mount("sysfs", "/sys")
    mount("tmpfs", "/run")
    mount("tmpfs", "/tmp")
    folder = Path("/run/job")
    folder.mkdir()
    mount("hostfs", str(folder), host_path)
    return folder


def _prepare_on_the_host(path: str) -> Path:
    """Names of namespaces that are invisible outside; the mount namespace is private."""
    names = Path("/run/netns")
    try:
        names.mkdir(exist_ok=True)
        mount("tmpfs", str(names))
    except PermissionError:
        # Not root: /run belongs to another user, so a private file system is mounted over it.
        mount("tmpfs", "/run")
        names.mkdir()
    return Path(path)


def _run(job: dict[str, Any], folder: Path) -> dict[str, Any]:
    load_modules(Path(job["modules_folder"]), job["modules"])
    _make_network(job)
    dumps = []
    for name in job["hosts"]:
        enter_namespace(name)
        dumps.append(SocketDump(job["families"]))
    enter_namespace(FIRST)
    switches = [Between(process) for process in job.get("switches", ())]
    for switch in switches:
        switch.wait()
    hosts = _start_hosts(job, folder)
    watch = Watch(job, folder, dumps)
    origin = next_turn(time.monotonic_ns() + _LEAD + job["lead"])
    real = origin + time.time_ns() - time.monotonic_ns()
    for switch in switches:
        switch.begin(origin)
    for host in hosts:
        os.write(host.begin, origin.to_bytes(8, "little"))
    watch.run(origin)
    shown = [_qdiscs(job, where, interface) for where, interface in job["shown"]]
    for host in hosts:
        host.end(waits=job["traffic"] != "iperf3")
    for switch in switches:
        switch.end()
    return watch.close() | {
        "kernel": os.uname().release,
        "origin": real,
        "monotonic": origin,
        "qdiscs": shown,
    }


def _make_network(job: dict[str, Any]) -> None:
    """The first namespace is this process's; its lines make the others. Hosts set their own
    parameters, for who else stands between them it is done here."""
    _set_parameters(job, FIRST)
    call(("ip", "-batch", "-"), _lines(job["ip"][FIRST]).format(pid=os.getpid()))
    others = [name for name in job["ip"] if name != FIRST]
    between = [name for name in others if name not in job["hosts"]]
    for name in between:
        enter_namespace(name)
        _set_parameters(job, name)
    enter_namespace(FIRST)
    for name in others:
        call(("ip", "-n", name, "-batch", "-"), _lines(job["ip"][name]))
    for name, lines in job["tc"].items():
        call(("tc", "-n", name, "-batch", "-"), _lines(lines))
    for name, given in job.get("options", {}).items():
        enter_namespace(name)
        for qdisc in given:
            add_qdisc(qdisc)
    for name in (*between, FIRST):
        enter_namespace(name)
        for interface in job["interfaces"].get(name, ()):
            offloads_off(interface, job.get("also_off", ()))


def _qdiscs(job: dict[str, Any], where: str, interface: str) -> Any:
    """The counters of an interface's qdiscs; `tc` cannot show those whose options it lacks."""
    given = [q for q in job.get("options", {}).get(where, ()) if q["device"] == interface]
    if not given:
        return json.loads(call(("tc", "-n", where, "-s", "-j", "qdisc", "show", "dev", interface)))
    enter_namespace(where)
    counts = [statistics(qdisc) for qdisc in given]
    enter_namespace(FIRST)
    return counts


def _lines(commands: list[str]) -> str:
    return "".join(f"{command}\n" for command in commands)


def _set_parameters(job: dict[str, Any], name: str) -> None:
    """The kernel's parameters of the namespace in which this process is."""
    for key, value in job["sysctl"][name].items():
        path = Path(f"/proc/sys/{key}")
        # What there is not, as IPv6 without its module, need not be set.
        if path.parent.is_dir():
            path.write_text(value)


@dataclass(frozen=True)
class _Child:
    """The process of a namespace's hosts."""

    name: str
    process: int
    begin: int
    """Descriptor for time zero."""
    over: int
    """Descriptor that reports written logs."""

    def end(self, *, waits: bool) -> None:
        """Ends it, once it is done; `RuntimeError` if it failed before."""
        if waits and not os.read(self.over, 1):
            raise RuntimeError(_FAILED.format(self.name))
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)


Act = Callable[[int, Callable[[], object]], None]
"""A host's traffic: takes time zero and a function to call at the end."""


def _start_hosts(job: dict[str, Any], folder: Path) -> list[_Child]:
    """The hosts of each namespace as a process that waits for time zero; the last ones first, so
    that receivers are there before senders."""
    return [_start_host(job, name, folder) for name in reversed(job["hosts"])]


def _start_host(job: dict[str, Any], name: str, folder: Path) -> _Child:
    (read, write), (ready, is_ready), (over, is_over) = os.pipe(), os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        _be_host(job, name, folder, read, is_ready, is_over)
    for theirs in (read, is_ready, is_over):
        os.close(theirs)
    if not os.read(ready, 1):
        raise RuntimeError(_FAILED.format(name))
    os.close(ready)
    return _Child(name, child, write, over)


def _act(job: dict[str, Any], name: str, folder: Path) -> Act:
    """Prepares that namespace's hosts and returns the function that runs their traffic."""
    if job["traffic"] != "iperf3":
        return Hosts(job, name, folder).run
    log = folder / "iperf3.log"
    if name == "receivers":
        servers = IperfServers(job["flows"], log)
        return lambda _origin, _over: servers.run()
    clients = IperfClients(job["flows"], job["duration"], log, job["near"])
    return lambda origin, _over: clients.run(origin)


def _be_host(
    job: dict[str, Any], name: str, folder: Path, begin: int, is_ready: int, is_over: int
) -> None:
    """A forked process: into its namespace, then what it is there for. Does not return."""
    try:
        enter_namespace(name)
        _set_parameters(job, name)
        for interface in job["interfaces"][name]:
            offloads_off(interface, job.get("also_off", ()))
        exact_timers()
        act = _act(job, name, folder)
        os.write(is_ready, b"!")
        origin = int.from_bytes(os.read(begin, 8), "little")
        act(origin, lambda: os.write(is_over, b"!"))
        signal.pause()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
