"""`[control] process`: a client of P4Runtime or BfRt that acts on a run's switch."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import sojourn
from conftest import Sojourn
from sojourn import ScenarioError
from sojourn.control.virtual_clock import ClockServer
from test_control_script import KEY, ROUTER

pytest.importorskip("grpc", reason="not installed: pip install 'sojourn[dev]'")
pytest.importorskip("p4.v1", reason="not installed: pip install 'sojourn[dev]'")

TESTS = Path(__file__).parent
MILLISECOND = 1_000_000

SCENARIO = """
duration = "120 ms"
aqms = ["router.p4"]

[switch]
rate = "10 Mbit/s"

[control]
process = ["{python}", "agent.py"]
timeout = "60 s"

[[flows]]
kind = "udp"
rate = "1 Mbit/s"
rtt = "10 ms"
"""

CONNECTED = """
import asyncio, os, sys, time
import grpc
import helper
from live_controller import DEVICE, Controller, p4

channel = grpc.insecure_channel(os.environ["SOJOURN_CONTROL"])
me = Controller(channel)
asked = p4.GetForwardingPipelineConfigRequest(device_id=DEVICE)
me._info = me._stub.GetForwardingPipelineConfig(asked).config.p4info

def named(kind, alias):
    return next(o.preamble for o in getattr(me._info, kind) if o.preamble.alias == alias)

def forward():
    for port, to in ((1, 2), (2, 1)):
        name = named("tables", "forward").name
        me.add(name, bytes([port]), named("actions", "send").name, bytes([to]))

def seen():
    request = p4.ReadRequest(device_id=DEVICE)
    entry = request.entities.add().counter_entry
    entry.counter_id, entry.index.index = named("counters", "seen").id, 1
    return request

def now():
    return round(time.time() * 1e3, 6)
"""


def scenario(folder: Path, agent: str, *, connected: bool = True, more: str = "") -> Path:
    """A scenario with a program, and a controller process with a module of its own."""
    folder.mkdir(exist_ok=True)
    (folder / "router.p4").write_text(ROUTER.replace("s.ingress_port : exact", KEY))
    (folder / "live_controller.py").write_text((TESTS / "live_controller.py").read_text())
    (folder / "helper.py").write_text("INTERVAL = 0.016\n")
    (folder / "agent.py").write_text((CONNECTED if connected else "") + agent)
    path = folder / "controlled.toml"
    path.write_text(SCENARIO.replace("[control]", f"[control]\n{more}"))
    return path


def log_of(out: Path) -> list[str]:
    """The lines that the controller of a run into `out` has printed."""
    return (out / "router" / "controller.log").read_text().splitlines()


def test_a_loop_of_16_ms_is_exact_and_two_runs_have_the_same_rows(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    agent = (
        "forward()\n"
        "while True:\n"
        "    time.sleep(helper.INTERVAL)\n"
        "    (answer,) = me._stub.Read(seen())\n"
        "    print(now(), answer.entities[0].counter_entry.data.packet_count)\n"
    )
    path = scenario(tmp_path / "s", agent)
    outs = [tmp_path / "first", tmp_path / "second"]
    for out in outs:
        ran = sojourn("run", str(path), "--out", str(out))
        assert ran.returncode == 0, ran.stderr
        assert "runs {python} agent.py: a controller process of the scenario" in ran.stderr
    first, second = (pq.read_table(out / "router" / "packets.parquet") for out in outs)
    assert first.equals(second) and first.num_rows > 5
    assert log_of(outs[0]) == log_of(outs[1])
    # Arbitration, the pipeline and two entries take 1 ms each; then a sleep and a read.
    times = [float(line.split()[0]) for line in log_of(outs[0])]
    assert times == [4 + 17 * (number + 1) for number in range(len(times))]
    assert len(times) == 6
    counts = [int(line.split()[1]) for line in log_of(outs[0])]
    assert counts == sorted(counts) and counts[-1] > counts[0]
    sent = [row["enqueued"] for row in first.to_pylist() if row["verdict"] == "sent"]
    assert min(sent) >= 4 * MILLISECOND

    described = json.loads((outs[0] / "run.json").read_text())
    (run,) = described["runs"]
    assert described["scenario"]["control"]["process"] == ["{python}", "agent.py"]
    assert {"agent.py", "helper.py", "live_controller.py"} <= set(run["sources"])
    assert any(name.startswith("/") and "python" in name for name in run["sources"])

    traced = sojourn("trace", str(outs[0]), "sent")
    assert traced.returncode == 0, traced.stderr


def test_an_event_loop_sleeps_in_the_time_of_the_run(tmp_path: Path) -> None:
    agent = (
        "forward()\n"
        "async def main():\n"
        "    while True:\n"
        "        began = asyncio.get_running_loop().time()\n"
        "        await asyncio.gather(asyncio.sleep(0.016), asyncio.sleep(0.003))\n"
        "        await asyncio.to_thread(lambda: list(me._stub.Read(seen())))\n"
        "        print(now(), round((asyncio.get_running_loop().time() - began) * 1e3, 6))\n"
        "asyncio.run(main())\n"
    )
    path = scenario(tmp_path / "s", agent, more='latency = "500 us"')
    sojourn.run(path, out=tmp_path / "run", report=False)
    lines = [line.split() for line in log_of(tmp_path / "run")]
    assert [float(at) for at, _ in lines] == [2 + 16.5 * (n + 1) for n in range(len(lines))]
    assert {took for _, took in lines} == {"16.5"} and len(lines) == 7


def test_dates_are_those_of_the_run(tmp_path: Path) -> None:
    """Schedulers compare `datetime.now()`; an extension's own datetime is still one."""
    agent = (
        "from datetime import datetime, timedelta, timezone\n"
        "forward()\n"
        "for _ in range(2):\n"
        "    began = datetime.now()\n"
        "    time.sleep(0.016)\n"
        "    print((datetime.now() - began) / timedelta(milliseconds=1))\n"
        "print(datetime.now(timezone.utc).timestamp(), datetime.utcnow().isoformat())\n"
        "print(isinstance(datetime.__base__(2020, 1, 1), datetime))\n"
    )
    path = scenario(tmp_path / "s", agent)
    sojourn.run(path, out=tmp_path / "run", report=False)
    lines = [line for line in log_of(tmp_path / "run") if "Warning" not in line]
    assert lines[:2] == ["16.0", "16.0"]
    assert "0.036 1970-01-01T00:00:00.036000" in lines
    assert lines[-1] == "True"


