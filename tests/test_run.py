"""`sojourn run` from end to end: its output, its files, and their reproducibility."""

import hashlib
import json
import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import sojourn as package
from conftest import Finished, Sojourn
from sojourn.results.statistics import Summary

MS = 1_000_000


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_run_prints_a_row_an_aqm_that_fits_the_terminal(finished: Finished) -> None:
    lines = finished.stdout.splitlines()
    rows = [line.split() for line in lines]
    assert [row[0] for row in rows if row and row[0] in ("fifo", "codel")] == ["fifo", "codel"]
    assert max(map(len, lines)) <= 100


def test_a_run_leaves_rows_plots_and_report(finished: Finished) -> None:
    assert {path.name for path in finished.folder.iterdir()} == {
        "run.json", "summary.json", "report.html", "queue_delay.png", "distribution.png",
        "fifo", "codel",
    }  # fmt: skip
    assert {path.name for path in (finished.folder / "codel").iterdir()} == {
        "packets.parquet", "flows.parquet", "counters.json", "summary.json",
    }  # fmt: skip
    assert (finished.folder / "queue_delay.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_bytes_whatever_else_runs(
    finished: Finished, small: Path, tmp_path: Path
) -> None:
    package.run(small, aqms=["codel"], out=tmp_path / "again")
    for rows in ("codel/packets.parquet", "codel/flows.parquet"):
        assert digest(tmp_path / "again" / rows) == digest(finished.folder / rows)


def test_another_seed_gives_other_rows(finished: Finished, small: Path, tmp_path: Path) -> None:
    package.run(small, aqms=["codel"], seed=2, out=tmp_path / "other")
    rows = "codel/packets.parquet"
    assert digest(tmp_path / "other" / rows) != digest(finished.folder / rows)


def test_codel_brings_the_delay_down_that_tail_drop_keeps(finished: Finished) -> None:
    delays = {}
    for name, aqm in finished.result.aqms.items():
        rows = aqm.packets
        last_second = rows.filter(pc.greater(rows["dequeued"], 2_000 * MS))
        delays[name] = pc.mean(pc.subtract(last_second["dequeued"], last_second["enqueued"]))
    assert delays["codel"].as_py() < 15 * MS
    assert delays["fifo"].as_py() > 50 * MS
    assert finished.result.aqms["codel"].summary.aqm_drops > 0
    assert finished.result.aqms["fifo"].summary.aqm_drops == 0


def test_goodput_is_the_payload_of_a_busy_link(finished: Finished) -> None:
    for aqm in finished.result.aqms.values():
        # 1448 bytes of every 1514 are payload; three flows keep the link busy.
        assert 0.9 < aqm.summary.utilisation <= 1
        assert 0.85 * 50e6 < aqm.summary.goodput < 50e6 * 1448 / 1514


def test_the_summary_equals_figures_of_the_rows(finished: Finished) -> None:
    codel = finished.result.aqms["codel"]
    rows = codel.packets
    queued = rows.filter(pc.not_equal(rows["verdict"].cast("string"), "tail"))
    delay = pc.subtract(queued["dequeued"], queued["enqueued"])
    assert codel.summary.packets == rows.num_rows
    assert codel.summary.mean == pytest.approx(pc.mean(delay).as_py())
    assert codel.summary.max == pc.max(delay).as_py()
    above = pc.sum(pc.greater(delay, 5 * MS)).as_py() / queued.num_rows
    assert codel.summary.above_target == pytest.approx(above)
    verdicts = rows["verdict"].cast("string").to_pylist()
    assert codel.summary.aqm_drops == verdicts.count("aqm")
    assert codel.summary.tail_drops == verdicts.count("tail")
    written = json.loads((finished.folder / "codel" / "summary.json").read_text())
    assert written == {"aqm": "codel"} | codel.summary.as_dict()


def test_rows_are_packets_in_the_order_of_their_verdicts(finished: Finished) -> None:
    rows = finished.result.aqms["fifo"].packets
    dequeued = rows["dequeued"].to_numpy()
    assert (dequeued[1:] >= dequeued[:-1]).all()
    assert (dequeued >= rows["enqueued"].to_numpy()).all()
    assert set(rows["flow"].to_pylist()) == {0, 1, 2}
    assert pc.max(rows["size"]).as_py() == 1514


def test_flows_are_sampled_up_to_their_goodput(finished: Finished) -> None:
    fifo = finished.result.aqms["fifo"]
    last = {row["flow"]: row["delivered"] for row in fifo.flows.to_pylist()}
    assert set(last) == {0, 1, 2}
    assert sum(last.values()) * 8 / 3 == pytest.approx(fifo.summary.goodput, rel=0.01)


