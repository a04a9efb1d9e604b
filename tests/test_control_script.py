"""`[control] script`: a controller in Python that acts on a run's switch, in virtual time."""

import shutil
from pathlib import Path

import pytest

import sojourn
from sojourn import ScenarioError

SCENARIO = """
duration = "400 ms"
aqms = ["router.p4"]

[switch]
rate = "10 Mbit/s"

[control]
script = "controller.py"

[[flows]]
kind = "udp"
rate = "1 Mbit/s"
rtt = "10 ms"
"""

ROUTER = """
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
struct headers_t { ethernet_t ethernet; }
struct seen_t { bit<48> at; }
struct metadata_t { seen_t seen; }

parser P(packet_in p, out headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    state start { p.extract(h.ethernet); transition accept; }
}
control V(inout headers_t h, inout metadata_t m) { apply {} }
control I(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) {
    counter(4, CounterType.packets) seen;
    register<bit<32>>(4) last;
    action drop() { mark_to_drop(s); }
    action send(bit<9> port) { s.egress_spec = port; }
    table forward {
        key = { s.ingress_port : exact; }
        actions = { send; drop; }
        default_action = drop();
    }
    apply {
        seen.count((bit<32>) s.ingress_port);
        m.seen.at = s.ingress_global_timestamp;
        digest<seen_t>(1, m.seen);
        forward.apply();
    }
}
control E(inout headers_t h, inout metadata_t m, inout standard_metadata_t s) { apply {} }
control C(inout headers_t h, inout metadata_t m) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h.ethernet); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"""

FORWARD = """
FORWARDED = {1: 2, 2: 1}

def forward(switch):
    with switch.batch():
        for port, to in FORWARDED.items():
            switch.table("forward").add({"standard_metadata.ingress_port": port}, "send",
                                        {"port": to})
"""


def scenario(folder: Path, script: str) -> Path:
    """A scenario with a program and a script beside it."""
    (folder / "router.p4").write_text(ROUTER.replace("s.ingress_port : exact", KEY))
    (folder / "controller.py").write_text(script)
    path = folder / "controlled.toml"
    path.write_text(SCENARIO)
    return path


KEY = 's.ingress_port : exact @name("standard_metadata.ingress_port")'


def test_a_script_fills_tables_at_an_instant_and_the_run_is_repeatable(tmp_path: Path) -> None:
    script = FORWARD + 'def start(switch):\n    switch.at("200 ms", forward)\n'
    path = scenario(tmp_path, script)
    results = [sojourn.run(path, report=False) for _ in range(2)]
    first, second = (result.packets().read_all() for result in results)
    assert first.equals(second)
    # Nothing is forwarded before.
    sent = [row["enqueued"] for row in first.to_pylist() if row["verdict"] == "sent"]
    assert len(sent) > 10 and min(sent) >= 200_000_000
    assert first.num_rows > len(sent)


def test_a_script_hears_the_messages_of_the_program(tmp_path: Path) -> None:
    script = FORWARD + (
        "heard = []\n"
        "def start(switch):\n"
        "    switch.every('50 ms', look)\n"
        "def look(switch):\n"
        "    counted = switch.counter('seen')[1][0]\n"
        "    assert abs(counted - len(heard)) <= 2, (counted, len(heard))\n"
        "    assert switch.report()['ports'], switch.now\n"
        "    switch.register('last')[0] = counted\n"
        "    assert switch.register('last')[0] == counted\n"
        "def digest(switch, message):\n"
        "    heard.append(int.from_bytes(message.data, 'big'))\n"
        "    assert message.time // 1000 - heard[-1] in range(100)\n"
        "    if len(heard) == 3:\n"
        "        forward(switch)\n"
    )
    result = sojourn.run(scenario(tmp_path, script), report=False)
    assert result.packets().read_all().num_rows > 10


def test_a_script_gets_packets_of_the_program_and_sends_some_of_its_own(tmp_path: Path) -> None:
    script = (
        "heard = []\n"
        "def start(switch):\n"
        "    table = switch.table('forward')\n"
        "    key = 'standard_metadata.ingress_port'\n"
        "    table.add({key: 1}, 'send', {'port': 255})\n"
        "    table.add({key: 255}, 'send', {'port': 2})\n"
        "    switch.at('390 ms', look)\n"
        "def packet(switch, packet):\n"
        "    assert packet.time <= switch.now and len(packet.data) > 1000\n"
        "    heard.append(packet)\n"
        "    switch.packet_out(packet.data)\n"
        "def look(switch):\n"
        "    counted = switch.counter('seen')\n"
        "    assert len(heard) > 10, len(heard)\n"
        "    assert abs(counted[1][0] - len(heard)) <= 2, (counted[1], len(heard))\n"
        "    sent = switch.report()['ports'][1]['sent']['packets']\n"
        "    assert abs(sent - len(heard)) <= 2, (sent, len(heard))\n"
    )
    path = scenario(tmp_path, script)
    path.write_text(SCENARIO.replace("[control]", "[control]\ncpu_port = 255"))
    results = [sojourn.run(path, report=False) for _ in range(2)]
    first, second = (result.packets().read_all() for result in results)
    assert first.equals(second)
    path.write_text(SCENARIO)
    with pytest.raises(ScenarioError, match="cpu_port"):
        sojourn.run(
            scenario(tmp_path, "def start(switch):\n    switch.packet_out(b'x')\n"), report=False
        )


