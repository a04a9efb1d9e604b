"""Runs cells on each backend and stores their figures, so that a long grid can be stopped and
resumed.

A cell's file in the output folder holds the figures of every repeat on each backend and the
backend's description; rows are not stored. Figures of another engine are measured again. Delays are
those of packets that were sent: a drop inside the kernel's qdisc has no visible time, and is only
inferred from the next packet that left.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sojourn import _core
from sojourn.backends.backend import Backend
from sojourn.backends.linux.backend import Linux
from sojourn.backends.linux.job import qdisc_of
from sojourn.backends.linux.path import path_of
from sojourn.common.atomic_write import write_text
from sojourn.common.resources import shown
from sojourn.errors import Interrupted, SojournError, output_error
from sojourn.results.result import read_result
from sojourn.runner import plan_scenario, record
from sojourn.runtime.arrow_tables import DROPS, MARK, VERDICTS
from sojourn.studies.agreement.grid import MIXED, SWITCHES, Cell, cells
from sojourn.studies.agreement.verdict import (
    Figures,
    Spread,
    Verdict,
    compare,
    scattered,
    spread,
    unsteady,
)

KERNEL, SIM, LIVE = "linux", "sim", "live"
BACKENDS = (SIM, KERNEL)
"""Default backends."""


def reference_of(backends: Collection[str]) -> str:
    """The reference backend: the kernel, or without it the simulator."""
    return KERNEL if KERNEL in backends else SIM


_DELAYS = "of packets sent"
"""Meaning of stored delays; files with another value predate it."""
SAMPLE = 100_000_000
"""ns between two samples of the kernel's sockets: no figure is of them, and each costs the guest as
much time as a hundred packets."""


@dataclass
class Measured:
    """The measurements of a cell so far."""

    cell: Cell
    runs: dict[str, list[Figures]] = field(default_factory=lambda: {name: [] for name in BACKENDS})
    backend: dict[str, Any] = field(default_factory=dict)
    """Description of the kernel."""
    disturbances: dict[str, list[str]] = field(default_factory=dict)
    """By backend the disturbances of stored runs in real time."""
    failed: str = ""
    """The reason that one backend has no figures."""

    @property
    def disturbed(self) -> list[str]:
        """Disturbances of runs on the compared backends."""
        return [why for name in self.runs for why in self.disturbances.get(name, ())]

    @property
    def reference(self) -> str:
        """The reference backend."""
        return reference_of(self.runs)

    @property
    def judged(self) -> list[str]:
        """The backends that are compared with the reference."""
        return [name for name in self.runs if name != self.reference]

    def spread(self, backend: str) -> Spread | None:
        """The figures of one backend, if there are any."""
        return spread(self.runs[backend]) if self.runs[backend] else None

    @property
    def verdicts(self) -> dict[str, Verdict]:
        """By backend the comparison with the reference, if both have figures of undisturbed runs
        and the reference's agree with each other."""
        if self.disturbed or self.unsteady:
            return {}
        theirs = self.spread(self.reference)
        spreads = {name: self.spread(name) for name in self.judged}
        return {name: compare(one, theirs) for name, one in spreads.items() if one and theirs}

    @property
    def unsteady(self) -> tuple[str, ...]:
        """The figures in which the reference's own runs differ too much to be judged by."""
        reference = self.spread(self.reference)
        return unsteady(reference) if reference else ()

    @property
    def scattered(self) -> bool:
        """True if the runs so far are too different for their medians to mean much."""
        reference = self.spread(self.reference)
        spreads = [self.spread(name) for name in self.judged]
        return any(one and reference and scattered(one, reference) for one in spreads)


