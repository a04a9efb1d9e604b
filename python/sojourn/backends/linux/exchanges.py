"""Transfers, requests and voices of a run, from the logs of the guest's hosts and the captures.

Depends on the logs of both sides (`guest/transfer_log.py`), on captured frames and on the paths.
Must not depend on figures.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sojourn.backends.linux.addresses import BEHIND, host_names, sends_from_behind
from sojourn.backends.linux.frames import Frames
from sojourn.backends.linux.groups import has_groups
from sojourn.backends.linux.path import Longs, path_of
from sojourn.backends.linux.traffic import Workload

_NOTE = np.dtype([("flow", "<u4"), ("number", "<u4"), ("done", "u1"), ("at", "<i8")])
_NUMBER, _RTP_SEQUENCE = (0, 8), (2, 2)
"""Place and bytes of a datagram's number in its payload, and of a voice's sequence number."""

Columns = dict[str, list[int]]


def read_totals(folder: Path, config: dict[str, Any]) -> dict[int, dict[str, int]]:
    """The counts of both sides' hosts for each source of transfers."""
    found: dict[int, dict[str, int]] = {}
    for side in host_names(config):
        path = folder / f"totals-{side}.json"
        if path.is_file():
            for flow, counts in json.loads(path.read_text()).items():
                found.setdefault(int(flow), {}).update(counts)
    return found


def read_exchanges(folder: Path, config: dict[str, Any], workload: Workload) -> Columns:
    """Columns of `exchanges.parquet`: those that were complete first, in the order of time."""
    notes = {side: _notes(folder / f"exchanges-{side}.bin") for side in host_names(config)}
    rows = [
        row
        for source, flow in enumerate(config["flows"])
        if flow["kind"] in ("transfers", "requests")
        for row in _of_source(source, flow, config, notes, workload)
    ]
    rows.sort(key=lambda row: (row[5] == 0, row[5]))
    names = ("flow", "source", "number", "size", "started", "finished")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _notes(path: Path) -> Any:
    return np.fromfile(path, _NOTE) if path.is_file() else np.zeros(0, _NOTE)


def _of_source(
    source: int,
    flow: dict[str, Any],
    config: dict[str, Any],
    notes: dict[str, Any],
    workload: Workload,
) -> Iterator[tuple[int, ...]]:
    """Flow, source, number, size, beginning and end of each exchange of a configured flow."""
    path, duration = path_of(flow, config), config["duration"]
    times: tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]] = ({}, {})
    for side, everybodys in notes.items():
        mine = everybodys[workload.sources[everybodys["flow"]] == source]
        # In a network, where all clocks are true, that has no effect.
        at = path.true(mine["at"].astype(np.int64), behind=side == BEHIND)
        for who, number, done, instant in zip(
            mine["flow"].tolist(), mine["number"].tolist(), mine["done"], at.tolist(), strict=True
        ):
            times[done][who, number] = instant
    begun, done = times
    for (who, number), started in begun.items():
        if started > duration:
            continue
        finished = done.get((who, number), 0)
        if finished > duration:
            finished = 0
        size = _size(source, who, flow, workload)
        yield int(workload.numbers[who]), source, number, size, started, finished


def _size(source: int, who: int, flow: dict[str, Any], workload: Workload) -> int:
    if flow["kind"] == "requests":
        return int(flow["response"])
    place = who - workload.crowds[source][0]
    return int(workload.flows[source]["transfers"][place][1])


def read_datagrams(
    config: dict[str, Any],
    workload: Workload,
    captured: tuple[Frames, Frames, Frames | None],
    origin: int,
) -> Columns:
    """Columns of `datagrams.parquet`.

    A voice's datagram was sent when it came to the bottleneck and arrives as long after it has left
    as its way takes; one from behind the bottleneck was sent when it should be.
    """
    entered, left, back = captured
    found: list[tuple[int, int, int, int]] = []
    for number, flow in enumerate(config["flows"]):
        if flow["kind"] != "voip":
            continue
        # In a network a datagram is looked for at the host that it is for.
        behind = sends_from_behind(flow) or not has_groups(config)
        arrived = back if behind and back is not None else left
        numbers, when = _voice(arrived, number, origin)
        path = path_of(flow, config)
        received = np.maximum.accumulate(path.true(when, behind=not behind))
        start = workload.flows[number]["start"]
        sent = start + numbers * flow["interval"]
        if not behind:
            when_sent = _when_sent(numbers, *_voice(entered, number, origin))
            sent = path.true(when_sent, behind=False)
        kept = received <= config["duration"]
        columns = (numbers[kept], sent[kept], received[kept])
        found += [
            (number, *row) for row in zip(*(column.tolist() for column in columns), strict=True)
        ]
    found.sort(key=lambda row: row[3])
    names = ("flow", "number", "sent", "received")
    return {name: [row[place] for row in found] for place, name in enumerate(names)}


def _voice(frames: Frames, flow: int, origin: int) -> tuple[Longs, Longs]:
    """Numbers and times of a voice's datagrams; their order is kept, so numbers only grow."""
    mine = frames.flow == flow
    sequence = frames.payload(*_RTP_SEQUENCE)[mine]
    steps = np.diff(sequence, prepend=0) % (1 << 16)
    return np.cumsum(steps), frames.time[mine] - origin


def _when_sent(numbers: Longs, all_numbers: Longs, all_times: Longs) -> Longs:
    times = np.zeros(int(all_numbers.max(initial=0)) + 1, np.int64)
    times[all_numbers] = all_times
    return times[numbers]


def datagrams_back(back: Frames, flow: int, *, voice: bool) -> tuple[int, int]:
    """Datagrams that came back from behind the bottleneck: how many were sent, and their bytes."""
    mine = back.flow == flow
    if not mine.any():
        return 0, 0
    if voice:
        sent = int(_voice(back, flow, 0)[0].max()) + 1
    else:
        sent = int(back.payload(*_NUMBER)[mine].max()) + 1
    return sent, int(back.size[mine].sum())
