"""Statistics of rows: compared with numpy on the same rows, and computed in bounded memory."""

import json
from pathlib import Path

import numpy as np
import pytest

import sojourn
from sojourn.results import statistics
from sojourn.results.statistics import Findings, read_findings, share_sent
from sojourn.runtime.arrow_tables import PACKET_SCHEMA, VERDICTS, table_from_columns
from sojourn.runtime.row_writer import Ballast, RowWriter
from sojourn.runtime.run_files import COUNTERS, PACKETS

MS = 1_000_000


def findings_of(folder: Path, delay: list[int], verdict: list[str], size: int = 1000) -> Findings:
    count = len(delay)
    enqueued = np.arange(count, dtype=np.uint64) * 10_000
    columns = {
        "packet": np.arange(count, dtype=np.uint64).tobytes(),
        "flow": np.zeros(count, np.uint32).tobytes(),
        "size": np.full(count, size, np.uint32).tobytes(),
        "queue": bytes(count),
        "enqueued": enqueued.tobytes(),
        "dequeued": (enqueued + np.array(delay, np.uint64)).tobytes(),
        "verdict": bytes(VERDICTS.index(name) for name in verdict),
    }
    with RowWriter(folder / PACKETS, "packets", Ballast(folder)) as writer:
        writer.write(table_from_columns(PACKET_SCHEMA, columns))
    counters = {
        "simulated": 1_000 * MS,
        "recirculated_packets": 3,
        "recirculation_drops": 4,
        "recirculated_share": 0.01,
        "mirrored_packets": 8,
        "unsynchronised": {"count": 8, "total": 9_000, "max": 2_000},
        "mirror_drops": 0,
        "flows": [
            {"delivered": 1_000_000, "segments": 700},
            {"delivered": 250_000, "segments": 200},
        ],
        "bottlenecks": [],
    }
    (folder / COUNTERS).write_text(json.dumps(counters))
    return read_findings(folder, target=5 * MS, rate=10_000_000, duration=1_000 * MS)


@pytest.mark.parametrize("kept", [1 << 21, 1_000])
@pytest.mark.parametrize("largest", [1, 200, 70_000, 2**33])
def test_percentiles_are_exact_nearest_ranks_of_few_and_of_many(
    tmp_path: Path, largest: int, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "_KEPT", kept)
    delay = np.random.default_rng(1).integers(0, largest, 100_001, endpoint=True)
    summary = findings_of(tmp_path, delay.tolist(), ["sent"] * len(delay)).summary
    ranked = np.sort(delay)
    assert summary.p5 == ranked[5_000]
    assert summary.p25 == ranked[25_000]
    assert summary.median == ranked[50_000]
    assert summary.p75 == ranked[75_000]
    assert summary.p95 == ranked[95_000]
    assert summary.p99 == ranked[99_000]
    assert summary.max == ranked[-1]
    assert summary.mean == pytest.approx(delay.mean())


def test_tail_drops_have_no_queue_delay_and_aqm_drops_have(tmp_path: Path) -> None:
    summary = findings_of(
        tmp_path, [6 * MS, 0, 8 * MS, 2 * MS], ["aqm", "tail", "mark", "sent"]
    ).summary
    assert (summary.packets, summary.aqm_drops, summary.tail_drops, summary.marks) == (4, 1, 1, 1)
    assert summary.mean == pytest.approx(16 * MS / 3)
    assert summary.above_target == pytest.approx(2 / 3)


def test_packets_dropped_on_arrival_have_no_queue_delay(tmp_path: Path) -> None:
    findings = findings_of(
        tmp_path, [8 * MS, 0, 6 * MS, 0, 0], ["sent", "aqm", "aqm", "sent", "tail"]
    )
    assert findings.summary.aqm_drops == 2
    assert findings.summary.mean == pytest.approx(14 * MS / 3)
    assert findings.summary.median == 6 * MS
    # Nor does it end a cycle of packets above TARGET.
    assert findings.cycles.count == 1


def test_drops_of_a_program_s_ingress_are_their_own_and_never_waited(tmp_path: Path) -> None:
    summary = findings_of(tmp_path, [8 * MS, 0, 6 * MS], ["sent", "ingress", "aqm"]).summary
    assert (summary.packets, summary.aqm_drops, summary.ingress_drops) == (3, 1, 1)
    assert summary.mean == pytest.approx(7 * MS)