@dataclass(frozen=True)
class Bench:
    """Settings and folder of the measurements."""

    folder: Path
    backends: Mapping[str, Backend]
    """Those that are compared, by name; the last is the one that the others are judged by."""
    duration: int
    repeat: int
    most: int = 0
    """Runs of a cell whose runs scatter; none beyond `repeat` if it is not more."""

    def measure(self, cell: Cell, tell: Callable[[str], None] = lambda _: None) -> Measured:
        """The cell's figures: those of earlier calls, and what is missing measured now."""
        measured = self.read(cell)
        self._up_to(self.repeat, measured, tell)
        for count in range(self.repeat + 1, self.most + 1):
            if measured.failed or not measured.scattered:
                break
            self._up_to(count, measured, tell)
        return measured

    def _up_to(self, count: int, measured: Measured, tell: Callable[[str], None]) -> None:
        """So many runs on each backend."""
        for name in self.backends:
            for number in range(len(measured.runs[name]), count):
                tell(f"{measured.cell.name}: {name}, {number + 1} of {count}")
                try:
                    self._run(measured, name, seed=number + 1)
                except Interrupted as error:
                    shutil.rmtree(self._rows, ignore_errors=True)
                    raise Interrupted(
                        f"stopped at {measured.cell.name}; the cells before it are kept in "
                        f"{shown(self.folder)}\nGive the same command again to go on."
                    ) from error
                except SojournError as error:
                    measured.failed = f"{name}: {str(error).splitlines()[0]}"
                    break
                self._write(measured)

    def _run(self, measured: Measured, name: str, seed: int) -> None:
        cell = measured.cell
        backend = self.backends[name]
        scenario = cell.scenario(self.duration, seed)
        plan = plan_scenario(scenario, backend=backend)
        result = read_result(record(plan, self._rows, backend=backend))
        aqm = next(iter(result.aqms.values()))
        whole, settled = _delays(aqm.packets, 0), _delays(aqm.packets, self.duration // 3)
        measured.runs[name].append(
            Figures(
                mean=whole.mean,
                p95=whole.p95,
                utilisation=100 * aqm.summary.utilisation,
                loss=whole.loss,
                marks=whole.marks,
                settled_mean=settled.mean,
                settled_loss=settled.loss,
                dctcp=_share(aqm.packets, cell.flows) if cell.congestion_control == MIXED else 0.0,
            )
        )
        if name != SIM:
            run = next(iter(result.folder.backend["runs"].values()))
            if name == KERNEL:
                measured.backend = {key: run[key] for key in ("kernel", "clock", "qdisc", "shaper")}
            if run["disturbed"]:
                measured.disturbances.setdefault(name, []).append(run["disturbed"])
        shutil.rmtree(self._rows)

    @property
    def _rows(self) -> Path:
        """Folder of a run's rows until its figures are stored; two calls may fill one folder."""
        return self.folder / f"rows-{os.getpid()}"

    def _scenario(self, cell: Cell) -> dict[str, Any]:
        """The identity of figures: the cell's scenario without its seed."""
        scenario: dict[str, Any] = json.loads(json.dumps(cell.scenario(self.duration, 0)))
        return scenario

    def _job(self, cell: Cell) -> dict[str, Any]:
        """The identity of the kernel's figures: the scenario with the qdisc in the AQM's place, the
        flows' begins under the first seed, the time of links in a guest, and the kernel's tick in
        ns. Nothing without a kernel."""
        kernel = self.backends.get(KERNEL)
        if not isinstance(kernel, Linux):
            return {}
        tick = kernel.kernel.tick
        config = plan_scenario(cell.scenario(self.duration, 0), backend=kernel).runs[0].config
        starts = [_core.start_jitter(1, flow) for flow in range(cell.flows)]
        return self._scenario(cell) | {
            "aqms": [qdisc_of(config, tick).text],
            "starts": starts,
            "links": list(path_of(config["flows"][0], config).links),
            "tick": tick,
        }

    def _path(self, cell: Cell) -> Path:
        return self.folder / f"{cell.name}.json"

    def read(self, cell: Cell) -> Measured:
        """The measurements of earlier calls; figures of another scenario count as none.

        The kernel's figures stay valid as long as its job is the same, whatever the engine does.
        """
        measured = Measured(cell, {name: [] for name in self.backends})
        kept = self._kept(cell)
        runs = {name: [Figures(**run) for run in of] for name, of in kept.get("runs", {}).items()}
        if self._is_of_this_engine(cell, kept):
            here = [name for name in measured.runs if name != KERNEL]
            measured.runs |= {name: runs.get(name, []) for name in here}
        if KERNEL in measured.runs and kept.get("job") == self._job(cell):
            measured.runs[KERNEL] = runs.get(KERNEL, [])
            measured.backend = kept["ground"]
        disturbances = kept.get("disturbed", {})
        kept_of = {name for name, of in measured.runs.items() if of}
        measured.disturbances = {n: why for n, why in disturbances.items() if n in kept_of}
        return measured

    def _kept(self, cell: Cell) -> dict[str, Any]:
        """The content of the cell's file; nothing if there is none."""
        try:
            kept = json.loads(self._path(cell).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise SojournError(f"{shown(self._path(cell))}: cannot be read: {error}") from error
        if kept.get("delays") != _DELAYS:
            return {}
        # Earlier files do not say which of them.
        if isinstance(disturbed := kept.get("disturbed", {}), list):
            kept["disturbed"] = dict.fromkeys((LIVE, KERNEL), disturbed)
        return dict(kept)

    def _is_of_this_engine(self, cell: Cell, kept: dict[str, Any]) -> bool:
        return bool(
            kept.get("scenario") == self._scenario(cell) and kept.get("engine") == _engine()
        )

    def all_kept(self) -> list[Measured]:
        """All cells that the folder has figures of, in the grid's order."""
        return [self.read(cell) for cell in cells(switches=SWITCHES) if self._path(cell).is_file()]

    def _write(self, measured: Measured) -> None:
        """Keeps the figures, and those of the backends that this call does not compare."""
        kept = self._kept(measured.cell)
        runs = {name: [run.as_dict() for run in of] for name, of in measured.runs.items()}
        others = {name: of for name, of in kept.get("runs", {}).items() if name not in runs}
        if not self._is_of_this_engine(measured.cell, kept):
            others = {name: of for name, of in others.items() if name == KERNEL}
        disturbed = {n: why for n, why in kept.get("disturbed", {}).items() if n in others}
        of_kernel = {"job": self._job(measured.cell), "ground": measured.backend}
        if KERNEL not in self.backends:
            of_kernel = {key: kept.get(key, {}) for key in of_kernel}
        content = {
            "cell": vars(measured.cell),
            "scenario": self._scenario(measured.cell),
            "engine": _engine(),
            "delays": _DELAYS,
            "runs": others | runs,
            "disturbed": disturbed | measured.disturbances,
            **of_kernel,
        }
        path = self._path(measured.cell)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_text(path, json.dumps(content, indent=1) + "\n")
        except OSError as error:
            raise output_error(error, shown(path)) from error


@dataclass(frozen=True)
class _Delays:
    """Queue delay in ms of the packets that were sent, and the shares in % of the others and of
    those that were marked."""

    mean: float
    p95: float
    loss: float
    marks: float


def _delays(packets: pa.Table, begin: int) -> _Delays:
    """Of the rows from `begin` on, in ns."""
    rows = packets.filter(pc.greater_equal(packets["dequeued"], begin))
    lost = pc.is_in(rows["verdict"].cast("string"), pa.array(DROPS))
    sent = rows.filter(pc.invert(lost))
    if not sent.num_rows:
        return _Delays(0.0, 0.0, 100.0 if rows.num_rows else 0.0, 0.0)
    delay = pc.subtract(sent["dequeued"], sent["enqueued"]).to_numpy()
    mean, p95 = float(delay.mean()), float(np.percentile(delay, 95, method="inverted_cdf"))
    marked = pc.sum(pc.equal(rows["verdict"].cast("string"), VERDICTS[MARK])).as_py()
    total = rows.num_rows
    return _Delays(mean / 1e6, p95 / 1e6, 100 * (1 - sent.num_rows / total), 100 * marked / total)


def _share(packets: pa.Table, first: int) -> float:
    """Of the bytes that were sent, in %, those of the flows with a number below `first`."""
    lost = pc.is_in(packets["verdict"].cast("string"), pa.array(DROPS))
    sent = packets.filter(pc.invert(lost))
    sizes, flows = sent["size"].to_numpy(), sent["flow"].to_numpy()
    return float(100 * sizes[flows < first].sum() / max(sizes.sum(), 1))


@cache
def _engine() -> str:
    """The engine's identity: the hash of its file."""
    return hashlib.sha256(Path(_core.__file__).read_bytes()).hexdigest()[:16]
