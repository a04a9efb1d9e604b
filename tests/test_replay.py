"""`sojourn replay`: the same packets for several programs, and the comparison of their decisions.

The equivalence that `docs/equivalence.md` shows is held here as assertions, on shorter traces.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from conftest import Finished, Sojourn
from sojourn.errors import ScenarioError
from sojourn.tools.replay import (
    RFC_8289,
    Parameters,
    RecordedTrace,
    Study,
    SyntheticTrace,
    subjects,
)
from sojourn.tools.replay.compare import NEAR, SAME, compare, pair
from sojourn.tools.replay.decisions import Decisions, decide
from sojourn.tools.replay.latency_cost import race
from sojourn.tools.replay.study import TraceOutcome

MS = 1_000_000
FAST = Parameters(target=50_000, interval=1 * MS)
"""CoDel for a data centre: a hundredth of the RFC's, so that short traces have many drops."""

PROFILES = ("wander", "bursts", "gaps", "rates", "flicker")


def outcome(
    trace: SyntheticTrace, *aqms: str, latencies: tuple[int, ...] = (1000,)
) -> TraceOutcome:
    """What `aqms` do with `trace`."""
    found = subjects(aqms, parameters=trace.parameters)
    [result] = Study([trace], found, latencies, trace.parameters).outcomes()
    return result


@pytest.mark.parametrize(
    ("rate", "milliseconds", "parameters", "drops"),
    [
        (10**8, 12_000, RFC_8289, 500),
        (10**9, 2_500, RFC_8289, 100),
        (10**10, 300, Parameters(500_000, 10 * MS), 100),
        (10**11, 30, FAST, 100),
    ],
    ids=["100 Mbit/s", "1 Gbit/s", "10 Gbit/s", "100 Gbit/s"],
)
def test_codel_exact_drops_the_very_packets_that_rfc_8289_drops(
    rate: int, milliseconds: int, parameters: Parameters, drops: int
) -> None:
    found = 0
    for profile in PROFILES:
        trace = SyntheticTrace(profile, rate, milliseconds * MS, parameters)
        [exact] = outcome(trace, "codel_exact").outcomes
        figures = exact.comparison
        found += figures.reference_drops
        if figures.reference_drops:
            assert figures.same_share is not None and figures.same_share >= SAME, profile
            assert figures.near_share == NEAR, profile
        assert figures.extra == 0, profile
    assert found >= drops


@pytest.mark.parametrize(
    ("profile", "rate", "seconds"),
    [("flood", 2 * 10**6, 30), ("flood", 10**7, 40), ("slowflood", 2 * 10**7, 30)],
)
def test_codel_exact_drops_the_very_packets_of_a_flood_for_as_long_as_it_lasts(
    profile: str, rate: int, seconds: int
) -> None:
    # drop_next is 2^31 ns behind the clock after 9 s at 2 Mbit/s, after 27 s at 10 Mbit/s.
    [exact] = outcome(SyntheticTrace(profile, rate, seconds * 1_000 * MS), "codel_exact").outcomes
    figures = exact.comparison
    assert figures.reference_drops > 1_000
    assert figures.same == figures.reference_drops
    assert (figures.missed, figures.extra) == (0, 0)


