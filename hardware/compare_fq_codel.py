"""fq_codel.sv and the native FQ-CoDel on the same packets: when each leaves, marked, or is dropped.

    python hardware/compare_fq_codel.py [MILLIONS] [RUN/AQM ...]

Random packets, course after course until there are so many (10 million if not said): few flows and
many, light load and heavy, all sizes, short limits and long ones, room wanted now and then; and the
arrivals and departures of recorded runs. What becomes of each packet, and when, has to be the same
as with the native FQ-CoDel with the control law that control_law.sv states. Verilator has to be
there as for `sojourn run`.
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from sojourn import _core
from sojourn.model.hardware.modules import added, shipped

STEPS = 50_000
"""Of a random course: packets that come."""

PUT, PUT_CAPABLE, TAKE, SHED = range(4)
SENT, MARKED, DROPPED, TAIL = range(4)
COLUMNS = {"time": np.uint64, "step": np.uint8, "size": np.uint32, "flow": np.uint32}

Steps = dict[str, np.ndarray]


@dataclass(frozen=True)
class Course:
    """What is done with a queue, and what its discipline is told."""

    name: str
    steps: Steps
    parameters: dict[str, int] = field(default_factory=dict)


def in_order(*parts: Steps) -> Steps:
    """Steps by time; of those at one time, by their place here."""
    joined = {name: np.concatenate([part[name] for part in parts]) for name in COLUMNS}
    order = np.argsort(joined["time"], kind="stable")
    return {name: joined[name][order].astype(kind) for name, kind in COLUMNS.items()}


def steps(times: np.ndarray, step: np.ndarray | int, size=0, flow=0) -> Steps:
    """Steps at these times."""
    full = {"time": times, "step": step, "size": size, "flow": flow}
    return {name: np.broadcast_to(values, times.shape) for name, values in full.items()}


def random_course(seed: int) -> Course:
    """Packets come by chance, at a load that changes, and are taken at a port's rate."""
    rng = np.random.default_rng(seed)
    flows = int(rng.choice((1, 2, 5, 50, 1000, 5000)))
    slot = int(rng.choice((70, 1_200, 12_000)))  # ns: 64 bytes and full frames at 10 and 1 Gbit/s
    # Load by stretches of a tenth of the course; above 1, the queue grows.
    load = np.repeat(rng.choice((0.3, 0.9, 1.05, 2.0), 10), STEPS // 10)
    come = np.cumsum(rng.exponential(slot, STEPS) / load).astype(np.uint64)
    end = int(come[-1]) * 5 // 4
    small = rng.integers(60, 400, STEPS)
    size = np.where(rng.random(STEPS) < 0.4, rng.choice((60, 1514, 9000), STEPS), small)
    # A few flows have most of the packets; half of the flows know ECN.
    flow = (flows * rng.random(STEPS) ** rng.choice((1, 3))).astype(np.uint32)
    taken = np.arange(0, end, slot, dtype=np.uint64)
    taken = taken[rng.random(len(taken)) < 0.98]
    wanted = rng.integers(0, end, int(rng.choice((0, 20)))).astype(np.uint64)
    parameters = {
        "target": int(rng.choice((5_000, 50_000, 5_000_000))),
        "limit": int(rng.choice((4, 50, 1_000, 10_240, 65_535))),
        "quantum": int(rng.choice((256, 1514, 9_014))),
        "ecn": int(rng.integers(2)),
        "seed": seed,
    }
    parameters["interval"] = 20 * parameters["target"]
    return Course(
        f"course {seed}",
        in_order(steps(come, flow % 2, size, flow), steps(taken, TAKE), steps(wanted, SHED)),
        parameters,
    )


def recorded_course(folder: str) -> Course:
    """The arrivals of a run, and the times at which packets left its queue."""
    rows = pq.read_table(Path(folder) / "packets.parquet")
    came = rows["verdict"].to_numpy() != "ingress"
    sent = np.isin(rows["verdict"].to_numpy(), ("sent", "mark"))
    come, left = (rows[name].to_numpy().astype(np.uint64) for name in ("enqueued", "dequeued"))
    size, flow = (rows[name].to_numpy().astype(np.uint32) for name in ("size", "flow"))
    put = steps(come[came], PUT, size[came], flow[came])
    return Course(folder, in_order(put, steps(left[sent], TAKE)))


def courses(recorded: list[str]) -> Iterator[Course]:
    """All of them, without an end."""
    yield from map(recorded_course, recorded)
    yield from map(random_course, count(1))


def fates(name: str, course: Course) -> tuple[np.ndarray, dict[str, int], float]:
    """What became of the packets, a row for each: packet, fate, step; counters; seconds."""
    queue = _core.QueueReplay(json.dumps({"name": name} | course.parameters))
    given = {column: values.tobytes() for column, values in course.steps.items()}
    begin = time.perf_counter()
    found = queue.carry_out(given)
    took = time.perf_counter() - begin
    if (wrong := json.loads(queue.faults())) != []:
        raise SystemExit(f"{course.name}: {wrong}")
    rows = [np.frombuffer(found["packet"], np.uint32), np.frombuffer(found["fate"], np.uint8)]
    rows.append(np.frombuffer(found["step"], np.uint32))
    return np.stack([row.astype(np.uint32) for row in rows], axis=1), queue.counters(), took


def main() -> None:
    millions = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    module = added(shipped()["verilog/fq_codel"]).name
    packets = wrong = questions = cycles = 0
    became = np.zeros(4, np.int64)
    for_room = 0
    asked = 0.0
    for course in courses(sys.argv[2:]):
        if packets >= millions * 1e6:
            break
        native, of_native, _ = fates("fq_codel@rom", course)
        mine, counters, took = fates(module, course)
        both = min(len(native), len(mine))
        differ = np.flatnonzero((native[:both] != mine[:both]).any(axis=1))
        if len(differ) or len(native) != len(mine):
            first = int(differ[0]) if len(differ) else both
            print(f"{course.name}, {course.of_native}: differs from row {first} on")
            print(f"  native {native[first : first + 3].tolist()}")
            print(f"  module {mine[first : first + 3].tolist()}")
            wrong += 1
        packets += int((course.steps["step"] <= PUT_CAPABLE).sum())
        became += np.bincount(native[:, 1], minlength=4)
        for_room += of_native["drop_overlimit"]
        questions, cycles = questions + counters["questions"], cycles + counters["cycles"]
        asked += took
    print(f"{packets} packets: {became[SENT] + became[MARKED]} sent, {became[MARKED]} with a mark")
    print(f"{became[DROPPED]} dropped, {for_room} of them because there was no room")
    print(f"{wrong} courses in which something differs from the native FQ-CoDel")
    print(f"{cycles / questions:.2f} cycles a question, {packets / asked:,.0f} packets/s")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
