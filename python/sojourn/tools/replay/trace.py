"""The packets of one queue as they leave it: from a run's rows, or made up by the engine.

Stands on the Parquet files of a run and on the engine's generator. A row says when a packet left,
how long it had waited, what stayed behind it and how long it is; whether it was dropped afterwards
is not asked. Knows no AQM.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sojourn import _core
from sojourn.common.resources import shown
from sojourn.common.suggest import did_you_mean
from sojourn.errors import ScenarioError
from sojourn.model.units import RATE
from sojourn.runtime.arrow_tables import AQM, NEVER_QUEUED, VERDICTS, rows_table
from sojourn.runtime.run_files import PACKETS


@dataclass(frozen=True)
class Parameters:
    """CoDel's, ns."""

    target: int
    interval: int


RFC_8289 = Parameters(target=5_000_000, interval=100_000_000)
"""The RFC's own."""

PROFILES = {
    "wander": "a load a little below and above the rate",
    "bursts": "bursts at ten times the rate on a busy line",
    "gaps": "overload, then silence of up to 41 INTERVALs",
    "rates": "a line whose rate falls to a twentieth and rises again",
    "pauses": "a line that stands still for up to 1.5 INTERVALs while packets wait",
    "flicker": "a sojourn time that crosses TARGET again and again",
    "flood": "more than the line carries, without end",
    "slowflood": "the same with a line at a tenth of its rate, at times at all of it",
    "submtu": "small packets, the queue about four fifths of a full frame",
    "aroundmtu": "small packets, the queue now less and now more than a full frame",
}
"""The engine's synthetic traces, each with what happens in it."""

_RATES = (10**8, 10**9, 10**10, 10**11)
_SLOW_RATES = {
    "flood": (2 * 10**6, 10**7),
    "slowflood": (2 * 10**7,),
    "submtu": (10**6, 2 * 10**6),
    "aroundmtu": (10**6, 2 * 10**6),
}
"""What happens in these traces happens on slow lines only."""

_FCS, _CELL = 4, 80
_CHUNK = 1 << 16

Longs = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """Packets in the order in which they left the queue."""

    time: Longs
    """When each left, ns."""
    sojourn: Longs
    """How long it had been in the queue, ns."""
    backlog: Longs
    """Bytes that stayed behind it."""
    cells: Longs
    """The same in the traffic manager's cells of 80 bytes, each packet with its FCS."""
    packets: Longs
    """The same in packets."""
    size: Longs
    """Its own bytes, FCS not counted."""

    def __len__(self) -> int:
        return len(self.time)

    def chunks(self) -> Iterator[dict[str, bytes]]:
        """All rows as the engine takes them, a bounded number at a time."""
        for start in range(0, len(self), _CHUNK):
            yield {
                field.name: getattr(self, field.name)[start : start + _CHUNK]
                .astype(_WIDTHS[field.name])
                .tobytes()
                for field in fields(self)
            }


_WIDTHS = {name: f"<u{bits // 8}" for name, bits, *_ in _core.row_columns("trace")}


class Trace(Protocol):
    """Something that has such rows."""

    @property
    def name(self) -> str:
        """What tables and files call it."""

    @property
    def group(self) -> str:
        """What plots put together: the rate, or that it was recorded."""

    def read(self) -> Rows:
        """Its packets."""


@dataclass(frozen=True)
class SyntheticTrace:
    """A trace that the engine makes up; the same for the same values, on every machine."""

    profile: str
    rate: int
    """Of the line, bit/s."""
    duration: int
    """ns"""
    parameters: Parameters = RFC_8289
    """CoDel's: times of a profile are multiples of them."""
    seed: int = 1
    packet_size: int | None = None
    """Length of all IP packets in bytes; if absent, they are mixed, from 40 to 9,000."""

    @property
    def name(self) -> str:
        """Profile and rate."""
        return f"{self.profile} {self.group}"

    @property
    def group(self) -> str:
        """The rate."""
        return RATE.format(self.rate)

    def read(self) -> Rows:
        """Makes the packets."""
        config = {
            "profile": self.profile,
            "rate": self.rate,
            "duration": self.duration,
            "target": self.parameters.target,
            "interval": self.parameters.interval,
            "seed": self.seed,
            "packet_size": self.packet_size,
        }
        columns = _core.SyntheticTrace(json.dumps(config)).take(2**62)
        arrays = {
            name: np.frombuffer(columns[name], width).astype(np.int64)
            for name, width in _WIDTHS.items()
        }
        return Rows(**arrays)