@pytest.mark.parametrize("profile", ["submtu", "aroundmtu"])
def test_of_small_packets_codel_exact_takes_those_behind_for_as_long_as_the_one_that_leaves(
    profile: str,
) -> None:
    trace = SyntheticTrace(profile, 10**6, 20_000 * MS)
    rows = trace.read()
    [subject] = subjects(["codel_exact"])
    exact = decide(subject.config, rows, label="codel_exact", latency=1_000)
    law = {"kind": "native", "name": "codel"}
    by_bytes = decide(law, rows, label="codel")
    # As many packets of its own length as one full frame has room for, in cells; 13 bytes of
    # bridge header and check sequence lie in the buffer with each.
    own = -(-(rows.size + 13) // 80)
    one = rows.cells <= np.maximum(20, 1514 // rows.size * own)
    guessed = decide(law, replace(rows, backlog=np.where(one, 0, 1_000_000)), label="codel")
    assert exact is not None and by_bytes is not None and guessed is not None
    assert np.array_equal(exact.dropped, guessed.dropped), "it differs in nothing else"
    if profile == "submtu":
        assert not by_bytes.dropped.any() and not exact.dropped.any()
        assert ((rows.cells > 20) & (rows.sojourn >= RFC_8289.target)).mean() > 0.7
    else:
        assert by_bytes.dropped.sum() > exact.dropped.sum() > 100


@pytest.mark.parametrize(
    "aqm",
    ["codel_exact", "codel_act", "v1model/codel", "v1model/codel_act", "v1model/fq_codel"],
)
@pytest.mark.parametrize("wrap", [2**31 * 1_000, 2**32 * 1_000, 2**48, 2**48 * 1_000], ids=hex)
def test_decisions_are_the_same_where_a_clock_starts_again(aqm: str, wrap: int) -> None:
    # 32 bits of microseconds and their sign (bmv2), 48 bits of nanoseconds (Tofino) and of
    # microseconds, and with these 32 bits of nanoseconds, start again a second after the trace
    # begins.
    rows = SyntheticTrace("bursts", 10**8, 3_000 * MS, packet_size=1500).read()
    rows = replace(rows, time=rows.time // 1_000 * 1_000, sojourn=rows.sojourn // 1_000 * 1_000)
    [subject] = subjects([aqm])

    def dropped(offset: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        moved = replace(rows, time=rows.time - rows.time[0] + offset // 1_000 * 1_000)
        decided = decide(subject.config, moved, label=aqm, latency=1_000)
        assert decided is not None
        return decided.dropped

    expected = dropped(3_600 * 1_000 * MS)
    assert expected.sum() > 50
    assert np.array_equal(dropped(wrap - 1_000 * MS), expected)


def test_drops_that_are_due_together_after_a_pause_are_late_by_a_microsecond_at_most() -> None:
    # The copies that correct drop_next are still under way when the next packets come.
    trace = SyntheticTrace("pauses", 10**11, 30 * MS, FAST)
    [exact] = outcome(trace, "codel_exact").outcomes
    figures = exact.comparison
    assert figures.reference_drops > 100
    assert figures.same_share is not None and figures.same_share >= 0.98
    assert figures.near_share == NEAR
    assert (figures.missed, figures.extra) == (0, 0)
    assert figures.errors.min() == 0, "late, never early"


def test_the_published_programs_drop_other_packets() -> None:
    trace = SyntheticTrace("wander", 10**8, 10_000 * MS)
    act, p4_codel = outcome(trace, "codel_act", "p4_codel").outcomes
    for each in (act, p4_codel):
        assert each.comparison.reference_drops > 100
        assert each.comparison.same < 0.2 * each.comparison.reference_drops
        assert each.comparison.drops > 100


def test_a_replay_of_a_run_with_codel_drops_the_same_packets(finished: Finished) -> None:
    # The native discipline decided about the packets of its own queue: asked about them again, one
    # by one, the law must say the same, which it can only if each backlog is worked out rightly.
    path = finished.folder / "codel" / "packets.parquet"
    rows = RecordedTrace(path).read()
    law = decide({"kind": "native", "name": "codel"}, rows, label="codel")
    assert law is not None
    recorded = pq.read_table(path)
    verdict = np.array(recorded["verdict"].cast("string").to_pylist())
    dropped = (verdict == "aqm")[verdict != "tail"][: len(rows)]
    assert len(rows) > 0.99 * recorded.num_rows
    assert dropped.sum() > 10
    assert np.array_equal(law.dropped, dropped)


def test_codel_act_drops_packets_for_want_of_a_copy_and_none_if_copies_take_no_time() -> None:
    # After a quiet INTERVAL the time of the next drop has long passed, and until the copy of the
    # first packet above TARGET is back, every packet behind it is dropped.
    trace = SyntheticTrace("bursts", 10**11, 12 * MS, FAST)
    found = outcome(trace, "codel_act", latencies=(0, 1_000, 10_000)).outcomes
    none, short, long = (each.race for each in found)
    assert none is not None and short is not None and long is not None
    assert none.copies > 5
    assert (none.unsynchronised, none.wrong, none.missed) == (0, 0, 0)
    assert 0 < short.unsynchronised < long.unsynchronised
    assert short.wrong <= short.unsynchronised
    assert 0 < long.wrong_at_once <= long.unsynchronised


def test_latency_cost_counts_drops_of_only_one_of_two_runs() -> None:
    def decisions(dropped: list[int], unsynchronised: list[int]) -> Decisions:
        return Decisions(np.array(dropped, bool), np.array(unsynchronised, bool), copies=3)

    delayed = decisions([1, 0, 1, 1, 0, 0], [0, 1, 1, 0, 0, 1])
    immediate = decisions([1, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0])
    found = race(500, delayed, immediate)
    assert (found.packets, found.unsynchronised, found.drops) == (6, 3, 3)
    assert (found.wrong, found.wrong_at_once) == (2, 1)
    assert (found.missed, found.missed_at_once) == (2, 2)


def test_drops_are_partners_if_each_is_the_nearest_to_the_other() -> None:
    def longs(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(values, np.int64)

    # 95 and 100: partners. 210 is nearer to 200 than 240 is. 1000 has nobody else than 240.
    assert pair(longs(100, 200, 1000), longs(95, 210, 240)).tolist() == [-5, 10]
    assert pair(longs(), longs(1)).tolist() == []
    time = longs(10, 20, 30, 40, 2_000)
    reference = np.array([1, 0, 1, 0, 0], bool)
    other = np.array([1, 0, 0, 1, 1], bool)
    found = compare(time, reference, other)
    assert (found.same, found.near, found.missed, found.extra) == (1, 2, 0, 1)
    assert found.errors.tolist() == [0, 10]
    assert found.equal == pytest.approx(2 / 5)


def test_replay_prints_a_line_an_aqm_and_writes_decisions_figures_and_pictures(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    done = sojourn(
        "replay", "rates", "--rate", "100 Mbit/s", "--duration", "2 s", "--aqm", "codel_exact",
        "--aqm", "p4_codel", "--recirculation-latency", "0 ns", "--recirculation-latency", "1 ms",
        "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    assert sum(line.lstrip().startswith("codel_exact") for line in lines) == 4
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"replay.json", "tables.md", "equivalence.png", "race.png", "decisions"}
    figures = json.loads((tmp_path / "out" / "replay.json").read_text())
    [trace] = figures["traces"]
    rows = pq.read_table(tmp_path / "out" / "decisions" / "rates-100-Mbit-s.parquet")
    assert rows.num_rows == trace["packets"]
    exact = trace["outcomes"][0]
    assert (exact["aqm"], exact["recirculation_latency"]) == ("codel_exact", 0)
    assert rows["codel_exact, 0 ns"].to_pylist().count(True) == exact["drops"]
    assert rows["codel"].to_pylist().count(True) == exact["reference_drops"]


def test_a_run_can_be_replayed_by_its_folder(sojourn: Sojourn, finished: Finished) -> None:
    done = sojourn("replay", finished.folder, "--aqm", "codel_exact", "--json", "--out", "out")
    assert done.returncode == 0, done.stderr
    traces = json.loads(done.stdout)["traces"]
    assert [trace["trace"] for trace in traces] == ["out/codel", "out/fifo"]
    for trace in traces:
        [exact] = trace["outcomes"]
        assert exact["same_packet_share"] >= SAME
        assert exact["within_1_us_share"] == NEAR


def two_queues(path: Path) -> Path:
    """Rows of a port with two queues: number 3 stands at 20 ms, number 1 is next to empty."""
    packets = 1_000
    time = np.repeat(np.arange(packets) * MS, 2) + 10**9
    queue = np.tile(np.array([3, 1], np.uint8), packets)
    sojourn = np.where(queue == 3, 20 * MS, 1_000)
    rows = {
        "enqueued": time - sojourn,
        "dequeued": time,
        "size": np.full(2 * packets, 1_514, np.uint32),
        "verdict": ["sent"] * (2 * packets),
        "queue": queue,
    }
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table(rows), path)
    return path


def test_rows_of_several_queues_are_several_traces(sojourn: Sojourn, tmp_path: Path) -> None:
    # In one trace the packets of the empty queue would end each drop state at once.
    path = two_queues(tmp_path / "run" / "mine" / "packets.parquet")
    done = sojourn("replay", path, "--aqm", "codel_exact", "--json", "--out", "out")
    assert done.returncode == 0, done.stderr
    empty, full = json.loads(done.stdout)["traces"]
    assert [empty["trace"], full["trace"]] == ["run/mine queue 1", "run/mine queue 3"]
    assert empty["outcomes"][0]["drops"] == empty["outcomes"][0]["reference_drops"] == 0
    assert full["outcomes"][0]["drops"] == full["outcomes"][0]["reference_drops"] > 10
    with pytest.raises(ScenarioError, match=r"2 queues of the port, 1, 3"):
        RecordedTrace(path).read()


def one_queue(path: Path, packets: int) -> Path:
    """Rows of a port that is never idle, every packet waiting for 20 ms."""
    time = np.arange(packets) * MS + 10**9
    rows = {
        "enqueued": time - 20 * MS,
        "dequeued": time,
        "size": np.full(packets, 1_514, np.uint32),
        "verdict": ["sent"] * packets,
        "queue": np.zeros(packets, np.uint8),
    }
    path.parent.mkdir(parents=True)
    pq.write_table(pa.table(rows), path)
    return path


def test_traces_whose_folders_have_the_same_names_are_distinguished(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    lengths = {"monday/run/codel": 300, "tuesday/run/codel": 400}
    paths = [
        one_queue(tmp_path / name / "packets.parquet", packets) for name, packets in lengths.items()
    ]
    # The first one twice: it is still one trace.
    done = sojourn("replay", *paths, paths[0], "--aqm", "codel_exact", "--json", "--out", "out")
    assert done.returncode == 0, done.stderr
    traces = json.loads(done.stdout)["traces"]
    assert [trace["trace"] for trace in traces] == list(lengths)
    rows = [pq.read_table(tmp_path / "out" / trace["decisions"]).num_rows for trace in traces]
    assert rows == [trace["packets"] for trace in traces]
    assert len(set(rows)) == 2


@pytest.fixture
def replayed(sojourn: Sojourn, tmp_path: Path) -> Callable[..., Any]:
    """Replays a short trace into `out`."""
    path = one_queue(tmp_path / "run" / "mine" / "packets.parquet", 300)
    return lambda: sojourn("replay", path, "--aqm", "codel_exact", "--out", "out")


def test_a_replay_removes_files_of_an_earlier_replay_only(
    replayed: Callable[..., Any], tmp_path: Path
) -> None:
    assert replayed().returncode == 0
    out = tmp_path / "out"
    mine = [out / "my.png", out / "decisions" / "mine.parquet", out / "notes.md"]
    for path in mine:
        path.write_text("mine")
    described = json.loads((out / "replay.json").read_text())
    earlier = out / "decisions" / "earlier.parquet"
    earlier.write_text("")
    described["files"].append("decisions/earlier.parquet")
    (out / "replay.json").write_text(json.dumps(described))
    again = replayed()
    assert again.returncode == 0, again.stderr
    assert [path.read_text() for path in mine] == ["mine"] * 3
    assert not earlier.exists()


def test_a_replay_follows_no_link_out_of_its_folder(
    replayed: Callable[..., Any], tmp_path: Path
) -> None:
    assert replayed().returncode == 0
    out, victim = tmp_path / "out", tmp_path / "victim"
    victim.mkdir()
    (victim / "thesis.parquet").write_text("precious")
    names = ["tables.md", "equivalence.png", "decisions/run-mine.parquet"]
    for name in names:
        (out / name).unlink()
        (out / name).symlink_to(victim / "thesis.parquet")
    assert replayed().returncode == 0
    assert not any((out / name).is_symlink() for name in names)
    for file in (out / "decisions").iterdir():
        file.unlink()
    (out / "decisions").rmdir()
    (out / "decisions").symlink_to(victim, target_is_directory=True)
    refused = replayed()
    assert refused.returncode == 2
    assert "nothing was touched" in refused.stderr
    assert [(path.name, path.read_text()) for path in victim.iterdir()] == [
        ("thesis.parquet", "precious")
    ]


@pytest.mark.parametrize(
    "files",
    [
        None,
        ["my.png"],
        ["decisions/my.tex"],
        ["../victim"],
        ["/etc/hostname"],
        ["decisions/../../victim"],
        [7],
        "tables.md",
    ],
)
def test_a_replay_s_folder_with_a_foreign_list_of_files_is_left_alone(
    replayed: Callable[..., Any], tmp_path: Path, files: object
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (tmp_path / "victim").write_text("precious")
    text = json.dumps({"traces": []} | ({} if files is None else {"files": files}))
    (out / "replay.json").write_text(text)
    (out / "my.png").write_text("mine")
    refused = replayed()
    assert refused.returncode == 2
    assert "nothing was touched" in refused.stderr
    assert (out / "replay.json").read_text() == text
    assert sorted(path.name for path in out.iterdir()) == ["my.png", "replay.json"]
    assert (tmp_path / "victim").read_text() == "precious"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["wandr"], "did you mean"),
        (["wander", "--aqm", "pie"], "native discipline"),
        (["wander", "--rate", "1 Gb"], "--rate '1 Gb'"),
        (["wander", "--packet-size", "10000"], "packet_size = 10000"),
        (["wander", "--recirculation-latency", "1"], "the unit is missing"),
    ],
)
def test_a_trace_that_cannot_be_replayed_ends_with_status_2(
    sojourn: Sojourn, arguments: list[str], message: str
) -> None:
    done = sojourn("replay", *arguments, "--out", "out")
    assert done.returncode == 2
    assert message in done.stderr


@pytest.mark.parametrize("program", ["pie", "pi2", "red"])
def test_a_program_that_decides_before_the_queue_is_refused_with_a_message(
    sojourn: Sojourn, program: str
) -> None:
    done = sojourn("replay", "flood", "--duration", "5 s", "--aqm", f"v1model/{program}")
    assert done.returncode == 2
    message = " ".join(done.stderr.split())
    assert "the program decides before the queue" in message
    assert "the program's tables need" not in message


def test_packets_that_a_discipline_or_a_program_dropped_on_arrival_are_not_of_the_trace(
    tmp_path: Path,
) -> None:
    ms = 1_000_000
    verdicts = ["sent", "aqm", "ingress", "tail", "aqm", "sent"]
    rows = {
        "enqueued": pa.array([1 * ms, 2 * ms, 2 * ms, 3 * ms, 2 * ms, 4 * ms], pa.int64()),
        "dequeued": pa.array([2 * ms, 2 * ms, 2 * ms, 3 * ms, 3 * ms, 5 * ms], pa.int64()),
        "size": pa.array([1000] * 6, pa.uint32()),
        "queue": pa.array([0] * 6, pa.uint8()),
        "verdict": pa.array(verdicts).dictionary_encode(),
    }
    pq.write_table(pa.table(rows), tmp_path / "packets.parquet")
    found = RecordedTrace(tmp_path / "packets.parquet").read()
    assert found.time.tolist() == [2 * ms, 3 * ms]
    assert found.packets.tolist() == [1, 0], "nor do they stand behind one that leaves"


def test_a_folder_that_is_not_a_replays_is_left_alone(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    done = sojourn("replay", "wander", "--rate", "100 Mbit/s", "--out", "mine")
    assert done.returncode == 2
    assert "nothing was touched" in done.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_a_program_that_does_not_forward_the_trace_gets_a_message(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    from sojourn.common.resources import programs_folder

    source = (programs_folder() / "tna" / "p4_codel.p4").read_text()
    folder = programs_folder() / "tna"
    (tmp_path / "mine.p4").write_text(source.replace('#include "', f'#include "{folder}/'))
    done = sojourn("replay", "wander", "--rate", "100 Mbit/s", "--aqm", "mine.p4", "--out", "out")
    assert done.returncode == 2
    assert "does not forward packet 0" in done.stderr
