"""Groups of flows: names, figures of each group, and the warm-up that figures exclude."""

import json
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import sojourn as package
from conftest import Sojourn
from sojourn.errors import ScenarioError
from sojourn.model.scenario import scenario_from_dict
from sojourn.model.scenario.groups import groups_of
from sojourn.results import group_delays, groups
from sojourn.results.report import page, tables
from sojourn.results.result import AqmResult, read_result
from sojourn.results.slowdown import slowdowns
from sojourn.results.traffic.transfers import Exchanges
from sojourn.runtime.arrow_tables import VERDICTS
from sojourn.runtime.folder import RunFolder

MIXED = """
duration = "4 s"
aqms = ["codel", "fq_codel"]

[switch]
rate = "10 Mbit/s"

[[flows]]
name = "bulk"
count = 3
rtt = ["10 ms", "60 ms"]

[[flows]]
name = "calls"
kind = "voip"
count = 2
rtt = "20 ms"

[[flows]]
kind = "transfers"
load = "1 Mbit/s"
rtt = "20 ms"

[[flows]]
kind = "transfers"
load = "1 Mbit/s"
rtt = "10 ms"
"""
NAMES = ["all flows", "bulk", "calls", "transfers cubic 1", "transfers cubic 2"]


def scenario(*flows: dict[str, Any], switch: dict[str, Any] | None = None) -> Any:
    base = {"duration": "1 s", "aqms": ["fifo"], "switch": switch or {"rate": "10 Mbit/s"}}
    return scenario_from_dict(base | {"flows": [{"rtt": "10 ms"} | one for one in flows]})


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("mixed")
    (folder / "mixed.toml").write_text(MIXED)
    return package.run(folder / "mixed.toml", out=folder / "run", report=False)


def again(folder: Path, warm_up: str | None) -> AqmResult:
    """CoDel's figures of a run's rows, with another warm-up."""
    described = json.loads((folder / "run.json").read_text())
    described["scenario"]["warm_up"] = warm_up or "0 s"
    (folder / "run.json").write_text(json.dumps(described))
    return read_result(RunFolder.open(folder)).aqms["codel"]


def test_a_group_without_a_name_has_kind_control_and_a_number_where_that_is_ambiguous() -> None:
    flows = scenario(
        {},
        {"congestion_control": "bbr"},
        {"kind": "voip"},
        {"kind": "transfers", "load": "1 Mbit/s"},
        {"kind": "transfers", "load": "2 Mbit/s", "name": "transfers cubic 1"},
        {"kind": "transfers", "load": "3 Mbit/s"},
        {"name": "Web pages", "count": 4},
    ).flows
    assert [group.name for group in groups_of(flows)] == [
        "tcp cubic",
        "tcp bbr",
        "voip",
        "transfers cubic 2",
        "transfers cubic 1",
        "transfers cubic 3",
        "Web pages",
    ]
    assert [group.first for group in groups_of(flows)] == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("bulk", "flows[0] has this name; each group needs its own"),
        ("Bulk", "flows[0] has this name; each group needs its own"),
        ("a.b", "a group's name begins with a letter or digit"),
        ("../etc", "a group's name begins with a letter or digit"),
        (" calls", "a group's name begins with a letter or digit"),
        ("All Flows", "this means something else already"),
        ("7", "this means something else already"),
        ("", "string should have at least 1 character"),
    ],
)
def test_a_name_that_is_taken_or_unsafe_is_refused_with_its_line(
    tmp_path: Path, sojourn: Sojourn, name: str, reason: str
) -> None:
    text = MIXED.replace('name = "calls"', f'name = "{name}"')
    (tmp_path / "mixed.toml").write_text(text)
    line = text.splitlines().index(f'name = "{name}"') + 1
    if name == "bulk":
        line = 14
    refused = sojourn("run", "mixed.toml", "--out", "run")
    assert refused.returncode == 2
    said = " ".join(refused.stderr.split())
    assert f"mixed.toml:{line}: flows[1].name" in said
    assert reason in said


