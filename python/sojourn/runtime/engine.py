"""Runs a plan: every AQM in a thread of its own, rows streamed to disk as simulated time passes.

Depends on the engine and on `row_writer`. The engine releases the interpreter while it works, so
runs share the processor's cores; how they share them, and on how many threads each of them runs,
changes no row. Uses no statistics and no plots.
"""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any, Self, TextIO

from sojourn import _core
from sojourn.common.atomic_write import write_text
from sojourn.common.resources import shown
from sojourn.control.controller import Controller
from sojourn.control.process import ControllerProcess
from sojourn.errors import Interrupted, output_error
from sojourn.model.programs import compiled
from sojourn.runtime.pcapng import CaptureWriter
from sojourn.runtime.plan import Plan, PlannedRun
from sojourn.runtime.queue_totals import QueueTotals, samples_before
from sojourn.runtime.row_writer import ROWS_AT_ONCE, Ballast, RowWriter, writing_thread
from sojourn.runtime.run_files import (
    CONTROLLER_LOG,
    COUNTERS,
    DATAGRAMS,
    EXCHANGES,
    FLOWS,
    LOG,
    REGISTERS,
)

_EXCHANGING, _VOICES = {"transfers", "requests"}, {"voip"}

_STEPS = 20
"""Number of steps into which a run is divided, for progress and interruption, until its speed is
known."""

_PIECE = 0.02
"""Seconds of wall-clock time that a piece is to take: between two of them a run waits for the
interpreter, which others may hold for a while."""

_FORECAST_EACH = 2.0
"""Seconds of wall-clock time between two looks at how much is written."""

_FORECAST_FROM = 20_000_000
"""Bytes from which on a forecast is worth something."""

_MANY_BYTES = 10_000_000_000
"""Bytes of rows of which a run warns."""

_PATIENCE = 1.0
"""Seconds of wall-clock time after which rows are written that are not yet a row group."""


@dataclass
class Progress:
    """The progress of each run of a plan, in simulated ns; each is written by its own thread."""

    duration: int
    now: dict[str, int] = field(default_factory=dict)
    warn: Callable[[str], None] = lambda _: None
    """Shows a sentence to the user while the runs go on."""


