"""The Linux kernel as a ground: each run on a real kernel, booted for it as an ordinary process.

Stands on everything beside it. A run goes: what the kernel can do is checked, the guest is told its
job, booted and watched; its captures become rows; a run that the machine disturbed is repeated.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.engine import Progress
from sojourn.errors import ConfigError, Interrupted, ScenarioError, SojournError, output_error
from sojourn.layout import shown
from sojourn.linux import needs
from sojourn.linux.build import virtual_kernel
from sojourn.linux.delays import delays
from sojourn.linux.disturbance import Timing, timing
from sojourn.linux.guest_process import CONSOLE, GuestError, last_words, run_guest
from sojourn.linux.host_kernel import require_host
from sojourn.linux.job import (
    make_job,
    qdisc_of,
    shaper_of,
    shaper_steps,
)
from sojourn.linux.kernel import Kernel, KernelError, read_kernel
from sojourn.linux.outputs import Measured, Raw, measure, write
from sojourn.linux.tc import KERNEL_ONLY, Qdisc, kernel_disciplines
from sojourn.linux.topology import Shaper
from sojourn.linux.traffic import CONGESTION_CONTROLS, Traffic, draw
from sojourn.scenario import Plan, PlannedRun
from sojourn.units import TIME

ATTEMPTS = 3
"""How often a run is made before it is given up as disturbed."""
MOST_DRAWN = 200_000
"""Requests or bursts of one flow, as the engine allows transfers."""
_PATIENCE = 100
"""Wall-clock time that a run may take, as a multiple of its duration, beside a minute or two."""


class DisturbedError(SojournError):
    """The machine did not let the guest keep time."""


@dataclass(frozen=True)
class Attempt:
    """One boot of a guest, and what came of it."""

    raw: Raw
    measured: Measured
    timing: Timing
    prioritised: bool

    @property
    def complaint(self) -> str:
        """Why it cannot be used, or nothing."""
        if self.raw.done["lost"]:
            return f"the capture lost {self.raw.done['lost']} frames"
        if self.measured.unmatched != self.measured.dropped:
            return (
                f"the capture misses {self.measured.unmatched} packets behind the queue, the "
                f"kernel counts {self.measured.dropped} drops"
            )
        return self.timing.complaint


@dataclass(frozen=True)
class Linux:
    """Runs plans on a kernel."""

    kernel: Kernel
    accept_disturbed: bool = False
    traffic: str = "sockets"
    """Who sends: `sockets`, exact in their start, or `iperf3`."""
    attempts: int = ATTEMPTS

    name = "linux"

    @property
    def own_disciplines(self) -> Mapping[str, str]:
        """CAKE, which the engine does not have."""
        return KERNEL_ONLY

    def check(self, plan: Plan) -> None:
        """What this kernel cannot do is named, with what it can."""
        for run in plan.runs:
            _check_network(run)
            _check_aqm(run)
            _check_flows(run, self.traffic)
            _check_config(plan, run)
        if self.kernel.is_host:
            aqms = [qdisc_of(run.config) for run in plan.runs]
            late = any(delays(run.config["flows"], {}, run.config["switch"]) for run in plan.runs)
            require_host(((aqm.kind, aqm.module) for aqm in aqms), delays=late)

    def run(
        self, plan: Plan, folder: Path, progress: Progress, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        """One AQM after the other: two guests at once would disturb each other."""
        progress.now |= {run.label: 0 for run in plan.runs}
        grounds = {}
        for run in plan.runs:
            try:
                grounds[run.label] = self._run_one(run, folder / run.folder, progress, refresh)
            except KeyboardInterrupt:
                raise Interrupted(f"stopped while {run.label} ran; see {shown(folder)}") from None
            except OSError as error:
                raise output_error(error, shown(folder)) from error
        first = next(iter(grounds.values()))
        return {
            "name": self.name,
            "kernel": first["kernel"],
            "clock": first["clock"],
            "runs": grounds,
        }

    def _run_one(
        self, run: PlannedRun, folder: Path, progress: Progress, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        shaper = shaper_of(run.config, virtual_time=self.kernel.virtual_time)
        aqm, traffic = qdisc_of(run.config), draw(run.config)

        def on_progress(now: int) -> None:
            progress.now[run.label] = now
            refresh()

        complaints: list[str] = []
        while True:
            attempt = self._attempt(run, shaper, aqm, traffic, folder, on_progress)
            if not attempt.complaint:
                break
            complaints.append(attempt.complaint)
            if len(complaints) >= self.attempts:
                if not self.accept_disturbed:
                    raise DisturbedError(_rejected(run.label, complaints, attempt))
                break
        ground = _description(self.kernel, attempt, shaper, aqm, complaints)
        ground["traffic"] = self.traffic
        write(folder, attempt.measured, attempt.raw, run.config, shaper, ground)
        shutil.rmtree(attempt.raw.folder)
        on_progress(run.config["duration"])
        return ground

    def _attempt(
        self,
        run: PlannedRun,
        shaper: Shaper,
        aqm: Qdisc,
        traffic: Traffic,
        folder: Path,
        on_progress: Callable[[int], None],
    ) -> Attempt:
        place = folder / "guest"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        job = make_job(
            run.config,
            shaper,
            aqm,
            traffic,
            virtual_time=self.kernel.virtual_time,
            traffic=self.traffic,
        )
        (place / "job.json").write_text(json.dumps(job, indent=1), encoding="utf-8")
        limit = 120 + _PATIENCE * run.config["duration"] / 1e9
        prioritised = run_guest(self.kernel, place.resolve(), limit, on_progress)
        raw = Raw(place, _done(place, run.label))
        measured = measure(raw, run.config, aqm, traffic)
        steps = shaper_steps(run.config, virtual_time=self.kernel.virtual_time)
        kept_time = timing(measured.rows, shaper, raw.done["late"], steps)
        return Attempt(raw, measured, kept_time, prioritised)


def _done(place: Path, label: str) -> dict[str, Any]:
    """The guest's own account; `GuestError` with its last words if there is none."""
    failed, done = place / "failed.txt", place / "done.json"
    if done.is_file():
        account: dict[str, Any] = json.loads(done.read_text(encoding="utf-8"))
        return account
    if failed.is_file():
        reason = failed.read_text(encoding="utf-8").strip().splitlines()[-1]
        raise GuestError(f"{label}: the guest failed: {reason}\nIts files are in {shown(place)}.")
    raise GuestError(
        f"{label}: the guest ended before its job was done; its files are in {shown(place)}"
        f"{last_words(place / CONSOLE)}"
    )


