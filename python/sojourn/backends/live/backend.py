"""The live backend: real TCP in network namespaces, through the switches of the simulation.

Depends on the Linux backend's hosts, traffic and logs. As root it is a measurement, unless it
reports a disturbance by the machine. As an ordinary user, without priority, it is functional only.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sojourn.backends.backend import (
    ATTEMPTS,
    refuse_simulated_only,
    run_sequentially,
    until_undisturbed,
)
from sojourn.backends.linux.backend import done_of
from sojourn.backends.linux.checks import check_flows, check_network, flow_names
from sojourn.backends.linux.graph import Network
from sojourn.backends.linux.guest_process import first_process, run_job
from sojourn.backends.linux.matching import Rows
from sojourn.backends.linux.measurements import Raw
from sojourn.backends.linux.outputs import write
from sojourn.backends.linux.requirements import find_program
from sojourn.backends.linux.traffic import Workload, workload_of
from sojourn.backends.live import namespaces
from sojourn.backends.live.job import commands_of, interface, make_job, managed_of
from sojourn.backends.live.links import number, switch_orders
from sojourn.backends.live.measurements import (
    SwitchFiles,
    measure,
    read_rows,
    read_switch_files,
    with_switches,
)
from sojourn.backends.live.summary import DISTURBED
from sojourn.backends.live.switch_process import CHANGED, orders_for
from sojourn.backends.sim import SIMULATOR
from sojourn.common.atomic_write import write_text
from sojourn.control.file import as_plain
from sojourn.errors import ScenarioError, SojournError
from sojourn.model.congestion import kernel_controls
from sojourn.results.style import duration
from sojourn.runtime.plan import Plan, PlannedRun
from sojourn.runtime.run_files import COUNTERS, GUEST, GUEST_JOB, LOG

_CHANGED_LATE = 5_000_000
"""ns by which a change of the schedule may be late."""
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
FUNCTIONAL = "made without real-time priority, so it shows what works and is no measurement"


class LiveError(SojournError):
    """The machine did not let the switch keep time."""


@dataclass(frozen=True)
class Attempt:
    """One run of the network, and what came of it."""

    raw: Raw
    rows: Sequence[Rows]
    left: SwitchFiles

    @property
    def reports(self) -> dict[str, dict[str, Any]]:
        """The report of each switch on its interfaces and departures, by its name."""
        return {name: counters["live"] for name, counters in self.left.counters.items()}

    @property
    def complaint(self) -> str:
        """The reason that the attempt is no measurement, or nothing."""
        complaints = (self._complaint(name, live) for name, live in self.reports.items())
        return next(filter(None, complaints), "")

    def _complaint(self, switch: str, live: dict[str, Any]) -> str:
        where = f"{switch}: " if len(self.reports) > 1 else ""
        lost = sum(port["lost"] + port["not_held"] for port in live["ports"])
        changed = json.loads((self.left.of_switch(switch) / CHANGED).read_text())
        late = live["lateness"]
        if lost:
            return f"{where}{lost:,} frames were lost in front of the switch"
        if live["rows_lost"]:
            return f"{where}{live['rows_lost']:,} rows were lost"
        if late["p99"] > DISTURBED:
            return (
                f"{where}one departure in a hundred was late by more than "
                f"{duration(late['p99'])} (at most {duration(DISTURBED)})"
            )
        if max(changed, default=0) > _CHANGED_LATE:
            return f"{where}a change of the schedule was late by {duration(max(changed))}"
        return ""


@dataclass(frozen=True)
class LiveBackend:
    """Runs plans through live switches."""

    accept_disturbed: bool = False
    traffic: str = "sockets"
    attempts: int = ATTEMPTS

    name = "live"

    def check(self, plan: Plan) -> None:
        """Refuses features that a live run lacks, and names a backend that has them."""
        refuse_simulated_only(plan, self.name)
        for run in plan.runs:
            _check(plan, run, self.traffic)
        # Behind what no installation would change.
        if self.traffic == "iperf3" and find_program("iperf3") is None:
            raise ScenarioError("--traffic iperf3: not installed: apt-get install iperf3")
        SIMULATOR.check(plan)
        namespaces.require()

    def run(
        self, plan: Plan, folder: Path, progress: Any, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        """One AQM after the other."""
        return run_sequentially(self.name, plan, folder, progress, refresh, self._run_one)

    def _run_one(
        self, run: PlannedRun, folder: Path, on_progress: Callable[[int], None]
    ) -> dict[str, Any]:
        workload = workload_of(run.config)
        functional = not namespaces.is_root()
        attempt, complaints = until_undisturbed(
            lambda: self._attempt(run, workload, folder, on_progress),
            lambda made: made.complaint,
            attempts=1 if functional else self.attempts,
        )
        if attempt.complaint and not (functional or self.accept_disturbed):
            raise LiveError(
                f"{run.label}: disturbed {len(complaints)} times, so the run is rejected: "
                f"{complaints[-1]}\nLet the machine rest, or choose a lower rate. "
                "--accept-disturbed keeps the run and says so in it."
            )
        said = "; ".join(filter(None, [FUNCTIONAL if functional else "", attempt.complaint]))
        backend = self._description(run, attempt, said, complaints)
        self._write(run, workload, attempt, folder, backend)
        shutil.rmtree(attempt.raw.folder)
        return backend

    def _attempt(
        self,
        run: PlannedRun,
        workload: Workload,
        folder: Path,
        on_progress: Callable[[int], None],
    ) -> Attempt:
        shutil.rmtree(folder / GUEST, ignore_errors=True)
        (folder / GUEST).mkdir(parents=True)
        place = (folder / GUEST).resolve()
        if place.is_relative_to("/run") and not namespaces.is_root():
            raise ScenarioError(f"{place}: an ordinary user's live runs cannot lie under /run")
        _write_orders(place, run.config, workload)
        switches = commands_of(run.config, str(place))
        job = make_job(run.config, workload, self.traffic) | {"switches": switches}
        (place / GUEST_JOB).write_text(json.dumps(job, indent=1), encoding="utf-8")
        run_job(
            namespaces.before_others(
                namespaces.enclosed(["sh", "-c", first_process(place, "here")])
            ),
            place,
            place,
            60 + 2 * run.config["duration"] / 1e9,
            on_progress,
            prioritise=lambda _: False,
        )
        raw = Raw(place, done_of(place, run.label))
        left = read_switch_files(place, run.config)
        rows = read_rows(raw, left, workload)
        return Attempt(with_switches(raw, left, rows), rows, left)

    def _write(
        self,
        run: PlannedRun,
        workload: Workload,
        attempt: Attempt,
        folder: Path,
        backend: dict[str, Any],
    ) -> None:
        """The files of every backend, and what a switch has beyond a kernel."""
        config, left = run.config, attempt.left
        found = measure(attempt.raw, attempt.rows, config, workload)
        queues = tuple(replace(place, captured=False) for place in run.bottlenecks)
        plain = replace(run, config=config | {"capture": False}, bottlenecks=queues)
        write(folder, found, attempt.raw, plain, managed_of(config), backend)
        for place, way in zip(run.bottlenecks, left.network.measured, strict=True):
            if run.captures(place):
                shutil.move(left.capture(way), folder / place.capture)
        _join_logs(left, folder)
        counted = json.loads((folder / COUNTERS).read_text(encoding="utf-8"))
        counted |= _of_switches(left) | {"live": attempt.reports}
        write_text(folder / COUNTERS, json.dumps(counted, indent=2) + "\n")

    def _description(
        self, run: PlannedRun, attempt: Attempt, disturbed: str, complaints: list[str]
    ) -> dict[str, Any]:
        reports, shaper = attempt.reports.values(), managed_of(run.config)[0].shaper
        return {
            "kernel": attempt.raw.done["kernel"],
            "clock": "real",
            "real_time_priority": all(live["realtime"] for live in reports),
            "lateness": max((live["lateness"] for live in reports), key=lambda late: late["p99"]),
            "disturbed": disturbed,
            "repeated": complaints,
            "shaper": f"{shaper.rate} bit/s, burst {shaper.burst} bytes",
            "traffic": self.traffic,
            "differences": [],
        }


def _write_orders(folder: Path, config: dict[str, Any], workload: Workload) -> None:
    """Writes each switch's orders, with the names of its interfaces."""
    network = Network(config["network"])
    by_switch = zip(network.switches, switch_orders(config, workload), strict=True)
    for place, (name, orders) in enumerate(by_switch):
        interfaces = {
            number(way.port): interface(network, name, way.port)
            for way in network.directions
            if way.near == name
        }
        text = json.dumps(orders | {"interfaces": interfaces}, indent=1, default=as_plain)
        (folder / orders_for(place)).write_text(text, encoding="utf-8")


