"""`sojourn run --on live`: real TCP between namespaces through the live switch, and the files of
the run.

Nothing here judges how fast the machine is. Needs network namespaces, of root's or of one's own.
"""

import contextlib
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import Sojourn, call_sojourn
from sojourn.backends.linux.temporary_folders import scratch
from sojourn.backends.live.backend import live as live_backend
from sojourn.backends.live.measurements import counters_of
from sojourn.backends.live.namespaces import NamespacesError, is_root, require
from sojourn.common.resources import scenarios_folder
from sojourn.errors import SojournError
from sojourn.runner import plan_scenario, record
from sojourn.tools.telemetry.collector import collect

RUN = [sys.executable, "-m", "sojourn", "run"]
NOBODY = 65_534


@pytest.fixture(scope="module")
def namespaces() -> None:
    try:
        require()
    except NamespacesError as error:
        pytest.skip(str(error).splitlines()[0])


def scenario(folder: Path, text: str) -> str:
    path = folder / "given.toml"
    path.write_text(text)
    return str(path)


THREE = """
duration = "1.5 s"
aqms = ["codel", "codel_exact"]
[switch]
rate = "20 Mbit/s"
[[flows]]
count = 2
rtt = "8 ms"
[[flows]]
kind = "udp"
rate = "1 Mbit/s"
rtt = "20 ms"
[[flows]]
rtt = "30 ms"
ip_version = 6
"""


def live(given: str, out: Path, **changes: Any) -> dict[str, Any]:
    """The rows alone, without tables and pictures; what the run says of its backend."""
    backend = live_backend(accept_disturbed=True)
    return record(plan_scenario(given, backend=backend, **changes), out, backend=backend).backend


def test_a_scenario_leaves_the_files_that_it_leaves_in_the_simulator(
    namespaces: None, tmp_path: Path
) -> None:
    given = scenario(tmp_path, THREE)
    live(given, tmp_path / "live", capture=True)
    record(plan_scenario(given, capture=True), tmp_path / "sim")
    here, there = (
        {str(path.relative_to(tmp_path / backend)) for path in (tmp_path / backend).rglob("*.*")}
        for backend in ("live", "sim")
    )
    assert here == there
    for aqm in ("codel", "codel_exact"):
        rows = pq.read_table(tmp_path / "live" / aqm / "packets.parquet").to_pydict()
        assert set(rows["flow"]) == {0, 1, 2, 3}, "packets of all flows have rows"
        assert max(rows["dequeued"]) <= 1_500_000_000
        waits = [b - a for a, b in zip(rows["enqueued"], rows["dequeued"], strict=True)]
        assert min(waits) >= 0
        sent = sum(
            size
            for size, verdict in zip(rows["size"], rows["verdict"], strict=True)
            if verdict == "sent"
        )
        # The shaper lets no more through than its rate.
        assert 500_000 < sent * 8 < 20e6 * 1.5
        counters = json.loads((tmp_path / "live" / aqm / "counters.json").read_text())
        for number, least in ((0, 8), (1, 8), (3, 30)):
            samples = pq.read_table(tmp_path / "live" / aqm / "flows.parquet").to_pydict()
            srtt = [
                srtt
                for flow, srtt in zip(samples["flow"], samples["srtt"], strict=True)
                if flow == number and srtt
            ]
            assert min(srtt) >= least * 1_000_000, "the way back is as long as the scenario says"
            assert counters["flows"][number]["delivered"] > 0
        assert counters["flows"][2]["segments"] >= counters["flows"][2]["delivered"] // 1500 > 50
        assert counters["live"]["switch"]["lateness"]["count"] > 0
    capture = (tmp_path / "live" / "codel" / "bottleneck.pcapng").read_bytes()
    assert len(capture) > 500_000


USER = """
import sys
from pathlib import Path
from sojourn.backends.live.backend import live
from sojourn.runner import plan_scenario, record
plan = plan_scenario(sys.argv[2], backend=live(), set={"duration": "1 s"}, aqms=["codel"])
record(plan, Path(sys.argv[1]), backend=live())
"""


