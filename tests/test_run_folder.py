"""The folder of a run: no file outside it, and no foreign file in it, is changed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from conftest import Sojourn
from sojourn.common.atomic_write import locked
from sojourn.common.filenames import is_plain, names_for
from sojourn.errors import OutputError, ScenarioError
from sojourn.results.result import read_result
from sojourn.runner import plan_scenario, record, run
from sojourn.runtime.arrow_tables import rows_table
from sojourn.runtime.folder import RunFolder
from sojourn.runtime.run_files import files_of, is_ours

BRIEF: dict[str, Any] = {
    "title": "brief",
    "duration": "200 ms",
    "switch": {"rate": "10 Mbit/s"},
    "flows": [{"rtt": "5 ms"}],
    "aqms": ["fifo"],
}

LONG = """
duration = "100000 s"
aqms = ["fifo"]

[switch]
rate = "100 Mbit/s"

[[flows]]
rtt = "5 ms"
"""


def recorded(out: Path, **changes: Any) -> RunFolder:
    return record(plan_scenario(BRIEF | changes), out)


def rewrite(out: Path, **changes: Any) -> None:
    described = json.loads((out / "run.json").read_text())
    (out / "run.json").write_text(json.dumps(described | changes))


@pytest.mark.parametrize("listed", ["thesis.tex", "fifo/notes.md", "chapters/guest/"])
def test_a_manifest_cannot_name_a_file_that_no_run_writes(tmp_path: Path, listed: str) -> None:
    out = tmp_path / "out"
    recorded(out)
    mine = out / listed / "one.tex" if listed.endswith("/") else out / listed
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("precious")
    rewrite(out, files=[*json.loads((out / "run.json").read_text())["files"], listed])
    with contextlib.suppress(OutputError):
        recorded(out)
    assert mine.read_text() == "precious"


def runs_of(out: Path, folder: str) -> list[dict[str, Any]]:
    [only] = json.loads((out / "run.json").read_text())["runs"]
    return [only | {"folder": folder}]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """Somebody's folder, which no run has anything to do with."""
    folder = tmp_path / "victim"
    folder.mkdir()
    for name in ("thesis.tex", "counters.json", "packets.parquet", "run.json"):
        (folder / name).write_text("precious")
    return folder


def untouched(victim: Path) -> bool:
    return {path.name: path.read_text() for path in victim.iterdir()} == dict.fromkeys(
        ("thesis.tex", "counters.json", "packets.parquet", "run.json"), "precious"
    )


@pytest.mark.parametrize("named", ["../victim", "{}", "fifo/../../victim", ".", "..", "", "a\0b"])
def test_a_folder_that_run_json_names_elsewhere_is_neither_removed_nor_read(
    tmp_path: Path, victim: Path, named: str
) -> None:
    out = tmp_path / "out"
    recorded(out)
    rewrite(out, runs=runs_of(out, named.format(victim)))
    with pytest.raises(OutputError, match=r"[Nn]othing was touched"):
        recorded(out)
    with pytest.raises(ScenarioError, match="not a run's folder"):
        RunFolder.open(out)
    assert untouched(victim)
    assert (out / "fifo" / "packets.parquet").is_file()


@pytest.mark.parametrize(
    "listed",
    ["../victim/thesis.tex", "fifo/../../victim/thesis.tex", "/etc/hostname", "..", "fifo/", ""],
)
def test_a_list_of_files_that_leads_elsewhere_is_refused(
    tmp_path: Path, victim: Path, listed: str
) -> None:
    out = tmp_path / "out"
    recorded(out)
    rewrite(out, files=["run.json", listed])
    with pytest.raises(OutputError, match=r"[nN]othing was touched"):
        recorded(out)
    assert untouched(victim)


def test_a_symbolic_link_in_a_run_folder_is_not_followed(tmp_path: Path, victim: Path) -> None:
    out = tmp_path / "out"
    recorded(out)
    for file in (out / "fifo").iterdir():
        file.unlink()
    (out / "fifo").rmdir()
    (out / "fifo").symlink_to(victim, target_is_directory=True)
    with pytest.raises(OutputError, match="a link"):
        recorded(out)
    with pytest.raises(ScenarioError, match="a link"):
        RunFolder.open(out)
    assert untouched(victim)


