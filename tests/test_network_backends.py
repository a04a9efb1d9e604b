"""One network on the backends that have real TCP: the Linux kernel's routers, and live switches.

The kernel needs Debian's user-mode-linux, which root installs, the switches network namespaces;
others skip with one line. Both have the real clock, so what is asserted is what no pause changes.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import call_sojourn
from sojourn.backends.live.namespaces import NamespacesError, require
from sojourn.results.result import Result, read_result
from sojourn.runtime.folder import RunFolder
from sojourn.tools.delays.captures import read_frames

MS = 1_000_000

SCENARIO = """
duration = "2 s"
hosts = ["a", "b", "router"]
aqms = ["codel_linux"]

[[switches]]
name = "r"

[[switches]]
name = "s"
aqm = "fifo"

[[links]]
between = ["a", "r"]
delay = "4 ms"

[[links]]
between = ["r", "s"]
rate = "8 Mbit/s"
delay = "3 ms"
queue_limit = "100 kB"

[[links]]
between = ["s", "b"]
rate = "4 Mbit/s"
queue_limit = "100 kB"
schedule = [{ at = "1 s", rate = "3 Mbit/s" }]

[[links]]
between = ["s", "router"]

[[flows]]
from = "a"
to = "b"
count = 2

[[flows]]
from = "router"
to = "a"
rate_cap = "1 Mbit/s"
ip_version = 6

[[flows]]
kind = "voip"
from = "a"
to = "b"

[[flows]]
kind = "requests"
from = "a"
to = "router"
think = "50 ms"

[[flows]]
kind = "transfers"
from = "router"
to = "b"
load = "500 kbit/s"
max_size = "20 kB"
"""
DOWN, UP, VOICE, ASKS, TRANSFERS = 0, 2, 3, 4, 5


@pytest.fixture(scope="module", params=["linux", "live"])
def backend(request: pytest.FixtureRequest) -> str:
    """The backend, where it can be had."""
    name: str = request.param
    if name == "linux":
        request.getfixturevalue("uml")
        return name
    try:
        require()
    except NamespacesError as error:
        pytest.skip(str(error).splitlines()[0])
    return name


@pytest.fixture(scope="module")
def network(backend: str, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The run."""
    folder = tmp_path_factory.mktemp(f"network-{backend}")
    (folder / "net.toml").write_text(SCENARIO)
    done = call_sojourn(
        folder, "run", "net.toml", "--on", backend, "--accept-disturbed", "--attempts", "1",
        "--out", "out", "--pcap",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "every bottleneck" in done.stdout
    return read_result(RunFolder.open(folder / "out"))


def rows_of(path: Path) -> dict[str, Any]:
    table = pq.read_table(path)
    names = ("packet", "flow", "enqueued", "dequeued")
    return {name: table[name].to_numpy().astype(np.int64) for name in names} | {
        "verdict": table["verdict"].to_numpy()
    }


def test_a_packet_has_one_number_in_the_rows_of_all_queues_that_it_passes(
    network: Result,
) -> None:
    folder = network.path / "codel_linux"
    first, second = rows_of(folder / "packets.parquet"), rows_of(folder / "packets-s-b.parquet")
    place = {number: row for row, number in enumerate(first["packet"].tolist())}
    assert len(place) == len(first["packet"])
    met = [place[n] for n in second["packet"].tolist() if n in place]
    ours = np.isin(second["packet"], first["packet"])
    # What comes from c does not pass the first one; what comes from a does.
    assert set(second["flow"][ours].tolist()) == {DOWN, DOWN + 1, VOICE}
    assert not set(second["flow"][~ours].tolist()) & {DOWN, DOWN + 1, VOICE}
    assert (first["flow"][met] == second["flow"][ours]).all()
    assert (first["verdict"][met] == "sent").all()
    # The link between the two is 3 ms long.
    assert (second["enqueued"][ours] >= first["dequeued"][met] + 3 * MS).all()
    assert len(met) > 100


def test_packets_take_at_least_the_delays_of_the_links_on_their_path(network: Result) -> None:
    folder = network.path / "codel_linux"
    flows = network.aqms["codel_linux"].flows
    for flow in (DOWN, UP):
        rows = flows.filter(pc.and_(pc.equal(flows["flow"], flow), pc.greater(flows["srtt"], 0)))
        assert pc.min(rows["srtt"]).as_py() >= 14 * MS
    voice = pq.read_table(folder / "datagrams.parquet")
    delay = voice["received"].to_numpy() - voice["sent"].to_numpy()
    assert len(delay) > 50
    assert (delay >= 7 * MS).all()
    exchanges = pq.read_table(folder / "exchanges.parquet")
    asked = exchanges.filter(
        pc.and_(pc.equal(exchanges["source"], ASKS), pc.greater(exchanges["finished"], 0))
    )
    assert asked.num_rows > 2
    assert (asked["finished"].to_numpy() - asked["started"].to_numpy() >= 14 * MS).all()
    moved = exchanges.filter(pc.equal(exchanges["source"], TRANSFERS))
    assert moved.num_rows > 5
    assert set(moved["flow"].to_pylist()) & set(range(TRANSFERS + 1, TRANSFERS + 500))


def test_each_bottleneck_of_a_network_has_its_rows_capture_and_plots(network: Result) -> None:
    endings = [bottleneck.ending for bottleneck in network.scenario.bottlenecks]
    assert endings == ["", "-s-r", "-s-b"]
    for ending in endings:
        folder = network.path / "codel_linux"
        rows = rows_of(folder / f"packets{ending}.parquet")
        frames = list(read_frames(folder / f"bottleneck{ending}.pcapng"))
        left = [frame.time for frame in frames if frame.interface == "left"]
        sent = rows["dequeued"][rows["verdict"] == "sent"]
        # What left after the end of the run was in the queue then.
        assert set(sent.tolist()) <= set(left), ending
    assert (network.path / "queue_delay-s-b.png").is_file()


QDISCS = {"linux": ["codel", "bfifo", "bfifo"], "live": ["live"] * 3}


def test_counters_of_a_network_hold_together(network: Result, backend: str) -> None:
    aqm = network.aqms["codel_linux"]
    counters = aqm.findings.counters
    assert [flow["delivered"] > 0 for flow in counters["flows"]] == [True] * 6
    # Three bottlenecks and the ways back of two of them.
    assert list(aqm.bottlenecks) == ["r>s", "s>r", "s>b"]
    assert [f"{b['switch']}>{b['towards']}" for b in counters["bottlenecks"]] == list(
        aqm.bottlenecks
    )
    assert [b["qdisc"].split()[0] for b in counters["bottlenecks"]] == QDISCS[backend]
    for findings in aqm.bottlenecks.values():
        assert 0 < findings.summary.utilisation <= 1.01
