"""The Linux backend: each run on a real kernel, booted for it as an ordinary process.

A run checks the kernel's features, writes the guest's job, boots and watches the guest, and turns
its captures into rows. A run that the machine disturbed is repeated.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sojourn.backends.backend import (
    ATTEMPTS,
    refuse_simulated_only,
    run_sequentially,
    until_undisturbed,
)
from sojourn.backends.linux import dualpi2, requirements
from sojourn.backends.linux.checks import check_run
from sojourn.backends.linux.disturbance import Timing, timing, worst
from sojourn.backends.linux.guest_process import CONSOLE, GuestError, last_words, run_guest
from sojourn.backends.linux.host_kernel import require_host
from sojourn.backends.linux.kernel import (
    Kernel,
    KernelError,
    host_kernel,
    read_kernel,
    virtual_kernel,
)
from sojourn.backends.linux.measurements import Measured, Raw
from sojourn.backends.linux.outputs import write
from sojourn.backends.linux.setup import Setup, set_up
from sojourn.backends.linux.tc import Qdisc
from sojourn.backends.linux.topology import Managed
from sojourn.backends.linux.virtual_kernels import NEWER, VIRTUAL_KERNELS
from sojourn.common.resources import shown
from sojourn.errors import SojournError
from sojourn.runtime.engine import Progress
from sojourn.runtime.plan import Plan, PlannedRun
from sojourn.runtime.run_files import GUEST, GUEST_JOB

_PATIENCE = 100
"""Wall-clock time that a run may take, as a multiple of its duration, plus a minute or two."""


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
        """The reason that the attempt is unusable, or nothing."""
        if self.raw.done["lost"]:
            return f"the capture lost {self.raw.done['lost']} frames"
        return self.measured.complaint or self.timing.complaint


@dataclass(frozen=True)
class Linux:
    """Runs plans on a kernel."""

    kernel: Kernel
    accept_disturbed: bool = False
    traffic: str = "sockets"
    """The sender: `sockets`, exact in their start, or `iperf3`."""
    attempts: int = ATTEMPTS
    sample: int | None = None
    """ns between two samples of the sockets in virtual time, if not the usual. In real time they
    also tell how late the guest's clock is."""

    name = "linux"

    def check(self, plan: Plan) -> None:
        """Refuses features that this kernel lacks, by name."""
        refuse_simulated_only(plan, self.name)
        for run in plan.runs:
            check_run(plan, run, self.traffic)
        setups = [self._set_up(run) for run in plan.runs]
        for managed in (managed for setup in setups for managed in setup.queues):
            _check_kernel(self.kernel, managed.aqm)
        if self.kernel.is_host:
            aqms = [managed.aqm for setup in setups for managed in setup.queues]
            queues = [
                line for setup in setups for lines in setup.job["tc"].values() for line in lines
            ]
            require_host(
                ((aqm.kind, aqm.module) for aqm in aqms),
                delays=any("netem" in line for line in queues),
            )

    def run(
        self, plan: Plan, folder: Path, progress: Progress, refresh: Callable[[], None]
    ) -> dict[str, Any]:
        """One AQM after the other: two guests at once would disturb each other."""
        return run_sequentially(self.name, plan, folder, progress, refresh, self._run_one)

    def _run_one(
        self, run: PlannedRun, folder: Path, on_progress: Callable[[int], None]
    ) -> dict[str, Any]:
        setup = self._set_up(run)
        attempt, complaints = until_undisturbed(
            lambda: self._attempt(run, setup, folder, on_progress),
            lambda made: made.complaint,
            attempts=self.attempts,
        )
        if attempt.complaint and not self.accept_disturbed:
            raise DisturbedError(_rejected(run.label, complaints, attempt))
        backend = _description(self.kernel, attempt, setup.queues, complaints)
        backend["traffic"] = self.traffic
        write(folder, attempt.measured, attempt.raw, run, setup.queues, backend)
        shutil.rmtree(attempt.raw.folder)
        return backend

    def _set_up(self, run: PlannedRun) -> Setup:
        return set_up(run.config, self.kernel, traffic=self.traffic, sample=self.sample)

    def _attempt(
        self, run: PlannedRun, setup: Setup, folder: Path, on_progress: Callable[[int], None]
    ) -> Attempt:
        place = folder / GUEST
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (place / GUEST_JOB).write_text(json.dumps(setup.job, indent=1), encoding="utf-8")
        limit = 120 + _PATIENCE * run.config["duration"] / 1e9
        prioritised = run_guest(self.kernel, place.resolve(), limit, on_progress)
        raw = Raw(place, done_of(place, run.label))
        measured = setup.measure(raw)
        # A change of the schedule that is made late spoils a run as well.
        late = raw.done["late"] + raw.done["changed_late"]
        kept = [
            timing(queue.rows, managed.shaper, late, managed.steps)
            for queue, managed in zip(measured.queues, setup.queues, strict=True)
        ]
        return Attempt(raw, measured, worst(kept), prioritised)


def _check_kernel(kernel: Kernel, aqm: Qdisc) -> None:
    """`KernelError` if the kernel has no such qdisc, with one that has."""
    if kernel.lacks(aqm.module):
        raise KernelError(
            f"{aqm.kind}: {kernel.program} has no {aqm.module}, which Linux "
            f"{dualpi2.FIRST_KERNEL} brought; --kernel {NEWER.name} has it "
            f"(`{NEWER.command}` builds it)"
        )


def done_of(place: Path, label: str) -> dict[str, Any]:
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
    kernel: Kernel, attempt: Attempt, queues: Sequence[Managed], complaints: list[str]
) -> dict[str, Any]:
    first = queues[0]
    differences = [said for managed in queues for said in managed.aqm.differences]
    return {
        "kernel": attempt.raw.done["kernel"],
        "clock": "virtual" if kernel.virtual_time else "real",
        "real_time_priority": attempt.prioritised,
        "timing": attempt.timing.as_dict(),
        "disturbed": attempt.complaint,
        "repeated": complaints,
        "qdisc": first.aqm.text,
        "shaper": (
            f"htb rate {first.shaper.rate}bit burst {first.shaper.burst} "
            f"overhead {first.shaper.overhead}"
        ),
        "differences": list(dict.fromkeys(differences)),
    }


def linux(
    kernel: str = "uml",
    *,
    accept_disturbed: bool = False,
    traffic: str = "sockets",
    attempts: int = ATTEMPTS,
) -> Linux:
    """A backend on Debian's `uml`, the `virtual` kernel, the `host`'s own, or a kernel's file."""
    requirements.require(own_kernel=kernel != "uml", iperf=traffic == "iperf3")
    return Linux(_kernel(kernel), accept_disturbed, traffic, attempts)


def _kernel(name: str) -> Kernel:
    if name == "uml":
        return Kernel(requirements.find_program(requirements.UML))
    if name == "host":
        return host_kernel()
    if name in VIRTUAL_KERNELS:
        return virtual_kernel(name)
    return read_kernel(Path(name))