def _join_logs(left: SwitchFiles, folder: Path) -> None:
    """Joins the logs of the programs, switch by switch."""
    logs = [left.of_switch(switch) / LOG for switch in left.counters]
    texts = [log.read_text(encoding="utf-8") for log in logs if log.is_file()]
    if texts:
        write_text(folder / LOG, "".join(texts))


def _of_switches(left: SwitchFiles) -> dict[str, Any]:
    """The sums of the switches' counters, without their queues, by the simulator's names."""
    counts = [
        _of_switch(counters["switch"], _front_ports(left.network, switch))
        for switch, counters in left.counters.items()
    ]
    summed = {key: sum(one[key] for one in counts) for key in counts[0] if key not in _NO_SUMS}
    looped, came = (sum(one[key] for one in counts) for key in ("looped", "came"))
    times = [one["unsynchronised"] for one in counts]
    return summed | {
        "recirculated_share": looped / came if came else 0.0,
        "unsynchronised": {
            "count": sum(one["count"] for one in times),
            "total": sum(one["total"] for one in times),
            "max": max(one["max"] for one in times),
        },
        "faults": [fault for one in counts for fault in one["faults"]],
        "unroutable_first": next(
            (
                f"{switch}: {first}"
                for switch, one in zip(left.counters, counts, strict=True)
                if (first := one["unroutable_first"])
            ),
            None,
        ),
    }