def test_messages_and_packets_reach_the_controller_at_their_time(tmp_path: Path) -> None:
    """The program sends each packet to the controller, who sends it back; so do digests."""
    agent = (
        "name = named('tables', 'forward').name\n"
        "me.add(name, bytes([1]), named('actions', 'send').name, bytes([255]))\n"
        "me.add(name, bytes([255]), named('actions', 'send').name, bytes([2]))\n"
        "request = p4.WriteRequest(device_id=DEVICE)\n"
        "request.election_id.low = 1\n"
        "entry = request.updates.add(type=p4.Update.INSERT).entity.digest_entry\n"
        "entry.digest_id = me._info.digests[0].preamble.id\n"
        "me._stub.Write(request)\n"
        "for message in me._stream:\n"
        "    if message.HasField('packet'):\n"
        "        print('packet', now(), len(message.packet.payload))\n"
        "        out = p4.StreamMessageRequest()\n"
        "        out.packet.payload = message.packet.payload\n"
        "        me._asks.put(out)\n"
        "    else:\n"
        "        told = message.digest\n"
        "        print('digest', now(), told.timestamp / 1e6, len(told.data))\n"
    )
    path = scenario(tmp_path / "s", agent, more="cpu_port = 255")
    outs = [tmp_path / "first", tmp_path / "second"]
    rows = [sojourn.run(path, out=out, report=False).packets().read_all() for out in outs]
    assert rows[0].equals(rows[1])
    lines = log_of(outs[0])
    assert lines == log_of(outs[1])
    packets = [line for line in lines if line.startswith("packet")]
    digests = [line.split() for line in lines if line.startswith("digest")]
    assert len(packets) > 5 and len(digests) > 5
    # A digest is told at the next look, of 1 ms, and stamped with the time of the run.
    assert all(at == stamp for _, at, stamp, _ in digests)
    sent = sum(row["verdict"] == "sent" for row in rows[0].to_pylist())
    assert 0 <= len(packets) - sent <= 2


def test_a_controller_may_push_the_program_as_it_does_on_a_switch(tmp_path: Path) -> None:
    agent = (
        "info = me._info.SerializeToString()\n"
        "time.sleep(0.02)\n"
        "me.push(open('router.p4', 'rb').read(), info)\n"
        "assert me.entries(named('tables', 'forward').name) == 0\n"
        "forward()\n"
        "print(now(), me.entries(named('tables', 'forward').name))\n"
    )
    path = scenario(tmp_path / "s", agent)
    result = sojourn.run(path, out=tmp_path / "run", report=False)
    # Its work done, it ends with status 0, and the run goes on.
    assert log_of(tmp_path / "run") == ["26.0 2"]
    sent = [
        r["enqueued"] for r in result.packets().read_all().to_pylist() if r["verdict"] == "sent"
    ]
    assert len(sent) > 4 and min(sent) >= 26 * MILLISECOND


