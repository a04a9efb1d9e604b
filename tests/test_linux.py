"""The Linux kernel as a backend, from end to end: a guest is booted, measured and ended.

Needs Debian's user-mode-linux; skips with one line where it is missing. The guest has the real
clock, and a busy machine holds it up for tenths of a second. What is asserted of every run holds
whatever pauses there are: order, conservation, files, laws. Figures are asserted of runs that the
product itself finds undisturbed; of the others, that it says so.
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn.backends.linux import guest_process, host_kernel, requirements
from sojourn.backends.linux.guest_process import GuestError, run_guest
from sojourn.backends.linux.kernel import Kernel
from sojourn.results.result import Result, read_result
from sojourn.runtime.arrow_tables import FLOW_SCHEMA, PACKET_SCHEMA
from sojourn.runtime.folder import RunFolder

MS = 1_000_000

SCENARIO = """
duration = "4 s"
aqms = ["codel_linux", "pie"]

[switch]
rate = "10 Mbit/s"
queue_limit = "500 kB"

[[flows]]
count = 2
rtt = ["10 ms", "30 ms"]

[[flows]]
congestion_control = "newreno"
rtt = "20 ms"
ip_version = 6
ecn = true

[[flows]]
kind = "udp"
rate = "500 kbit/s"
rtt = "5 ms"
"""


@pytest.fixture(scope="session")
def on_linux(uml: None, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One run on the kernel for all tests that only look."""
    from conftest import call_sojourn

    folder = tmp_path_factory.mktemp("linux")
    (folder / "small.toml").write_text(SCENARIO)
    done = call_sojourn(
        folder, "run", "small.toml", "--on", "linux", "--pcap", "--accept-disturbed",
        "--attempts", "2", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 100
    # PIE's t_update of 15 ms is no whole number of the kernel's ticks.
    assert any(line.startswith("note    pie: t_update is 20 ms") for line in lines)
    result = read_result(RunFolder.open(folder / "out"))
    for label in result.aqms:
        said = any(line.startswith(f"note    {label}: disturbed: ") for line in lines)
        assert said == bool(disturbed(result, label))
    return result


def disturbed(result: Result, label: str) -> str:
    """What the machine did to a run, or nothing."""
    complaint: str = result.folder.backend["runs"][label]["disturbed"]
    return complaint


def test_a_run_on_linux_leaves_the_same_files_as_a_simulated_one(on_linux: Result) -> None:
    assert {path.name for path in (on_linux.path / "pie").iterdir()} == {
        "packets.parquet", "flows.parquet", "counters.json", "summary.json", "bottleneck.pcapng",
    }  # fmt: skip
    for aqm in on_linux.aqms.values():
        assert aqm.packets.schema.equals(PACKET_SCHEMA)
        assert aqm.flows.schema.equals(FLOW_SCHEMA)
    page = (on_linux.path / "report.html").read_text()
    assert all(aqm in page for aqm in on_linux.aqms) and "Bokeh.embed.embed_items" in page
    assert (on_linux.path / "queue_delay.png").is_file()


def test_run_json_has_kernel_clock_and_the_lateness_of_the_timers(on_linux: Result) -> None:
    backend = on_linux.folder.backend
    assert backend["name"] == "linux"
    assert backend["kernel"].startswith("6.")
    codel = backend["runs"]["codel_linux"]
    assert codel["qdisc"].startswith("codel limit")
    timing = codel["timing"]
    assert timing["lateness_max"] >= timing["lateness_p99"] >= timing["lateness_median"] > 0
    # Never more than the rate but for one bucket, however late the timers are.
    assert 0 < timing["shaper_share"] < 1.01


def test_each_drop_that_the_kernel_counts_is_a_row(on_linux: Result) -> None:
    for label, aqm in on_linux.aqms.items():
        counted = aqm.findings.counters["qdisc"]["drops"]
        late = aqm.findings.counters["drops_after_the_end"]
        drops = aqm.summary.aqm_drops + aqm.summary.tail_drops
        assert drops > 0
        if "the kernel counts" in disturbed(on_linux, label):
            continue
        assert drops + late == counted


def test_an_ecn_flow_is_marked_only_by_aqms_with_ecn(on_linux: Result) -> None:
    assert all(aqm.summary.marks == 0 for aqm in on_linux.aqms.values())


def test_every_flow_has_packets_and_samples(on_linux: Result) -> None:
    for label, aqm in on_linux.aqms.items():
        assert set(aqm.packets["flow"].to_pylist()) == {0, 1, 2, 3}
        assert set(aqm.flows["flow"].to_pylist()) == {0, 1, 2}
        assert pc.max(aqm.packets["size"]).as_py() == 1514
        # What the receiver counted is what left the bottleneck, but for what was on the way at the
        # end. A sender that was held up makes up for it and never sends more than 500 kbit/s.
        udp = aqm.packets.filter(pc.equal(aqm.packets["flow"], 3))
        sent = pc.sum(pc.equal(udp["verdict"].cast("string"), "sent")).as_py() * 1472
        delivered = aqm.findings.counters["flows"][3]["delivered"]
        assert sent - 5 * 1472 <= delivered <= sent
        offered = pc.sum(udp["size"]).as_py() * 8 / 4 / 500_000
        assert offered < 1.05
        if not disturbed(on_linux, label):
            assert offered > 0.95


def test_flows_have_their_own_round_trip_times(on_linux: Result) -> None:
    for aqm in on_linux.aqms.values():
        rows = aqm.flows.filter(pc.greater(aqm.flows["srtt"], 0)).to_pylist()
        least = {
            flow: min(row["srtt"] for row in rows if row["flow"] == flow) for flow in (0, 1, 2)
        }
        for flow, rtt in {0: 10 * MS, 1: 30 * MS, 2: 20 * MS}.items():
            assert least[flow] >= rtt


def test_packets_leave_in_order_after_they_came_and_no_faster_than_the_shaper(
    on_linux: Result,
) -> None:
    for aqm in on_linux.aqms.values():
        rows = aqm.packets
        enqueued, dequeued = (rows[name].to_numpy() for name in ("enqueued", "dequeued"))
        assert (dequeued >= enqueued).all()
        assert (np.diff(dequeued) >= 0).all()
        sent = rows["verdict"].to_numpy() == "sent"
        # One queue: those that left did so in the order in which they came.
        assert (np.diff(enqueued[sent]) >= 0).all()
        counters = aqm.findings.counters
        bits = (rows["size"].to_numpy()[sent] + counters["shaper_overhead"]).cumsum() * 8
        bucket = (counters["shaper_burst"] + 2 * 1538) * 8
        assert (bits <= bucket + dequeued[sent] / 1e9 * counters["shaper_rate"]).all()


def test_codel_drops_only_as_its_control_law_allows(on_linux: Result) -> None:
    rows = on_linux.aqms["codel_linux"].packets
    dropped = rows.filter(pc.equal(rows["verdict"].cast("string"), "aqm"))
    waited = pc.subtract(dropped["dequeued"], dropped["enqueued"]).to_numpy()
    # Both taps widen what the kernel saw; its own clock has ticks of 1024 ns.
    assert (waited >= 5 * MS - 1024).all()
    # No drop before the delay has been above target for an interval.
    assert dropped["dequeued"][0].as_py() >= 100 * MS


def test_codel_holds_the_delay_if_nothing_disturbs_it(on_linux: Result) -> None:
    if complaint := disturbed(on_linux, "codel_linux"):
        assert "disturbed by the machine: codel_linux" in (on_linux.path / "report.html").read_text(
            encoding="utf-8"
        ), complaint
        return
    codel = on_linux.aqms["codel_linux"].summary
    assert 5 * MS < codel.mean < 60 * MS
    assert 0.9 < codel.utilisation <= 1


def test_the_capture_has_packets_before_and_behind_the_queue(on_linux: Result) -> None:
    data = (on_linux.path / "codel_linux" / "bottleneck.pcapng").read_bytes()
    rows = on_linux.aqms["codel_linux"].packets
    interfaces = [0, 0]
    place = 0
    while place < len(data):
        kind, length, interface = struct.unpack_from("<III", data, place)
        if kind == 6:
            interfaces[interface] += 1
        place += length
    assert interfaces[0] >= rows.num_rows
    sent = sum(verdict == "sent" for verdict in rows["verdict"].to_pylist())
    if not disturbed(on_linux, "codel_linux"):
        assert interfaces[1] == sent


def test_two_cells_of_the_grid_agree_or_are_called_disturbed(
    uml: None, sojourn: Sojourn, tmp_path: Path
) -> None:
    command = [
        "agree", "--aqm", "fifo,codel", "--flows", "1", "--rate", "10 Mbit/s", "--rtt", "10 ms",
        "--cc", "newreno", "--duration", "4 s", "--accept-disturbed", "--out", "cells",
        "--markdown", "agreement.md", "--json",
    ]  # fmt: skip
    done = sojourn(*command)
    assert done.returncode == 0, done.stderr
    cells = json.loads(done.stdout)["cells"]
    assert [cell["cell"]["aqm"] for cell in cells] == ["fifo", "codel"]
    page = (tmp_path / "cells" / "agreement.html").read_text()
    assert page.count("<tr>") == 3
    for cell in cells:
        if cell["disturbed"]:
            assert cell["outside"] == {}
            assert f"not judged, disturbed: {cell['disturbed'][0]}" in page
        else:
            assert cell["outside"] == {"sim": []}, cell
    assert (tmp_path / "agreement.md").read_text().count("| codel, 1 newreno") == 1
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "cells").glob("*ms.json")}
    again = sojourn(*command)
    assert json.loads(again.stdout)["cells"] == cells
    assert kept == {path: path.stat().st_mtime_ns for path in kept}, "finished cells are kept"
    assert len(kept) == 2


