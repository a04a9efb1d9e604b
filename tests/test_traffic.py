"""Traffic beyond long flows: figures of transfers, requests and voices, and whole runs."""

import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sojourn as package
from conftest import SMALL, Sojourn
from sojourn.errors import ScenarioError
from sojourn.model.scenario import read_scenario, scenario_from_dict
from sojourn.results.result import Result, read_result
from sojourn.results.traffic.transfers import read_times
from sojourn.results.traffic.voice import burst_ratio, jitter, opinion_score, r_value, read_voices
from sojourn.runtime.arrow_tables import DATAGRAM_SCHEMA, EXCHANGE_SCHEMA
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.plan import make_plan

MS = 1_000_000


def scenario(flows: list[dict[str, Any]]) -> Any:
    return scenario_from_dict(
        {"duration": "1 s", "aqms": ["fifo"], "switch": {"rate": "10 Mbit/s"}, "flows": flows}
    )


def test_the_e_model_has_the_values_that_its_recommendation_gives() -> None:
    # G.107: all defaults are R = 93.2, which is an opinion of 4.41; Annex B's steps of quality.
    assert r_value(0, 0, 1) == pytest.approx(93.2)
    assert opinion_score(93.2) == pytest.approx(4.41, abs=0.005)
    for rating, score in ((90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)):
        assert opinion_score(rating) == pytest.approx(score, abs=0.01)
    # Idd by hand: 25 * ((1 + X^6)^(1/6) - 3 * (1 + (X/3)^6)^(1/6) + 2), X = 1 at 200 ms, 2 at 400.
    assert r_value(100, 0, 1) == pytest.approx(93.2)
    assert r_value(200, 0, 1) == pytest.approx(93.2 - 3.04, abs=0.01)
    assert r_value(400, 0, 1) == pytest.approx(93.2 - 24.07, abs=0.01)


def test_the_cost_of_loss_follows_the_codec_and_burstiness() -> None:
    # Ie-eff = 95 * Ppl / (Ppl / BurstR + 25.1).
    assert r_value(0, 0.02, 1) == pytest.approx(93.2 - 95 * 2 / 27.1)
    assert r_value(0, 0.02, 2) == pytest.approx(93.2 - 95 * 2 / 26.1)
    assert r_value(0, 1.0, 1) < 20


def test_a_burst_ratio_is_one_for_single_losses_and_more_for_runs_of_them() -> None:
    single = np.zeros(1000, bool)
    single[::100] = True
    runs = np.zeros(1000, bool)
    runs[:5] = runs[500:505] = True
    assert burst_ratio(single) == 1
    assert burst_ratio(runs) == pytest.approx(5 * 0.99)
    assert burst_ratio(np.zeros(10, bool)) == 1


def test_jitter_is_the_smoothed_change_of_the_transit_time() -> None:
    departed = np.arange(3) * 20 * MS
    assert jitter(departed, departed + 5 * MS) == 0
    # Transit times of 5, 21 and 5 ms: 16/16, then 1 + (16 - 1)/16.
    arrived = departed + np.array([5, 21, 5]) * MS
    assert jitter(departed, arrived) == pytest.approx((1 + 15 / 16) * MS)


def test_a_voice_counts_lost_and_late_datagrams(tmp_path: Path) -> None:
    flows = [{"kind": "voip", "rtt": "20 ms", "jitter_buffer": "40 ms"}]
    number = [0, 1, 2, 4]
    sent = [20 * MS * n for n in number]
    received = [at + delay * MS for at, delay in zip(sent, (10, 12, 70, 10), strict=True)]
    rows = {"flow": [0] * 4, "number": number, "sent": sent, "received": received}
    pq.write_table(pa.table(rows, schema=DATAGRAM_SCHEMA), tmp_path / "datagrams.parquet")
    counters = {"flows": [{"segments": 6}]}
    (voice,) = read_voices(tmp_path, counters, scenario(flows).flows)
    # The sixth may still have been on its way.
    assert (voice.calls, voice.sent) == (1, 6)
    assert voice.lost == pytest.approx(1 / 5) and voice.late == pytest.approx(1 / 5)
    assert voice.mean == pytest.approx(25.5 * MS)
    # From mouth to ear: 10 ms, the jitter buffer and the 20 ms of a datagram are 70 ms.
    # Numbers 2 and 3 in a row are missing: two of five, one gap, 2 * (1 - 2/5).
    assert voice.rating == pytest.approx(r_value(70, 0.4, 1.2))