def test_each_group_has_the_figures_of_its_own_packets(mixed: Any) -> None:
    aqm = mixed.aqms["codel"]
    rows = pq.read_table(aqm.folder / "packets.parquet").to_pylist()
    sources = {
        row["flow"]: row["source"]
        for row in pq.read_table(aqm.folder / "exchanges.parquet").to_pylist()
    }
    delays, drops, offered = defaultdict(list), defaultdict(int), defaultdict(int)
    for row in rows:
        source = sources.get(row["flow"], row["flow"])
        group = NAMES[1:][[source < end for end in (3, 5, 6, 7)].index(True)]
        delay = row["dequeued"] - row["enqueued"]
        for name in (group, "all flows"):
            offered[name] += 1
            drops[name] += row["verdict"] not in (VERDICTS[0], VERDICTS[3])
            if row["verdict"] == VERDICTS[0] or delay:
                delays[name].append(delay)
    assert [row.group for row in aqm.groups] == NAMES
    for row in aqm.groups:
        own = np.sort(delays[row.group])
        assert row.packets == offered[row.group]
        assert row.aqm_drops + row.tail_drops + row.ingress_drops == drops[row.group]
        assert row.mean == pytest.approx(own.mean())
        assert (row.median, row.p99) == (
            own[-(-len(own) // 2) - 1],
            own[-(-99 * len(own) // 100) - 1],
        )
        assert row.max == own[-1]
    assert aqm.groups[0].goodput == pytest.approx(sum(row.goodput for row in aqm.groups[1:]))


def test_fairness_is_within_the_group(mixed: Any) -> None:
    every, bulk, calls, *transfers = mixed.aqms["fq_codel"].groups
    amounts = [f["delivered"] for f in mixed.aqms["fq_codel"].findings.counters["flows"]]
    assert bulk.fairness == pytest.approx(
        sum(amounts[:3]) ** 2 / 3 / sum(a * a for a in amounts[:3])
    )
    assert calls.fairness == pytest.approx(1, abs=1e-3)
    assert every.fairness < 0.7 < 0.9 < bulk.fairness
    assert [one.fairness for one in transfers] == [None, None]


def test_completion_slowdown_and_voice_are_of_the_groups_that_have_them(mixed: Any) -> None:
    every, bulk, calls, first, second = mixed.aqms["fq_codel"].groups
    assert (every.completed, bulk.completed, calls.completed) == (None, None, None)
    assert first.completed > 10 and second.completed > 10
    assert (calls.calls, bulk.calls) == (2, None)
    assert 4 < calls.mos <= 4.5 and calls.one_way_mean > 10e6
    # The least that a transfer can take is in the denominator, and slow start adds round trips.
    assert 1 <= first.slowdown_median <= first.slowdown_p99
    rows = pq.read_table(mixed.aqms["fq_codel"].folder / "exchanges.parquet").to_pylist()
    slow = [
        (row["finished"] - row["started"]) / (1.5 * 20e6 + row["size"] * 8 / 10e6 * 1e9)
        for row in rows
        if row["source"] == 5 and row["finished"]
    ]
    # The shaper is a little off its nominal rate.
    assert first.slowdown_mean == pytest.approx(np.mean(slow), rel=0.01)


def test_slowdown_is_undefined_on_a_link_that_sends_by_a_trace(tmp_path: Path) -> None:
    (tmp_path / "one.trace").write_text("1\n")
    exchanges = Exchanges(*np.array([[0], [0], [10_000], [0], [50_000_000]]))
    rates: list[dict[str, Any]] = [{"rate": "10 Mbit/s"}, {"link_trace": "one.trace"}]
    found = []
    for switch in rates:
        own = scenario({"kind": "transfers", "load": "1 Mbit/s"}, switch=switch)
        found.append(slowdowns(own, groups_of(own.flows)[0], exchanges))
    assert found[0] is not None and found[0][0] > 1
    assert found[1] is None


def test_percentiles_of_groups_are_exact_with_more_rows_than_are_kept(
    mixed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "_KEPT", 0)
    monkeypatch.setattr(group_delays, "_AT_ONCE", 2)
    read = read_result(RunFolder.open(mixed.path))
    for label, aqm in mixed.aqms.items():
        assert read.aqms[label].groups == aqm.groups


def test_tables_json_and_arrow_have_every_group(
    mixed: Any, sojourn: Sojourn, tmp_path: Path
) -> None:
    shown = sojourn("report", mixed.path)
    for name in NAMES:
        assert f"\n {name} " in shown.stdout
    page = (mixed.path / "report.html").read_text()
    assert page.count("Groups of flows") == 1
    document = json.loads(sojourn("report", mixed.path, "--json").stdout)
    assert [row["group"] for row in document["aqms"][0]["groups"]] == NAMES
    assert {one["group"] for one in document["aqms"][0]["completion_times"]} == set(NAMES[3:])
    assert document["aqms"][0]["voices"][0]["group"] == "calls"
    table = mixed.groups
    assert table.num_rows == 2 * len(NAMES)
    assert table.column("aqm").to_pylist()[:2] == ["codel", "codel"]


def test_every_measured_queue_has_its_groups(tmp_path: Path) -> None:
    result = package.run("two_bottlenecks", set={"duration": "1 s"}, aqms="codel", report=False)
    grouped = result.aqms["codel"].grouped
    assert list(grouped) == [queue.name for queue in result.scenario.bottlenecks]
    for name, found in grouped.items():
        of_queue = result.aqms["codel"].bottlenecks[name].summary
        assert found.rows[0].packets == of_queue.packets == sum(r.packets for r in found.rows[1:])


def test_figures_cover_packets_that_left_the_queue_after_the_warm_up(
    mixed: Any, tmp_path: Path
) -> None:
    folder, whole = mixed.path, mixed.aqms["codel"]
    found = again(folder, "1500 ms")
    again(folder, None)
    table = pq.read_table(found.folder / "packets.parquet")
    late = table["dequeued"].to_numpy() >= 1_500_000_000
    delay = (table["dequeued"].to_numpy() - table["enqueued"].to_numpy().astype(np.int64))[late]
    verdict = np.array(table["verdict"].to_pylist())[late]
    assert found.summary.packets == late.sum() < whole.summary.packets
    queued = (verdict == VERDICTS[0]) | (delay > 0)
    assert found.summary.mean == pytest.approx(delay[queued].mean())
    assert found.groups[0].packets == sum(row.packets for row in found.groups[1:])
    sent = table["size"].to_numpy()[late][verdict == VERDICTS[0]].sum()
    assert found.summary.utilisation == pytest.approx(sent * 8 / 2.5 / 10e6, rel=0.01)
    flows = pq.read_table(found.folder / "flows.parquet").to_pylist()
    before = {r["flow"]: r["delivered"] for r in flows if r["time"] <= 1_500_000_000}
    counters = found.findings.counters["flows"]
    bulk = sum(counters[flow]["delivered"] - before[flow] for flow in range(3))
    assert found.groups[1].goodput == pytest.approx(bulk * 8 / 2.5)
    rows = pq.read_table(found.folder / "exchanges.parquet").to_pylist()
    begun = [r for r in rows if r["source"] == 5 and r["started"] >= 1_500_000_000]
    assert found.groups[3].completed == sum(r["finished"] > 0 for r in begun)
    # Of two calls, a datagram each 20 ms for 2.5 s.
    assert found.voices[0].sent == pytest.approx(250, abs=4)
    # Courses over time are of the whole run.
    assert np.array_equal(
        found.findings.over_time.mean, whole.findings.over_time.mean, equal_nan=True
    )
    assert table.num_rows == whole.summary.packets


def test_a_warm_up_is_reported_and_refused_when_nothing_is_left(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    text = MIXED.replace('duration = "4 s"', 'duration = "1 s"\nwarm_up = "0.5 s"')
    (tmp_path / "mixed.toml").write_text(text)
    shown = sojourn("run", "mixed.toml", "--out", "run", "--aqm", "codel")
    assert "Figures exclude the first 500 ms, the warm-up" in " ".join(shown.stdout.split())
    assert "Figures exclude the first 500 ms" in (tmp_path / "run/report.html").read_text()
    assert json.loads((tmp_path / "run/summary.json").read_text())["warm_up"] == 500_000_000
    refused = sojourn("run", "mixed.toml", "--out", "b", "--set", "warm_up=1 s")
    assert refused.returncode == 2
    assert "warm_up: 1 s: must be shorter than the duration, 1 s" in " ".join(
        refused.stderr.split()
    )
    with pytest.raises(ScenarioError, match="warm_up"):
        package.run("bufferbloat", set={"duration": "1 s", "warm_up": "2 s"})


def test_congestion_cycles_are_of_runs_with_a_single_queue(mixed: Any) -> None:
    (table,) = tables.cycles(mixed)
    assert [row[0] for row in table.rows] == ["codel"]


def test_the_page_shows_no_backticks_of_the_scenarios_text(mixed: Any) -> None:
    text = mixed.scenario.model_copy(update={"notes": "The key `rate`.", "description": "`x`"})
    shown = page(replace(mixed, folder=replace(mixed.folder, scenario=text)))
    assert "<p>The key rate.</p>" in shown
    assert '<p class="lead">x</p>' in shown


def test_compare_has_groups_completion_and_voice_with_differences(
    mixed: Any, tmp_path: Path, sojourn: Sojourn
) -> None:
    changed = mixed.scenario.model_copy(update={"seed": 2, "target": 4_000_000})
    package.run(changed, out=tmp_path / "other", report=False)
    shown = sojourn("compare", mixed.path, "other", "--json")
    found = json.loads(shown.stdout)["groups"]
    assert list(found) == ["Groups of flows", "Completion times", "Voice"]
    own, other = found["Voice"][:2]
    assert own["group"] == other["group"] == "calls"
    first, second = (line["figures"]["mos"]["mean"] for line in (own, other))
    assert other["differences"]["mos"]["mean"] == pytest.approx(second - first)
    assert "Completion times" in sojourn("compare", mixed.path, "other").stdout