def test_a_guest_that_dies_fails_the_run_and_leaves_its_files(
    uml: None, sojourn: Sojourn, small: Path, tmp_path: Path
) -> None:
    true = shutil.which("true")
    done = sojourn("run", small, "--on", "linux", "--kernel", true, "--aqm", "fifo", "--out", "out")
    assert done.returncode == 2
    assert "the guest ended before its job was done" in done.stderr
    assert (tmp_path / "out" / "fifo" / "guest" / "job.json").is_file()


def test_a_guest_that_hangs_is_ended_with_all_its_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "hang.c"
    source.write_text(
        "#include <stdio.h>\n#include <unistd.h>\n"
        'int main(void) { fork(); printf("I am %d\\n", getpid()); fflush(stdout); pause(); }\n'
    )
    hang = tmp_path / "hang"
    subprocess.run(["cc", "-o", hang, source], check=True)
    monkeypatch.setattr(guest_process, "_BOOT_TIME", 3)
    with pytest.raises(GuestError, match=r"(?s)hangs.*I am \d+"):
        run_guest(Kernel(hang), tmp_path, 60, lambda _: None)
    said = (tmp_path / guest_process.CONSOLE).read_text().split()
    assert not [word for word in said if word.isdigit() and _is_running(word)]


def _is_running(process: str) -> bool:
    """Whether it is there, and more than an entry that waits for its parent."""
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


