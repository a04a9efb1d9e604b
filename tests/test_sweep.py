"""`sojourn sweep`: every seed and value of a scenario, stored run by run, as one table."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import sojourn as package
from conftest import call_sojourn
from sojourn.errors import ScenarioError
from sojourn.results.intervals import interval
from sojourn.studies.sweeps.job import Failure
from sojourn.studies.sweeps.run_job import work
from sojourn.studies.sweeps.sweep import plan_file

SWEEP = """
scenario = "bufferbloat"
seeds = "1..2"
[set]
duration = "200 ms"
aqms = ["codel", "fifo"]
[grid]
"switch.rate" = ["50 Mbit/s", "100 Mbit/s"]
"""


@pytest.fixture
def sweep_file(tmp_path: Path) -> Path:
    path = tmp_path / "sweep.toml"
    path.write_text(SWEEP)
    return path


def sojourn(*arguments: object) -> subprocess.CompletedProcess[str]:
    """The command line; all paths are absolute here."""
    return call_sojourn(Path.cwd(), *arguments)


def columns(folder: Path, *names: str) -> list[tuple[object, ...]]:
    table = pq.read_table(folder / "table.parquet")
    return list(zip(*(table.column(name).to_pylist() for name in names), strict=True))


def test_a_row_for_each_value_aqm_and_seed(sweep_file: Path, tmp_path: Path) -> None:
    done = sojourn("sweep", sweep_file, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    found = columns(tmp_path / "out", "rate", "aqm", "seed")
    assert found == [
        (rate, aqm, seed)
        for rate in (50_000_000, 100_000_000)
        for aqm in ("codel", "fifo")
        for seed in (1, 2)
    ]
    page = (tmp_path / "out/index.html").read_text()
    assert "mean-rate.png" in page and "±" in page
    assert "<h1>Ten CUBIC flows behind a 100 Mbit/s port, 8 runs</h1>" in page
    assert "buffer" in page.partition("<summary>The scenario</summary>")[2]
    assert (tmp_path / "out/mean-rate.png").stat().st_size > 10_000


def test_a_run_of_a_sweep_has_the_figures_of_the_same_run_alone(
    sweep_file: Path, tmp_path: Path
) -> None:
    assert sojourn("sweep", sweep_file, "--out", tmp_path / "out").returncode == 0
    changes = {"duration": "200 ms", "switch.rate": "50 Mbit/s"}
    alone = package.run("bufferbloat", aqms=["codel"], seed=2, set=changes, out=tmp_path / "alone")
    own = columns(tmp_path / "out", "rate", "aqm", "seed", "packets", "mean", "p99")
    summary = alone.aqms["codel"].summary
    assert (50_000_000, "codel", 2, summary.packets, summary.mean, summary.p99) in own


def test_finished_runs_are_not_repeated_and_the_table_is_the_same(
    sweep_file: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert sojourn("sweep", sweep_file, "--out", out).returncode == 0
    first = (out / "table.parquet").read_bytes()
    runs = {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()}
    again = sojourn("sweep", sweep_file, "--out", out)
    assert "8 of them from an earlier start" in again.stdout
    assert {path: path.stat().st_mtime_ns for path in (out / "runs").iterdir()} == runs
    assert (out / "table.parquet").read_bytes() == first


def test_a_sweep_whose_coordinator_is_killed_goes_on_to_the_same_bytes(
    sweep_file: Path, tmp_path: Path
) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    longer = sweep_file.read_text().replace("200 ms", "3 s")
    sweep_file.write_text(longer)
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "sweep", str(sweep_file), "--out", str(killed)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: any((killed / "runs").glob("[!.]*/result.json")))
    workers = children(process.pid)
    process.kill()
    process.wait()
    assert workers
    wait_until(lambda: not any(map(is_alive, workers)))
    assert sojourn("sweep", sweep_file, "--out", killed).returncode == 0
    assert sojourn("sweep", sweep_file, "--out", whole).returncode == 0
    for name in ("table.parquet", "index.html", "sweep.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert not list((killed / "runs").glob(".unfinished-*"))


def test_a_worker_that_is_killed_is_replaced(sweep_file: Path, tmp_path: Path) -> None:
    sweep_file.write_text(sweep_file.read_text().replace("200 ms", "3 s"))
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "sweep", str(sweep_file), "--out", str(out)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: any((out / "runs").glob("[!.]*/result.json")))
    os.kill(children(process.pid)[0], signal.SIGKILL)
    _, complaint = process.communicate(timeout=300)
    assert process.returncode == 0, complaint
    assert len(columns(out, "seed")) == 8


def test_a_run_that_fails_is_listed_and_ends_nothing(sweep_file: Path, tmp_path: Path) -> None:
    # The language takes it, the target does not: its `main` is no switch.
    (tmp_path / "broken.p4").write_text(
        "#include <tna.p4>\ncontrol Part();\npackage Other(Part part);\n"
        "control Nothing() { apply {} }\nOther(Nothing()) main;\n"
    )
    aqms = 'aqms = ["codel", "broken.p4"]'
    sweep_file.write_text(sweep_file.read_text().replace('aqms = ["codel", "fifo"]', aqms))
    # The scenario's folder is where its paths start, so it has one of its own here.
    base = (package_scenarios() / "bufferbloat.toml").read_text()
    (tmp_path / "base.toml").write_text(base)
    sweep_file.write_text(sweep_file.read_text().replace('"bufferbloat"', '"base.toml"'))
    done = sojourn("sweep", sweep_file, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert {aqm for (aqm,) in columns(tmp_path / "out", "aqm")} == {"codel"}
    failures = json.loads((tmp_path / "out/failures.json").read_text())
    assert len(failures) == 4
    assert "broken.p4" in failures[0]["message"] and "broken" in failures[0]["run"]


def test_a_program_that_the_language_refuses_is_reported_before_any_run(
    sweep_file: Path, tmp_path: Path
) -> None:
    (tmp_path / "broken.p4").write_text("#include <tna.p4>\nthis is no program")
    aqms = f'aqms = ["codel", "{tmp_path}/broken.p4"]'
    sweep_file.write_text(sweep_file.read_text().replace('aqms = ["codel", "fifo"]', aqms))
    done = sojourn("sweep", sweep_file, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "broken.p4:2" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_program_and_its_includes_are_stored_with_the_run(tmp_path: Path) -> None:
    program = package_programs() / "p4_codel.p4"
    own = tmp_path / "mine"
    own.mkdir()
    text = program.read_text()
    (own / "mine.p4").write_text(f'#include "more.p4"\n{text}')
    (own / "more.p4").write_text("/* nothing */\n")
    (own / "mine.toml").write_bytes(program.with_suffix(".toml").read_bytes())
    table = package.sweep(
        {
            "duration": "100 ms",
            "switch": {"rate": "100 Mbit/s"},
            "aqms": [
                {"use": str(own / "mine.p4"), "include_paths": [str(program.parent)]},
                "p4_codel",
            ],
            "flows": [{"count": 2, "rtt": "5 ms"}],
        },
        out=tmp_path / "out",
    )
    mine, shipped = table.select(["packets", "mean", "aqm_drops"]).to_pylist()
    assert mine == shipped


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (('"switch.rate"', '"switch.rat"'), "switch.rat: unknown key"),
        (('["50 Mbit/s", "100 Mbit/s"]', "[]"), "empty; an axis needs at least one value"),
        (('seeds = "1..2"', 'seeds = "2..1"'), "the last seed is below the first"),
        (('seeds = "1..2"', 'seeds = "1..99999999999"'), "more than 1,000,000 seeds"),
        (('["50 Mbit/s", "100 Mbit/s"]', '["50 Mbit/s", "50 Mbit/s"]'), "are the same"),
        (("[set]", '[names]\n"flows.0.count" = "flows"\n[set]'), "is no axis of this sweep"),
        (("[set]", '[names]\n"switch.rate" = "mean"\n[set]'), "is a column of the table"),
        (("[set]", '[[plots]]\nmetric = "men"\nagainst = ["rate"]\n[set]'), 'did you mean "mean"'),
        (('"switch.rate"', '"flows.4.count"'), "flows has no element 4; it has 0 to 0"),
        (('scenario = "bufferbloat"', 'scenario = "bufferblot"'), 'did you mean "bufferbloat"'),
    ],
)
def test_a_mistake_is_reported_before_anything_runs(
    sweep_file: Path, tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    sweep_file.write_text(sweep_file.read_text().replace(*change))
    done = sojourn("sweep", sweep_file, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert complaint in " ".join(done.stderr.split())
    assert not (tmp_path / "out/table.parquet").exists()


def test_a_folder_with_anything_else_in_it_is_not_touched(sweep_file: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("all my work")
    done = sojourn("sweep", sweep_file, "--out", tmp_path / "out")
    assert done.returncode == 2 and "nothing was touched" in done.stderr
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_seeds_of_a_run_are_a_sweep_without_axes(tmp_path: Path) -> None:
    done = sojourn(
        "run", "bufferbloat", "--seeds", "1..3", "--set", "duration=100 ms", "--aqm", "codel",
        "--out", tmp_path / "out", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["summary"]
    assert row["aqm"] == "codel" and row["runs"] == 3
    assert row["mean ms"] == row["figures"]["mean"]["mean"] / 1e6
    assert row["figures"]["mean"]["half"] > 0


def test_zipped_axes_go_together(tmp_path: Path) -> None:
    table = package.sweep(
        "bufferbloat",
        set={"duration": "50 ms", "aqms": ["codel"]},
        zip=[{"switch.rate": ["10 Mbit/s", "20 Mbit/s"], "aqms.codel.target": ["5 ms", "10 ms"]}],
        out=tmp_path / "out",
    )
    pairs = table.select(["rate", "target"]).to_pylist()
    assert [tuple(pair.values()) for pair in pairs] == [
        (10_000_000, 5_000_000),
        (20_000_000, 10_000_000),
    ]


def test_lists_that_go_together_are_equally_long() -> None:
    with pytest.raises(ScenarioError, match=r"switch\.rate has 1, seed.*2"):
        package.sweep("bufferbloat", zip=[{"switch.rate": ["1 Mbit/s"], "seedling": [1, 2]}])


def test_an_interval_is_students(tmp_path: Path) -> None:
    # Five values, t(0.975, 4) = 2.7764 as in Student's own table of 1908 and every one since.
    found = interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert found is not None and found.half is not None
    assert found.mean == 3 and found.half == pytest.approx(2.7764 * (2.5 / 5) ** 0.5, rel=1e-4)
    alone = interval([7.0])
    assert alone is not None and (alone.mean, alone.half) == (7, None)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler and two workers, each in a process and a folder of its own."""
    pytest.importorskip(
        "distributed", reason="Dask is not installed: pip install 'sojourn[cluster]'"
    )
    scheduler_file = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    run = [sys.executable, "-m", "dask"]
    started = [
        subprocess.Popen(
            [*run, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
             "--scheduler-file", str(scheduler_file)], **quiet,
        )
    ]  # fmt: skip
    try:
        # It is there before it is written.
        wait_until(lambda: scheduler_file.is_file() and scheduler_file.stat().st_size > 0)
        address = json.loads(scheduler_file.read_text())["address"]
        for number in range(2):
            own = tmp_path / f"worker-{number}"
            own.mkdir()
            started.append(
                subprocess.Popen(
                    [*run, "worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny",
                     "--local-directory", str(own)], cwd=own, **quiet,
                )
            )  # fmt: skip
        wait_until(lambda: workers_of(address) == 2)
        yield address, started
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_a_cluster_gives_the_bytes_that_this_machine_gives(
    sweep_file: Path, tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, _ = cluster
    there = sojourn("sweep", sweep_file, "--out", tmp_path / "there", "--cluster", address)
    assert there.returncode == 0, there.stderr
    assert sojourn("sweep", sweep_file, "--out", tmp_path / "here").returncode == 0
    tables = [(tmp_path / name / "table.parquet").read_bytes() for name in ("there", "here")]
    assert tables[0] == tables[1]


def test_a_cluster_loses_a_worker_and_the_sweep_goes_on(
    sweep_file: Path, tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, (_, worker, _) = cluster
    sweep_file.write_text(sweep_file.read_text().replace("200 ms", "3 s"))
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "sweep", str(sweep_file), "--out", str(out),
         "--cluster", address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_until(lambda: any((out / "runs").glob("[!.]*/result.json")))
    worker.kill()
    assert process.wait(timeout=300) == 0
    assert len(columns(out, "seed")) == 8


def test_a_cluster_that_dies_is_reported_and_what_ended_is_kept(
    sweep_file: Path, tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, processes = cluster
    sweep_file.write_text(sweep_file.read_text().replace("200 ms", "5 s"))
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-m", "sojourn", "sweep", str(sweep_file), "--out", str(out),
         "--cluster", address], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: any((out / "runs").glob("[!.]*/result.json")))
    for one in processes:
        one.kill()
    _, complaint = process.communicate(timeout=300)
    assert process.returncode == 2
    assert "Give the same command again to go on" in complaint
    assert list((out / "runs").glob("[!.]*/result.json"))


def test_a_cluster_that_is_not_there_is_reported(sweep_file: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    done = sojourn("sweep", sweep_file, "--out", tmp_path / "o", "--cluster", "127.0.0.1:9")
    assert done.returncode == 2
    assert "no Dask scheduler answers there" in " ".join(done.stderr.split())


def test_a_worker_with_another_engine_is_refused_before_anything_runs(
    sweep_file: Path, tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, started = cluster
    other = tmp_path / "other_engine.py"
    other.write_text(
        "import sojourn.studies.sweeps.job as j\nj.engine_identity = lambda: '0.0.1 (old)'\n"
    )
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started.append(
        subprocess.Popen(
            [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-dashboard",
             "--no-nanny", "--local-directory", str(tmp_path / "third"), "--preload", str(other)],
            **quiet,
        )
    )  # fmt: skip
    wait_until(lambda: workers_of(address) == 3)
    done = sojourn("sweep", sweep_file, "--out", tmp_path / "out", "--cluster", address)
    assert done.returncode == 2, done.stderr
    plain = " ".join(done.stderr.split())
    assert "has 0.0.1 (old)" in plain and "Install the same everywhere" in plain
    assert not list((tmp_path / "out" / "runs").iterdir())


def test_a_job_that_another_engine_planned_is_not_run(sweep_file: Path) -> None:
    run = plan_file(sweep_file).runs[0]
    outcome = work(replace(run.job, engine="0.0.1 (old)"))
    assert isinstance(outcome, Failure)
    assert "the sweep was planned with 0.0.1 (old); install the same wheel" in outcome.message


def on_a_small_disk(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Runs `script` where `disk` is of 200 kB and `scratch` of 8 kB; `sojourn` is the command."""
    for name in ("disk", "scratch"):
        (folder / name).mkdir()
    head = """
        mount -t tmpfs -o size=200k none disk || exit 77
        mount -t tmpfs -o size=8k none scratch || exit 77
        sojourn() { "$PYTHON" -m sojourn "$@"; echo "status $?"; }
    """
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", head + script],
        cwd=folder,
        env=os.environ | {"NO_COLOR": "1", "COLUMNS": "100", "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no small disk can be made here")
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_a_full_disk_ends_a_sweep_with_a_message_and_with_room_it_goes_on(
    sweep_file: Path, tmp_path: Path
) -> None:
    sweep_file.write_text('keep = ["rows"]\n' + sweep_file.read_text())
    done = on_a_small_disk(
        tmp_path,
        """
        sojourn sweep sweep.toml --out disk/out > told
        tail -n 1 told; ls disk/out/runs | wc -l
        mount -o remount,size=50m disk
        sojourn sweep sweep.toml --out disk/out > told
        tail -n 1 told; cp disk/out/table.parquet again.parquet
        """,
    )
    first, kept, second = done.stdout.split("\n")[:3]
    assert (first, second) == ("status 2", "status 0"), done.stderr
    assert "disk/out: the disk is full" in done.stderr
    assert 0 < int(kept) < 8, "what ended before is kept, and the rest was missing"
    assert sojourn("sweep", sweep_file, "--out", tmp_path / "whole").returncode == 0
    whole = (tmp_path / "whole" / "table.parquet").read_bytes()
    assert (tmp_path / "again.parquet").read_bytes() == whole


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_a_full_disk_of_a_paper_and_of_a_worker_is_reported(
    sweep_file: Path, tmp_path: Path
) -> None:
    done = on_a_small_disk(
        tmp_path,
        """
        sojourn paper p4-codel-2018 --quick --out disk/out > told; tail -n 1 told
        TMPDIR=$PWD/scratch sojourn sweep sweep.toml --out whole > told
        """,
    )
    assert done.stdout.split("\n")[0] == "status 2"
    plain = " ".join(done.stderr.split())
    assert "the disk is full" in plain
    failures = json.loads((tmp_path / "whole" / "failures.json").read_text())
    # A run that is alone there may fit.
    assert failures
    for failure in failures:
        # The disk fills up during the run, or has no room for its beginning.
        full = ("the disk is full", "a run needs at least 8 MB; no row was written")
        endings = tuple(f"{why}; TMPDIR names another place" for why in full)
        assert failure["message"].endswith(endings), failure


def workers_of(address: str) -> int:
    from distributed import Client

    with Client(address, timeout=20, set_as_default=False) as client:
        return len(client.scheduler_info(n_workers=-1)["workers"])


def package_scenarios() -> Path:
    return Path(__file__).parents[1] / "scenarios"


def package_programs() -> Path:
    return Path(__file__).parents[1] / "p4" / "tna"


def wait_until(true: Callable[[], bool], seconds: float = 240) -> None:
    """Waits for something that comes by itself; a machine that is held up only makes it later."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    """The processes that any thread of `pid` has started."""
    threads = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for thread in threads for child in (thread / "children").read_text().split()]


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