def reachable(before: tuple[str, ...]) -> tuple[str, dict[str, str]] | None:
    """An interpreter, with its environment, that a user may start who is nobody outside their own
    namespace: this one may lie in a home that others cannot enter; Debian's does not."""
    paths = os.pathsep.join(path for path in sys.path if Path(path).is_dir())
    for interpreter, environment in (
        (sys.executable, {}),
        ("/usr/bin/python3", {"PYTHONPATH": paths}),
    ):
        started = subprocess.run(
            [*before, "unshare", "-Urn", interpreter, "-c", "import sojourn"],
            capture_output=True,
            env=os.environ | environment,
        )
        if not started.returncode:
            return interpreter, environment
    return None


@pytest.mark.parametrize("scenario", ["three_flows", "two_bottlenecks"])
def test_an_ordinary_user_gets_a_run_that_says_it_is_no_measurement(
    namespaces: None, tmp_path_factory: pytest.TempPathFactory, scenario: str
) -> None:
    before: tuple[str, ...] = ()
    folder = tmp_path_factory.mktemp("user")
    if is_root():
        before = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
        os.chown(folder, NOBODY, NOBODY)
        for parent in folder.parents:
            if parent.name.startswith(("pytest-", "popen-")):
                parent.chmod(0o755)
    found = reachable(before)
    if found is None:
        pytest.skip("an ordinary user cannot run it from here, or has no namespaces")
    interpreter, environment = found
    done = subprocess.run(
        [*before, interpreter, "-c", USER, str(folder / "run"), scenario],
        capture_output=True,
        text=True,
        env=os.environ | environment | {"HOME": str(folder)},
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    backend = json.loads((folder / "run" / "run.json").read_text())["ground"]
    assert backend["name"] == "live"
    assert "no measurement" in backend["runs"]["codel"]["disturbed"]
    assert len(pq.read_table(folder / "run" / "codel" / "packets.parquet")) > 1000


def test_a_schedule_changes_the_rate_and_the_delay_of_the_live_switch(
    namespaces: None, tmp_path: Path
) -> None:
    text = """
duration = "3 s"
aqms = ["fifo"]
[switch]
rate = "20 Mbit/s"
queue_limit = "60 kB"
schedule = [{ at = "1 s", rate = "5 Mbit/s" }, { at = "2 s", delay = "40 ms" }]
[[flows]]
rtt = "4 ms"
"""
    live(scenario(tmp_path, text), tmp_path / "run")
    rows = pq.read_table(tmp_path / "run" / "fifo" / "packets.parquet").to_pydict()
    sent = [0, 0, 0]
    for left, size, verdict in zip(rows["dequeued"], rows["size"], rows["verdict"], strict=True):
        sent[min(left // 10**9, 2)] += size * 8 * (verdict == "sent")
    assert sent[0] > 5.2e6, "before the change it sends faster"
    assert sent[1] < 5.2e6 and sent[2] < 5.2e6
    samples = pq.read_table(tmp_path / "run" / "fifo" / "flows.parquet").to_pydict()
    late = [s for t, s in zip(samples["time"], samples["srtt"], strict=True) if t > 2_900_000_000]
    # 40 ms there and back, beside 4 ms.
    assert min(late) > 50_000_000


NETWORK = """
duration = "3 s"
hosts = ["a", "b"]
aqms = [{ use = "v1model/router", control = "r.txt" }]
[[switches]]
name = "r"
control = [{ at = "1.5 s", operations = [{ op = "clear_table", table = "Router.routes" }] }]
[[switches]]
name = "s"
aqm = "fifo"
[[links]]
between = ["a", "r"]
delay = "2 ms"
schedule = [{ at = "0.8 s", delay = "12 ms" }]
[[links]]
between = ["r", "s"]
packets_per_second = 500
delay = "3 ms"
[[links]]
between = ["s", "b"]
rate = "50 Mbit/s"
[[flows]]
from = "a"
to = "b"
"""
# Behind the next hop is a switch that does not rewrite addresses, as in the scenario of 2018.
ROUTES = """
table_add Router.routes send 10.0.1.1/32 => 1 02:ff:00:00:00:01 02:00:0a:00:01:01
table_add Router.routes send 10.0.2.1/32 => 2 02:ff:00:00:00:02 02:ff:00:00:00:03
"""


def test_a_program_in_a_network_has_its_control_plane_pace_and_delays(
    namespaces: None, tmp_path: Path
) -> None:
    (tmp_path / "r.txt").write_text(ROUTES)
    live(scenario(tmp_path, NETWORK), tmp_path / "run")
    folder = tmp_path / "run" / "router"
    first, second = (
        pq.read_table(folder / name).to_pydict()
        for name in ("packets.parquet", "packets-s-b.parquet")
    )
    sent = [
        (came, left)
        for came, left, how in zip(
            first["enqueued"], first["dequeued"], first["verdict"], strict=True
        )
        if how == "sent"
    ]
    assert len(sent) > 200
    # One leaves each 2 ms, and none enters once the control plane has taken the routes away.
    pairs = itertools.pairwise(left for _, left in sent)
    assert min(after - before for before, after in pairs) >= 1_999_000
    assert 1_000_000_000 < max(came for came, _ in sent) < 2_500_000_000
    arrived = dict(zip(second["packet"], second["enqueued"], strict=True))
    left = dict(zip(first["packet"], first["dequeued"], strict=True))
    passed = arrived.keys() & left.keys()
    assert len(passed) > 200, "a packet has one number in both"
    assert min(arrived[packet] - left[packet] for packet in passed) >= 3_000_000
    samples = pq.read_table(folder / "flows.parquet").to_pydict()
    srtt = [one for one in samples["srtt"] if one]
    assert min(srtt) >= 10_000_000, "both links' delays, both ways"
    counters = json.loads((folder / "counters.json").read_text())
    assert set(counters["live"]) == {"r", "s"}
    assert counters["flows"][0]["delivered"] > 0


def test_telemetry_leaves_room_for_hosts_packets_and_reaches_the_collector(
    namespaces: None, tmp_path: Path
) -> None:
    given = tomllib.loads((scenarios_folder() / "int_chain.toml").read_text())
    given |= {"duration": "1 s", "aqms": given["aqms"][:1]}
    backend = live_backend(accept_disturbed=True)
    record(
        plan_scenario(given, beside=scenarios_folder(), backend=backend),
        tmp_path / "run",
        backend=backend,
    )
    folder = tmp_path / "run" / "bmv2"
    counters = json.loads((folder / "counters.json").read_text())
    ports = [port for switch in counters["live"].values() for port in switch["ports"]]
    assert not any(port["not_sent"] or port["oversized"] for port in ports)
    # Segments of 1,500 bytes, with 120 bytes of telemetry at the last hop.
    assert counters["flows"][0]["delivered"] > 100_000
    found = collect(folder / "bottleneck-s3-collector.pcapng")
    assert found.packets > 200 and found.lost == 0 and not found.broken
    assert set(found.table["hop"].to_pylist()) == {1, 2, 3}
    # The source's queue is the longest one of the flow; its row has the same wait.
    rows = pq.read_table(folder / "packets.parquet").to_pydict()
    longest = max(b - a for a, b in zip(rows["enqueued"], rows["dequeued"], strict=True))
    first = found.table.filter(pc.equal(found.table["hop"], 1))
    assert pc.max(first["latency"]).as_py() == pytest.approx(longest, abs=2_000_000)


@contextlib.contextmanager
def long_run(folder: Path, scenario: str) -> Iterator[tuple[subprocess.Popen[str], set[int]]]:
    """A run that would take a minute, once its hosts send; with all processes below it."""
    command = [*RUN, scenario, "--set", 'duration="60 s"', "--aqm", "codel"]
    (folder / "temporary").mkdir()
    process = subprocess.Popen(
        [*command, "--on", "live", "--out", str(folder / "run")],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
    )  # fmt: skip
    try:
        rows = list[Path]()
        until = time.monotonic() + 30
        while not rows and time.monotonic() < until:
            rows = list((folder / "run").rglob("sockets.bin"))
            time.sleep(0.05)
        time.sleep(0.5)
        yield process, below(process.pid)
    finally:
        process.kill()
        process.wait()


def below(process: int) -> set[int]:
    found: set[int] = set()
    for task in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(OSError):
            for child in (task / "children").read_text().split():
                found |= {int(child), *below(int(child))}
    return found


def alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def interfaces() -> str:
    return subprocess.run(["ip", "-br", "link"], capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    ("scenario", "how"),
    [
        ("three_flows", signal.SIGKILL),
        ("three_flows", signal.SIGINT),
        ("two_bottlenecks", signal.SIGKILL),
        ("two_bottlenecks", signal.SIGINT),
    ],
)
def test_a_run_that_is_ended_leaves_no_process_and_no_interface(
    namespaces: None, tmp_path: Path, scenario: str, how: signal.Signals
) -> None:
    before = interfaces()
    with long_run(tmp_path, scenario) as (process, children):
        # At least the enclosure, its first process, the switch and two processes of hosts.
        assert len(children) >= 5
        process.send_signal(how)
        process.wait(timeout=30)
        until = time.monotonic() + 10
        while any(map(alive, children)) and time.monotonic() < until:
            time.sleep(0.05)
        assert not {child for child in children if alive(child)}
    assert interfaces() == before
    assert not shutil.which("ip") or not {"senders", "h1"} & set(
        subprocess.run(["ip", "netns"], capture_output=True, text=True).stdout.split()
    )


def test_a_run_with_late_departures_is_refused_or_reports_them(
    namespaces: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_root():
        pytest.skip("an ordinary user's runs are no measurement, disturbed or not")

    def late(folder: Path) -> dict[str, Any]:
        counters = counters_of(folder)
        counters["live"]["lateness"]["p99"] = 5_000_000
        return counters

    monkeypatch.setattr("sojourn.backends.live.measurements.counters_of", late)
    text = (
        'duration = "0.3 s"\naqms = ["fifo"]\nswitch.rate = "20 Mbit/s"\n[[flows]]\nrtt = "4 ms"\n'
    )
    given = scenario(tmp_path, text)
    reason = "one departure in a hundred was late by more than 5 ms"
    strict = live_backend(attempts=1)
    with pytest.raises(SojournError, match=f"disturbed 1 times, so the run is rejected: {reason}"):
        record(plan_scenario(given, backend=strict), tmp_path / "strict", backend=strict)
    assert not list((tmp_path / "strict").rglob("packets.parquet"))
    backend = live(given, tmp_path / "kept")
    assert backend["runs"]["fifo"]["disturbed"].startswith(reason)


KILLED = """
import os, signal
from sojourn.backends.linux.temporary_folders import scratch
with scratch() as folder:
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_folder_of_a_run_that_was_killed_goes_with_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    script = [sys.executable, "-c", KILLED]
    killed = subprocess.run(script, capture_output=True, text=True, env=environment)
    left = Path(killed.stdout.strip())
    assert killed.returncode == -signal.SIGKILL and left.is_dir() and left.parent == tmp_path
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch() as mine, scratch() as other:
        assert not left.exists()
        assert mine.is_dir() and other.is_dir(), "one that somebody holds stays"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("two_bottlenecks", "--traffic", "iperf3"), "several switches: iperf3 sends over one"),
        (("three_flows", "--kernel", "host"), "--kernel is for --on linux"),
        (("three_flows", "--set", "flows.0.segmentation_offload=true"), "segmentation_offload"),
        (("three_flows", "--aqm", "nosuch"), "unknown AQM"),
    ],
)
def test_features_that_the_live_backend_lacks_are_reported_with_their_place(
    sojourn: Sojourn, arguments: tuple[str, ...], message: str
) -> None:
    said = sojourn("run", *arguments, "--on", "live")
    assert said.returncode == 2
    assert message in said.stderr


def test_seeds_run_one_after_the_other_and_are_no_results_of_the_simulator(
    namespaces: None, tmp_path: Path
) -> None:
    text = THREE.replace('"1.5 s"', '"0.5 s"').replace(', "codel_exact"', "")
    given = scenario(tmp_path, text)
    options = ["--on", "live", "--accept-disturbed", "--json"]
    seeds = ["run", given, "--seeds", "1..2", "--out", "out"]
    first = call_sojourn(tmp_path, *seeds, *options)
    assert first.returncode == 0, first.stderr
    found = json.loads(first.stdout)
    assert (found["runs"], found["found"], found["failures"]) == (2, 0, [])
    assert found["summary"][0]["runs"] == 2
    again = json.loads(call_sojourn(tmp_path, *seeds, *options).stdout)
    assert again["found"] == 2, "they are kept"
    simulated = call_sojourn(tmp_path, "run", given, "--seeds", "1..2", "--out", "sim", "--json")
    assert json.loads(simulated.stdout)["found"] == 0
    other = call_sojourn(tmp_path, *seeds, "--json")
    assert other.returncode == 2 or json.loads(other.stdout)["found"] == 0