def test_a_jitter_buffer_follows_a_delay_that_stays(tmp_path: Path) -> None:
    flows = [{"kind": "voip", "rtt": "20 ms", "jitter_buffer": "40 ms"}]
    number = list(range(200))
    sent = [20 * MS * n for n in number]
    # After 2 s everything is 150 ms later.
    received = [at + (10 if n < 100 else 160) * MS for n, at in enumerate(sent)]
    rows = {"flow": [0] * 200, "number": number, "sent": sent, "received": received}
    pq.write_table(pa.table(rows, schema=DATAGRAM_SCHEMA), tmp_path / "datagrams.parquet")
    (voice,) = read_voices(tmp_path, {"flows": [{"segments": 200}]}, scenario(flows).flows)
    assert (voice.lost, voice.late) == (0, 0)
    # From mouth to ear 70 ms for one half and 220 for the other.
    assert voice.rating == pytest.approx(r_value(145, 0, 1))


def test_times_are_listed_by_group_and_size_and_rounds_by_their_last_response(
    tmp_path: Path,
) -> None:
    flows = [
        {"rtt": "1 ms"},
        {"kind": "transfers", "rtt": "1 ms", "load": "1 Mbit/s"},
        {"kind": "incast", "rtt": "1 ms", "count": 2},
    ]
    rows = {
        "flow": [4, 5, 6, 2, 3, 2, 3],
        "source": [1, 1, 1, 2, 3, 2, 3],
        "number": [0, 0, 0, 0, 0, 1, 1],
        "size": [5_000, 50_000, 7_000, 100, 100, 100, 100],
        "started": [10 * MS, 20 * MS, 90 * MS, 0, 0, 50 * MS, 50 * MS],
        "finished": [14 * MS, 40 * MS, 0, 3 * MS, 9 * MS, 52 * MS, 0],
    }
    pq.write_table(pa.table(rows, schema=EXCHANGE_SCHEMA), tmp_path / "exchanges.parquet")
    times = read_times(tmp_path, scenario(flows).flows)
    completions = [(t.what.strip(), t.count, t.unfinished, t.mean, t.p99) for t in times]
    assert completions == [
        ("transfers cubic", 2, 1, 12 * MS, 20 * MS),
        ("below 10 kB", 1, 1, 4 * MS, 4 * MS),
        ("10 to 100 kB", 1, 0, 20 * MS, 20 * MS),
        ("incast cubic, each response", 3, 1, pytest.approx(14 / 3 * MS), 9 * MS),
        ("whole rounds", 1, 1, 9 * MS, 9 * MS),
    ]


def test_every_kind_becomes_flows_of_the_engine() -> None:
    flows = [
        {"kind": "udp", "rtt": "1 ms", "rate": "1 Mbit/s", "on": "1 s", "off": "2 s"},
        {"kind": "transfers", "rtt": "1 ms", "load": "1 Mbit/s", "shape": 1.35},
        {"kind": "requests", "rtt": "1 ms", "response": "1 kB"},
        {"kind": "incast", "rtt": "1 ms", "count": 3, "every": "200 ms"},
        {"kind": "voip", "rtt": "1 ms", "reverse": True},
    ]
    made = make_plan(scenario(flows)).runs[0].config["flows"]
    kinds = [flow["kind"] for flow in made]
    assert kinds == ["udp", "transfers", "requests", *["requests"] * 3, "voip"]
    assert (made[0]["on"], made[0]["off"], made[0]["exponential"]) == (10**9, 2 * 10**9, False)
    assert made[1]["shape"] == 1350
    assert made[2]["think"] == 500 * MS and "every" not in made[2]
    assert {flow["every"] for flow in made[3:6]} == {200 * MS}
    assert (made[6]["from"], made[6]["to"]) == ("receivers", "senders")


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ('kind = "voice"', 'kind "voice": must be "tcp", "udp", "transfers", "requests", "incast"'),
        ('kind = "udp"\nrate = "1 Mbit/s"\non = "1 s"', "on and off belong together"),
        ('kind = "transfers"', "flows[0].load: missing"),
        ('kind = "transfers"\nload = "1 Mbit/s"\nmin_size = "1 GB"', "must not be more than max_"),
        ('kind = "requests"\nthinks = "1 s"', 'thinks: unknown key; did you mean "think"?'),
        ('kind = "voip"\npayload = 2000', "flows[0].payload: 2000: "),
    ],
)
def test_a_mistake_in_traffic_is_named(tmp_path: Path, new: str, message: str) -> None:
    path = tmp_path / "traffic.toml"
    path.write_text(SMALL.replace("count = 3", new))
    with pytest.raises(ScenarioError) as error:
        read_scenario(path)
    assert message in str(error.value)