def test_a_guest_that_is_killed_is_noticed_though_its_processes_hold_the_console(
    tmp_path: Path,
) -> None:
    source = tmp_path / "killed.c"
    source.write_text(
        "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n"
        "int main(void) {\n"
        'if (!fork()) { printf("I am %d\\n", getpid()); fflush(stdout); pause(); }\n'
        "sleep(1); raise(SIGKILL); }\n"
    )
    killed = tmp_path / "killed"
    subprocess.run(["cc", "-o", killed, source], check=True)
    begin = time.monotonic()
    run_guest(Kernel(killed), tmp_path, 600, lambda _: None)
    # Well before the minute after which a silent guest hangs.
    assert time.monotonic() - begin < 30
    (left,) = re.findall(r"I am (\d+)", (tmp_path / guest_process.CONSOLE).read_text())
    assert not _is_running(left)


def test_a_run_that_is_asked_to_end_takes_its_guest_along(
    uml: None, small: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "sojourn", "run", small, "--on", "linux", "--aqm", "fifo"]
    run = subprocess.Popen(
        [*command, "--out", "out"], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    console = tmp_path / "out" / "fifo" / "guest" / guest_process.CONSOLE
    end = time.monotonic() + 60
    while not console.is_file() and time.monotonic() < end and run.poll() is None:
        time.sleep(0.05)
    guests = [p for p in Path("/proc").glob("[0-9]*") if _is_child_of(p, run.pid)]
    assert guests
    run.terminate()
    _, complaint = run.communicate(timeout=120)
    assert run.returncode == 130
    assert "stopped while fifo ran" in complaint
    assert not any(guest.is_dir() for guest in guests)


def _is_child_of(process: Path, parent: int) -> bool:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1]) == parent
    except OSError:
        return False


