"""`sojourn switch` between namespaces: frames are forwarded, and measurements are reported.

Nothing here judges how fast the machine is. Needs network namespaces, of root's or of one's own.
"""

import io
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from prometheus_client.parser import text_string_to_metric_families
from rich.console import Console

from conftest import Sojourn, in_lab
from sojourn import _core
from sojourn.backends.live.terminal_view import view
from sojourn.tools.delays.payload_delays import read_delays

ROOT = Path(__file__).parent.parent
P4 = ROOT / "p4"


ADDRESSES = bytes.fromhex("020000000002020000000001")
IPV4 = bytes.fromhex(
    "0800450000240000000040110000" + "0a0000010a800001" + "12345678001000000123456789abcdef"
)
IPV6 = (
    bytes.fromhex("86dd60000000001011ff") + bytes.fromhex("fd" + "00" * 14 + "01") * 2 + IPV4[-16:]
)


def test_frames_leave_a_wire_as_they_came_whatever_they_are(
    user_namespaces: None, tmp_path: Path
) -> None:
    frames = {
        "shorter than Ethernet's least": ADDRESSES + b"\x88\xb5",
        "of a type nobody knows": ADDRESSES + b"\x88\xb5" + bytes(range(200)),
        "behind a VLAN tag": ADDRESSES + bytes.fromhex("81002064") + IPV4,
        "behind two": ADDRESSES + bytes.fromhex("88a8003281002064") + IPV4,
        "IPv4": ADDRESSES + IPV4,
        "IPv6": ADDRESSES + IPV6,
        "ARP": b"\xff" * 6 + ADDRESSES[6:] + bytes.fromhex("0806000108000604") + bytes(38),
        "of 9,014 bytes": ADDRESSES + b"\x88\xb5" + bytes(range(250)) * 36,
    }
    said = in_lab("frames", tmp_path, given=[frame.hex() for frame in frames.values()])
    assert said["status"] == 0
    captured = (tmp_path / "run" / "capture-port-2.pcapng").read_bytes()
    for what, frame in frames.items():
        assert captured.count(frame) >= 2, f"a frame {what} did not enter and leave"
    (port,) = said["measured"]
    assert port["packets"] >= len(frames)
    assert sum(port["dropped"].values()) == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["codel_exact"],
        ["v1model/router", "--aqm", "fq_codel"],
        ["--aqm", "codel"],
    ],
)
def test_tcp_is_shaped_and_every_packet_has_a_row(
    user_namespaces: None, tmp_path: Path, arguments: list[str]
) -> None:
    said = in_lab("tcp", tmp_path, *arguments, "--rate", "2=20 Mbit/s")
    assert said["status"] == 0
    (port,) = said["measured"]
    rows = pq.read_table(tmp_path / "run" / "packets-port-2.parquet")
    assert len(rows) == port["packets"] > 500
    # What was delivered passed the shaper, which lets no more through than its rate.
    assert 500_000 < said["delivered"] * 8 < 20e6 * said["counters"]["live"]["elapsed"] / 1e9
    sent = said["counters"]["live"]["ports"][1]["sent"]
    assert sent >= port["sent"]
    assert port["mean"] > 0
    verdicts = Counter(rows["verdict"].to_pylist())
    assert port["dropped"] == {verdict: verdicts[verdict] for verdict in port["dropped"]}
    assert port["sent"] == verdicts["sent"] + verdicts["mark"] > 500
    flows = set(rows["flow"].to_pylist())
    assert max(flows) > 0, "flows are told apart"
    enqueued = rows["enqueued"].to_numpy()
    assert (rows["dequeued"].to_numpy() >= enqueued).all()


def shipped() -> list[str]:
    """The programs, by the paths that are their names, and the native disciplines."""
    programs = sorted(
        f"{folder}/{path.stem}"
        for folder in ("tna", "v1model", "npu", "psa")
        for path in (P4 / folder).glob("*.p4")
    )
    # One with an `@` is a reference of another test's, and not on the list that users see.
    return programs + [name for name, *_ in _core.native_disciplines() if "@" not in name]