@dataclass(frozen=True)
class RecordedTrace:
    """What a run recorded at its bottleneck."""

    path: Path
    """A `packets.parquet`."""
    queue: int | None = None
    """Only the packets of this queue of the port; if absent, the port has used one only."""
    folders: int = 2
    """How many of the folders above the rows its name has."""

    @property
    def name(self) -> str:
        """The folders that a run and its AQM have, and the queue if there are several."""
        folders = "/".join(self.path.parts[-1 - self.folders : -1]) or self.path.name
        return folders if self.queue is None else f"{folders} queue {self.queue}"

    @property
    def group(self) -> str:
        """All recorded traces are one group."""
        return "recorded"

    def read(self) -> Rows:
        """Reads the packets that left the queue, and works out what each left behind.

        What was in the queue is known from those who left it later, so the trace ends where the
        first packet came that was still waiting when the run ended.
        """
        columns = ["enqueued", "dequeued", "size", "verdict", "queue"]
        table = _columns(self.path, columns)
        left = _left(table)
        entered, time, size = (
            table[name].to_numpy()[left].astype(np.int64) for name in columns[:3]
        )
        queue = table["queue"].to_numpy()[left]
        if self.queue is not None:
            mine = queue == self.queue
            entered, time, size = entered[mine], time[mine], size[mine]
        elif len(several := np.unique(queue)) > 1:
            # Put together they would be a queue that nobody had: an AQM has state for each.
            raise ScenarioError(
                f"{shown(self.path)}: packets of {len(several)} queues of the port, "
                f"{', '.join(map(str, several))}: a trace is of one of them"
            )
        if not len(time):
            raise ScenarioError(f"{shown(self.path)}: no packet left this run's queue")
        order = np.argsort(time, kind="stable")
        entered, time, size = entered[order], time[order], size[order]
        known = time <= entered.max()
        backlog = _left_behind(entered, time, size)[known]
        cells = _left_behind(entered, time, -(-(size + _FCS) // _CELL))[known]
        packets = _left_behind(entered, time, np.ones_like(size))[known]
        return Rows(time[known], (time - entered)[known], backlog, cells, packets, size[known])


def _left_behind(entered: Longs, time: Longs, amount: Longs) -> Longs:
    """For each packet that leaves: `amount` of those that are in the queue and not yet leaving."""
    by_entry = np.argsort(entered, kind="stable")
    came = np.concatenate(([0], np.cumsum(amount[by_entry])))
    behind: Longs = came[np.searchsorted(entered[by_entry], time, side="right")] - np.cumsum(amount)
    return behind


def find_traces(
    names: Sequence[str],
    *,
    rates: Sequence[int] | None,
    duration: int | None,
    seed: int,
    packet_size: int | None,
    parameters: Parameters = RFC_8289,
) -> list[Trace]:
    """What `names` mean: synthetic profiles at each rate, or at their own, and the rows of runs.

    A run is named by its folder, one AQM's folder in it, or a `packets.parquet`. Rows of several
    queues are several traces, and what is named twice is one.
    """
    found: list[SyntheticTrace | RecordedTrace] = []
    for name in names:
        if name in PROFILES:
            for rate in rates or _SLOW_RATES.get(name, _RATES):
                length = duration or default_duration(rate, parameters.interval)
                found.append(SyntheticTrace(name, rate, length, parameters, seed, packet_size))
        else:
            for path in _recorded(name):
                found += [RecordedTrace(path, queue) for queue in _queues(path)]
    return _told_apart(list(dict.fromkeys(found)))


def _told_apart(traces: Sequence[SyntheticTrace | RecordedTrace]) -> list[Trace]:
    """`traces`, with as many folders in their names as it takes that no two are the same."""
    while True:
        uses = Counter(trace.name for trace in traces)
        longer = [
            replace(trace, folders=trace.folders + 1)
            if isinstance(trace, RecordedTrace)
            and uses[trace.name] > 1
            and trace.folders < len(trace.path.parts)
            else trace
            for trace in traces
        ]
        if longer == traces:
            return list(traces)
        traces = longer


def _columns(path: Path, names: Sequence[str]) -> pa.Table:
    try:
        return rows_table(path, list(names))
    except (OSError, pa.ArrowInvalid, KeyError) as error:
        raise ScenarioError(f"{shown(path)}: not a run's packets: {error}") from error


def _left(table: pa.Table) -> npt.NDArray[np.bool_]:
    """Which packets were in a queue and left it: none that a discipline dropped on arrival."""
    verdict = table["verdict"].cast("string")
    at_once = pc.equal(table["enqueued"], table["dequeued"])
    never = pc.or_(
        pc.is_in(verdict, pa.array(NEVER_QUEUED)),
        pc.and_(pc.equal(verdict, VERDICTS[AQM]), at_once),
    )
    left: npt.NDArray[np.bool_] = ~np.asarray(never.to_numpy(zero_copy_only=False))
    return left


def _queues(path: Path) -> list[int] | list[None]:
    """The queues of the port that packets have left; nothing to choose if that is one."""
    table = _columns(path, ["enqueued", "dequeued", "verdict", "queue"])
    left = _left(table)
    used: list[int] = np.unique(table["queue"].to_numpy()[left]).tolist()
    return used if len(used) > 1 else [None]


def default_duration(rate: int, interval: int) -> int:
    """ns; long enough for drops, short enough to be replayed in a minute: for an INTERVAL of 100 ms
    from a minute at 100 Mbit/s to half a second at 100 Gbit/s."""
    for most, intervals in ((10**8, 600), (10**9, 100), (10**10, 20)):
        if rate <= most:
            return intervals * interval
    return 5 * interval


def _recorded(name: str) -> list[Path]:
    path = Path(name)
    if path.is_file():
        return [path.resolve()]
    found = [file.resolve() for file in (path / PACKETS, *sorted(path.glob(f"*/{PACKETS}")))]
    found = [file for file in found if file.is_file()]
    if found:
        return found
    raise ScenarioError(
        f"{name}: no trace{did_you_mean(name, PROFILES)}\n"
        f"Known profiles: {', '.join(PROFILES)}; or give a run's folder."
    )