def _rejected(label: str, complaints: list[str], attempt: Attempt) -> str:
    cure = "" if attempt.prioritised else "As root the guest gets real-time priority, which helps. "
    return (
        f"{label}: disturbed {len(complaints)} times, so the run is rejected: {complaints[-1]}\n"
        f"{cure}Let the machine rest, choose a lower rate, or give a kernel with virtual time "
        "(--kernel virtual; see docs/linux.md). --accept-disturbed keeps the run and says so in it."
    )


def _description(
    kernel: Kernel, attempt: Attempt, shaper: Shaper, aqm: Qdisc, complaints: list[str]
) -> dict[str, Any]:
    return {
        "kernel": attempt.raw.done["kernel"],
        "clock": "virtual" if kernel.virtual_time else "real",
        "real_time_priority": attempt.prioritised,
        "timing": attempt.timing.as_dict(),
        "disturbed": attempt.complaint,
        "repeated": complaints,
        "qdisc": aqm.text,
        "shaper": f"htb rate {shaper.rate}bit burst {shaper.burst} overhead {shaper.overhead}",
        "differences": list(aqm.differences),
    }


def _check_network(run: PlannedRun) -> None:
    """What lies between the hosts is what the guest builds: one router, one bottleneck."""
    if "network" in run.config:
        raise ScenarioError(
            "several switches: the Linux ground has one, with one bottleneck; --on sim runs them"
        )
    switch = run.config["switch"]
    if switch["packets_per_second"] is not None:
        raise ScenarioError(
            "switch.packets_per_second: the Linux ground shapes in bit/s; give a rate, or --on sim"
        )


