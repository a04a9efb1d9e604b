"""Runs a switch between interfaces and leaves a folder: rows, captures, counters.

The switch has a thread of its own in the engine; here its rows are taken four times a second and
written. When that cannot follow, the engine counts the rows as lost, and no packet waits.
"""

import contextlib
import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.backends.live.offloads import switched_off
from sojourn.backends.live.plan import LOOP, NOTHING, LivePlan
from sojourn.common.atomic_write import write_text
from sojourn.common.resources import shown
from sojourn.control.file import as_plain, in_its_file
from sojourn.errors import ConfigError, ControlPlaneError, ScenarioError, output_error
from sojourn.model.inputs import named
from sojourn.results.faults import of_program
from sojourn.runtime.pcapng import CaptureWriter
from sojourn.runtime.row_writer import Ballast, Columns, RowWriter
from sojourn.runtime.run_files import COUNTERS, LOG

_EACH = 0.25
_LOOK = 1.0
"""Interval between checks for faults, s."""
_SPIN = 60_000
DESCRIPTION = "switch.json"
ENDS = "flows.json"
"""Source, destination, protocol and ports of the flows in the rows, from number 1 on."""


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def rows_of(port: int) -> str:
    """The file of a port's rows."""
    return f"packets-port-{port}.parquet"


def capture_of(port: int) -> str:
    """The file of a port's frames."""
    return f"capture-port-{port}.pcapng"


def run_live(
    plan: LivePlan,
    folder: Path,
    *,
    seconds: float | None = None,
    started: Callable[["Recording"], AbstractContextManager[object] | None] = lambda _: None,
    over: Callable[[float], bool] = _sleep,
) -> dict[str, Any]:
    """Runs `plan` until it is interrupted or `seconds` have passed; the counters at the end.

    `started` is called once frames pass; what it returns is closed before the end. `over` waits for
    so many seconds and says whether the run is over. Whatever ends it, the rows until then can be
    read and the interfaces are as they were.
    """
    connected = [port for port in plan.ports if port.interface not in (NOTHING, LOOP)]
    plain = [port.interface for port in connected if not port.interface.startswith("tap:")]
    interfaces = {port.number: port.interface for port in connected}
    with switched_off(plain):
        try:
            switch = _core.LiveSwitch(
                json.dumps(plan.config, default=as_plain),
                interfaces,
                _SPIN,
                plan.programs,
                json.dumps(plan.around),
                cpu=plan.cpu_port,
            )
        except ConfigError as error:
            if located := in_its_file(str(error), plan.control_file):
                raise ControlPlaneError(located) from error
            raise ScenarioError(str(error)) from error
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with (
                Recording(plan, switch, folder) as recording,
                contextlib.ExitStack() as beside,
                contextlib.suppress(KeyboardInterrupt),
            ):
                if (server := started(recording)) is not None:
                    beside.enter_context(server)
                _until(seconds, recording.take, over)
        except OSError as error:
            raise output_error(error, shown(folder), rows=True) from error
        finally:
            switch.stop()
    return recording.counters


def _until(seconds: float | None, each: Callable[[], None], over: Callable[[float], bool]) -> None:
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        left = _EACH if end is None else min(_EACH, end - time.monotonic())
        ends = over(max(left, 0))
        each()
        if ends:
            return


class Recording:
    """A live run while its rows become files."""

    def __init__(self, plan: LivePlan, switch: _core.LiveSwitch, folder: Path) -> None:
        self.switch, self.plan = switch, plan
        self._switch = switch
        self._folder = folder
        self.counters: dict[str, Any] = {}
        self.missed: dict[str, int] = {}
        """Messages by protocol that controllers read too slowly to get."""
        self.origin = 0
        """Frames of captures have times from this instant of the switch on, ns; those before it are
        left out."""
        self.watchers: list[Callable[[int, Columns, float], None]] = []
        """Are shown the rows of each port before they are written, and when they were fetched, s of
        the monotonic clock."""
        self.on_fault: Callable[[str], None] | None = None
        """Receives the first fault of each kind within a second or so."""
        self._known: set[str] = set()
        self._looked = time.monotonic()
        described = {
            "program": plan.name,
            "ports": [vars(port) for port in plan.ports],
            "sources": named(plan.inputs, Path()),
            "started": time.time(),
        }
        write_text(folder / DESCRIPTION, json.dumps(described, indent=2) + "\n")
        ballast = Ballast(folder)
        self._ballast = ballast
        self._rows = {
            port.number: RowWriter(folder / rows_of(port.number), "packets", ballast)
            for port in plan.measured
        }
        captured = plan.measured if plan.config["capture"] else ()
        self._captures = {
            port.number: CaptureWriter(folder / capture_of(port.number)) for port in captured
        }
        self._log: list[tuple[int, str]] = []

    def take(self) -> None:
        """Takes what waits."""
        self._switch.fetch()
        fetched = time.monotonic()
        _, lines = self._switch.take_log()
        if lines:
            with (self._folder / LOG).open("a", encoding="utf-8") as log:
                log.writelines(f"{at / 1e9:.9f} {text}\n" for at, text in lines)
        self._write(fetched)
        if self.on_fault is not None and fetched - self._looked >= _LOOK:
            self._looked = fetched
            self._tell(self.on_fault)

    def _tell(self, on_fault: Callable[[str], None]) -> None:
        for fault in json.loads(self._switch.faults()):
            if fault["kind"] not in self._known:
                self._known.add(fault["kind"])
                on_fault(*of_program([fault]))

    def _write(self, fetched: float) -> None:
        for port, writer in self._rows.items():
            columns = self._switch.take_packets(port)
            for watcher in self.watchers:
                watcher(port, columns, fetched)
            writer.write_columns(columns)
        for port, capture in self._captures.items():
            frames = self._switch.take_capture(port)
            capture.write(
                (at - self.origin, point, data, length)
                for at, point, data, length in frames
                if at >= self.origin
            )

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self._ballast.release()
        with contextlib.ExitStack() as closing:
            for writer in self._rows.values():
                closing.callback(writer.close)
            for capture in self._captures.values():
                closing.callback(capture.close)
            closing.callback(self._write_counters)
            for writer in self._rows.values():
                closing.callback(writer.finish)
            closing.callback(lambda: self._write(time.monotonic()))
            closing.callback(self._switch.stop)

    def _write_counters(self) -> None:
        self.counters = json.loads(self._switch.report())
        self.counters["live"]["missed"] = self.missed
        write_text(self._folder / COUNTERS, json.dumps(self.counters, indent=2) + "\n")
        write_text(self._folder / ENDS, json.dumps(self._switch.flows()) + "\n")