def test_a_missing_program_is_named_with_the_command_that_installs_it(
    sojourn: Sojourn, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requirements, "_SBIN", ())
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(requirements.MissingError, match="apt-get install iproute2 user-mode-linux"):
        requirements.require()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--aqm", "p4_codel"), "a P4 program cannot run on the Linux kernel; --on sim runs it"),
        (("--aqm", "pi2"), "the kernel has no pi2; it has cake, cobalt"),
        (("--aqm", "dualpi2"), "has no sch_dualpi2, which Linux 6.17 brought; --kernel 7.3 has it"),
        (("--kernel", "nowhere"), "--kernel nowhere: No such file"),
        (("--kernel", "/etc/passwd"), "not a user-mode kernel"),
    ],
)
def test_features_that_the_backend_lacks_are_refused_before_any_file_is_written(
    uml: None,
    sojourn: Sojourn,
    small: Path,
    tmp_path: Path,
    arguments: tuple[str, ...],
    complaint: str,
) -> None:
    done = sojourn("run", small, "--on", "linux", "--out", "out", *arguments)
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_the_hosts_own_kernel_can_be_the_ground(sojourn: Sojourn, tmp_path: Path) -> None:
    try:
        host_kernel.require_host([("bfifo", "sch_fifo")], delays=False)
    except host_kernel.HostKernelError as error:
        pytest.skip(str(error).splitlines()[0])
    flows = '[[flows]]\ncount = 2\nrtt = "0 ms"\n'
    (tmp_path / "two.toml").write_text(SCENARIO.partition("[[flows]]")[0] + flows)
    done = sojourn(
        "run", "two.toml", "--aqm", "fifo", "--on", "linux", "--kernel", "host",
        "--accept-disturbed", "--attempts", "1", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    described = json.loads((tmp_path / "out" / "run.json").read_text())
    assert described["ground"]["kernel"] == os.uname().release
    rows = pq.read_table(tmp_path / "out" / "fifo" / "packets.parquet")
    assert set(rows["flow"].to_pylist()) == {0, 1}
    assert not Path("/run/netns/senders").exists()


def test_features_that_the_hosts_kernel_lacks_are_named_by_module(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(host_kernel, "_has", lambda kind: kind not in ("codel", "netem"))
    with pytest.raises(host_kernel.HostKernelError, match="has no sch_codel, sch_netem\n"):
        host_kernel.require_host([("codel", "sch_codel")], delays=True)
    host_kernel.require_host([("codel", "sch_codel")][:0], delays=False)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(host_kernel.HostKernelError, match="needs root; --kernel uml does not"):
        host_kernel.require_host([], delays=False)


def test_iperf3_can_be_the_application(uml: None, sojourn: Sojourn, tmp_path: Path) -> None:
    if requirements.find_program("iperf3") is None:
        pytest.skip("not installed: apt-get install iperf3")
    flows = '[[flows]]\nrtt = "10 ms"\nrate_cap = "2 Mbit/s"\n'
    flows += '[[flows]]\nkind = "udp"\nrate = "1 Mbit/s"\nrtt = "5 ms"\n'
    (tmp_path / "two.toml").write_text(SCENARIO.partition("[[flows]]")[0] + flows)
    done = sojourn(
        "run", "two.toml", "--aqm", "fifo", "--on", "linux", "--traffic", "iperf3",
        "--accept-disturbed", "--attempts", "1", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counters = json.loads((tmp_path / "out" / "fifo" / "counters.json").read_text())
    assert counters["ground"]["traffic"] == "iperf3"
    tcp, udp = (flow["delivered"] * 8 / 4 for flow in counters["flows"])
    # Both begin some tenths of a second late, and a block of 128 KiB is a quarter of the cap.
    assert 0 < tcp < 2.5e6
    assert 0 < udp < 1e6
    if not counters["ground"]["disturbed"]:
        assert tcp > 1e6
        assert udp > 0.7e6


def test_linux_only_options_are_refused_in_virtual_time(sojourn: Sojourn, small: Path) -> None:
    done = sojourn("run", small, "--traffic", "iperf3")
    assert done.returncode == 2
    assert "are for --on linux" in done.stderr


def test_cake_runs_on_linux_with_the_modes_of_the_native_one(
    uml: None, sojourn: Sojourn, tmp_path: Path
) -> None:
    (tmp_path / "cake.toml").write_text(
        SCENARIO.replace('"4 s"', '"2 s"').partition("[[flows]]")[0] + '[[flows]]\nrtt = "10 ms"\n'
    )
    done = sojourn(
        "run", "cake.toml", "--aqm", "cake", "--on", "linux", "--accept-disturbed",
        "--attempts", "1", "--out", "out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = pq.read_table(tmp_path / "out" / "cake" / "packets.parquet")
    counters = json.loads((tmp_path / "out" / "cake" / "counters.json").read_text())
    assert counters["ground"]["qdisc"].startswith("cake unlimited besteffort triple-isolate")
    if not counters["ground"]["disturbed"]:
        assert rows.num_rows > 1000
    assert rows.num_rows > 100


def test_seeds_of_a_kernel_qdisc_run_one_after_the_other(
    uml: None, sojourn: Sojourn, tmp_path: Path
) -> None:
    flows = '[[flows]]\nrtt = "10 ms"\n'
    text = SCENARIO.replace('"4 s"', '"1 s"').partition("[[flows]]")[0] + flows
    (tmp_path / "cake.toml").write_text(text)
    done = sojourn(
        "run", "cake.toml", "--aqm", "cake", "--on", "linux", "--accept-disturbed",
        "--attempts", "1", "--seeds", "1..2", "--out", "out", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["summary"][0]["runs"] == 2
