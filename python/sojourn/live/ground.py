"""The live ground: real TCP in network namespaces, through the switch of the simulation.

Stands on the Linux ground's hosts, traffic and notes. As root it is a measurement, unless it says
that the machine has disturbed it; as an ordinary user, without priority, it is functional only.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sojourn.congestion import kernel_controls
from sojourn.errors import ScenarioError, SojournError
from sojourn.ground import ATTEMPTS, SIMULATOR, one_by_one, until_undisturbed
from sojourn.linux.checks import check_flows, flow_names
from sojourn.linux.ground import done_of
from sojourn.linux.groups import check_groups, has_groups, switch_of
from sojourn.linux.guest_process import run_job
from sojourn.linux.matching import Rows
from sojourn.linux.measured import Raw
from sojourn.linux.needs import find_program
from sojourn.linux.outputs import write
from sojourn.linux.traffic import Traffic, draw
from sojourn.live import enclosure
from sojourn.live.job import (
    RECEIVERS_PORT,
    SENDERS_PORT,
    STATION,
    command_of,
    make_job,
    managed_of,
    orders,
)
from sojourn.live.measured import counters_of, measure, read_rows, with_switch
from sojourn.live.running import capture_of
from sojourn.live.station import CHANGED, ORDERS
from sojourn.live.summary import DISTURBED
from sojourn.run_files import COUNTERS, GUEST, LOG
from sojourn.scenario import Plan, PlannedRun
from sojourn.style import duration
from sojourn.writing import write_text

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
    rows: Rows
    counters: dict[str, Any]

    @property
    def complaint(self) -> str:
        """Why it is no measurement, or nothing."""
        live = self.counters["live"]
        lost = sum(port["lost"] + port["not_held"] for port in live["ports"])
        changed = max(self._changed, default=0)
        late = live["lateness"]
        if lost:
            return f"{lost:,} frames were lost in front of the switch"
        if live["rows_lost"]:
            return f"{live['rows_lost']:,} rows were lost"
        if late["p99"] > DISTURBED:
            return (
                f"one departure in a hundred was late by more than {duration(late['p99'])} "
                f"(at most {duration(DISTURBED)})"
            )
        if changed > _CHANGED_LATE:
            return f"a change of the schedule was late by {duration(changed)}"
        return ""

    @property
    def _changed(self) -> list[int]:
        late: list[int] = json.loads((self.raw.folder / STATION / CHANGED).read_text())
        return late


@dataclass(frozen=True)
class LiveGround:
    """Runs plans through the live switch."""

    accept_disturbed: bool = False
    traffic: str = "sockets"
    attempts: int = ATTEMPTS

    name = "live"

    @property
    def own_disciplines(self) -> Mapping[str, str]:
        """None: what runs here runs in the simulator."""
        return {}

    def check(self, plan: Plan) -> None:
        """What cannot be is named, with where it can."""
        for run in plan.runs:
            _check(plan, run, self.traffic)
        SIMULATOR.check(plan)
        enclosure.require()

    def run(
        self, plan: Plan, folder: Path, progress: Any, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        """One AQM after the other."""
        return one_by_one(self.name, plan, folder, progress, refresh, self._run_one)

    def _run_one(
        self, run: PlannedRun, folder: Path, on_progress: Callable[[int], None]
    ) -> dict[str, Any]:
        drawn = draw(run.config)
        functional = not enclosure.is_root()
        attempt, complaints = until_undisturbed(
            lambda: self._attempt(run, drawn, folder, on_progress),
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
        ground = self._description(run, attempt, said, complaints)
        self._write(run, drawn, attempt, folder, ground)
        shutil.rmtree(attempt.raw.folder)
        return ground

    def _attempt(
        self,
        run: PlannedRun,
        drawn: Traffic,
        folder: Path,
        on_progress: Callable[[int], None],
    ) -> Attempt:
        place = (folder / GUEST).resolve()
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        if place.is_relative_to("/run") and not enclosure.is_root():
            raise ScenarioError(f"{place}: an ordinary user's live runs cannot lie under /run")
        job = make_job(run.config, drawn, self.traffic) | {"switch": command_of(str(place))}
        (place / "job.json").write_text(json.dumps(job, indent=1), encoding="utf-8")
        told = json.dumps(orders(run.config, drawn), indent=1)
        (place / ORDERS).write_text(told, encoding="utf-8")
        run_job(
            lambda init, _: enclosure.before_others(enclosure.enclosed([str(init)])),
            place,
            60 + 2 * run.config["duration"] / 1e9,
            on_progress,
            prioritise=lambda _: False,
            arguments="here",
        )
        raw = Raw(place, done_of(place, run.label))
        counters = counters_of(place)
        rows = read_rows(raw, run.config, drawn)
        return Attempt(with_switch(raw, counters, rows), rows, counters)

    def _write(
        self,
        run: PlannedRun,
        drawn: Traffic,
        attempt: Attempt,
        folder: Path,
        ground: dict[str, Any],
    ) -> None:
        """The files of every ground, and what a switch has beyond a kernel."""
        config = run.config
        found = measure(attempt.raw, attempt.rows, config, drawn)
        plain = replace(run, config=config | {"capture": False})
        write(folder, found, attempt.raw, plain, [managed_of(config)], ground)
        station = attempt.raw.folder / STATION
        if config["capture"]:
            shutil.move(station / capture_of(RECEIVERS_PORT), folder / run.bottlenecks[0].capture)
        if (station / LOG).is_file():
            shutil.move(station / LOG, folder / LOG)
        counted = json.loads((folder / COUNTERS).read_text(encoding="utf-8"))
        counted |= _of_switch(attempt.counters["switch"]) | {"live": attempt.counters["live"]}
        write_text(folder / COUNTERS, json.dumps(counted, indent=2) + "\n")

    def _description(
        self, run: PlannedRun, attempt: Attempt, disturbed: str, complaints: list[str]
    ) -> dict[str, Any]:
        live, shaper = attempt.counters["live"], managed_of(run.config).shaper
        return {
            "kernel": attempt.raw.done["kernel"],
            "clock": "real",
            "real_time_priority": live["realtime"],
            "lateness": live["lateness"],
            "disturbed": disturbed,
            "repeated": complaints,
            "shaper": f"{shaper.rate} bit/s, burst {shaper.burst} bytes",
            "traffic": self.traffic,
            "differences": [],
        }


def _of_switch(switch: dict[str, Any]) -> dict[str, Any]:
    """What a switch has counted beside its queues, as the simulator names it."""
    mirror, back = switch["mirror"], switch["recirculation"]["recirculated"]
    outside = {SENDERS_PORT, RECEIVERS_PORT}
    loops = [
        queue for port in switch["ports"] if port["port"] not in outside for queue in port["queues"]
    ]
    came = switch["received"]["bytes"]
    return {
        "mirrored_packets": mirror["mirrored"]["packets"],
        "mirrored_bytes": mirror["mirrored"]["bytes"],
        "mirror_drops": mirror["no_session"] + mirror["buffer_drops"] + mirror["tail_drops"],
        "recirculated_packets": back["packets"],
        "recirculated_bytes": back["bytes"],
        "recirculation_drops": sum(queue["egress_drops"]["packets"] for queue in loops),
        "recirculated_share": sum(q["dequeued"]["bytes"] for q in loops) / came if came else 0.0,
        "parser_errors": switch["ingress"]["parser_rejected"] + switch["egress_parser_rejected"],
        "ingress_drops": switch["ingress"]["dropped"]["packets"],
        "unroutable_packets": switch["ingress"]["unroutable"]["packets"],
        "unsynchronised": mirror["unsynchronised"],
        "faults": switch["faults"],
    }


def _check(plan: Plan, run: PlannedRun, traffic: str) -> None:
    config, names = run.config, flow_names(plan)
    if not has_groups(config):
        raise ScenarioError("several switches: --on live has one; --on sim and linux have more")
    check_groups(config)
    shaped = any(host["shaper"] for host in config["network"]["hosts"])
    if shaped or config["netem"]["at"] != "behind":
        raise ScenarioError(
            "netem and sender_shaper: on this ground the switch itself delays, on the way to the "
            "senders, and the hosts are not shaped; --on sim and --on linux have them"
        )
    if switch_of(config)["packets_per_second"] is not None:
        raise ScenarioError(
            "switch.packets_per_second: the live ground shapes in bit/s; give a rate, or --on sim"
        )
    if plan.scenario.switches[0].control:
        raise ScenarioError(
            "switch.control: --on sim has it; a live switch is changed while it runs by sojourn ctl"
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
) -> LiveGround:
    """The ground on this machine."""
    if traffic == "iperf3" and find_program("iperf3") is None:
        raise ScenarioError("--traffic iperf3: not installed: apt-get install iperf3")
    return LiveGround(accept_disturbed, traffic, attempts)