def test_virtual_time_repeats_every_decision_of_a_live_run(
    user_namespaces: None, tmp_path: Path
) -> None:
    names = shipped()
    assert len(names) > 20
    said = in_lab("decisions", tmp_path, given=names)
    for name in names:
        seen = said[name]
        assert seen["arrived"] == said["frames"], f"{name}: {seen}"
        assert seen["same"], f"{name}: {seen}"
        # Else the comparison would be one of nothing.
        assert seen["sent"] > 50 and not seen["same when they come later"], f"{name}: {seen}"
    managed = [name for name in names if said[name]["dropped"]]
    assert len(managed) > len(names) / 2, sorted({*names} - {*managed})


def test_packets_pass_again_after_failures_of_interfaces_and_processes(
    user_namespaces: None, tmp_path: Path
) -> None:
    if shutil.which("cc") is None:
        pytest.skip("not installed: apt-get install gcc libc6-dev")
    stepping = tmp_path / "steps.so"
    compile = ["cc", "-shared", "-fPIC", "-o", stepping, ROOT / "bench/live/steps.c"]
    subprocess.run(compile, check=True)
    said = in_lab("trouble", tmp_path, str(stepping))
    assert said["status"] == 0
    assert all(said["seen"].values()) and len(said["seen"]) == 10, said["seen"]
    (front, behind) = said["counters"]["live"]["ports"]
    assert behind["failures"] >= 2, "it was down and gone"
    # What it could not take was dropped in front of it and counted; the rest it has handled.
    assert front["lost"] > 0
    assert front["lost"] + front["received"] >= 200_000
    counted = said["counters"]["switch"]
    assert counted["received"]["packets"] == front["received"] + behind["received"]
    assert counted["faults"] == [] and counted["held"] == 0
    rows = pq.read_table(tmp_path / "run" / "packets-port-2.parquet")
    assert (rows["dequeued"].to_numpy() >= rows["enqueued"].to_numpy()).all()


def test_the_delays_that_a_program_writes_into_packets_are_those_of_the_rows(
    user_namespaces: None, tmp_path: Path
) -> None:
    said = in_lab("measured", tmp_path)
    assert said["status"] == 0
    wire = [one.delay for one in read_delays(tmp_path / "wire.pcap", 1000)]
    rows = pq.read_table(tmp_path / "run" / "packets-port-2.parquet").to_pydict()
    there = [
        after - before
        for before, after, size, verdict in zip(
            rows["enqueued"], rows["dequeued"], rows["size"], rows["verdict"], strict=True
        )
        if verdict == "sent" and size >= 1000 + 66
    ]
    assert len(wire) == len(there) > 500 and max(wire) > 1_000_000
    # The program counts in whole microseconds.
    assert max(abs(one - other) for one, other in zip(wire, there, strict=True)) <= 1_000


def test_offloads_are_off_while_it_runs_and_as_they_were_after_it(
    user_namespaces: None, tmp_path: Path
) -> None:
    said = in_lab("offloads", tmp_path)
    assert said["status"] == 0
    assert said["before"]["generic segmentation"] == 1
    assert not any(said["during"].values())
    assert said["after"] == said["before"]


def test_a_control_plane_changes_and_reads_a_switch_while_it_runs(
    user_namespaces: None, tmp_path: Path
) -> None:
    said = in_lab("control", tmp_path)
    seen = said["seen"]
    # The two routes of the shipped control plane.
    assert seen["before"]["said"][0] == "2 entries"
    assert seen["mode"] == "0o600"
    assert seen["batch"]["said"][0] == "entry has been added with handle 2"
    assert seen["batch"]["said"][8] == "10 entries"
    assert seen["refused"]["status"] == 2
    assert "nothing was done: operation 2: " in seen["refused"]["said"][-1]
    assert seen["after refusal"]["said"][0] == "10 entries"
    assert seen["after death"]["said"][0] == "10 entries", "half a request is none"
    changed = seen["changed"]["said"]
    assert "SwitchIngress.Router.routes: 9 entries" in changed[0]
    assert not [line for line in changed if "10.2.0.0" in line], "handle 3 is gone"
    assert [line for line in changed if "10.3.0.0" in line]
    assert "SwitchEgress.Codel.count_of[7] = 42" in changed
    assert [line for line in changed if line.startswith("2: sw2, ")]
    # Rounded as hardware has it.
    assert 4_950_000 < said["shaper"]["rate"]["Bits"] < 5_050_000
    assert seen["unknown"]["status"] == 2
    assert "there is no table rootes" in seen["unknown"]["said"][-1]
    assert seen["ended"]["status"] == 2 and "no switch runs in" in seen["ended"]["said"][-1]
    assert seen["left"] is False