def test_a_link_in_place_of_the_unfinished_run_is_not_followed(
    tmp_path: Path, victim: Path
) -> None:
    out = tmp_path / "out"
    recorded(out)
    (out / ".unfinished").symlink_to(victim, target_is_directory=True)
    with pytest.raises(OutputError, match="nothing was touched"):
        recorded(out)
    assert untouched(victim)


def test_a_report_replaces_a_symbolic_link_and_does_not_follow_it(
    tmp_path: Path, victim: Path, sojourn: Sojourn
) -> None:
    out = tmp_path / "out"
    recorded(out)
    links = ["report.html", "summary.json", "queue_delay.png", "distribution.png"]
    for name in [*links, "fifo/summary.json"]:
        (out / name).symlink_to(victim / "thesis.tex")
    assert sojourn("report", "out").returncode == 0
    assert untouched(victim)
    assert not any((out / name).is_symlink() for name in links)


def test_a_run_removes_files_of_an_earlier_run_only(tmp_path: Path) -> None:
    out = tmp_path / "out"
    recorded(out, aqms=["fifo", "codel"])
    (out / "notes.md").write_text("mine")
    (out / "my.png").write_text("mine")
    (out / "codel" / "notes.md").write_text("mine")
    recorded(out)
    assert (out / "notes.md").read_text() == (out / "my.png").read_text() == "mine"
    assert [path.name for path in (out / "codel").iterdir()] == ["notes.md"]
    assert {path.name for path in out.iterdir()} == {
        "run.json", "fifo", "codel", "notes.md", "my.png"
    }  # fmt: skip
    assert [aqm.run.label for aqm in read_result(RunFolder.open(out)).aqms.values()] == ["fifo"]


def test_a_run_that_fails_leaves_the_earlier_one_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    recorded(out)
    before = (out / "fifo" / "packets.parquet").read_bytes()
    plan = plan_scenario(BRIEF | {"seed": 2})
    monkeypatch.setattr("sojourn.backends.sim.simulate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        record(plan, out)
    assert (out / "fifo" / "packets.parquet").read_bytes() == before
    assert RunFolder.open(out).scenario.seed == 1
    assert RunFolder.open(out / ".unfinished").scenario.seed == 2
    monkeypatch.undo()
    record(plan, out)
    assert RunFolder.open(out).scenario.seed == 2
    assert not (out / ".unfinished").exists()


def interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def test_another_scenarios_run_is_replaced_only_if_that_is_asked_for(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text(LONG.replace("100000 s", "100 ms"))
    assert sojourn("run", "one.toml", "--out", "out").returncode == 0
    refused = sojourn("run", "two.toml", "--out", "out")
    assert refused.returncode == 2
    assert "holds a run of another scenario, one" in " ".join(refused.stderr.split())
    assert "--replace" in refused.stderr
    assert RunFolder.open(tmp_path / "out").name == "one"
    assert sojourn("run", "two.toml", "--out", "out", "--replace").returncode == 0
    assert RunFolder.open(tmp_path / "out").name == "two"


def test_only_one_process_writes_into_a_folder(tmp_path: Path, sojourn: Sojourn) -> None:
    (tmp_path / "brief.toml").write_text(LONG.replace("100000 s", "100 ms"))
    with locked(tmp_path / "out"):
        refused = sojourn("run", "brief.toml", "--out", "out")
    assert refused.returncode == 2
    assert "another sojourn is writing into this folder" in refused.stderr
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("labels", "folders"),
    [
        (["a b", "a-b"], ["a-b", "a-b-2"]),
        (["red <5", "red >5", "red-5-2"], ["red-5", "red-5-2", "red-5-2-2"]),
        (["report.html", "summary.json"], ["report.html-2", "summary.json-2"]),
        (["CoDel", "codel"], ["CoDel", "codel-2"]),
        (["..", "/", "."], ["run", "run-2", "run-3"]),
        (["é", "e\u0301"], ["é", "e-2"]),
    ],
)
def test_each_label_gets_a_folder_of_its_own(labels: list[str], folders: list[str]) -> None:
    found = names_for(labels, reserved=["report.html", "summary.json"])
    if labels != ["é", "e\u0301"]:
        assert found == folders
    assert len(set(found)) == len(found)
    assert all(is_plain(name) for name in found)


def test_long_labels_get_names_that_file_systems_take() -> None:
    names = names_for(["ß" * 5000, "ß" * 5001])
    assert len(set(names)) == 2
    assert all(len(name.encode()) <= 100 for name in names)


def test_two_aqms_whose_labels_come_to_one_name_keep_their_own_rows(tmp_path: Path) -> None:
    aqms = [{"use": "fifo", "label": "a b"}, {"use": "red", "label": "a-b"}]
    plan = plan_scenario(BRIEF | {"aqms": aqms})
    result = read_result(record(plan, tmp_path / "out"))
    assert [aqm.run.folder for aqm in result.aqms.values()] == ["a-b", "a-b-2"]
    aqms = [{"use": "fifo", "label": "report.html"}, {"use": "fifo", "label": "summary.json"}]
    assert list(run(BRIEF | {"aqms": aqms}, out=tmp_path / "odd").aqms) == [
        "report.html",
        "summary.json",
    ]


def test_every_file_that_a_run_writes_is_in_its_list(finished: Any) -> None:
    listed = json.loads((finished.folder / "run.json").read_text())["files"]
    written = {
        str(path.relative_to(finished.folder))
        for path in finished.folder.rglob("*")
        if path.is_file()
    }
    assert written <= set(listed)
    assert all(is_ours(file) for file in listed)
    assert all(is_ours(file) for file in files_of(["x"], ()))


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "sojourn", *arguments],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(process: subprocess.Popen[str], path: Path, size: int = 1) -> None:
    give_up = time.monotonic() + 120
    while not (path.exists() and path.stat().st_size >= size):
        assert time.monotonic() < give_up
        assert process.poll() is None
        time.sleep(0.02)


