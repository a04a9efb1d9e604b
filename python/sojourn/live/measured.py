"""What a live run left, as a run's figures: the switch's own rows, and the hosts' notes.

Stands on how the Linux ground reads its hosts. The switch says itself when each packet came and
went, so no two captures are matched.
"""

import json
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from sojourn.linux.addresses import base
from sojourn.linux.frames import NOBODY, Frames, Longs
from sojourn.linux.matching import Rows
from sojourn.linux.measured import Measured, Queue, Raw, measured, samples_of
from sojourn.linux.traffic import Traffic
from sojourn.live.job import RECEIVERS_PORT, SENDERS_PORT, STATION
from sojourn.live.running import ENDS, rows_of
from sojourn.record import MARK, SENT, VERDICTS
from sojourn.run_files import COUNTERS


def counters_of(folder: Path) -> dict[str, Any]:
    """What the run's switch has counted, and what it says of its interfaces and departures."""
    counters: dict[str, Any] = json.loads((folder / STATION / COUNTERS).read_text(encoding="utf-8"))
    return counters


def with_switch(raw: Raw, counters: dict[str, Any], rows: Rows) -> Raw:
    """`raw` with the two queues in the form in which a kernel tells of qdiscs."""
    sent = int(np.isin(rows.verdict, (SENT, MARK)).sum())
    ports = {port["port"]: port for port in counters["switch"]["ports"]}
    back = ports[SENDERS_PORT]["sent"]
    forward = {"handle": "10:", "kind": "live", "packets": sent, "drops": len(rows.flow) - sent}
    return Raw(raw.folder, raw.done | {"qdiscs": [[forward], [back | {"drops": 0}]]})


def read_rows(raw: Raw, config: dict[str, Any], traffic: Traffic) -> Rows:
    """The rows of the bottleneck, of the scenario's flows, within the run."""
    station = raw.folder / STATION
    counters = counters_of(raw.folder)
    ends = json.loads((station / ENDS).read_text(encoding="utf-8"))
    table = pq.read_table(station / rows_of(RECEIVERS_PORT))
    # Number 0 is what is not IP, and behind the last one all that came later.
    numbers = np.array([NOBODY, *(_number(end, config, traffic) for end in ends), NOBODY])
    flow = numbers[np.minimum(table["flow"].to_numpy().astype(np.int64), len(numbers) - 1)]
    # The file has a dictionary of its own.
    places = {name: place for place, name in enumerate(VERDICTS)}
    verdicts = table["verdict"].combine_chunks()
    names = [places[name] for name in verdicts.dictionary.to_pylist()]
    verdict = np.array(names or [0], np.int64)[verdicts.indices.to_numpy(zero_copy_only=False)]
    packet, size, enqueued, dequeued = (
        table[name].to_numpy().astype(np.int64)
        for name in ("packet", "size", "enqueued", "dequeued")
    )
    kept = flow != NOBODY
    rows = Rows(packet[kept], flow[kept], size[kept], enqueued[kept], dequeued[kept], verdict[kept])
    begin = raw.done["monotonic"] - counters["live"]["started"]
    return rows.within(begin, begin + config["duration"])


def _number(end: list[Any], config: dict[str, Any], traffic: Traffic) -> int:
    """The scenario's number of a flow that goes to a host behind the bottleneck."""
    to = ip_address(end[1])
    number = int(to) - base(to.version, behind=True)
    versions = {flow["ip_version"] for flow in config["flows"]}
    known = to.version in versions and 0 <= number < len(traffic.numbers)
    return int(traffic.numbers[number]) if known else NOBODY


def measure(raw: Raw, rows: Rows, config: dict[str, Any], traffic: Traffic) -> Measured:
    """The run whose switch left those rows."""

    def tapped(name: str, *, back: bool = False) -> Frames:
        there = (raw.folder / name).is_file()
        return raw.frames(name, traffic, back=back) if there else _NO_FRAMES

    drops = int((~np.isin(rows.verdict, (SENT, MARK))).sum())
    queue = Queue(rows, tapped("entered.ring"), tapped("left.ring"), drops, raw.qdisc())
    back = tapped("back.ring", back=True) if (raw.folder / "back.ring").is_file() else None
    return measured(raw, config, traffic, [queue], back, samples_of(raw, config))


_NONE: Longs = np.zeros(0, np.int64)
_NO_FRAMES = Frames(_NONE, _NONE, np.zeros((0, 96), np.uint8), _NONE, _NONE)