MIXED = """
duration = "6 s"
aqms = ["fifo", "fq_codel"]

[switch]
rate = "10 Mbit/s"
queue_limit = "250 kB"

[[flows]]
count = 2
rtt = "20 ms"

[[flows]]
kind = "transfers"
load = "1 Mbit/s"
max_size = "200 kB"
rtt = "20 ms"

[[flows]]
kind = "requests"
count = 2
response = "5 kB"
rtt = "20 ms"

[[flows]]
kind = "incast"
count = 4
response = "6 kB"
every = "1 s"
rtt = "20 ms"

[[flows]]
kind = "voip"
count = 2
rtt = "20 ms"
"""


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, str]:
    """All kinds in one run, and what the terminal said."""
    from conftest import call_sojourn

    folder = tmp_path_factory.mktemp("mixed")
    (folder / "mixed.toml").write_text(MIXED)
    ran = call_sojourn(folder, "run", "mixed.toml", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    return read_result(RunFolder.open(folder / "out")), ran.stdout


def test_a_queue_that_separates_flows_protects_each_kind_of_traffic(
    mixed: tuple[Result, str],
) -> None:
    result, _ = mixed
    fifo, fair = (result.aqms[name] for name in ("fifo", "fq_codel"))
    assert [voice.calls for voice in fifo.voices] == [2]
    # 250 kB at 10 Mbit/s are 200 ms.
    assert (fifo.voices[0].mean or 0) > 100 * MS > 25 * MS > (fair.voices[0].mean or 0)
    assert fair.voices[0].score > 4.3 > fifo.voices[0].score
    for slow, fast in zip(fifo.times, fair.times, strict=True):
        assert slow.what == fast.what
        # What is rare says little.
        assert slow.count < 5 or (slow.median or 0) > (fast.median or 0)
    counters = fifo.findings.counters["flows"]
    assert len(counters) == len(make_plan(result.scenario).runs[0].config["flows"])
    table = pq.read_table(fifo.folder / "exchanges.parquet").to_pydict()
    # Eleven flows are configured; each transfer is one of its own behind them.
    transfers = [
        flow for flow, source in zip(table["flow"], table["source"], strict=True) if source == 2
    ]
    assert sorted(transfers) == list(range(11, 11 + len(transfers)))
    done = [
        size
        for size, source, at in zip(table["size"], table["source"], table["finished"], strict=True)
        if source == 2 and at
    ]
    assert sum(done) <= counters[2]["delivered"]


def test_terminal_and_report_show_times_and_voices(mixed: tuple[Result, str]) -> None:
    result, said = mixed
    assert "Completion times" in said and "Voice" in said and "whole rounds" in said
    assert max(map(len, said.splitlines())) <= 100
    page = (result.path / "report.html").read_text()
    assert "<h2>Completion times</h2>" in page and "<h2>Voice</h2>" in page
    summary = json.loads((result.path / "summary.json").read_text())["aqms"][0]
    aqm = result.aqms["fifo"]
    assert [one["median"] for one in summary["completion_times"]] == [t.median for t in aqm.times]
    assert [one["score"] for one in summary["voices"]] == [voice.score for voice in aqm.voices]


def test_the_same_seed_gives_the_same_rows_of_every_kind(
    tmp_path: Path, sojourn: Sojourn, mixed: tuple[Result, str]
) -> None:
    result, _ = mixed
    (tmp_path / "mixed.toml").write_text(MIXED)
    assert sojourn("run", "mixed.toml", "--aqm", "fifo", "--out", "again").returncode == 0
    for name in ("packets", "flows", "exchanges", "datagrams"):
        rows = (tmp_path / f"again/fifo/{name}.parquet").read_bytes()
        assert rows == (result.path / f"fifo/{name}.parquet").read_bytes(), name


def test_an_open_assumption_of_a_paper_is_a_key_and_is_written_back_unchanged(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    flow = {"rate_cap": "9 Mbit/s", "block": "16 KiB", "start_jitter": "116 ms", "rtt": "10 ms"}
    spaced = [flow | {"pacing": pacing} for pacing in (False, True, "20 Mbit/s")]
    read = scenario(spaced)
    written = read.model_dump(mode="json", exclude_none=True)
    assert [group["pacing"] for group in written["flows"]] == [False, True, "20 Mbit/s"]
    assert scenario_from_dict(written) == read
    (run,) = make_plan(read).runs
    flows = json.loads(run.config)["flows"] if isinstance(run.config, str) else run.config["flows"]
    assert [one["pacing"] for one in flows] == [False, True, 20_000_000]
    assert {(one["block"], one["start_jitter"]) for one in flows} == {(16_384, 116 * MS)}


@pytest.mark.parametrize(
    ("flow", "complaint"),
    [
        ({"block": "8 KiB"}, "block is what a capped application writes at once: give rate_cap"),
        ({"pacing": "fast"}, "write true, false or the most that the rate may be"),
        ({"start_jitter": 3}, 'write a time as text with its unit, like "5 ms"'),
    ],
)
def test_an_error_in_a_flows_rate_limit_shows_the_right_form(
    flow: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ScenarioError, match=complaint):
        scenario([flow])


def test_no_round_of_incast_waits_for_a_timeout_below_fq_codel(tmp_path: Path) -> None:
    # On the kernel none does either (`docs/linux.md`): what has been sent again is not what goes.
    result = package.run("incast", aqms=["fq_codel"], out=tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "fq_codel" / "exchanges.parquet").to_pydict()
    ended = [(at, end) for at, end in zip(rows["started"], rows["finished"], strict=True) if end]
    assert len(ended) > 1900
    assert max(end - at for at, end in ended) < 15 * MS
    summary = result.aqms["fq_codel"].summary
    assert summary.aqm_drops > 1000 and summary.tail_drops == 0


def test_rounds_of_incast_last_as_long_as_the_kernels(tmp_path: Path) -> None:
    """docs/linux.md has the kernel's: 12.2 ms in the middle, and none that waits for a timeout."""
    package.run("incast", aqms=["fifo"], out=tmp_path / "out", report=False)
    rows = pq.read_table(tmp_path / "out" / "fifo" / "exchanges.parquet").to_pydict()
    rounds: dict[int, list[int]] = {}
    for begun, ended in zip(rows["started"], rows["finished"], strict=True):
        rounds.setdefault(begun, []).append(ended)
    took = [max(ends) - begun for begun, ends in rounds.items() if all(ends)]
    assert statistics.median(took) == pytest.approx(12.2e6, rel=0.15)
    assert max(took) < 20e6


@pytest.mark.parametrize(("flows", "mean", "drops", "red"), [(1, 3.36, 9, 95), (3, 6.76, 53, 297)])
def test_a_shaper_with_a_burst_of_two_frames_gives_the_kernels_figures(
    tmp_path: Path, flows: int, mean: float, drops: int, red: int
) -> None:
    """HTB 100 Mbit/s, burst 3000, 10 ms on the way back: docs/linux.md has the kernel's figures."""
    scenario = {
        "duration": "8 s",
        "switch": {"rate": "100 Mbit/s", "burst": "3000 B"},
        "flows": [{"rtt": "10 ms", "count": flows}],
        "aqms": ["codel_linux", {"use": "red", "w_q": 0.001953, "gentle": False, "idle": False}],
    }
    result = package.run(scenario, out=tmp_path / "out", report=False)
    codel, dropped = (result.aqms[name].summary for name in ("codel_linux", "red"))
    assert codel.mean / 1e6 == pytest.approx(mean, rel=0.05)
    assert codel.aqm_drops == pytest.approx(drops, abs=3)
    assert dropped.aqm_drops == pytest.approx(red, rel=0.12)