def test_rows_of_a_run_that_was_killed_can_be_read_and_are_marked(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    process = start(tmp_path, "run", "long.toml", "--out", "out")
    wait_for(process, tmp_path / "out" / "fifo" / "counters.json")
    process.kill()
    process.communicate(timeout=60)
    result = read_result(RunFolder.open(tmp_path / "out"))
    assert result.aqms["fifo"].packets.num_rows > 10_000
    assert result.aqms["fifo"].flows.num_rows > 100
    shown = sojourn("report", "out")
    assert shown.returncode == 0, shown.stderr
    text = " ".join(shown.stdout.split())
    assert "warning fifo: interrupted after" in text
    assert "the figures of all runs are of their first" in text
    assert "interrupted after" in (tmp_path / "out" / "report.html").read_text()
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["aqms"][0]["interrupted"]
    again = sojourn("replay", "out", "--aqm", "p4_codel", "--out", "replayed")
    assert again.returncode == 0, again.stderr
    (tmp_path / "long.toml").write_text(LONG.replace("100000 s", "100 ms"))
    assert sojourn("run", "long.toml", "--out", "out").returncode == 0
    assert {path.name for path in (tmp_path / "out" / "fifo").iterdir()} == {
        "packets.parquet", "flows.parquet", "counters.json", "summary.json"
    }  # fmt: skip


def test_three_signals_at_once_leave_whole_files(tmp_path: Path) -> None:
    (tmp_path / "long.toml").write_text(LONG)
    process = start(tmp_path, "run", "long.toml", "--out", "out")
    wait_for(process, tmp_path / "out" / "fifo" / "counters.json")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT):
        os.kill(process.pid, number)
        time.sleep(0.03)
    _, message = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in message
    assert "stopped after" in message
    assert {path.name for path in (tmp_path / "out" / "fifo").iterdir()} == {
        "packets.parquet", "flows.parquet", "counters.json"
    }  # fmt: skip
    assert pq.read_table(tmp_path / "out" / "fifo" / "packets.parquet").num_rows > 10_000


def test_a_journal_is_read_up_to_the_place_where_it_was_cut(tmp_path: Path) -> None:
    out = tmp_path / "out"
    recorded(out)
    path = out / "fifo" / "packets.parquet"
    whole = pq.read_table(path)
    import pyarrow as pa

    journal = path.with_suffix(".arrows")
    with pa.ipc.new_stream(str(journal), whole.schema) as stream:
        for batch in whole.to_batches(max_chunksize=20):
            stream.write_batch(batch)
    journal.write_bytes(journal.read_bytes()[:-700])
    path.write_bytes(path.read_bytes()[:-100])
    rows = rows_table(path)
    assert 0 < rows.num_rows < whole.num_rows
    assert rows["packet"].to_pylist() == whole["packet"].to_pylist()[: rows.num_rows]
