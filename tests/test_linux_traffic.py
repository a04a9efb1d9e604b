"""Every kind of traffic on the Linux kernel, from end to end, in one run for all tests.

Needs Debian's user-mode-linux; skips with one line where it is missing. The guest has the real
clock and may be held up, so what is asserted is what no pause changes: that nothing is faster than
its way allows, that what was drawn is what was sent, and that all files are there.
"""

import json
import tomllib
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import call_sojourn
from sojourn import _core
from sojourn.results.result import Result, read_result
from sojourn.runner import plan_scenario
from sojourn.runtime.arrow_tables import DATAGRAM_SCHEMA, EXCHANGE_SCHEMA
from sojourn.runtime.folder import RunFolder

MS = 1_000_000
CHANGE = 1500 * MS

SCENARIO = """
duration = "3 s"
aqms = ["codel_linux"]

[switch]
rate = "10 Mbit/s"
queue_limit = "100 kB"
schedule = [{ at = "1500 ms", rate = "4 Mbit/s", delay = "10 ms" }]

[[flows]]
rtt = "20 ms"
reverse = true
rate_cap = "2 Mbit/s"
block = "16 KiB"
pacing = "4 Mbit/s"
start_jitter = "20 ms"

[[flows]]
kind = "udp"
rate = "1 Mbit/s"
reverse = true
rtt = "10 ms"

[[flows]]
kind = "udp"
rate = "2 Mbit/s"
on = "50 ms"
off = "100 ms"
spans = "exponential"
rtt = "10 ms"

[[flows]]
kind = "voip"
rtt = "30 ms"

[[flows]]
kind = "requests"
think = "50 ms"
rtt = "20 ms"

[[flows]]
kind = "incast"
count = 3
response = "5 kB"
every = "200 ms"
rtt = "20 ms"
ip_version = 6

[[flows]]
kind = "transfers"
load = "1 Mbit/s"
max_size = "100 kB"
rtt = "40 ms"

[[flows]]
kind = "transfers"
load = "500 kbit/s"
max_size = "20 kB"
rtt = "20 ms"
reverse = true
ip_version = 6
congestion_control = "newreno"
"""
UPLOAD, UDP_BACK, BURSTS, VOICE, ASKS, INCAST, TRANSFERS, TRANSFERS_BACK = 0, 1, 2, 3, 4, 5, 8, 9


