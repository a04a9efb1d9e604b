"""`[[pktgen]]`: packet generators of a control file, through the command line."""

import json
from pathlib import Path

import pytest

from conftest import Sojourn

EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"
FORWARD = """
[[tables]]
name = "Ingress.forward"
[[tables.entries]]
match = { "ig_intr_md.ingress_port" = 1 }
action = "send"
args = { port = 2 }
[[tables.entries]]
match = { "ig_intr_md.ingress_port" = 2 }
action = "send"
args = { port = 1 }
"""
PERIODIC = """
[[pktgen]]
app = 1
trigger = { periodic = 16_000_000 }
packet = "PACKET"
""".replace("PACKET", "0002" + 58 * "00")


def example(folder: Path, generators: str = PERIODIC, *, first_line: str = "") -> Path:
    """The example's program, with other generators in its control plane."""
    program = folder / "timer_blue.p4"
    program.write_text(first_line + (EXAMPLES / program.name).read_text())
    (folder / "timer_blue.toml").write_text(FORWARD + generators)
    return program


def run(folder: Path, sojourn: Sojourn, *options: str, scenario: str | None = None) -> Path:
    text = scenario or (EXAMPLES / "timer.toml").read_text()
    (folder / "timer.toml").write_text(text)
    done = sojourn("run", "timer.toml", "--out", "out", "--no-report", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "out"


def counters(out: Path, aqm: str = "timer_blue") -> dict[str, int]:
    counted: dict[str, int] = json.loads((out / aqm / "counters.json").read_text())
    return counted


def test_timer_packets_update_an_aqm_and_are_counted(tmp_path: Path, sojourn: Sojourn) -> None:
    program = example(tmp_path)
    control = program.with_suffix(".toml")
    control.write_text((EXAMPLES / control.name).read_text())
    out = run(tmp_path, sojourn)
    # One each 16 ms in 5 s, with 6 bytes in front of 60; no row is of one.
    counted = counters(out)
    assert (counted["generated_packets"], counted["generated_bytes"]) == (312, 312 * 66)
    assert counters(out, "fifo")["generated_packets"] == 0
    summary = json.loads((out / "summary.json").read_text())
    delays = {one["aqm"]: one["mean"] for one in summary["aqms"]}
    assert delays["timer_blue"] < delays["fifo"] / 4


def test_a_run_with_a_generator_gives_the_same_rows_again(tmp_path: Path, sojourn: Sojourn) -> None:
    example(tmp_path)
    rows = []
    for _ in range(2):
        out = run(tmp_path, sojourn, "--duration", "1 s", "--aqm", "timer_blue.p4")
        rows.append((out / "timer_blue" / "packets.parquet").read_bytes())
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "app = 1",
            "app = 8",
            "3: pktgen[0].app: a packet generator has applications 0 to 7, not 8",
        ),
        ("16_000_000", "0", "4: pktgen[0].trigger.periodic: 0: must be 1 at least"),
        (
            "app = 1",
            "app = 1\nport = 5",
            "4: pktgen[0].port: port 5 is not the packet generator's; ports 68 to 71 of a pipe are",
        ),
        ('"0002', f'"{16_385 * "00"}', "5: pktgen[0].packet: a packet of 16443 bytes; the buffer"),
        ("app = 1", "app = 1\npipe = 1", "4: pktgen[0].pipe: the switch has no pipe 1"),
        ("app = 1", "app = 1\nspeed = 1", "4: pktgen[0].speed: unknown key"),
        ('"0002', '"zz', "5: pktgen[0].packet: "),
    ],
)
def test_packets_that_the_chip_cannot_generate_are_refused_with_file_line_and_key(
    tmp_path: Path, sojourn: Sojourn, old: str, new: str, expected: str
) -> None:
    example(tmp_path)
    (tmp_path / "timer_blue.toml").write_text(PERIODIC.replace(old, new) + FORWARD)
    (tmp_path / "timer.toml").write_text((EXAMPLES / "timer.toml").read_text())
    done = sojourn("run", "timer.toml", "--out", "out")
    assert done.returncode != 0
    assert f"timer_blue.toml:{expected}" in " ".join(done.stderr.split())