def test_metrics_and_page_agree_with_the_rows(user_namespaces: None, tmp_path: Path) -> None:
    said = in_lab("watch", tmp_path)
    rows = Counter(
        pq.read_table(tmp_path / "run" / "packets-port-2.parquet")["verdict"].to_pylist()
    )
    found = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(said["metrics"])
        for sample in family.samples
    }
    packets = "sojourn_packets_total", ("port", "2")
    # A neighbour's question may have come after the last look.
    assert rows["sent"] - 5 <= found[(*packets, ("verdict", "sent"))] <= rows["sent"]
    assert found[(*packets, ("verdict", "aqm"))] == rows["aqm"]
    waited = "sojourn_sojourn_time_seconds"
    count = found[f"{waited}_count", ("port", "2")]
    assert count == found[(*packets, ("verdict", "sent"))] + found[(*packets, ("verdict", "mark"))]
    assert found[f"{waited}_bucket", ("le", "+Inf"), ("port", "2")] == count
    registers = {dict(key[1:])["register"] for key in found if key[0] == "sojourn_register"}
    assert "SwitchEgress.Codel.count_of" in registers
    data = said["data"]
    assert sum(moment["sent"] for moment in data["moments"]["2"]) == count
    assert max(moment["rate"] for moment in data["moments"]["2"]) < 20e6 * 1.5
    assert "SwitchEgress.Codel.count_of" in {cell["name"] for cell in data["cells"]}
    assert "://" not in said["page"] and "src=" not in said["page"], "nothing from elsewhere"
    console = Console(width=80, file=io.StringIO(), force_terminal=False)
    console.print(view(data))
    drawing = console.file.getvalue()  # type: ignore[attr-defined]
    assert "2, 20 Mbit/s" in drawing and "█" in drawing and "…" not in drawing, drawing
    assert "SwitchEgress.Codel.count_of[" in drawing and "1 = sw1" in drawing, drawing
    if shutil.which("promtool") is None:
        pytest.skip("not judged by Prometheus' own tool: apt-get install prometheus")
    judged = subprocess.run(
        ["promtool", "check", "metrics"], input=said["metrics"], capture_output=True, text=True
    )
    assert (judged.returncode, judged.stdout + judged.stderr) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--port", "1=a"), "name a program"),
        (("codel",), "name the ports"),
        (("codel", "--port", "veth1"), "write a port's number"),
        (("codel", "--port", "1=nosuch0", "--port", "2=nosuch1"), "nosuch0"),
        (("codel", "--port", "1=a", "--port", "1=b"), "given twice"),
        (("codel", "--port", "1=a", "--rate", "2=1 Mbit/s"), "there is no --port 2"),
        (("codel", "--port", "1=a", "--rate", "1=fast"), "fast"),
        (("codel", "--port", "1=a"), "two ports"),
        (("codel", "--aqm", "red", "--port", "1=a"), "one discipline"),
        (
            ("--aqm", "codel", "--port", "1=a", "--port", "2=b", "--watch", "0.0.0.0:80"),
            "--open-to",
        ),
        (("--aqm", "codel", "--port", "1=a", "--port", "2=b", "--metrics", "here"), "127.0.0.1:"),
        (
            ("--aqm", "codel", "--port", "1=a", "--port", "2=b", "--watch", "terminal"),
            "standard output is none",
        ),
        (("--aqm", "codel_exact", "--port", "1=a"), "without --aqm"),
        (("codel_exact", "--aqm", "codel", "--port", "1=a"), "Tofino"),
        (("nosuch", "--port", "1=a"), "unknown AQM"),
        (("--aqm", "codel", "--control", "x.toml", "--port", "1=a"), "--control"),
    ],
)
def test_an_option_that_cannot_work_is_refused_in_one_line(
    sojourn: Sojourn, arguments: tuple[str, ...], message: str
) -> None:
    said = sojourn("switch", *arguments)
    assert said.returncode == 2
    assert message in said.stderr
    assert "internal error" not in said.stderr


def test_a_folder_that_has_something_in_it_stays(sojourn: Sojourn, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes").write_text("mine")
    said = sojourn("switch", "codel", "--port", "1=a", "--port", "2=b", "--out", "mine")
    assert said.returncode == 2 and "not empty" in said.stderr
    assert (tmp_path / "mine" / "notes").read_text() == "mine"