def test_goodput_and_utilisation_are_over_simulated_time(tmp_path: Path) -> None:
    summary = findings_of(tmp_path, [0] * 500, ["sent"] * 400 + ["aqm"] * 100, size=1250).summary
    assert summary.goodput == pytest.approx(10_000_000)
    assert summary.utilisation == pytest.approx(0.4)
    assert (summary.recirculated, summary.mirrored, summary.unsynchronised) == (7, 8, 9_000)


def test_utilisation_over_time_is_right_at_rates_whose_bits_no_word_of_64_holds(
    tmp_path: Path,
) -> None:
    """1 s at 100 Gbit/s: 10^20, in nanoseconds times bit/s."""
    findings_of(tmp_path, [0] * 500, ["sent"] * 500)
    found = read_findings(tmp_path, target=5 * MS, rate=10**11, duration=1_000 * MS)
    share = found.queue.utilisation
    assert share[:1] == pytest.approx([500 * 1000 * 8 / (10**11 * 0.005)])
    assert not share[1:].any()


def test_the_distribution_rises_from_none_to_all(tmp_path: Path) -> None:
    curve = findings_of(tmp_path, [1 * MS, 2 * MS, 4 * MS, 80 * MS], ["sent"] * 4).distribution
    assert curve.share[0] == 0
    assert curve.share[-1] == 1
    between = np.interp([1.5 * MS, 3 * MS, 50 * MS], curve.delay, curve.share)
    assert between.tolist() == [0.25, 0.5, 0.75]


def test_delay_over_time_has_mean_and_range_of_each_bin(tmp_path: Path) -> None:
    # The run lasts 1 s, so a bin is 1 ms; packets are enqueued every 10 us, so that the first three
    # are dequeued in the first bin and the fourth in the third.
    curve = findings_of(tmp_path, [900_000, 0, 300_000, 2 * MS], ["sent"] * 4).over_time
    assert len(curve.time) == 1000
    assert curve.time[:2].tolist() == [0.5 * MS, 1.5 * MS]
    assert (curve.low[0], curve.mean[0], curve.high[0]) == (0, 400_000, 900_000)
    assert np.isnan([curve.low[1], curve.mean[1], curve.high[1]]).all()
    assert curve.mean[2] == 2 * MS


def test_a_run_without_packets_has_no_delay(tmp_path: Path) -> None:
    summary = findings_of(tmp_path, [], []).summary
    assert summary.packets == 0
    assert summary.mean is None
    assert summary.p99 is None
    assert summary.above_target is None


@pytest.mark.parametrize("rate", ["3700 bit/s", "7400 bit/s", "11.1 kbit/s"])
def test_utilisation_is_a_share_of_the_shapers_rate(rate: str) -> None:
    scenario = {
        "duration": "60 s",
        "switch": {"rate": rate},
        "flows": [{"kind": "udp", "rate": "20 kbit/s", "rtt": "5 ms", "packet_size": "200 B"}],
        "aqms": ["fifo"],
    }
    aqm = sojourn.run(scenario, report=False).aqms["fifo"]
    # The hardware's steps are coarse: 1 kbit/s is built as 3,723 bit/s. Gaps take the rest.
    assert 0.7 < aqm.summary.utilisation < 1


@pytest.mark.parametrize(("rate", "duration"), [("3700 bit/s", "20 s"), ("1 Mbit/s", "100 ms")])
@pytest.mark.parametrize("rows", [True, False])
def test_a_full_line_with_its_burst_has_a_utilisation_of_one(
    rate: str, duration: str, rows: bool
) -> None:
    scenario = {
        "duration": duration,
        "rows": rows,
        "switch": {"rate": rate},
        "flows": [{"kind": "udp", "rate": "100 Mbit/s", "rtt": "1 ms"}],
        "aqms": ["fifo"],
    }
    result = sojourn.run(scenario, report=False)
    counters = json.loads((result.path / "fifo" / "counters.json").read_text())
    sent = result.aqms["fifo"].summary.utilisation
    assert counters["bottlenecks"][0]["shaper_burst"] > 0
    assert sent == 1
    # More than a bucket passes would be a mistake of the shaper, which the figure has to show.
    assert share_sent(10_000, 5_000.0, 1_600, 1_514) > 1.2