def test_run_json_repeats_the_run(sojourn: Sojourn, small: Path, tmp_path: Path) -> None:
    assert sojourn("run", small, "--seed", 5, "--aqm", "fifo", "--out", "out").returncode == 0
    described = json.loads((tmp_path / "out" / "run.json").read_text())
    assert described["seed"] == 5
    assert set(described["provenance"]) == {"sojourn", "python", "libraries"}
    again = package.run(described["scenario"], out=tmp_path / "again")
    rows = "fifo/packets.parquet"
    assert digest(again.path / rows) == digest(tmp_path / "out" / rows)


def test_the_report_can_be_made_again_from_the_rows(
    sojourn: Sojourn, finished: Finished, tmp_path: Path
) -> None:
    copy = Path(shutil.copytree(finished.folder, tmp_path / "out"))
    for name in ("summary.json", "report.html", "queue_delay.png"):
        (copy / name).unlink()
    again = sojourn("report", "out")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines() == finished.stdout.splitlines()[:-1]
    for name in ("summary.json", "report.html", "queue_delay.png"):
        assert digest(copy / name) == digest(finished.folder / name)


def test_a_run_without_a_report_leaves_rows_and_figures(
    sojourn: Sojourn, small: Path, tmp_path: Path
) -> None:
    done = sojourn("run", str(small), "--aqm", "codel", "--no-report", "--out", "bare")
    assert done.returncode == 0, done.stderr
    assert "report" not in done.stdout
    left = {path.name for path in (tmp_path / "bare").iterdir()}
    assert left == {"run.json", "summary.json", "codel"}


def test_the_report_asks_nothing_of_a_network(finished: Finished) -> None:
    page = (finished.folder / "report.html").read_text()
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]*(?:src|href)\s*=", page)
    for label in ("fifo", "codel"):
        assert page.count(label) >= 3


def test_json_has_every_figure_of_the_table(sojourn: Sojourn, small: Path) -> None:
    done = sojourn("run", small, "--aqm", "fifo", "--out", "out", "--json")
    printed = json.loads(done.stdout)
    assert printed["folder"] == "out"
    assert [row["aqm"] for row in printed["aqms"]] == ["fifo"]
    assert set(printed["aqms"][0]) == {
        "aqm",
        "groups",
        *(field.name for field in fields(Summary)),
    }


def test_a_run_goes_again_into_its_own_folder_but_into_no_other(
    sojourn: Sojourn, small: Path, tmp_path: Path
) -> None:
    assert sojourn("run", small, "--out", "out").returncode == 0
    assert sojourn("run", small, "--aqm", "codel", "--out", "out").returncode == 0
    assert not (tmp_path / "out" / "fifo").exists()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    refused = sojourn("run", small, "--out", "mine")
    assert refused.returncode == 2
    assert "nothing was touched" in refused.stderr
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_a_capture_has_valid_packets_that_entered_and_left(
    sojourn: Sojourn, small: Path, tmp_path: Path
) -> None:
    assert sojourn("run", small, "--aqm", "codel", "--pcap", "--out", "out").returncode == 0
    columns = ("frame.interface_name", "ip.checksum.status", "tcp.checksum.status", "frame.len")
    read = subprocess.run(
        ["tshark", "-r", tmp_path / "out" / "codel" / "bottleneck.pcapng",
         "-o", "ip.check_checksum:TRUE", "-T", "fields",
         *(part for field in columns for part in ("-e", field))],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert read.stderr.replace("Running as user", "").count("\n") <= 1
    frames = [line.split("\t") for line in read.stdout.splitlines()]
    entered = [frame for frame in frames if frame[0] == "entered"]
    left = [frame for frame in frames if frame[0] == "left"]
    assert {frame[1] for frame in frames} == {"1"}
    rows = pq.read_table(tmp_path / "out" / "codel" / "packets.parquet")
    sent = rows["verdict"].cast("string").to_pylist().count("sent")
    assert abs(len(left) - sent) <= 1
    assert len(entered) >= rows.num_rows
    assert max(int(frame[3]) for frame in frames) == 1514


def test_aqms_lists_all_aqms(sojourn: Sojourn) -> None:
    listed = {row["name"]: row for row in json.loads(sojourn("aqms", "--json").stdout)}
    assert {"fifo", "codel", "p4_codel", "codel_act"} <= set(listed)
    assert listed["codel_act"]["kind"] == "tofino1"
    assert all(row["summary"] for row in listed.values())
    backends = {name: row["grounds"] for name, row in listed.items()}
    assert backends["fq_codel"] == ["sim", "linux"]
    assert backends["pi2"] == backends["codel_act"] == ["sim"]
    assert (listed["cake"]["kind"], backends["cake"]) == ("native", ["sim", "linux"])
    text = sojourn("aqms").stdout.splitlines()
    assert len(text) == len(listed)
