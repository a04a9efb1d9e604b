"""A live run's figures: the switches' own rows, and the hosts' logs.

Depends on how the Linux backend reads its hosts. The switches record when each packet came and
left, so no captures are matched. A packet that passes several switches is identified by the bytes
that none of them changes.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from sojourn.backends.linux.addresses import FIRST_PORT, base
from sojourn.backends.linux.frames import NOBODY, Frames, Longs, together
from sojourn.backends.linux.graph import Direction, Network
from sojourn.backends.linux.groups import has_groups
from sojourn.backends.linux.job import arrived_at
from sojourn.backends.linux.matching import Rows
from sojourn.backends.linux.measurements import Measured, Queue, Raw, measured, samples_of
from sojourn.backends.linux.rows import same_numbers, samples_by_ports
from sojourn.backends.linux.traffic import Workload
from sojourn.backends.live.job import switch_folder
from sojourn.backends.live.links import number
from sojourn.backends.live.switch_run import ENDS, capture_of, rows_of
from sojourn.common.textfile import read_json
from sojourn.runtime.arrow_tables import MARK, SENT, VERDICTS
from sojourn.runtime.run_files import COUNTERS


def counters_of(folder: Path) -> dict[str, Any]:
    """A switch's counters, and its report on interfaces and departures."""
    counters: dict[str, Any] = read_json(folder / COUNTERS)
    return counters


@dataclass(frozen=True)
class SwitchFiles:
    """The files of the switches of a run in its job's folder."""

    folder: Path
    config: dict[str, Any]
    counters: dict[str, dict[str, Any]]
    """By the switch's name, in the scenario's order."""

    @property
    def network(self) -> Network:
        """The run's."""
        return Network(self.config["network"])

    def of_switch(self, switch: str) -> Path:
        """The folder of that switch."""
        return self.folder / switch_folder(list(self.counters).index(switch))

    def capture(self, way: Direction) -> Path:
        """The frames at that port."""
        return self.of_switch(way.near) / capture_of(number(way.port))

    def port(self, way: Direction, of: str) -> dict[str, Any]:
        """The counters of the port at the near end, of its `switch` or of its `live` interface."""
        ports = {port["port"]: port for port in self.counters[way.near][of]["ports"]}
        found: dict[str, Any] = ports[number(way.port)]
        return found


def read_switch_files(folder: Path, config: dict[str, Any]) -> SwitchFiles:
    """Reads the files in a job's folder."""
    switches = config["network"]["switches"]
    counters = {
        switch["name"]: counters_of(folder / switch_folder(place))
        for place, switch in enumerate(switches)
    }
    return SwitchFiles(folder, config, counters)


def with_switches(raw: Raw, left: SwitchFiles, rows: Sequence[Rows]) -> Raw:
    """`raw` with the measured queues, and the way back to the first one, in the form of a kernel's
    qdisc statistics."""
    ways = left.network.measured
    back = left.port(ways[0], "live")
    qdiscs: list[list[dict[str, Any]]] = []
    for own in rows:
        sent = int(np.isin(own.verdict, (SENT, MARK)).sum())
        drops = len(own.flow) - sent
        qdiscs.append([{"handle": "10:", "kind": "live", "packets": sent, "drops": drops}])
    came = {"packets": back["received"], "bytes": back["received_bytes"]}
    qdiscs.append([came | {"drops": _drops_behind(left, ways[0])}])
    return Raw(raw.folder, raw.done | {"qdiscs": qdiscs})


def _drops_behind(left: SwitchFiles, way: Direction) -> int:
    """Packets that a switch at the far end dropped in front of the way back."""
    if way.far not in left.network.switches:
        return 0
    (back,) = (w for w in left.network.directions if (w.near, w.port) == (way.far, way.peer))
    kinds = ("tail_drops", "discipline_drops", "egress_drops")
    queues = left.port(back, "switch")["queues"]
    return sum(int(queue[kind]["packets"]) for queue in queues for kind in kinds)


def read_rows(raw: Raw, left: SwitchFiles, workload: Workload) -> list[Rows]:
    """The rows of each measured queue, of the scenario's flows, within the run."""
    rows = [_rows(raw, left, way, workload) for way in left.network.measured]
    if has_groups(left.config):
        return rows
    numbers = same_numbers([own.packet for own in rows], [own.enqueued for own in rows])
    return [replace(own, packet=same) for own, same in zip(rows, numbers, strict=True)]


def _rows(raw: Raw, left: SwitchFiles, way: Direction, workload: Workload) -> Rows:
    place, counters, config = left.of_switch(way.near), left.counters[way.near], left.config
    ends = json.loads((place / ENDS).read_text(encoding="utf-8"))
    table = pq.read_table(place / rows_of(number(way.port)))
    # Number 0 is what is not IP, and behind the last one all that came later.
    numbers = np.array([NOBODY, *(_number(end, config, workload) for end in ends), NOBODY])
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


def _number(end: list[Any], config: dict[str, Any], workload: Workload) -> int:
    """The scenario's number of a flow: between groups by its host behind the bottleneck, in a
    network by the port of who opened it, which is the higher one."""
    if has_groups(config):
        to = ip_address(end[1])
        place = int(to) - base(to.version, behind=True)
        known = to.version in {flow["ip_version"] for flow in config["flows"]}
    else:
        place, known = max(end[3], end[4]) - FIRST_PORT, True
    known = known and 0 <= place < len(workload.numbers)
    return int(workload.numbers[place]) if known else NOBODY


def measure(raw: Raw, rows: Sequence[Rows], config: dict[str, Any], workload: Workload) -> Measured:
    """The run whose switches left those rows."""
    groups = has_groups(config)

    def tapped(name: str, *, back: bool = False) -> Frames | None:
        there = (raw.folder / name).is_file()
        return raw.frames(name, workload, back=back, by_ports=not groups) if there else None

    entered, left = (tapped(name) or _NO_FRAMES for name in ("entered.ring", "left.ring"))
    queues = []
    for place, own in enumerate(rows):
        drops = int((~np.isin(own.verdict, (SENT, MARK))).sum())
        queues.append(Queue(own, entered, left, drops, raw.qdisc(place)))
    if groups:
        arrived, samples = tapped("back.ring", back=True), samples_of(raw, config)
    else:
        hosts = [tapped(arrived_at(host)) for host in Network(config["network"]).hosts]
        found = [frames for frames in hosts if frames is not None]
        arrived = together(found) if found else None
        samples = samples_by_ports(raw, config)
    return measured(raw, config, workload, queues, arrived, samples)


_NONE: Longs = np.zeros(0, np.int64)
_NO_FRAMES = Frames(_NONE, _NONE, np.zeros((0, 96), np.uint8), _NONE, _NONE)