def test_the_second_chip_has_its_own_port_and_sixteen_applications(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    program = example(
        tmp_path, PERIODIC.replace("app = 1", "app = 15"), first_line="#include <t2na.p4>\n"
    )
    shown = sojourn("trace", program, "generated", "--count", "2", "--json")
    assert shown.returncode == 0, shown.stderr
    ways = json.loads(shown.stdout)["packets"]
    ingress = [next(one for one in way["passes"] if one["pass"] == "ingress") for way in ways]
    assert [one["port"] for one in ingress] == [6, 6]
    assert [one["time"] for one in ingress] == [16_000_000, 32_000_000]
    assert ingress[0]["bytes"].startswith("0f00000000000002")
    refused = program.with_suffix(".toml")
    refused.write_text(FORWARD + PERIODIC.replace("app = 1", "app = 16"))
    done = sojourn("trace", program, "generated")
    assert "pktgen[0].app: a packet generator has applications 0 to 15, not 16" in done.stderr


def test_a_trace_shows_the_generators_header_and_the_register_that_it_changes(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    program = example(
        tmp_path, PERIODIC.replace("app = 1", "app = 1\nbatches = 2\nbatch_gap = 1000")
    )
    shown = sojourn("trace", program, "generated", "--count", "2")
    text = " ".join(shown.stdout.split())
    assert "ingress at 16.000000 ms: 66 bytes by port 68, from the packet generator" in text
    assert "ingress at 16.001000 ms: 66 bytes by port 68, from the packet generator" in text
    assert "probability" in text
    out = run(tmp_path, sojourn, "--duration", "1 s", "--aqm", "timer_blue.p4")
    shown = sojourn("trace", out, "generated")
    assert "the first generated packet of timer_blue" in shown.stdout
    assert "66 bytes by port 68, from the packet generator" in " ".join(shown.stdout.split())


def test_a_frame_on_a_switch_alone_does_not_wait_for_a_generator(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    program = example(tmp_path, PERIODIC.replace("16_000_000", "1"))
    shown = sojourn("trace", program, 60 * "00", "--json")
    assert shown.returncode == 0, shown.stderr
    [way] = json.loads(shown.stdout)["packets"]
    assert [one["port"] for one in way["sent"]] == [2]


def test_a_generator_of_a_program_without_one_is_refused(tmp_path: Path, sojourn: Sojourn) -> None:
    for part in ("wire.p4", "frame.p4"):
        text = (Path(__file__).parent / "stf" / "v1model" / part).read_text()
        (tmp_path / part).write_text(text)
    (tmp_path / "wire.toml").write_text(PERIODIC)
    done = sojourn("check", "wire.p4")
    assert done.returncode != 0
    said = " ".join((done.stdout + done.stderr).split())
    assert "wire.toml:2: pktgen[0]: this switch has no packet generator" in said


def test_a_link_that_fails_triggers_once(tmp_path: Path, sojourn: Sojourn) -> None:
    example(tmp_path, PERIODIC.replace("periodic = 16_000_000", "port_down = [2]"))
    out = run(tmp_path, sojourn, scenario=NETWORK)
    assert counters(out)["generated_packets"] == 1


NETWORK = """
duration = "400 ms"
hosts = ["client", "server"]
aqms = ["timer_blue.p4"]

[[switches]]
name = "s1"

[[switches]]
name = "s2"
aqm = "fifo"

[[links]]
between = ["client", "s1"]

[[links]]
between = ["s1", "s2"]
rate = "20 Mbit/s"
schedule = [
    { at = "100 ms", up = false },
    { at = "200 ms", up = true },
    { at = "300 ms", up = false },
]

[[links]]
between = ["s2", "server"]

[[flows]]
kind = "udp"
rate = "1 Mbit/s"
from = "client"
to = "server"
"""


def test_a_replay_gives_the_program_its_timer_packets(tmp_path: Path, sojourn: Sojourn) -> None:
    program = example(tmp_path)
    replay = (
        "replay",
        "wander",
        "--aqm",
        program,
        "--duration",
        "2 s",
        "--rate",
        "50 Mbit/s",
        "--json",
    )
    with_timer = sojourn(*replay)
    assert with_timer.returncode == 0, with_timer.stderr
    (tmp_path / "timer_blue.toml").write_text(FORWARD)
    without = sojourn(*replay)
    assert without.returncode == 0, without.stderr
    assert with_timer.stdout != without.stdout
