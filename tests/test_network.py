"""Several switches, and links that change: the scenario's form, the files of a run, errors."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import SMALL, Sojourn
from sojourn import _core
from sojourn.errors import ConfigError, ScenarioError
from sojourn.model.scenario import read_scenario, scenario_from_dict
from sojourn.model.scenario.bottleneck import Bottleneck
from sojourn.results.link_phases import read_phases
from sojourn.results.queues import plotted, rates
from sojourn.results.result import read_result
from sojourn.runner import plan_scenario
from sojourn.runtime.arrow_tables import PACKET_SCHEMA
from sojourn.runtime.engine import simulate
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.plan import make_plan
from sojourn.tools.delays.captures import read_frames

MS = 1_000_000

CHAIN = """
duration = "3 s"
hosts = ["h1", { name = "h2", address = "192.0.2.7" }]
aqms = ["fifo", "codel"]

[[switches]]
name = "r1"

[[switches]]
name = "s2"
aqm = { use = "codel", target = "20 ms" }

[[links]]
between = ["h1", "r1"]
delay = "2 ms"

[[links]]
between = ["r1", "s2"]
rate = "20 Mbit/s"

[[links]]
between = ["s2", "h2"]
rate = "10 Mbit/s"
rate_back = "1 Mbit/s"
queue_limit = "200 kB"

[[flows]]
from = "h1"
to = "h2"
count = 2
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "chain.toml"
    path.write_text(text)
    return path


def test_every_direction_of_a_rated_link_that_begins_at_a_switch_is_a_bottleneck(
    tmp_path: Path,
) -> None:
    scenario = read_scenario(write(tmp_path, CHAIN))
    found = [(b.name, b.rows, b.rate, b.own_aqm) for b in scenario.bottlenecks]
    assert found == [
        ("r1>s2", "packets.parquet", 20_000_000, None),
        ("s2>r1", "packets-s2-r1.parquet", 20_000_000, "codel"),
        ("s2>h2", "packets-s2-h2.parquet", 10_000_000, "codel"),
    ]
    assert [b.capture for b in scenario.bottlenecks] == [
        "bottleneck.pcapng", "bottleneck-s2-r1.pcapng", "bottleneck-s2-h2.pcapng",
    ]  # fmt: skip


def test_the_runs_aqm_goes_to_the_switches_that_name_none(tmp_path: Path) -> None:
    plan = make_plan(read_scenario(write(tmp_path, CHAIN)), aqms=["pie"])
    config = plan.runs[0].config
    assert config["aqm"]["name"] == "pie"
    aqms = [node["aqm"] for node in config["network"]["switches"]]
    assert aqms == [None, {"kind": "native", "name": "codel", "target": 20_000_000}]
    addresses = [host["addresses"]["own"]["ipv4"] for host in config["network"]["hosts"]]
    assert addresses == ["10.0.1.1", "192.0.2.7"]


def test_a_network_as_run_is_a_scenario(tmp_path: Path) -> None:
    scenario = make_plan(read_scenario(write(tmp_path, CHAIN))).scenario
    written = json.loads(json.dumps(scenario.model_dump(mode="json", exclude_none=True)))
    assert scenario_from_dict(written) == scenario