BFRT = """
import os, time
from sojourn.control.bfrt_client import Connection
from sojourn.control.bfrt_shell import Shell

me = Connection(os.environ["SOJOURN_CONTROL"])
pipe = getattr(Shell(me), me.name)
register = next(
    name for name, table in me.tables.items() if table["table_type"] == "Register"
)
while True:
    time.sleep(0.016)
    place = pipe
    for part in register.split("."):
        place = getattr(place, part)
    place.get(REGISTER_INDEX=0)
    print(round(time.time() * 1e3, 6))
"""


def test_a_client_of_bfrt_is_as_exact(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(BFRT)
    path = tmp_path / "bfrt.toml"
    path.write_text(
        SCENARIO.replace("router.p4", "tna/codel_exact").replace(
            "[control]", '[control]\nserver = "bfrt"\nlatency = "2 ms"'
        )
    )
    outs = [tmp_path / "first", tmp_path / "second"]
    rows = [sojourn.run(path, out=out, report=False).packets().read_all() for out in outs]
    assert rows[0].equals(rows[1]) and rows[0].num_rows > 5
    (log,) = outs[0].glob("*/controller.log")
    # At the beginning the client asks for the pipeline alone.
    times = [float(line) for line in log.read_text().splitlines()]
    assert times == [2 + 18 * (number + 1) for number in range(6)]


BUSY = "while True:\n    pass\n"
FOREVER = "import threading\nthreading.Event().wait()\n"
PID = "import os, sys, time\nopen('pid', 'w').write(str(os.getpid()))\n"


@pytest.mark.parametrize(
    ("agent", "connected", "said"),
    [
        (BUSY, True, "works for more than 10 s of real time (control.timeout)"),
        (FOREVER, False, "has not connected to 127.0.0.1:"),
        ("channel.close()\n" + FOREVER, True, "has closed its connection and has not come back"),
        ("sys.exit('no such port')\n", True, "ended with status 1"),
        ("os.kill(os.getpid(), 9)\n", False, "ended with signal SIGKILL"),
        ("print('nothing to do')\n", False, "ended without connecting to 127.0.0.1:"),
        ("time.sleep(1e9)\n", False, "has not connected to 127.0.0.1:"),
    ],
)
def test_a_controller_that_hangs_or_ends_ends_the_run_and_rows_stay_readable(
    tmp_path: Path, sojourn: Sojourn, agent: str, connected: bool, said: str
) -> None:
    text = f"{CONNECTED}{PID}forward()\ntime.sleep(0.05)\n" if connected else PID
    path = scenario(tmp_path / "s", text + agent, connected=False)
    path.write_text(path.read_text().replace("60 s", "10 s"))
    ran = sojourn("run", str(path), "--out", str(tmp_path / "run"))
    assert ran.returncode == 2, ran.stderr
    errors = " ".join(ran.stderr.split())
    assert said in errors and "s of the run" in errors
    assert ("no such port" in errors) == ("no such port" in agent)
    (rows,) = (tmp_path / "run").rglob("packets.parquet")
    assert (pq.read_table(rows).num_rows > 0) == (connected or "sleep" in agent)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "s" / "pid").read_text()), 0)


def test_ctrl_c_ends_the_controller_too(tmp_path: Path) -> None:
    path = scenario(
        tmp_path / "s", "open('pid', 'w').write(str(os.getpid()))\nwhile True:\n    seen()\n"
    )
    command = [sys.executable, "-m", "sojourn", "run", str(path), "--out", str(tmp_path / "run")]
    run = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    pid = tmp_path / "s" / "pid"
    while not (pid.is_file() and pid.read_text()):
        assert run.poll() is None
        time.sleep(0.05)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 130, errors
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


def test_no_scripts_refuses_a_process(tmp_path: Path, sojourn: Sojourn) -> None:
    path = scenario(tmp_path / "s", "open('ran', 'w')\n", connected=False)
    for command in (("run", str(path)), ("sweep", str(sweep_of(path)))):
        refused = sojourn(*command, "--no-scripts", "--out", str(tmp_path / "run"))
        assert refused.returncode == 2, refused.stderr
        said = "agent.py: a controller process of the scenario; --no-scripts"
        assert said in " ".join(refused.stderr.split())
    assert not (tmp_path / "s" / "ran").exists()


def sweep_of(path: Path) -> Path:
    """A sweep over seeds of a scenario."""
    sweep = path.with_name("seeds.toml")
    sweep.write_text(f'scenario = "{path.name}"\nseeds = 1\n')
    return sweep