TWO_PIPES = """
duration = "1 s"
hosts = ["sender", "receiver", "idle"]
switches = [{ name = "s" }]
aqms = [{ use = "timer_blue.p4", label = "blue" }]
control = { script = "controller.py", switch = "s" }
links = [
    { between = ["sender", "s"], port = 1 },
    { between = ["s", "receiver"], port = 2, rate = "10 Mbit/s" },
    { between = ["s", "idle"], port = 130 },
]
flows = [{ kind = "udp", from = "sender", to = "receiver", rate = "20 Mbit/s" }]
"""


def test_a_script_reads_the_pipe_that_it_names_and_knows_the_label_of_its_aqm(
    tmp_path: Path,
) -> None:
    examples = Path(__file__).parent.parent / "docs/examples"
    for name in ("timer_blue.p4", "timer_blue.toml"):
        shutil.copyfile(examples / name, tmp_path / name)
    path = tmp_path / "pipes.toml"
    path.write_text(TWO_PIPES)
    script = tmp_path / "controller.py"
    script.write_text(
        "def start(switch):\n"
        "    assert switch.aqm == 'blue'\n"
        "    switch.at('900 ms', look)\n"
        "def look(switch):\n"
        "    first, second = (switch.pipe(n).register('delay')[2] for n in (0, 1))\n"
        "    assert first == switch.register('delay')[2] > 0 == second\n"
    )
    sojourn.run(path, report=False)
    script.write_text("def start(switch):\n    switch.pipe(2).register('delay')[2]\n")
    with pytest.raises(ScenarioError, match=r"controller\.py:2.*no pipe 2; its pipes are 0 to 1"):
        sojourn.run(path, report=False)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("def begin(switch):\n    pass\n", "a controller has a function start"),
        ("def start(switch):\n    1 / 0\n", "controller.py:2: ZeroDivisionError"),
        ("def start(switch):\n    switch.table('routes')\n", "controller.py:2: there is no table"),
        ("def start(switch:\n", "controller.py:1: SyntaxError"),
        ("def start(switch):\n    switch.every('1 s', 5)\n    switch.at(-1, start)", "it is 0 ns"),
    ],
)
def test_an_error_in_a_script_is_reported_with_its_line(
    tmp_path: Path, script: str, said: str
) -> None:
    with pytest.raises(ScenarioError, match=said):
        sojourn.run(scenario(tmp_path, script), report=False)


def test_a_script_stands_below_its_scenario(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    path = scenario(tmp_path / "inside", "")
    path.write_text(SCENARIO.replace("controller.py", "../controller.py"))
    with pytest.raises(ScenarioError, match="not below the scenario's folder"):
        sojourn.run(path, report=False)
    path.write_text(SCENARIO.replace("router.p4", "codel"))
    with pytest.raises(ScenarioError, match="no control plane"):
        sojourn.run(path, report=False)


def test_a_controller_is_of_the_aqms_that_it_names(tmp_path: Path) -> None:
    path = scenario(tmp_path, FORWARD + 'def start(switch):\n    switch.at("200 ms", forward)\n')
    two = SCENARIO.replace('["router.p4"]', '["fifo", "router.p4"]')
    path.write_text(two.replace("[control]", '[control]\naqms = ["router"]'))
    result = sojourn.run(path, report=False)
    sent = {
        name: [row for row in aqm.packets.to_pylist() if row["verdict"] == "sent"]
        for name, aqm in result.aqms.items()
    }
    assert min(row["enqueued"] for row in sent["router"]) >= 200_000_000
    assert min(row["enqueued"] for row in sent["fifo"]) < 100_000_000
    path.write_text(two.replace("[control]", '[control]\naqms = ["rooter"]'))
    with pytest.raises(ScenarioError, match='no AQM is called rooter; did you mean "router"'):
        sojourn.run(path, report=False)