def test_a_run_leaves_rows_and_figures_of_every_bottleneck(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    write(tmp_path, CHAIN)
    ran = sojourn("run", "chain.toml", "--out", "out", "--pcap")
    assert ran.returncode == 0, ran.stderr
    assert "at r1>s2" in ran.stdout and "every bottleneck" in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 100
    result = read_result(RunFolder.open(tmp_path / "out"))
    for aqm in result.aqms.values():
        first, last = aqm.packets, pq.read_table(aqm.folder / "packets-s2-h2.parquet")
        assert set(last["packet"].to_pylist()) <= set(first["packet"].to_pylist())
        figures = aqm.bottlenecks
        assert list(figures) == ["r1>s2", "s2>r1", "s2>h2"]
        # 10 Mbit/s of the 20 pass; the narrower queue is where the packets wait.
        assert figures["s2>h2"].summary.utilisation > 0.9
        assert figures["r1>s2"].summary.utilisation < 0.55
        assert (figures["s2>h2"].summary.mean or 0) > (figures["r1>s2"].summary.mean or 0)
    counters = json.loads((tmp_path / "out/codel/counters.json").read_text())
    assert [b["switch"] + ">" + b["towards"] for b in counters["bottlenecks"]] == list(figures)
    page = (tmp_path / "out/report.html").read_text()
    assert "Every bottleneck" in page
    # Acknowledgements never wait on their way back, so that queue has no plot.
    assert page.count("<h2>Queue delay over time") == page.count("<h2>Distribution of") == 2
    assert "<h2>Queue delay over time at r1&gt;s2, in ms</h2>" in page
    assert "<h2>Distribution of queue delay at s2&gt;h2 (codel)</h2>" in page
    assert {path.name for path in (tmp_path / "out").glob("*.png")} == {
        "queue_delay.png", "distribution.png", "queue_delay-s2-h2.png", "distribution-s2-h2.png",
        "topology.png",
    }  # fmt: skip
    bottlenecks = json.loads((tmp_path / "out/summary.json").read_text())["aqms"][1]["bottlenecks"]
    assert all(of.pop("groups") for of in bottlenecks.values())
    assert bottlenecks == {name: of.summary.as_dict() for name, of in aqm.bottlenecks.items()}


def test_the_capture_of_each_bottleneck_agrees_with_its_rows(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    write(tmp_path, CHAIN)
    assert sojourn("run", "chain.toml", "--aqm", "fifo", "--out", "out", "--pcap").returncode == 0
    folder = tmp_path / "out/fifo"
    for ending in ("", "-s2-r1", "-s2-h2"):
        rows = pq.read_table(folder / f"packets{ending}.parquet")
        sent = rows.filter(pc.equal(rows["verdict"].cast("string"), "sent"))
        frames = list(read_frames(folder / f"bottleneck{ending}.pcapng"))
        left = [frame.time for frame in frames if frame.interface == "left"]
        assert left == sent["dequeued"].to_pylist(), ending
        entered = [frame.time for frame in frames if frame.interface == "entered"]
        assert entered[: rows.num_rows] == sorted(rows["enqueued"].to_pylist())
    assert left and entered


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('to = "h2"', 'to = "h3"', ':29: flows[0].to: "h3": not a host'),
        ('to = "h2"', 'to = "h1"', ':29: flows[0].to: "h1": a flow is between two different'),
        ('to = "h2"', "", ":27: flows[0].to: missing: in a network, one of the hosts h1, h2"),
        ('["r1", "s2"]', '["r1", "s3"]', ':18: links[1].between: "s3": not a host or switch'),
        ('["r1", "s2"]', '["r1", "r1"]', ":18: links[1].between: a link is between two diff"),
        ('["r1", "s2"]', '["r1"]', ":18: links[1].between: "),
        ('name = "s2"', 'name = "r1"', ':10: switches[1].name: "r1": this name is taken'),
        ('name = "s2"', 'name = "s-2"', ':10: switches[1].name: "s-2": a name is a letter'),
        ('"192.0.2.7"', '"192.0.2"', "hosts[1].address: "),
        ("count = 2", "reverse = true", ":30: flows[0].reverse: only with one switch"),
        ('rate_back = "1 Mbit/s"', 'ratte = "1 Mbit/s"', ":24: links[2].ratte: unknown key; did"),
        (
            'queue_limit = "200 kB"',
            'schedule = [{ at = "2 s", rate = "1 Mbit/s" }, { at = "1 s", delay = "1 ms" }]',
            ":25: links[2].schedule[1].at: 1 s: must be later than the step before, 2 s",
        ),
        (
            'queue_limit = "200 kB"',
            'schedule = [{ at = "2 s" }]',
            ":25: links[2].schedule[0]: a step changes a rate or a delay",
        ),
        ('queue_limit = "200 kB"', '[switch]\nrate = "1 Mbit/s"', "not beside [switch]"),
    ],
)
def test_a_mistake_in_a_network_is_named_with_its_place_and_cure(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in CHAIN
    with pytest.raises(ScenarioError) as error:
        read_scenario(write(tmp_path, CHAIN.replace(old, new, 1)))
    assert message in str(error.value)


def test_with_one_switch_a_flow_needs_a_round_trip_time_and_has_no_hosts(tmp_path: Path) -> None:
    text = SMALL.replace('rtt = ["5 ms", "10 ms"]', 'from = "h1"')
    with pytest.raises(ScenarioError) as error:
        read_scenario(write(tmp_path, text))
    assert "flows[0].rtt: missing" in str(error.value)
    assert ":11: flows[0].from: hosts have names only in a network" in str(error.value)


def test_the_error_about_a_missing_switch_shows_both_forms(tmp_path: Path) -> None:
    text = 'duration = "1 s"\naqms = ["fifo"]\n[[flows]]\nrtt = "1 ms"\n'
    with pytest.raises(ScenarioError, match=r"switch: missing; or give hosts, \[\[switches\]\]"):
        read_scenario(write(tmp_path, text))


def test_a_network_without_a_rate_has_no_bottleneck(tmp_path: Path) -> None:
    text = CHAIN.replace('rate_back = "1 Mbit/s"\n', "")
    text = text.replace('rate = "20 Mbit/s"\n', "").replace('rate = "10 Mbit/s"\n', "")
    with pytest.raises(ScenarioError, match="links: no link that a switch sends into has a rate"):
        read_scenario(write(tmp_path, text))


STEPS = {
    "duration": "3 s",
    "aqms": ["fifo"],
    "switch": {
        "rate": "10 Mbit/s",
        "schedule": [{"at": "1 s", "rate": "1 Mbit/s"}, {"at": "2 s", "delay": "5 ms"}],
    },
    "flows": [{"rtt": "10 ms", "count": 2}],
}


LONG = """
duration = "3 s"
aqms = ["fifo"]
hosts = [
    { name = "senders", group = "clients", access_rate = "10 Gbit/s" },
    { name = "receivers", group = "servers", access_rate = "10 Gbit/s" },
]

[[switches]]
name = "switch"

[[links]]
between = ["senders", "switch"]
delay_back = "0 ms"
schedule = [{ at = "2 s", delay_back = "5 ms" }]

[[links]]
between = ["switch", "receivers"]
rate = "10 Mbit/s"
delay_back = "0 ms"
schedule = [{ at = "1 s", rate = "1 Mbit/s" }, { at = "2 s", delay = "5 ms" }]

[[flows]]
from = "senders"
to = "receivers"
rtt = "10 ms"
count = 2
"""


def test_one_switch_is_short_for_a_network_of_two_groups_of_hosts(tmp_path: Path) -> None:
    long = read_scenario(write(tmp_path, LONG))
    assert scenario_from_dict(STEPS) == long
    # What is left out is as the engine has it.
    default = json.loads(_core.default_network())
    (run,) = make_plan(long).runs
    assert run.config["network"]["switches"] == default["switches"]
    assert run.config["network"]["hosts"] == default["hosts"]


def test_a_group_of_hosts_and_a_single_host_share_a_switch(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    text = LONG.replace('"5 ms"', '"6 ms"').replace(
        "hosts = [", 'hosts = [\n    { name = "one", address = "192.0.2.7" },'
    )
    text += (
        '\n[[links]]\nbetween = ["one", "switch"]\n\n[[flows]]\nfrom = "one"\nto = "receivers"\n'
    )
    write(tmp_path, text)
    ran = sojourn("run", "chain.toml", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    counters = json.loads((tmp_path / "out/fifo/counters.json").read_text())
    assert all(flow["delivered"] > 100_000 for flow in counters["flows"])
    assert not counters["stray_frames"] and not counters["unroutable_packets"]


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        ("switch.ingress_latency", "2 s", "switch.ingress_latency = 2 s: allowed is 0 ns to 1 s"),
        ("switch.queue_limit", "1 B", "switch.queue_limit = 1 B: allowed is 1.6 kB to"),
        ("access_rate", "1 bit/s", "access_rate = 1 bit/s: allowed is 1 kbit/s to"),
        (
            "switch.schedule.1.delay",
            "200 s",
            "switch.schedule[1].delay = 200 s: allowed is 0 ns to",
        ),
        ("links.1.rate", "20 Gbit/s", "links[1].rate = 20 Gbit/s: allowed is 1 kbit/s to"),
        ("hosts.1.address", "192.0.2.7", "hosts: h2: address = 192.0.2.7: allowed is one that"),
    ],
)
def test_errors_of_the_engine_name_the_keys_of_the_scenario(
    place: str, value: str, message: str, tmp_path: Path
) -> None:
    document: Any = STEPS
    if place.startswith(("links", "hosts")):
        document = tomllib.loads(CHAIN)
        document["hosts"] = [{"name": "h1", "address": "192.0.2.7"}, {"name": "h2"}]
    with pytest.raises(ScenarioError) as error:
        plan_scenario(json.loads(json.dumps(document)), set={place: value})
    assert message in str(error.value)
    assert "network" not in str(error.value)


def controlled(*operations: dict[str, Any], aqm: str = "codel_act") -> dict[str, Any]:
    step = {"at": "1 s", "operations": list(operations)}
    switch = {"rate": "10 Mbit/s", "control": [step]}
    return {"duration": "2 s", "aqms": [aqm], "switch": switch, "flows": [{"rtt": "10 ms"}]}


SLOWER = {"op": "shape_port", "port": 2, "rate": 2_000_000, "burst": 1600}


def test_a_control_plane_acts_on_the_running_switch_when_the_scenario_says(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    (tmp_path / "later.toml").write_text(
        'duration = "2 s"\naqms = ["codel_act"]\n[switch]\nrate = "10 Mbit/s"\n'
        '[[switch.control]]\nat = "1 s"\noperations = [\n'
        '    { op = "shape_port", port = 2, rate = 2_000_000, burst = 1600 },\n'
        '    { op = "set_mirror_session", session = 100, port = 68, max_length = 90 },\n]\n'
        '[[flows]]\nrtt = "10 ms"\n'
    )
    ran = sojourn("run", "later.toml", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    rows = pq.read_table(tmp_path / "out/codel_act/packets.parquet")
    sent = rows.filter(pc.equal(rows["verdict"].cast(pa.string()), "sent"))
    bits = [
        8 * pc.sum(part["size"]).as_py()
        for part in (
            sent.filter(pc.less(sent["dequeued"], 10**9)),
            sent.filter(pc.greater_equal(sent["dequeued"], 10**9)),
        )
    ]
    assert bits[0] > 8_000_000 and 1_500_000 < bits[1] < 2_100_000, bits
    # What the folder says of the scenario is the scenario.
    assert RunFolder.open(tmp_path / "out").scenario.switches[0].control[0].at == 10**9


def test_later_control_plane_operations_are_in_order_of_time_and_need_a_program() -> None:
    document = controlled(SLOWER)
    document["switch"]["control"] *= 2
    with pytest.raises(ScenarioError, match=r"switch\.control\[1\]\.at: 1 s: must be later"):
        scenario_from_dict(document)
    with pytest.raises(ScenarioError, match=r"switch\.control: codel is a native discipline"):
        plan_scenario(controlled(SLOWER, aqm="codel"))
    with pytest.raises(ScenarioError, match=r"operation 2: .*Ingress\.forwrad"):
        plan_scenario(controlled(SLOWER, {"op": "clear_table", "table": "Ingress.forwrad"}))
    with pytest.raises(ScenarioError, match="unknown variant `shape`, expected one of"):
        plan_scenario(controlled({"op": "shape", "port": 2}))


def test_utilisation_follows_a_scheduled_rate(tmp_path: Path) -> None:
    scenario = scenario_from_dict(STEPS)
    (bottleneck,) = scenario.bottlenecks
    assert bottleneck.mean_rate(1_000_000_000) == 10_000_000
    assert bottleneck.mean_rate(2_000_000_000) == 5_500_000
    assert bottleneck.mean_rate(3_000_000_000) == 4_000_000


def test_the_time_between_two_changes_has_figures_of_its_own(tmp_path: Path) -> None:
    bottleneck = Bottleneck("switch", "receivers", "", 8_000_000, ((10**9, 800_000),))
    # 100 ms between packets of 1000 bytes; in the second phase two wait long, one is dropped.
    delays = [1, 1, 1, 1, 1, 50, 40, 1, 1, 1]
    dequeued = [at * 200 * MS for at in range(10)]
    rows: dict[str, Any] = {
        "packet": list(range(10)),
        "flow": [0] * 10,
        "size": [1000] * 10,
        "queue": [0] * 10,
        "enqueued": [at - delay * MS for at, delay in zip(dequeued, delays, strict=True)],
        "dequeued": dequeued,
        "verdict": pa.array(["sent"] * 9 + ["aqm"]).dictionary_encode(),
    }
    rows["verdict"] = rows["verdict"].cast(pa.dictionary(pa.uint8(), pa.string()))
    pq.write_table(pa.table(rows, schema=PACKET_SCHEMA), tmp_path / "packets.parquet")
    first, second = read_phases(tmp_path, bottleneck, 2 * 10**9)
    assert (first.mean, first.max, first.settled, first.dropped) == (MS, MS, 0, 0)
    assert (second.start, second.rate, second.max) == (10**9, 800_000, 50 * MS)
    assert second.mean == pytest.approx(18.6 * MS)
    # The packet at 1.2 s is the last one of more than 2 ms; windows are 1/150 of a second.
    assert second.settled == pytest.approx(200 * MS, abs=8 * MS)
    assert second.dropped == pytest.approx(0.2)
    assert second.utilisation == pytest.approx(4 * 8_000 / 800_000)


def test_packets_dropped_on_arrival_are_in_no_phases_delay(tmp_path: Path) -> None:
    bottleneck = Bottleneck("switch", "receivers", "", 8_000_000, ((10**9, 800_000),))
    times = [400 * MS, 800 * MS, 1200 * MS, 1600 * MS]
    rows: dict[str, Any] = {
        "packet": [0, 1, 2, 3],
        "flow": [0] * 4,
        "size": [1000] * 4,
        "queue": [0] * 4,
        "enqueued": [times[0] - 6 * MS, *times[1:]],
        "dequeued": times,
        "verdict": pa.array(["sent", "aqm", "aqm", "aqm"]).dictionary_encode(),
    }
    rows["verdict"] = rows["verdict"].cast(pa.dictionary(pa.uint8(), pa.string()))
    pq.write_table(pa.table(rows, schema=PACKET_SCHEMA), tmp_path / "packets.parquet")
    first, second = read_phases(tmp_path, bottleneck, 2 * 10**9)
    assert (first.mean, first.dropped) == (6 * MS, 0.5)
    assert (second.mean, second.max, second.settled, second.dropped) == (None, None, None, 1)


def test_every_link_of_a_network_that_changes_has_its_phases(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    last = 'queue_limit = "200 kB"\nschedule = [{ at = "2 s", rate = "5 Mbit/s" }]'
    write(tmp_path, CHAIN.replace('queue_limit = "200 kB"', last))
    ran = sojourn("run", "chain.toml", "--aqm", "codel", "--out", "out", "--json")
    assert ran.returncode == 0, ran.stderr
    (aqm,) = json.loads(ran.stdout)["aqms"]
    assert list(aqm["phases"]) == ["s2>h2"]
    assert [(p["start"], p["rate"]) for p in aqm["phases"]["s2>h2"]] == [
        (0, 10_000_000),
        (2 * 10**9, 5_000_000),
    ]
    shown = sojourn("report", "out").stdout
    assert "Between changes of the rate at s2>h2" in shown


def test_changes_after_the_end_of_a_run_are_not_drawn(tmp_path: Path, sojourn: Sojourn) -> None:
    (tmp_path / "steps.toml").write_text(
        'duration = "1 s"\naqms = ["fifo"]\n[switch]\nrate = "10 Mbit/s"\n'
        'schedule = [{ at = "100 s", rate = "1 Mbit/s" }]\n[[flows]]\nrtt = "10 ms"\n'
    )
    ran = sojourn("run", "steps.toml", "--out", "out")
    assert (ran.returncode, ran.stderr) == (0, "")
    (queue,) = plotted(result := read_result(RunFolder.open(tmp_path / "out")))
    assert rates(result, queue) == []
    assert "1 Mbit/s" not in ran.stdout


def test_a_run_with_a_schedule_reports_its_phases_and_draws_its_steps(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    (tmp_path / "steps.toml").write_text(
        'duration = "2 s"\naqms = ["fifo"]\n[switch]\nrate = "10 Mbit/s"\n'
        'schedule = [{ at = "1 s", rate = "1 Mbit/s" }]\n[[flows]]\nrtt = "10 ms"\n'
    )
    ran = sojourn("run", "steps.toml", "--out", "out")
    assert ran.returncode == 0, ran.stderr
    assert "Between changes of the rate" in ran.stdout and "1 s: 1 Mbit/s" in ran.stdout
    assert "1 Mbit/s from 1 s" in (tmp_path / "out/report.html").read_text()


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ({"at": "500 ms", "rate": "1 Mbit/s"}, "must be later than the step before, 2 s"),
        ({"at": "2500 ms"}, "a step changes a rate or a delay"),
        ({"at": "2500 ms", "rate_back": "1 Mbit/s"}, "rate_back: unknown key"),
    ],
)
def test_a_schedule_goes_forward_and_changes_something(step: dict[str, str], message: str) -> None:
    document: dict[str, Any] = json.loads(json.dumps(STEPS))
    document["switch"]["schedule"].append(step)
    with pytest.raises(ScenarioError) as error:
        scenario_from_dict(document)
    assert message in str(error.value)


FAST = (
    CHAIN.replace("20 Mbit/s", "2 Gbit/s")
    .replace("10 Mbit/s", "1 Gbit/s")
    .replace('between = ["r1", "s2"]', 'between = ["r1", "s2"]\ndelay = "3 ms"')
)


def test_the_number_of_threads_changes_no_file(tmp_path: Path) -> None:
    plan = plan_scenario(write(tmp_path, FAST), set={"duration": "200 ms"})
    for threads in (1, 2):
        simulate(plan, tmp_path / str(threads), threads=threads)
    files = [file for file in (tmp_path / "1").rglob("*") if file.is_file()]
    assert sum(file.name == "packets.parquet" for file in files) >= 2
    for file in files:
        other = tmp_path / "2" / file.relative_to(tmp_path / "1")
        assert other.read_bytes() == file.read_bytes(), file


NUMBERED = """
duration = "200 ms"
hosts = ["h1", { name = "h2", address = "192.0.2.7" }]
aqms = [{ use = "numbered.p4" }]

[[switches]]
name = "s1"

[[links]]
between = ["h1", "s1"]
port = 5

[[links]]
between = ["s1", "h2"]
port = 140
rate = "20 Mbit/s"

[[flows]]
kind = "udp"
from = "h1"
to = "h2"
rate = "1 Mbit/s"
packet_size = "200 B"
dst_port = 5555
"""

TO_140 = """#include <core.p4>
#include <v1model.p4>
header bytes_t { bit<288> before; bit<16> dst_port; }
struct headers_t { bytes_t bytes; }
struct metadata_t {}
parser P(packet_in p, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { p.extract(h.bytes); transition accept; }
}
control Nothing(inout headers_t h, inout metadata_t m) { apply {} }
control Forward(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    apply {
        if (s.ingress_port == 5 && h.bytes.dst_port == 5555) { s.egress_spec = 140; }
        else { mark_to_drop(s); }
    }
}
control Leave(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply {} }
control Write(packet_out p, in headers_t h) { apply { p.emit(h); } }
V1Switch(P(), Nothing(), Forward(), Leave(), Nothing(), Write()) main;
"""


def test_links_give_ports_their_numbers_and_flows_their_destination_port(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    (tmp_path / "numbered.p4").write_text(TO_140)
    (tmp_path / "numbered.toml").write_text(NUMBERED)
    done = sojourn("run", tmp_path / "numbered.toml", "--out", "out", "--no-report")
    assert done.returncode == 0, done.stderr + done.stdout
    counters = json.loads((tmp_path / "out" / "numbered" / "counters.json").read_text())
    (flow,) = counters["flows"]
    assert flow["delivered"] > 0 and not counters["ingress_drops"], counters


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("port = 140", "port = 5"), "another number than that of links[0]"),
        (("port = 140", "port = 70"), "68 to 71 of a pipe, which come back into ingress"),
        (("port = 140", "port = 512"), "links[1].port"),
        (("port = 140", "port = 140\nport_back = 3"), "only between two switches"),
        (("port = 5\n", 'port = 5\nrate = "1 Gbit/s"\nport_back = 9\n'), "only between two"),
        (('name = "s1"', 'name = "s1"\npipes = 1'), "allowed is 0 to 127"),
    ],
)
def test_a_number_of_a_port_is_free_and_of_a_pipe_that_is_there(
    tmp_path: Path, change: tuple[str, str], message: str
) -> None:
    document = tomllib.loads(NUMBERED.replace(*change).replace('"numbered.p4"', '"fifo"'))
    with pytest.raises(ScenarioError, match=re.escape(message)):
        scenario = scenario_from_dict(document)
        for run in make_plan(scenario).runs:
            try:
                _core.check_config(run.configuration)
            except ConfigError as error:
                raise ScenarioError(str(error)) from error