@pytest.fixture(scope="module")
def all_kinds(uml: None, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The run."""
    folder = tmp_path_factory.mktemp("traffic")
    (folder / "all.toml").write_text(SCENARIO)
    done = call_sojourn(
        folder, "run", "all.toml", "--on", "linux", "--accept-disturbed", "--attempts", "1",
        "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Completion times" in done.stdout
    assert "1 calls" in done.stdout
    return read_result(RunFolder.open(folder / "out"))


def table(result: Result, name: str) -> pa.Table:
    return pq.read_table(result.path / "codel_linux" / name)


def columns(rows: pa.Table, source: int) -> list[npt.NDArray[np.int64]]:
    """Number, size, beginning and end of a source's exchanges."""
    mine = rows.filter(pc.equal(rows["source"], source))
    names = ("number", "size", "started", "finished")
    return [mine[name].to_numpy().astype(np.int64) for name in names]


def drawn(flow: int) -> dict[str, Any]:
    """What the engine draws for a flow."""
    config = plan_scenario(tomllib.loads(SCENARIO)).runs[0].config
    found: dict[str, Any] = json.loads(_core.workload(json.dumps(config)))[flow]
    return found


def counted(result: Result, flow: int) -> dict[str, int]:
    found: dict[str, int] = result.aqms["codel_linux"].findings.counters["flows"][flow]
    return found


def test_exchanges_and_voices_have_the_files_of_a_simulated_run(all_kinds: Result) -> None:
    assert table(all_kinds, "exchanges.parquet").schema.equals(EXCHANGE_SCHEMA)
    assert table(all_kinds, "datagrams.parquet").schema.equals(DATAGRAM_SCHEMA)
    aqm = all_kinds.aqms["codel_linux"]
    assert [times.what.split()[0] for times in aqm.times if not times.what.startswith(" ")] == [
        "requests", "incast", "transfers", "transfers",
    ]  # fmt: skip
    assert len(aqm.voices) == 1


def test_transfers_are_those_that_are_drawn_and_take_the_way_that_they_have(
    all_kinds: Result,
) -> None:
    rows = table(all_kinds, "exchanges.parquet")
    for source, rtt in ((TRANSFERS, 40 * MS), (TRANSFERS_BACK, 20 * MS)):
        _, size, started, finished = columns(rows, source)
        order = np.argsort(started, kind="stable")
        transfers = drawn(source)["transfers"]
        # A host that is held up begins late, and at the end perhaps not any more. How much later
        # is the machine's affair; that it begins is not.
        assert len(order) > len(transfers) // 2
        assert size[order].tolist() == [size for _, size in transfers[: len(order)]]
        late = started[order] - np.array([at for at, _ in transfers[: len(order)]])
        assert (late >= 0).all()
        took = (finished - started)[finished > 0]
        assert len(took) > 10
        # There and back for the connection, and once more for the data.
        assert (took >= 1.5 * rtt).all()
        assert counted(all_kinds, source)["delivered"] >= size[finished > 0].sum()
    # Each has rows of its own at the bottleneck, be it of its acknowledgements.
    flows = set(all_kinds.aqms["codel_linux"].packets["flow"].to_pylist())
    assert set(rows.filter(pc.greater(rows["finished"], 0))["flow"].to_pylist()) <= flows


def test_answers_take_a_round_trip_and_wait_for_each_other(all_kinds: Result) -> None:
    rows = table(all_kinds, "exchanges.parquet")
    for source in (ASKS, INCAST, INCAST + 1, INCAST + 2):
        number, size, started, finished = columns(rows, source)
        order = np.argsort(started)
        done = finished[order] > 0
        assert done[:-1].all(), "only the last may be unanswered"
        assert (np.diff(number[order]) >= 1).all()
        assert (started[order][1:] >= finished[order][:-1]).all()
        assert ((finished - started)[finished > 0] >= 20 * MS).all()
        assert set(size.tolist()) == {20_000 if source == ASKS else 5_000}
        assert len(number) >= 3
        if source != ASKS:
            # At its instants, or later if something was held up.
            assert (started - (number + 1) * 200 * MS >= 0).all()


def test_a_voices_datagrams_take_at_least_half_a_round_trip(all_kinds: Result) -> None:
    rows = table(all_kinds, "datagrams.parquet")
    number, sent, received = (rows[name].to_numpy() for name in ("number", "sent", "received"))
    assert set(rows["flow"].to_pylist()) == {VOICE}
    assert (np.diff(number.astype(np.int64)) > 0).all()
    assert (np.diff(received) >= 0).all()
    behind = np.where(sent > CHANGE, 25 * MS, 15 * MS)
    assert (received - sent >= behind).all()
    # Never before its time, each 20 ms; who was held up catches up.
    assert (sent >= drawn(VOICE)["start"] + number.astype(np.int64) * 20 * MS).all()
    assert 100 <= counted(all_kinds, VOICE)["segments"] <= 150


def test_a_reverse_flow_sends_only_its_acknowledgements_through_the_queue(
    all_kinds: Result,
) -> None:
    rows = all_kinds.aqms["codel_linux"].packets
    sizes = rows.filter(pc.equal(rows["flow"], UPLOAD))["size"].to_numpy()
    assert len(sizes) > 20
    assert sizes.max() < 120
    assert UDP_BACK not in rows["flow"].to_pylist()
    upload, datagrams = counted(all_kinds, UPLOAD), counted(all_kinds, UDP_BACK)
    # Beyond its cap it has one block of 128 KiB.
    assert 100_000 < upload["delivered"] < 3 * 2_000_000 / 8 + 2 * 131_072
    assert 0.5 * 375_000 < datagrams["delivered"] < 375_000
    flows = all_kinds.aqms["codel_linux"].flows
    samples = flows.filter(pc.equal(flows["flow"], UPLOAD))
    assert pc.max(samples["delivered"]).as_py() == upload["delivered"]
    assert pc.min(samples.filter(pc.greater(samples["srtt"], 0))["srtt"]).as_py() >= 20 * MS


def test_bursts_are_sent_as_they_are_drawn(all_kinds: Result) -> None:
    rows = all_kinds.aqms["codel_linux"].packets
    # 2 Mbit/s for a third of the time, in bursts of another length each.
    assert 100 < counted(all_kinds, BURSTS)["segments"] < 350
    assert set(rows.filter(pc.equal(rows["flow"], BURSTS))["size"].to_pylist()) == {1514}


def test_after_a_change_of_the_rate_nothing_leaves_faster(all_kinds: Result) -> None:
    rows = all_kinds.aqms["codel_linux"].packets
    went = pc.equal(rows["verdict"].cast("string"), "sent")
    dequeued, size = (rows.filter(went)[name].to_numpy() for name in ("dequeued", "size"))
    # Half a second for a guest that was held up when the change was due.
    late = dequeued > CHANGE + 500 * MS
    counters = all_kinds.aqms["codel_linux"].findings.counters
    bits = ((size[late] + counters["shaper_overhead"]) * 8).cumsum()
    span = (dequeued[late] - dequeued[late][0]) / 1e9
    assert (bits <= span * 4_010_000 + (counters["shaper_burst"] + 2 * 1538) * 8).all()