def simulate(
    plan: Plan,
    folder: Path,
    progress: Progress | None = None,
    refresh: Callable[[], None] = lambda: None,
    threads: int | None = None,
) -> None:
    """Runs all of `plan`, each AQM into its own folder below `folder`, on up to `threads` threads.

    Without `threads`, those cores that other runs leave are a run's own; a network of several
    switches is faster on more than one. `refresh` is called once the runs have begun, and every
    tenth of a second. Whatever ends the runs, the rows until then are in files that can be read.
    """
    progress = progress or Progress(plan.scenario.duration)
    progress.now |= {run.label: 0 for run in plan.runs}
    stop = Event()
    cores = len(os.sched_getaffinity(0))
    threads = threads or max(cores // len(plan.runs), 1)
    with ThreadPoolExecutor(max_workers=cores, thread_name_prefix="run") as workers:
        futures = [
            workers.submit(_simulate_one, run, folder / run.folder, progress, stop, threads)
            for run in plan.runs
        ]
        try:
            refresh()
            forecast = _Forecast(progress, [folder / run.folder for run in plan.runs])
            while wait(futures, timeout=0.1, return_when=FIRST_EXCEPTION).not_done:
                refresh()
                forecast.look()
                if any(_failed(future) for future in futures):
                    break
        except KeyboardInterrupt:
            raise Interrupted(_stopped_at(progress, folder)) from None
        finally:
            stop.set()
    refresh()
    for future in futures:
        future.result()


def _failed(future: Future[None]) -> bool:
    return future.done() and future.exception() is not None


def _stopped_at(progress: Progress, folder: Path) -> str:
    reached = sorted((now, label) for label, now in progress.now.items())
    (least, slowest), (most, fastest) = reached[0], reached[-1]
    after = f"{least / 1e9:.2f} s"
    if f"{most / 1e9:.2f} s" != after:
        after = f"{after} ({slowest}) to {most / 1e9:.2f} s ({fastest})"
    return (
        f"stopped after {after} of {progress.duration / 1e9:g} s simulated\n"
        f"The rows until then are in {shown(folder)}; `sojourn report {shown(folder)}` shows them."
    )


class _Forecast:
    """Warns once if the rows of the runs will be large, from what is written until then."""

    def __init__(self, progress: Progress, folders: Sequence[Path]) -> None:
        self._progress = progress
        self._folders = folders
        self._began = self._next = time.monotonic()
        self._warned = False

    def look(self) -> None:
        """Looks at the files, once in a while."""
        now = time.monotonic()
        if self._warned or now < self._next:
            return
        self._next = now + _FORECAST_EACH
        files = (file for folder in self._folders for file in folder.glob("*.parquet*"))
        written = 0
        for file in files:
            with contextlib.suppress(OSError):
                written += file.stat().st_size
        progress = self._progress
        done = sum(progress.now.values()) / (progress.duration * len(progress.now))
        if said := forecast(written, done, now - self._began):
            self._warned = True
            progress.warn(said)


def forecast(written: int, done: float, took: float) -> str | None:
    """What the rows of runs will take, if that is much: `written` bytes until a share `done` of
    them, after `took` seconds."""
    if not done or written < _FORECAST_FROM or written / done < _MANY_BYTES:
        return None
    hours = took * (1 - done) / done / 3600
    return (
        f"the rows of these runs will take about {written / done / 1e9:.0f} GB, and {hours:.1f} h "
        "more; a shorter duration takes less, and so does rows = false, of the scenario or of "
        "links whose queues need not be measured"
    )


def _simulate_one(
    run: PlannedRun, folder: Path, progress: Progress, stop: Event, threads: int
) -> None:
    if stop.is_set():
        return
    simulation = _core.Simulation(run.configuration, list(run.programs))
    simulation.use_threads(threads)
    try:
        # Each core that drives switches has a cache of its own.
        at_once = ROWS_AT_ONCE * min(threads, len(run.config["network"]["switches"]))
        with (
            _Outputs(folder, simulation, run, at_once) as outputs,
            controlled(run, simulation, log=folder / CONTROLLER_LOG, stop=stop) as controller,
        ):
            for now in advance(simulation, run.config["duration"], at_once, controller):
                outputs.take()
                progress.now[run.label] = now
                if stop.is_set():
                    break
            if isinstance(controller, ControllerProcess) and controller.missed:
                progress.warn(
                    f"{run.label}: {controller.missed} messages for the controller were lost, "
                    "because it did not read them in time; another run may lose others"
                )
    except OSError as error:
        raise output_error(error, shown(folder), rows=True) from error


@contextlib.contextmanager
def controlled(
    run: PlannedRun,
    simulation: _core.Simulation,
    *,
    log: Path | None = None,
    stop: Event | None = None,
) -> Iterator[Controller | ControllerProcess | None]:
    """The run's controller at work on its switches, if it has one; a process ends with the block.

    `log` is the file of what a process prints; once `stop` is set, the process is not waited for.
    """
    planned = run.controller
    if planned is None:
        yield None
        return
    if isinstance(planned.work, Path):
        yield Controller(
            planned.work, simulation, planned.nodes, planned.poll, run.label, planned.args
        )
        return
    switches = [(node.place, _program_at(run, node.place)) for node in planned.nodes]
    process = ControllerProcess(planned.work, simulation, switches, log=log, stop=stop)
    with process:
        yield process
        if simulation.finished:
            process.finish()


def _program_at(run: PlannedRun, place: int) -> _core.Program:
    """The program of the switch at `place`, compiled."""
    aqm = run.aqm_at(place)
    return compiled(aqm["program"], include_paths=aqm["include_paths"], defines=aqm["defines"])


def advance(
    simulation: _core.Simulation,
    end: int,
    at_once: int,
    controller: Controller | ControllerProcess | None,
) -> Iterator[int]:
    """Takes the run towards `end`, ns, in pieces bounded in time and rows, and by the instants at
    which a controller acts; yields the time after each, until the run has finished."""
    step = max(end // _STEPS, 1)
    due = step
    while not simulation.finished:
        acts = None if controller is None else controller.due()
        until = min(due, end) if acts is None else min(due, acts, end)
        began = time.monotonic()
        simulation.advance(until, at_once)
        took = time.monotonic() - began
        if controller is not None and acts is not None and simulation.now >= acts:
            controller.act()
        yield simulation.now
        if simulation.now >= due:
            if took < _PIECE / 2:
                step *= 2
            elif took > _PIECE:
                step = max(step // 2, 1)
            due += step


def _traced(config: Mapping[str, Any]) -> set[str]:
    """The registers that programs of a run have traced."""
    aqms = [config["aqm"], *(node.get("aqm") for node in config["network"]["switches"])]
    return {name for aqm in aqms if aqm for name in aqm.get("trace", ())}


class _Outputs:
    """The files of one run, closed properly whatever happens."""

    def __init__(
        self, folder: Path, simulation: _core.Simulation, run: PlannedRun, at_once: int
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._simulation = simulation
        self._at_once = at_once
        self._ballast = Ballast(folder)
        self._queues = run.bottlenecks
        self._threads = [writing_thread() for _ in run.bottlenecks]
        self._totals = [QueueTotals(*run.totals) for _ in run.bottlenecks] if run.totals else []
        self._since = run.totals[1] if run.totals else 0
        self._packets = [
            RowWriter(folder / queue.rows, "packets", self._ballast, thread)
            for queue, thread in zip(run.bottlenecks, self._threads, strict=True)
            if not self._totals
        ]
        self._flows = self._file(FLOWS, "flows")
        kinds = {flow["kind"] for flow in run.config["flows"]}
        self._exchanges = self._file(EXCHANGES, "exchanges") if kinds & _EXCHANGING else None
        self._datagrams = self._file(DATAGRAMS, "datagrams") if kinds & _VOICES else None
        self._registers = self._file(REGISTERS, "registers") if _traced(run.config) else None
        self._captures = {
            place: CaptureWriter(folder / queue.capture)
            for place, queue in enumerate(run.bottlenecks)
            if run.captures(queue)
        }
        self._log = _ProgramLog(folder / LOG)
        others = (self._flows, self._exchanges, self._datagrams, self._registers)
        self._writers = [*self._packets, *(writer for writer in others if writer is not None)]
        self._last = time.monotonic()
        # At last, for it takes the interpreter, which the run does without from here on.
        for writer in self._writers:
            writer.prepare()

    def _file(self, name: str, rows: str) -> RowWriter:
        """A file of few rows, which need no thread of their own."""
        return RowWriter(self._folder / name, rows, self._ballast, self._threads[0])

    def take(self) -> None:
        """Takes what the program has logged, and rows and frames once as many wait in the engine
        as are read at a time. What is on the disk lags a second behind the run at most, so that
        little is lost if the process is ended by force.
        """
        self._log.write(*self._simulation.take_log())
        self._take_registers()
        late = time.monotonic() - self._last >= _PATIENCE
        if late or self._simulation.waiting >= self._at_once:
            self._take_rows(journal=late)
            self._take_frames()
        if late:
            # Whoever finds counters finds the rows that they are of.
            for writer in self._writers:
                writer.await_journal()
            self._write_counters()
            self._write_totals()
            self._last = time.monotonic()

    def _take_registers(self) -> None:
        if self._registers is not None:
            # Imported here because pyarrow takes longer to load than a short run.
            from sojourn.runtime.arrow_tables import REGISTER_SCHEMA, table_from_columns

            columns = self._simulation.take_registers()
            names = self._simulation.watched_registers()
            self._registers.write(table_from_columns(REGISTER_SCHEMA, columns, names))

    def _take_rows(self, *, journal: bool) -> None:
        self._take_registers()
        for bottleneck, writer in enumerate(self._packets):
            writer.write_columns(self._simulation.take_packets(bottleneck), journal=journal)
        self._take_samples(journal=journal)
        if self._exchanges is not None:
            self._exchanges.write_columns(self._simulation.take_exchanges(), journal=journal)
        if self._datagrams is not None:
            self._datagrams.write_columns(self._simulation.take_datagrams(), journal=journal)

    def _take_samples(self, *, journal: bool) -> None:
        """Takes the samples of flows and, in a run without rows, adds up the rows of queues."""
        samples = self._simulation.take_flows()
        if not self._totals:
            self._flows.write_columns(samples, journal=journal)
            return
        for bottleneck, totals in enumerate(self._totals):
            totals.add(self._simulation.take_packets(bottleneck))
        self._flows.write(samples_before(samples, self._since))

    def _take_frames(self) -> None:
        for bottleneck, capture in self._captures.items():
            capture.write(self._simulation.take_capture(bottleneck))

    def _write_counters(self) -> None:
        write_text(self._folder / COUNTERS, self._simulation.counters(self._log.count) + "\n")

    def _write_totals(self) -> None:
        for queue, totals in zip(self._queues, self._totals, strict=bool(self._totals)):
            totals.write(self._folder / queue.totals)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # What is named last is done first, and each whatever has become of the others.
        with contextlib.ExitStack() as closing:
            for thread in self._threads:
                closing.callback(thread.shutdown)
            # The others are written here while the packets are written there.
            for writer in self._writers:
                closing.callback(writer.close)
            closing.callback(self._write_counters)
            closing.callback(self._write_totals)
            closing.callback(self._log.close)
            for capture in self._captures.values():
                closing.callback(capture.close)
            closing.callback(self._take_frames)
            # Those who write rows do that by themselves where the disk is full.
            closing.callback(self._ballast.release)
            for writer in self._packets:
                closing.callback(writer.finish)
            closing.callback(self._take_rows, journal=False)


class _ProgramLog:
    """The lines of a program's `log_msg`, in a file that is there once there is a line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None
        self.count = 0

    def write(self, lost: int, lines: Sequence[tuple[int, str]]) -> None:
        """Appends lines; `lost` more before them were too many to keep."""
        self.count += lost + len(lines)
        if not lines:
            return
        if self._file is None:
            self._file = self._path.open("w", encoding="utf-8")
        if lost:
            self._file.write(f"... {lost} lines before this were too many to keep\n")
        self._file.writelines(f"{time / 1e9:.9f} {text}\n" for time, text in lines)

    def close(self) -> None:
        """Closes the file, if there is one."""
        if self._file is not None:
            self._file.close()


def discard_rows(simulation: _core.Simulation) -> None:
    """Takes the rows that the engine has ready, and discards them."""
    simulation.take_log()
    simulation.take_registers()
    for bottleneck in range(simulation.bottlenecks):
        simulation.take_packets(bottleneck)
    simulation.take_flows()
    simulation.take_exchanges()
    simulation.take_datagrams()