def _check_aqm(run: PlannedRun) -> None:
    aqm = run.config["aqm"]
    allowed = ", ".join(kernel_disciplines())
    if aqm["kind"] != "native":
        raise ScenarioError(
            f"{run.label}: a P4 program cannot run on the Linux kernel; --on sim runs it\n"
            f"The kernel has: {allowed}."
        )
    if aqm["name"] not in kernel_disciplines():
        raise ScenarioError(
            f"{run.label}: the kernel has no {aqm['name']}; it has {allowed}. "
            f"--on sim runs {aqm['name']}."
        )


def _check_flows(run: PlannedRun, traffic: str) -> None:
    for index, flow in enumerate(run.config["flows"]):
        if traffic == "iperf3":
            _check_for_iperf(index, flow)
        _check_drawn(index, flow, run.config["duration"])
        control = flow.get("congestion_control", "cubic")
        if control not in CONGESTION_CONTROLS:
            raise ScenarioError(
                f"flow {index}: congestion control {control} is not one that the kernel has; "
                f"it has {', '.join(CONGESTION_CONTROLS)}"
            )


def _check_for_iperf(index: int, flow: dict[str, Any]) -> None:
    if flow["kind"] not in ("tcp", "udp"):
        raise ScenarioError(
            f"flow {index}: iperf3 has no {flow['kind']} traffic; it has tcp and udp, "
            "--traffic sockets has all"
        )
    if flow.get("on"):
        raise ScenarioError(
            f"flow {index}: on, off: iperf3 sends without a pause; --traffic sockets has pauses"
        )
    if flow["reverse"]:
        raise ScenarioError(
            f"flow {index}: reverse: iperf3 is started in front of the bottleneck; "
            "--traffic sockets turns flows round"
        )


def _check_drawn(index: int, flow: dict[str, Any], duration: int) -> None:
    """What is told to the guest before the run has to fit a list."""
    spans = {"think": flow.get("think"), "every": flow.get("every")}
    if flow.get("exponential"):
        spans |= {"on + off": flow["on"] + flow["off"]}
    for name, span in spans.items():
        if span is not None and duration > span * MOST_DRAWN:
            raise ScenarioError(
                f"flow {index}: {name}: more than {MOST_DRAWN} of them in the run, which the Linux "
                f"ground has to tell the guest beforehand; at least "
                f"{TIME.format(-(-duration // MOST_DRAWN))} is allowed"
            )


def _check_config(plan: Plan, run: PlannedRun) -> None:
    """The engine's own check, of all that is not this ground's alone."""
    config = run.config
    if config["aqm"]["name"] in KERNEL_ONLY:
        config = config | {"aqm": {"kind": "native", "name": "fifo"}}
    try:
        _core.check_config(json.dumps(config))
    except ConfigError as error:
        raise ScenarioError(f"{plan.name}: {run.label}: {error}") from error


def linux(
    kernel: str = "uml",
    *,
    accept_disturbed: bool = False,
    traffic: str = "sockets",
    attempts: int = ATTEMPTS,
) -> Linux:
    """The ground on that kernel: Debian's `uml`, our `virtual` one, the `host`'s own, or a file."""
    needs.require(own_kernel=kernel != "uml", iperf=traffic == "iperf3")
    return Linux(_kernel(kernel), accept_disturbed, traffic, attempts)


def _kernel(name: str) -> Kernel:
    if name == "uml":
        return Kernel(needs.find_program(needs.UML))
    if name == "host":
        return Kernel(None)
    if name != "virtual":
        return read_kernel(Path(name))
    if not virtual_kernel().is_file():
        raise KernelError(
            "--kernel virtual: not built yet; `sojourn linux build-kernel` builds it (ten minutes)"
        )
    return read_kernel(virtual_kernel())