def test_a_sweep_gives_a_controller_the_folder_that_its_command_names(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    agent = "forward()\nassert open(sys.argv[1] + '/rates').read() == '7'\n"
    path = scenario(tmp_path / "s", agent)
    data = tmp_path / "s" / "data"
    data.mkdir()
    (data / "rates").write_text("7")
    path.write_text(path.read_text().replace('"agent.py"]', f'"agent.py", "{data}"]'))
    swept = sojourn("sweep", str(sweep_of(path)), "--out", str(tmp_path / "out"))
    assert swept.returncode == 0, swept.stderr


def test_a_sweep_runs_again_when_a_module_of_the_controller_has_changed(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    path = scenario(tmp_path / "s", "forward()\n")
    sweep, out = sweep_of(path), tmp_path / "out"

    def runs() -> int:
        swept = sojourn("sweep", str(sweep), "--out", str(out))
        assert swept.returncode == 0, swept.stderr
        assert "agent.py: a controller process of the scenario" in swept.stderr
        return len(list((out / "runs").iterdir()))

    assert (runs(), runs()) == (1, 1)
    (path.parent / "helper.py").write_text("INTERVAL = 0.032\n")
    assert runs() == 2


def test_a_sweep_starts_a_module_by_its_name(tmp_path: Path, sojourn: Sojourn) -> None:
    path = scenario(tmp_path / "s", "forward()\n")
    path.write_text(path.read_text().replace('"agent.py"', '"-m", "agent"'))
    (path.parent / "agent").mkdir()
    (path.parent / "agent.py").rename(path.parent / "agent" / "__main__.py")
    swept = sojourn("sweep", str(sweep_of(path)), "--out", str(tmp_path / "out"))
    assert swept.returncode == 0, swept.stdout + swept.stderr


def test_a_sweep_sends_the_file_of_an_option(tmp_path: Path, sojourn: Sojourn) -> None:
    path = scenario(tmp_path / "s", "assert open(sys.argv[1].partition('=')[2]).read() == 'x'\n")
    path.write_text(path.read_text().replace('"agent.py"]', '"agent.py", "--config=a.conf"]'))
    (path.parent / "a.conf").write_text("x")
    swept = sojourn("sweep", str(sweep_of(path)), "--out", str(tmp_path / "out"))
    assert swept.returncode == 0, swept.stdout + swept.stderr


@pytest.mark.parametrize(
    ("control", "said"),
    [
        ('script = "agent.py"\nprocess = ["agent"]', "give a script or a process"),
        ("cpu_port = 3", "give a script or a process"),
        ('script = "agent.py"\nlatency = "1 ms"', "latency: of a process alone"),
        ('process = ["no-such-controller"]', "there is no executable no-such-controller"),
        ('process = ["{python}"]\nserver = "netconf"', "p4runtime"),
        ("process = []", "control.process"),
        ('process = ["{python}", "agent.py"]\nserver = "bfrt"\ndevice = -1', "control.device"),
    ],
)
def test_mistakes_in_the_section_are_named(tmp_path: Path, control: str, said: str) -> None:
    path = scenario(tmp_path / "s", "", connected=False)
    before, _, rest = SCENARIO.partition("[control]")
    path.write_text(f"{before}[control]\n{control}\n{rest[rest.index('[[flows]]') :]}")
    with pytest.raises(ScenarioError, match=said.replace("[", r"\[")):
        sojourn.run(path, report=False)


def test_a_fixed_port_is_for_one_aqm_and_a_native_discipline_has_no_controller(
    tmp_path: Path,
) -> None:
    path = scenario(tmp_path / "s", "", connected=False, more="port = 9559")
    two = ["router.p4", {"use": "router.p4", "label": "again"}]
    with pytest.raises(ScenarioError, match=r"control\.port: 2 AQMs"):
        sojourn.run(path, set={"aqms": two}, report=False)
    with pytest.raises(ScenarioError, match="no control plane"):
        sojourn.run(path, aqms="codel", report=False)


def test_a_line_that_the_clock_does_not_know_is_refused() -> None:
    with ClockServer() as clock:
        host, _, port = clock.address.rpartition(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"now\nsleep 5\n")
            while clock.heard < 2:
                clock.take(7, 1.0)
            assert client.recv(16) == b"7\n" and clock.wakes == 12
            assert not clock.wake(11) and clock.wake(12)
            assert client.recv(16) == b"12\n"
            client.sendall(b"sleep forever\n")
            with pytest.raises(ScenarioError, match="sleep forever"):
                while True:
                    clock.take(12, 1.0)
