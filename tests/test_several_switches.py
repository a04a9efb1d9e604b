"""One controller, a process or a script, that acts on several switches of a run."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

import sojourn
from conftest import Sojourn
from sojourn import ScenarioError
from test_control_script import KEY, ROUTER

TESTS = Path(__file__).parent
MILLISECOND = 1_000_000

SCENARIO = """
duration = "120 ms"
hosts = ["h1", "h2"]
switches = [{ name = "s1" }, { name = "s2" }]
aqms = ["router.p4"]
links = [
    { between = ["h1", "s1"], port = 1 },
    { between = ["s1", "s2"], port = 2, port_back = 1, rate = "10 Mbit/s" },
    { between = ["s2", "h2"], port = 2, rate = "10 Mbit/s" },
]
flows = [{ kind = "udp", from = "h1", to = "h2", rate = "1 Mbit/s" }]

[control]
"""

ROWS = ("packets.parquet", "packets-s2-h2.parquet")
"""Of the queue of s1 towards s2, and of that of s2 towards h2."""

PROCESS = 'process = ["{python}", "agent.py"]\nswitch = ["s1", "s2"]\ntimeout = "60 s"\n'

AGENT = """
import os, time
import grpc
from live_controller import Controller, p4

addresses = os.environ["SOJOURN_CONTROL"].split(",")
devices = [int(device) for device in os.environ["SOJOURN_DEVICE"].split(",")]
assert devices == [1, 2] and len(set(addresses)) == 2

def connected(address, device):
    me = Controller(grpc.insecure_channel(address), device)
    asked = p4.GetForwardingPipelineConfigRequest(device_id=device)
    me._info = me._stub.GetForwardingPipelineConfig(asked).config.p4info
    return me

def forward(me):
    table, action = (
        next(one.preamble.name for one in objects if one.preamble.alias == alias)
        for objects, alias in ((me._info.tables, "forward"), (me._info.actions, "send"))
    )
    me.add(table, bytes([1]), action, bytes([2]))

first, second = map(connected, addresses, devices)
time.sleep(0.006)
forward(second)
time.sleep(0.029)
forward(first)
print(round(time.time() * 1e3, 6))
"""


def written(folder: Path, control: str, **files: str) -> Path:
    """The scenario in a folder, with its program and the files of its controller."""
    folder.mkdir(exist_ok=True)
    (folder / "router.p4").write_text(ROUTER.replace("s.ingress_port : exact", KEY))
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    path = folder / "two.toml"
    path.write_text(SCENARIO + control)
    return path


def first_sent(rows: Path) -> int:
    """When the first packet that has left its queue entered it, ns."""
    found = pq.read_table(rows).to_pylist()
    return min(row["enqueued"] for row in found if row["verdict"] == "sent")


def test_a_p4runtime_process_drives_two_switches_and_rows_repeat(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[dev]'")
    pytest.importorskip("p4.v1", reason="not installed: pip install 'sojourn[dev]'")
    client = (TESTS / "live_controller.py").read_text()
    path = written(tmp_path / "s", PROCESS, agent=AGENT, live_controller=client)
    found = []
    for name in ("first", "second"):
        ran = sojourn("run", str(path), "--out", str(tmp_path / name))
        assert ran.returncode == 0, ran.stderr
        rows = [tmp_path / name / "router" / one for one in ROWS]
        found.append([pq.read_table(one) for one in rows])
        # Two requests for each switch, a sleep, an entry of s2, a sleep, an entry of s1.
        log = (tmp_path / name / "router" / "controller.log").read_text()
        assert log.split() == ["41.0"]
        assert all(41 * MILLISECOND <= first_sent(one) < 54 * MILLISECOND for one in rows)
    assert found[0] == found[1]
    assert all(table.num_rows > 5 for table in found[0])


BOTH = """
times = {"s1": 20_000_000, "s2": 50_000_000}
begun = []

def start(switch):
    begun.append(switch.name)
    assert begun in (["s1"], ["s1", "s2"])
    assert dict(switch.args) == {"to": 2}
    switch.at(times[switch.name], forward)

def forward(switch):
    match = {"standard_metadata.ingress_port": 1}
    switch.table("forward").add(match, "send", {"port": switch.args["to"]})

def digest(switch, message):
    assert switch.name == "s1" or switch.now >= times["s1"]
"""


def test_a_script_is_begun_for_each_switch_in_their_order(tmp_path: Path) -> None:
    control = 'script = "both.py"\nswitch = ["s1", "s2"]\nargs = { to = 2 }\n'
    path = written(tmp_path, control, both=BOTH)
    out = tmp_path / "run"
    sojourn.run(path, out=out, report=False)
    first, second = (first_sent(out / "router" / rows) for rows in ROWS)
    # What has arrived at s2 before its entry is lost there.
    assert 20 * MILLISECOND <= first < 33 * MILLISECOND
    assert 50 * MILLISECOND <= second < 63 * MILLISECOND


@pytest.mark.parametrize(
    ("control", "said"),
    [
        ('script = "both.py"\nswitch = ["s1", "s3"]', "there is no switch s3"),
        ('script = "both.py"\nswitch = ["s1", "s1"]', "s1 is named twice"),
        ('process = ["true"]\nargs = { to = 2 }', "args: of a script"),
    ],
)
def test_switches_and_arguments_that_make_no_sense_are_refused(
    tmp_path: Path, control: str, said: str
) -> None:
    path = written(tmp_path, control, both=BOTH)
    with pytest.raises(ScenarioError, match=said):
        sojourn.run(path, report=False)


def test_a_switch_without_a_program_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, 'script = "both.py"\nswitch = ["s1", "s2"]', both=BOTH)
    path.write_text(path.read_text().replace('{ name = "s2" }', '{ name = "s2", aqm = "fifo" }'))
    with pytest.raises(ScenarioError, match="fifo of s2 is a native discipline"):
        sojourn.run(path, report=False)
