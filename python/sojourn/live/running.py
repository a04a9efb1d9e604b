"""Runs a switch between interfaces and leaves a folder: rows, captures, counters.

The switch has a thread of its own in the engine; here its rows are taken four times a second and
written. When that cannot follow, the engine counts the rows as lost, and no packet waits.
"""

import contextlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sojourn import _core
from sojourn.errors import ConfigError, ScenarioError, output_error
from sojourn.layout import shown
from sojourn.live.ask import LivePlan
from sojourn.live.offloads import switched_off
from sojourn.pcapng import CaptureWriter
from sojourn.programs import sources_of
from sojourn.record import PACKET_SCHEMA, Ballast, RowWriter
from sojourn.run_files import COUNTERS, LOG
from sojourn.writing import write_text

_EACH = 0.25
_SPIN = 60_000
DESCRIPTION = "switch.json"


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
    started: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Runs `plan` until it is interrupted or `seconds` have passed; the counters at the end.

    `started` is called once frames pass. Whatever ends it, the rows until then can be read and the
    interfaces are as they were.
    """
    plain = [port.interface for port in plan.ports if not port.interface.startswith("tap:")]
    interfaces = {port.number: port.interface for port in plan.ports}
    with switched_off(plain):
        try:
            switch = _core.LiveSwitch(json.dumps(plan.config), interfaces, _SPIN, plan.programs)
        except ConfigError as error:
            raise ScenarioError(str(error)) from error
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with _Outputs(plan, switch, folder) as outputs:
                started()
                with contextlib.suppress(KeyboardInterrupt):
                    _until(seconds, outputs.take)
        except OSError as error:
            raise output_error(error, shown(folder)) from error
        finally:
            switch.stop()
    return outputs.counters


def _until(seconds: float | None, each: Callable[[], None]) -> None:
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        left = _EACH if end is None else min(_EACH, end - time.monotonic())
        time.sleep(max(left, 0))
        each()


class _Outputs:
    """The files of a live run."""

    def __init__(self, plan: LivePlan, switch: _core.LiveSwitch, folder: Path) -> None:
        self._switch = switch
        self._folder = folder
        self.counters: dict[str, Any] = {}
        described = {
            "program": plan.name,
            "ports": [vars(port) for port in plan.ports],
            "sources": [sources_of(program) for program in plan.programs],
            "started": time.time(),
        }
        write_text(folder / DESCRIPTION, json.dumps(described, indent=2) + "\n")
        ballast = Ballast(folder)
        self._ballast = ballast
        self._rows = {
            port.number: RowWriter(folder / rows_of(port.number), PACKET_SCHEMA, ballast)
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
        _, lines = self._switch.take_log()
        if lines:
            with (self._folder / LOG).open("a", encoding="utf-8") as log:
                log.writelines(f"{at / 1e9:.9f} {text}\n" for at, text in lines)
        self._write()

    def _write(self) -> None:
        for port, writer in self._rows.items():
            writer.write_columns(self._switch.take_packets(port))
        for port, capture in self._captures.items():
            capture.write(self._switch.take_capture(port))

    def __enter__(self) -> "_Outputs":
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
            closing.callback(self._write)
            closing.callback(self._switch.stop)

    def _write_counters(self) -> None:
        self.counters = json.loads(self._switch.report())
        write_text(self._folder / COUNTERS, json.dumps(self.counters, indent=2) + "\n")