_NO_SUMS = ("looped", "came", "unsynchronised", "faults", "unroutable_first")


def _front_ports(network: Network, switch: str) -> set[int]:
    return {number(way.port) for way in network.directions if way.near == switch}


def _of_switch(switch: dict[str, Any], outside: set[int]) -> dict[str, Any]:
    mirror, back = switch["mirror"], switch["recirculation"]["recirculated"]
    loops = [
        queue for port in switch["ports"] if port["port"] not in outside for queue in port["queues"]
    ]
    return {
        "mirrored_packets": mirror["mirrored"]["packets"],
        "mirrored_bytes": mirror["mirrored"]["bytes"],
        "mirror_drops": mirror["no_session"] + mirror["buffer_drops"] + mirror["tail_drops"],
        "recirculated_packets": back["packets"],
        "recirculated_bytes": back["bytes"],
        "generated_packets": switch["generated"]["packets"],
        "generated_bytes": switch["generated"]["bytes"],
        "recirculation_drops": sum(queue["egress_drops"]["packets"] for queue in loops),
        "looped": sum(queue["dequeued"]["bytes"] for queue in loops),
        "came": switch["received"]["bytes"],
        "parser_errors": switch["ingress"]["parser_rejected"] + switch["egress_parser_rejected"],
        "ingress_drops": switch["ingress"]["dropped"]["packets"],
        "unroutable_packets": switch["ingress"]["unroutable"]["packets"],
        "unroutable_first": switch["ingress"]["unroutable_first"],
        "unsynchronised": mirror["unsynchronised"],
        "faults": switch["faults"],
    }


def _check(plan: Plan, run: PlannedRun, traffic: str) -> None:
    config, names = run.config, flow_names(plan)
    check_network(run, traffic, names)
    if any({"netem", "netem_back"} & link.keys() for link in config["network"]["links"]):
        raise ScenarioError("netem of a link: on this ground nothing is random; --on sim has it")
    shaped = any(host["shaper"] for host in config["network"]["hosts"])
    if shaped or config["netem"]["at"] != "behind":
        raise ScenarioError(
            "netem and sender_shaper: on this backend the switch itself delays, on the way to the "
            "senders, and the hosts are not shaped; --on sim and --on linux have them"
        )
    check_flows(run, traffic, names)
    for name, flow in zip(names, config["flows"], strict=True):
        if flow.get("segmentation_offload"):
            raise ScenarioError(
                f"{name}: segmentation_offload: a live switch takes frames as they are on a wire; "
                "--on sim and --on linux have it"
            )
        _check_control(name, flow)


def _check_control(name: str, flow: dict[str, Any]) -> None:
    control = flow.get("congestion_control")
    if control is None or not _AVAILABLE.is_file():
        return
    here = _AVAILABLE.read_text(encoding="ascii").split()
    wanted = kernel_controls()[control]
    if wanted not in here:
        raise ScenarioError(
            f"{name}: congestion control {control}: this machine's kernel has {', '.join(here)}; "
            f"modprobe tcp_{wanted} may help, or --on linux"
        )


def live(
    *, accept_disturbed: bool = False, traffic: str = "sockets", attempts: int = ATTEMPTS
) -> LiveBackend:
    """The backend on this machine."""
    return LiveBackend(accept_disturbed, traffic, attempts)
