"""Links that are not ideal and traffic from files: `netem`, `link_trace`, `sizes`, `ecn`, units."""

import json
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn.backends.linux.graph import Network
from sojourn.backends.linux.netns import _netem
from sojourn.errors import ScenarioError
from sojourn.model.scenario.link_trace import opportunities, read_trace
from sojourn.model.units import in_units
from sojourn.runner import plan_scenario
from sojourn.runtime.engine import Progress, _stopped_at, forecast

BASE = """
duration = "2 s"
aqms = ["fifo"]

[switch]
{switch}

[[flows]]
{flow}
rtt = "20 ms"
"""
TCP = 'kind = "tcp"'


def scenario(folder: Path, switch: str, flow: str = TCP) -> Path:
    path = folder / "link.toml"
    path.write_text(BASE.format(switch=switch, flow=flow))
    return path


def counters(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out/fifo/counters.json").read_text())
    return found


def run(sojourn: Sojourn, folder: Path, *more: str) -> dict[str, Any]:
    done = sojourn("run", "link.toml", "--no-report", "--out", "out", *more)
    assert done.returncode == 0, done.stderr
    return counters(folder)


# ---- netem on a link ---------------------------------------------------------------------------


def test_random_loss_is_counted_for_each_direction_and_apart_from_drops(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    switch = """rate = "10 Mbit/s"
netem = { loss = "2 %", duplicate = 0.01 }
netem_back = { loss = 0.5 }"""
    scenario(tmp_path, switch, 'kind = "udp"\nrate = "5 Mbit/s"')
    found = run(sojourn, tmp_path)
    links = {(link["from"], link["to"]): link for link in found["links"]}
    assert set(links) == {("switch", "receivers"), ("switch", "senders")}
    there = links["switch", "receivers"]
    assert 0.01 < there["lost"] / there["frames"] < 0.03
    assert 0.002 < there["duplicated"] / there["frames"] < 0.02
    rows = pq.read_table(tmp_path / "out/fifo/packets.parquet")
    assert rows.num_rows == there["frames"], "the link loses packets behind the queue"
    shown = sojourn("report", "out")
    assert "switch>receivers lost" in " ".join(shown.stdout.split()), shown.stdout
    assert "lost" in (tmp_path / "out/report.html").read_text()


def test_the_way_back_of_a_switch_is_lossy_on_request(sojourn: Sojourn, tmp_path: Path) -> None:
    scenario(
        tmp_path, 'rate = "10 Mbit/s"\ndelay = "2 ms"\nnetem_back = { reorder = 0.1, gap = 2 }'
    )
    links = {(link["from"], link["to"]): link for link in run(sojourn, tmp_path)["links"]}
    assert links["switch", "senders"]["reordered"] > 10


@pytest.mark.parametrize(
    ("switch", "message"),
    [
        ('rate = "1 Mbit/s"\nnetem = { loss = 2 }', "a share is 0 to 1"),
        ('rate = "1 Mbit/s"\nnetem = { loss = "2" }', 'like "1 %" or 0.01'),
        ('rate = "1 Mbit/s"\nnetem = { reorder = 0.1 }', "reordering needs a delay"),
        ('rate = "1 Mbit/s"\nnetem = { gap = 0 }', "netem.gap"),
        ('link_trace = "missing.trace"', "missing.trace: No such file"),
        ('rate = "1 kbit/s"', "1 kbit/s: the switch's shaper would send at 3.723 kbit/s"),
    ],
)
def test_a_mistake_in_a_link_is_named_with_its_key_and_the_cure(
    switch: str, message: str, sojourn: Sojourn, tmp_path: Path
) -> None:
    scenario(tmp_path, switch)
    done = sojourn("run", "link.toml", "--out", "out")
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split()), done.stderr


def test_a_link_of_the_kernel_has_the_same_words_for_tc() -> None:
    link = {
        "between": ["a", "s"],
        "rate": None,
        "rate_back": None,
        "delay": 10_000_000,
        "delay_back": None,
        "schedule": [],
        "netem": {
            **{"loss": 10**7, "loss_correlation": 0, "duplicate": 0, "duplicate_correlation": 0},
            **{"reorder": 25 * 10**7, "reorder_correlation": 5 * 10**8, "gap": 5},
            **{"jitter": 2_000_000, "jitter_correlation": 0, "distribution": "normal"},
        },
    }
    host = {"name": "a", "addresses": {"own": {}}, "shaper": None}
    network = Network({"hosts": [host], "switches": [{"name": "s"}], "links": [link]})
    there, back = network.directions
    assert _netem(there, 10_000_000) == (
        "netem delay 10000.000us 2000.000us 0.0000000% distribution normal limit 1000000"
        " loss 1.0000000% 0.0000000% reorder 25.0000000% 50.0000000% gap 5"
    )
    assert _netem(back, 10_000_000) == "netem delay 10000.000us limit 1000000"


CHAIN = """
duration = "8 s"
aqms = ["fifo"]
hosts = ["a", "b"]
switches = [{ name = "s" }, { name = "t" }]
links = [
    { between = ["a", "s"] },
    { between = ["s", "t"], rate = "20 Mbit/s", delay = "10 ms", netem = NETEM },
    { between = ["t", "b"], rate = "50 Mbit/s" },
]

[[flows]]
kind = "udp"
rate = "6 Mbit/s"
packet_size = "500 B"
from = "a"
to = "b"
"""


def arrivals(folder: Path) -> tuple[float, float]:
    """Of the packets behind the link: how many there are for each in front of it, and the share
    that has been overtaken by the one before."""
    before = pq.read_table(folder / "fifo/packets.parquet").num_rows
    behind = pq.read_table(folder / "fifo/packets-t-b.parquet").sort_by("enqueued")
    numbers = behind["packet"].cast("int64").to_numpy()
    return len(numbers) / before, float((numbers[1:] < numbers[:-1]).mean())


def test_a_kernels_netem_loses_and_reorders_as_many(
    uml: None, sojourn: Sojourn, tmp_path: Path
) -> None:
    netem = '{ loss = "5 %", reorder = "10 %", gap = 3 }'
    (tmp_path / "chain.toml").write_text(CHAIN.replace("NETEM", netem))
    assert sojourn("run", "chain.toml", "--no-report", "--out", "sim").returncode == 0
    on = ["--on", "linux", "--accept-disturbed"]
    done = sojourn("run", "chain.toml", "--no-report", "--out", "lin", *on)
    assert done.returncode == 0, done.stderr
    simulated, measured = arrivals(tmp_path / "sim"), arrivals(tmp_path / "lin")
    # 12,000 packets: five standard deviations of a loss of 5 % are 1 %.
    assert simulated[0] == pytest.approx(measured[0], abs=0.014)
    assert simulated[1] == pytest.approx(measured[1], abs=0.014)


# ---- Traces ------------------------------------------------------------------------------------


def test_a_trace_of_one_line_sends_a_full_packet_each_millisecond(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    (tmp_path / "one.trace").write_text("1\n")
    scenario(tmp_path, 'link_trace = "one.trace"')
    found = run(sojourn, tmp_path)
    assert found["bottlenecks"][0]["shaper_rate"] == 12_112_000
    rows = pq.read_table(tmp_path / "out/fifo/packets.parquet")
    sent = rows.filter(pc.equal(rows["verdict"], "sent"))
    instants = sent["dequeued"].cast("int64").to_pylist()
    assert all(at % 1_000_000 == 0 for at in instants)
    summary = json.loads((tmp_path / "out/fifo/summary.json").read_text())
    assert 0.9 < summary["utilisation"] <= 1.0
    text = (tmp_path / "out/run.json").read_text()
    assert "one.trace" in text


def test_a_trace_is_read_line_by_line_and_errors_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_text("0\n3\n3\n7\n")
    assert read_trace(path) == [(0, 1), (3, 2), (7, 1)]
    for text, message in [
        ("5\n3\n", "a.trace:2: 3 ms after 5 ms"),
        ("1\nx\n", "a.trace:2: 'x'"),
        ("0\n", "the last line is the period"),
        ("", "the last line is the period"),
        ("1\n-2\n", "a.trace:2"),
    ]:
        path.write_text(text)
        with pytest.raises(ScenarioError, match=message):
            read_trace(path)


def test_rates_of_a_csv_become_as_many_opportunities(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "rates.csv").write_text("seconds,Mbit/s\n0,12.032\n0.5,0\n1,24.064\n2,1\n")
    done = sojourn("link-trace", "from-csv", "rates.csv", "--out", "made.trace")
    assert done.returncode == 0, done.stderr
    trace = dict(read_trace(tmp_path / "made.trace"))
    assert sum(count for at, count in trace.items() if at <= 500) == 500
    assert not any(500 < at <= 1_000 for at in trace)
    assert sum(count for at, count in trace.items() if at > 1_000) == 2_000
    assert max(trace) == 2_000
    # 1/3 of an opportunity a millisecond does not drift.
    slow = [(Fraction(0), Fraction(12_032_000, 3)), (Fraction(30), Fraction(0))]
    assert list(opportunities(slow)) == list(range(3, 30_001, 3))


@pytest.mark.parametrize(
    "command",
    [
        ["markov", "--levels", "2 Mbit/s,8 Mbit/s", "--hold", "500 ms", "--duration", "20 s"],
        ["periodic", "--low", "5 Mbit/s", "--high", "9 Mbit/s", "--period", "5 s"],
    ],
)
def test_a_generated_trace_follows_its_seed_and_stays_in_its_rates(
    command: list[str], sojourn: Sojourn, tmp_path: Path
) -> None:
    texts = []
    for seed, out in [("1", "a"), ("1", "b"), ("2", "c")]:
        assert sojourn("link-trace", *command, "--seed", seed, "--out", out).returncode == 0
        texts.append((tmp_path / out).read_text())
    assert texts[0] == texts[1] != texts[2]
    each = Counter(int(line) // 1_000 for line in texts[0].split())
    rates = [count * 12_032 for count in each.values()]
    low, high = (2e6, 8e6) if command[0] == "markov" else (5e6, 9e6)
    # A second may have an outage of 50 ms.
    assert all(0.9 * low < rate < 1.02 * high for rate in rates[:-1])
    assert sojourn("link-trace", "markov", "--levels", "9 Mbit/s", "--out", "d").returncode == 2


# ---- Sizes and ECN ------------------------------------------------------------------------------


def transfers(flow: Mapping[str, str]) -> str:
    return "\n".join(['kind = "transfers"', *(f"{key} = {value}" for key, value in flow.items())])


def test_transfers_have_the_sizes_of_the_file(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("# two sizes\nbytes,percent\n5000,0\n5001,75\n20000,100\n")
    flow = {"load": '"2 Mbit/s"', "sizes": '"sizes.csv"', "interpolate": '"lower"'}
    scenario(tmp_path, 'rate = "10 Mbit/s"', transfers(flow))
    run(sojourn, tmp_path, "--duration", "20 s")
    sizes = Counter(pq.read_table(tmp_path / "out/fifo/exchanges.parquet")["size"].to_pylist())
    assert set(sizes) == {5_000, 5_001}
    assert 0.6 < sizes[5_000] / sizes.total() < 0.9
    # 2 Mbit/s of transfers of 5 kB on average are 50 a second.
    assert 800 < sizes.total() < 1_200


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10,50\n5,100\n", "sizes.csv:2: sizes increase"),
        ("10,50\n20,40\n", "sizes.csv:2: sizes increase, and their percentages do not decrease"),
        ("10,50\n20,90\n", "the last line has 100 percent"),
        ("10,50\n20,101\n", "sizes.csv:2: a cumulative percentage is 0 to 100"),
        ("1.5,100\n", "sizes.csv:1: a size is a whole number"),
        ("10;x\n", "sizes.csv:1: '10;x'"),
        ("", "the last line has 100 percent"),
    ],
)
def test_a_table_that_is_none_is_refused_by_line(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text(text)
    flow = {"load": '"2 Mbit/s"', "sizes": '"sizes.csv"'}
    with pytest.raises(ScenarioError, match=message):
        plan_scenario(scenario(tmp_path, 'rate = "10 Mbit/s"', transfers(flow)))


def test_a_table_stands_in_place_of_the_distribution(tmp_path: Path) -> None:
    flow = {"load": '"2 Mbit/s"', "sizes": '"sizes.csv"', "max_size": '"1 MB"'}
    with pytest.raises(ScenarioError, match="sizes is in place of max_size"):
        plan_scenario(scenario(tmp_path, 'rate = "10 Mbit/s"', transfers(flow)))


@pytest.mark.parametrize(("field", "marked"), [("not-ect", False), ("ect0", True), ("ect1", True)])
def test_a_datagrams_ecn_field_decides_between_mark_and_drop(
    field: str, marked: bool, sojourn: Sojourn, tmp_path: Path
) -> None:
    flow = f'kind = "udp"\nrate = "8 Mbit/s"\necn = "{field}"'
    scenario(tmp_path, 'rate = "5 Mbit/s"\nqueue_limit = "100 MB"', flow)
    text = (tmp_path / "link.toml").read_text()
    (tmp_path / "link.toml").write_text(
        text.replace('aqms = ["fifo"]', 'aqms = [{ use = "codel", ecn = true, label = "fifo" }]')
    )
    run(sojourn, tmp_path)
    summary = json.loads((tmp_path / "out/fifo/summary.json").read_text())
    assert (summary["marks"] > 0, summary["aqm_drops"] > 0) == (marked, not marked)


# ---- Units and long runs ------------------------------------------------------------------------


def test_limits_of_the_engine_are_reported_in_the_users_units(
    sojourn: Sojourn, tmp_path: Path
) -> None:
    scenario(tmp_path, 'rate = "10 Mbit/s"')
    done = sojourn("run", "link.toml", "--duration", "100000 min", "--out", "out")
    assert done.returncode == 2
    assert "duration = 100000 min: allowed is 1 ns to 100000 s" in " ".join(done.stderr.split())
    assert in_units("flows[3].rtt = 5000000: allowed is 0 to 1000") == (
        "flows[3].rtt = 5 ms: allowed is 0 ns to 1 us"
    )
    assert in_units("flows[0].dscp = 64: allowed is 0 to 63") == (
        "flows[0].dscp = 64: allowed is 0 to 63"
    )


def test_an_interrupted_run_says_how_far_its_aqms_are(tmp_path: Path) -> None:
    progress = Progress(20_000_000_000, {"fifo": 11_900_000_000, "codel": 0})
    said = _stopped_at(progress, tmp_path)
    assert said.startswith("stopped after 0.00 s (codel) to 11.90 s (fifo) of 20 s simulated\n")
    progress.now["codel"] = 11_900_000_001
    assert _stopped_at(progress, tmp_path).startswith("stopped after 11.90 s of 20 s simulated\n")


def test_a_run_with_large_rows_reports_their_size() -> None:
    said = forecast(200_000_000, 0.001, 36.0)
    assert said is not None and "about 200 GB" in said and "10.0 h" in said
    assert forecast(200_000_000, 0.5, 36.0) is None
    assert forecast(1_000, 1e-9, 1.0) is None, "the first kilobyte says nothing"
