"""`sojourn agree` without a guest: the grid, the verdicts, the stored and the printed results."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from conftest import Sojourn
from sojourn.backends.backend import Backend
from sojourn.backends.linux.backend import Linux
from sojourn.backends.linux.kernel import Kernel
from sojourn.backends.live.backend import LiveBackend
from sojourn.backends.sim import SIMULATOR
from sojourn.errors import Interrupted, ScenarioError
from sojourn.runner import plan_scenario
from sojourn.studies.agreement import page
from sojourn.studies.agreement.grid import (
    AQMS,
    CONGESTION_CONTROLS,
    FLOWS,
    ISOLATING,
    RATES,
    RTTS,
    Cell,
    cells,
)
from sojourn.studies.agreement.measure import Bench, Measured
from sojourn.studies.agreement.verdict import Figures, compare, scattered, spread

ROOT = Path(__file__).parent.parent
KERNEL = Figures(
    mean=10.0, p95=20.0, utilisation=98.0, loss=1.0, settled_mean=8.0, settled_loss=0.5
)


def _with_kernel() -> dict[str, Backend]:
    """Simulator and kernel; nothing is run on either."""
    return {"sim": SIMULATOR, "linux": Linux(Kernel(Path("/nowhere")))}


def outside(**changes: float) -> tuple[str, ...]:
    return compare(spread([replace(KERNEL, **changes)]), spread([KERNEL])).outside


def test_the_grid_is_that_of_all_disciplines_flows_rates_delays_and_controls() -> None:
    everything = list(cells())
    assert len(everything) == 5 * 4 * 2 * 2 * 3
    assert {cell.switches for cell in everything} == {1}
    networks = list(cells(switches=[2]))
    assert len(networks) == len(everything)
    assert len({cell.name for cell in everything + networks}) == 2 * len(everything)


@pytest.mark.parametrize("aqm", [*AQMS, *ISOLATING])
def test_a_cell_with_two_switches_runs_on_all_backends(aqm: str) -> None:
    scenario = Cell(aqm, FLOWS[0], RATES[0], RTTS[0], "cubic", 2).scenario(10**9, seed=1)
    for backend in (SIMULATOR, Linux(Kernel(Path("/nowhere")))):
        (bottleneck, *_) = plan_scenario(scenario, backend=backend).runs[0].bottlenecks
        assert bottleneck.name == "r>s"


@pytest.mark.parametrize("aqm", [*AQMS, *ISOLATING])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("tick", [1_000_000, 10_000_000])
def test_a_cell_means_the_same_on_both_backends(aqm: str, rate: int, tick: int) -> None:
    cell = Cell(aqm, FLOWS[0], rate, RTTS[0], "cubic")
    scenario = cell.scenario(10**9, seed=1)
    plan_scenario(scenario, backend=SIMULATOR)
    plan = plan_scenario(scenario, backend=Linux(Kernel(Path("/nowhere"))))
    from sojourn.backends.linux.job import qdisc_of

    differences = qdisc_of(plan.runs[0].config, tick).differences
    assert not differences


def test_a_filter_that_is_not_of_the_grid_is_refused() -> None:
    with pytest.raises(ScenarioError, match="--flows 7: not in the grid, which has 1, 3, 10, 30"):
        list(cells(flows=[7]))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ()),
        ({"utilisation": 96.1}, ()),
        ({"utilisation": 95.9}, ("utilisation",)),
        ({"mean": 11.4}, ()),
        ({"mean": 11.6}, ("mean",)),
        ({"mean": 8.4}, ("mean",)),
        ({"loss": 1.24}, ()),
        ({"loss": 1.26}, ("loss",)),
        ({"p95": 99.0}, ()),
        ({"mean": 12.0, "loss": 0.0}, ("mean", "loss")),
    ],
)
def test_the_tolerances_are_relative(changes: dict[str, float], expected: tuple[str, ...]) -> None:
    assert outside(**changes) == expected


def test_small_figures_have_absolute_tolerances() -> None:
    small = replace(KERNEL, mean=0.5, loss=0.01)
    assert compare(spread([replace(small, mean=1.4, loss=0.05)]), spread([small])).outside == ()
    assert compare(spread([replace(small, mean=1.6)]), spread([small])).outside == ("mean",)
    assert compare(spread([replace(small, loss=0.07)]), spread([small])).outside == ("loss",)


def test_the_reason_is_slow_start_if_the_rest_of_the_run_agrees() -> None:
    ours = spread([replace(KERNEL, mean=15.0)])
    assert compare(ours, spread([KERNEL])).why.startswith("slow start: ")
    ours = spread([replace(KERNEL, mean=15.0, settled_mean=12.0)])
    assert compare(ours, spread([KERNEL])).why.startswith("not slow start alone: ")


def test_the_reason_is_chance_if_the_repeats_overlap() -> None:
    ours = spread([replace(KERNEL, mean=mean) for mean in (9.0, 12.0, 12.0)])
    assert ours.median.mean == 12.0
    assert compare(ours, spread([KERNEL] * 3)).why == "chance: the repeats of both overlap"


def test_runs_scatter_if_one_backend_differs_from_itself_more_than_the_backends_may() -> None:
    still = spread([KERNEL] * 2)
    for changes in ({"mean": 12.0}, {"utilisation": 95.9}, {"loss": 1.4}):
        apart = spread([KERNEL, replace(KERNEL, **changes)])
        assert scattered(apart, still)
        assert scattered(still, apart)
    # Whether the backends agree with each other is another question.
    assert not scattered(spread([replace(KERNEL, mean=20.0)] * 2), still)
    assert not scattered(spread([KERNEL]), spread([KERNEL]))
    assert not scattered(spread([KERNEL, replace(KERNEL, mean=11.4, p95=99.0)]), still)


def test_a_cell_whose_runs_scatter_is_run_again_on_both_backends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    means = {"sim": [10.0, 10.0, 10.0, 10.0, 10.0], "linux": [10.0, 14.0, 10.0, 10.0, 10.0]}

    def run(bench: Bench, measured: Measured, name: str, seed: int) -> None:
        measured.runs[name].append(replace(KERNEL, mean=means[name][seed - 1]))

    monkeypatch.setattr(Bench, "_run", run)
    cell = Cell("fifo", 1, RATES[0], RTTS[0], CONGESTION_CONTROLS[0])

    def runs(folder: str, repeat: int, most: int) -> list[int]:
        bench = Bench(tmp_path / folder, _with_kernel(), 10**9, repeat, most)
        return [len(of_backend) for of_backend in bench.measure(cell).runs.values()]

    assert runs("once", 1, 4) == [1, 1], "one run says nothing of how they scatter"
    assert runs("few", 2, 2) == [2, 2]
    # The second run of the kernel stays where it is; the limit ends it.
    assert runs("many", 2, 4) == [4, 4]
    means["linux"][1] = 10.0
    assert runs("steady", 2, 4) == [2, 2]


def test_figures_of_another_scenario_are_not_taken_up(tmp_path: Path) -> None:
    cell = Cell("fifo", 1, RATES[0], RTTS[0], CONGESTION_CONTROLS[0])
    backend = _with_kernel()
    bench = Bench(tmp_path, backend, 10**9, 1)
    measured = Measured(cell, {"sim": [KERNEL], "linux": [KERNEL]}, {"kernel": "6.1"})
    bench._write(measured)
    assert bench.read(cell).runs == measured.runs
    assert [m.cell for m in bench.all_kept()] == [cell]
    longer = Bench(tmp_path, backend, 2 * 10**9, 1)
    assert longer.read(cell).runs == {"sim": [], "linux": []}


def test_figures_of_another_engine_are_measured_again_and_the_kernels_kept(tmp_path: Path) -> None:
    cell = Cell("fifo", 1, RATES[0], RTTS[0], CONGESTION_CONTROLS[0])
    bench = Bench(tmp_path, _with_kernel(), 10**9, 1)
    bench._write(Measured(cell, {"sim": [KERNEL], "linux": [KERNEL]}, {"kernel": "6.1"}))
    path = tmp_path / f"{cell.name}.json"
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"engine": "another"}))
    assert bench.read(cell).runs == {"sim": [], "linux": [KERNEL]}


def test_the_page_marks_cells_out_of_tolerance_and_counts_the_others() -> None:
    backend = {"kernel": "6.1", "clock": "virtual"}
    good = Measured(
        Cell("fifo", 1, RATES[0], RTTS[0], "cubic"), {"sim": [KERNEL], "linux": [KERNEL]}, backend
    )
    bad = Measured(
        Cell("codel", 1, RATES[0], RTTS[0], "newreno"),
        {"sim": [replace(KERNEL, loss=3.0)], "linux": [KERNEL]},
        backend,
    )
    failed = Measured(Cell("pie", 1, RATES[0], RTTS[0], "bbr"), failed="linux: disturbed")
    listed = [good, bad, failed]
    assert page.summary(listed) == [
        "CUBIC and NewReno: 1 of 2 judged cells within (50 %).",
        "Cells without figures of one backend: 1.",
    ]
    html = page.html(listed, 10**10, ["sojourn agree"])
    assert html.count('class="outside"') == 1
    assert "3.00 / 1.00" in html
    assert "linux: disturbed" in html
    assert "Linux 6.1 in virtual time" in page.markdown(listed, 10**10, ["sojourn agree"])


def test_a_cell_in_which_the_kernel_differs_from_itself_is_marked_and_not_judged() -> None:
    cell = Cell("red", 1, RATES[0], RTTS[1], "cubic")
    apart = [KERNEL, replace(KERNEL, loss=1.4)]
    for simulated in (KERNEL, replace(KERNEL, loss=9.0)):
        measured = Measured(cell, {"sim": [simulated] * 2, "linux": apart}, {})
        # Whether the medians agree or not: a cell is not left out for being outside.
        assert not measured.verdicts
        assert page.remark(measured) == "not judged: the kernel's own 2 runs differ in loss"
        assert page.summary([measured]) == [
            "Cells not judged because the kernel's own runs are further apart than the tolerances: "
            "1."
        ]
    steady = Measured(cell, {"sim": apart, "linux": [KERNEL] * 2}, {})
    assert steady.verdicts, "the simulator's own spread is no excuse"
    near = Measured(cell, {"sim": apart, "linux": [KERNEL, replace(KERNEL, loss=1.2)]}, {})
    assert near.verdicts, "within the tolerances"


def test_the_live_switch_and_the_simulator_are_compared_with_the_kernel(tmp_path: Path) -> None:
    cell = Cell("codel", 1, RATES[0], RTTS[0], "cubic")
    kernel = _with_kernel()
    three = Bench(tmp_path, {"sim": SIMULATOR, "live": LiveBackend(), **kernel}, 10**9, 1)
    measured = Measured(
        cell,
        {"sim": [KERNEL], "live": [replace(KERNEL, mean=20.0)], "linux": [KERNEL]},
        {"kernel": "6.1", "clock": "virtual"},
    )
    assert measured.verdicts["sim"].outside == ()
    assert measured.verdicts["live"].outside == ("mean",)
    assert page.remark(measured).startswith("the live switch: mean: ")
    assert page.summary([measured]) == [
        "CUBIC and NewReno: 1 of 1 judged cells within (100 %).",
        "CUBIC and NewReno, the live switch: 0 of 1 judged cells within (0 %).",
    ]
    assert "sim / live / kernel" in page.markdown([measured], 10**9, ["sojourn agree"])
    three._write(measured)
    assert three.read(cell).runs == measured.runs
    # Who asks for two of them gets the figures that there are, and leaves the third's.
    two = {name: measured.runs[name] for name in ("sim", "linux")}
    both = Bench(tmp_path, kernel, 10**9, 1)
    assert both.read(cell).runs == two
    both._write(both.read(cell))
    assert three.read(cell).runs == measured.runs


def test_without_a_kernel_the_live_switch_is_judged_by_the_simulator(tmp_path: Path) -> None:
    cell = Cell("codel", 1, RATES[0], RTTS[0], "cubic")
    without = Bench(tmp_path, {"live": LiveBackend(), "sim": SIMULATOR}, 10**9, 1)
    Bench(tmp_path, _with_kernel(), 10**9, 1)._write(
        Measured(
            cell,
            {"sim": [KERNEL], "linux": [KERNEL]},
            {"kernel": "6.1", "clock": "virtual"},
            {"linux": ["it was late"]},
        )
    )
    measured = Measured(cell, {"live": [replace(KERNEL, mean=20.0)], "sim": [KERNEL]}, {})
    without._write(measured)
    assert without.read(cell).verdicts["live"].outside == ("mean",)
    text = page.markdown([measured], 10**9, ["sojourn agree"])
    assert text.startswith("# How far live switch and simulation are apart")
    assert "live / sim" in text
    kept = Bench(tmp_path, _with_kernel(), 10**9, 1).read(cell)
    assert kept.runs == {"sim": [KERNEL], "linux": [KERNEL]}, "the kernel's are still there"
    assert kept.backend["kernel"] == "6.1"
    assert kept.disturbed == ["it was late"], "and what disturbed them"
    assert not without.read(cell).disturbed, "which says nothing of the others"


def test_a_csv_file_has_the_figures_of_the_page_which_then_refers_to_it(tmp_path: Path) -> None:
    from sojourn.cli.agree import _write_pages

    cell = Cell("codel", 1, RATES[0], RTTS[0], "cubic")
    runs = {"sim": [KERNEL, replace(KERNEL, loss=1.2)], "linux": [KERNEL]}
    measured = Measured(cell, runs, {"kernel": "6.1", "clock": "virtual"})
    inline = page.markdown([measured], 10**9, ["sojourn agree"])
    bench = Bench(tmp_path / "agreement", _with_kernel(), 10**9, 1)
    file = tmp_path / "docs" / "data" / "agreement.csv"
    _write_pages(bench, tmp_path / "docs" / "agreement.md", file, [measured], "sojourn agree")
    text = (tmp_path / "docs" / "agreement.md").read_text()
    assert "```{csv-table}\n:file: data/agreement.csv\n:header-rows: 1\n```\n" in text
    assert "|" not in text
    assert inline.startswith(text[: text.index("The file `data/")])
    (row,) = csv.DictReader(file.read_text().splitlines())
    assert row["cell"] in inline
    assert f"{row['sim loss, %']} / {row['kernel loss, %']}<br><small>" in inline
    assert f"<small>±{row['± sim loss, %']} / -</small>" in inline
    assert row["± kernel loss, %"] == "", "one run has no spread"
    assert row["outside"] == page.remark(measured)


def recorded(name: str) -> list[dict[str, str]]:
    """The rows of a data file of the documentation."""
    with (ROOT / "docs" / "data" / name).open(newline="") as lines:
        return list(csv.DictReader(lines))


@pytest.mark.parametrize(
    ("name", "document", "rows"),
    [
        ("agreement", "agreement", 240),
        ("agreement-dctcp", "agreement-dctcp", 48),
        ("agreement-dualpi2", "l4s", 12),
    ],
)
def test_a_recorded_page_has_the_numbers_of_its_data_file(
    name: str, document: str, rows: int
) -> None:
    found = recorded(f"{name}.csv")
    assert len(found) == len({row["cell"] for row in found}) == rows
    assert all(None not in row and None not in row.values() for row in found), "complete rows"
    text = (ROOT / "docs" / f"{document}.md").read_text()
    counted = 0
    for title, controls in page._CONTROLS:
        of = [row for row in found if row["cell"].split(", ")[1].split()[1] in controls]
        judged = [row for row in of if not row["outside"].startswith("not judged")]
        within = sum(not row["outside"] for row in judged)
        counted += len(of)
        assert not of or f"{title}: {within} of {len(judged)} judged cells within" in text
    assert counted == rows


def test_cells_of_dctcp_have_queues_that_mark_and_are_run_when_asked_for() -> None:
    marking = list(cells(controls=["dctcp"]))
    assert {cell.aqm for cell in marking} == {*AQMS} - {"fifo"}
    assert all(cell.scenario(10**9, 1)["aqms"][0]["ecn"] is True for cell in marking)
    assert "dctcp" not in {cell.congestion_control for cell in cells()}


def test_marks_are_compared_and_shown_where_there_are_any() -> None:
    assert outside(marks=5.0) == ("marks",)
    cell = Cell("codel", 1, RATES[0], RTTS[0], "dctcp")
    backend = {"kernel": "6.1", "clock": "virtual"}
    marked = Measured(cell, {"sim": [KERNEL], "linux": [KERNEL]}, backend)
    assert "marks, %" in page.markdown([marked], 10**9, [])
    assert page.summary([marked]) == ["DCTCP: 1 of 1 judged cells within (100 %)."]
    silent = replace(marked, cell=replace(cell, congestion_control="cubic"))
    assert "marks, %" not in page.markdown([silent], 10**9, [])


def test_bad_filters_end_with_status_2(sojourn: Sojourn) -> None:
    for arguments, complaint in (
        (("--aqm", "sfq"), "--aqm sfq: not in the grid"),
        (("--flows", "many"), "--flows many: write numbers"),
        (("--rate", "10"), "the unit is missing"),
        (("--backends", "sim"), "--backends sim: write two or three of sim, live, linux"),
        (("--repeat", "3", "--up-to", "2"), "--up-to 2: less than --repeat 3"),
    ):
        done = sojourn("agree", *arguments)
        assert done.returncode == 2
        assert complaint in " ".join(done.stderr.split())


def test_ctrl_c_ends_the_measuring_and_is_no_cell_s_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_plan: object, folder: Path, **_: object) -> None:
        folder.mkdir(parents=True)
        raise Interrupted("stopped after 1 s")

    monkeypatch.setattr("sojourn.studies.agreement.measure.record", stopped)
    bench = Bench(tmp_path, _with_kernel(), 10**9, repeat=1)
    with pytest.raises(Interrupted, match=r"stopped at .*the cells before it are kept"):
        bench.measure(next(iter(cells())))
    assert not list(tmp_path.iterdir())


def test_without_a_terminal_each_run_is_a_plain_line(capsys: pytest.CaptureFixture[str]) -> None:
    from sojourn.cli.agree import _progress
    from sojourn.cli.shared import open_console

    with _progress(open_console(stderr=True), "1 of 2: ") as tell:
        tell("fifo: sim, 1 of 1")
        assert capsys.readouterr().err == "1 of 2: fifo: sim, 1 of 1\n", "at once"
        tell("fifo: linux, 1 of 1")
    assert capsys.readouterr().err == "1 of 2: fifo: linux, 1 of 1\n"


def test_the_page_replaces_a_link_and_does_not_follow_it(tmp_path: Path) -> None:
    from sojourn.cli.agree import _write_pages

    victim = tmp_path / "victim"
    victim.write_text("precious")
    folder = tmp_path / "agreement"
    folder.mkdir()
    for name in ("agreement.html", "commands.txt"):
        (folder / name).symlink_to(victim)
    bench = Bench(folder, Linux(Kernel(Path("/nowhere"))), 10**9, 1)
    mine = tmp_path / "mine.md"
    mine.symlink_to(tmp_path / "page.md")
    _write_pages(bench, mine, None, [], "sojourn agree")
    assert victim.read_text() == "precious"
    assert "sojourn agree" in (tmp_path / "page.md").read_text(), "the user's own link"
