"""Everyday use of the command line: include folders, macros, mistyped options, pipes, narrow
terminals."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from rich.console import Console
from rich.measure import Measurement

from conftest import Finished, Sojourn
from sojourn.common.resources import programs_folder
from sojourn.errors import ProgramError
from sojourn.model.programs import compiled, with_own_folder
from sojourn.model.scenario.bottleneck import Bottleneck
from sojourn.results.link_phases import read_phases
from sojourn.results.queues import plotted
from sojourn.results.report.figures import over_time
from sojourn.results.result import read_result
from sojourn.results.table import result_tables
from sojourn.runtime.arrow_tables import PACKET_SCHEMA
from sojourn.runtime.folder import RunFolder

MS = 10**6


def p4_blocks() -> list[str]:
    text = (Path(__file__).parent.parent / "p4/README.md").read_text()
    return re.findall(r"```p4\n(.*?)```", text, re.DOTALL)


def test_the_program_of_the_readme_runs_from_any_folder(
    tmp_path: Path, sojourn: Sojourn, small: Path
) -> None:
    (whole,) = (block for block in p4_blocks() if "main;" in block)
    (tmp_path / "mine.p4").write_text(whole)
    shutil.copy(programs_folder() / "tna/p4_codel.toml", tmp_path / "mine.toml")
    ran = sojourn(
        "run", small, "--aqm", "mine.p4", "--duration", "0.5 s", "--rate", "20 Mbit/s", "--json"
    )
    assert ran.returncode == 0, ran.stderr
    (aqm,) = json.loads(ran.stdout)["aqms"]
    assert aqm["simulated"] == 500 * MS
    assert 0.9 < aqm["utilisation"] <= 1, "of 20 Mbit/s and not of the scenario's 50"


def test_a_program_finds_the_declarations_of_its_own_architecture(tmp_path: Path) -> None:
    """Both folders have an aqm/codel_act.p4."""
    path = tmp_path / "mine.p4"
    for target, other in (("tna", "v1model"), ("v1model", "tna")):
        path.write_text(
            f"#include <core.p4>\n#include <{target}.p4>\n#include <aqm/codel_act.p4>\n"
        )
        folders = with_own_folder((), path)
        own, others = (str(programs_folder() / name) for name in (target, other))
        assert folders.index(own) < folders.index(others)


def test_a_run_takes_folders_and_macros_for_its_programs(
    tmp_path: Path, sojourn: Sojourn, small: Path
) -> None:
    shutil.copy(programs_folder() / "v1model/router.toml", tmp_path / "mine.toml")
    text = (programs_folder() / "v1model/router.p4").read_text()
    (tmp_path / "mine.p4").write_text(
        text.replace("struct metadata", "#include <own.p4>\nstruct metadata")
    )
    (tmp_path / "own").mkdir()
    (tmp_path / "own/own.p4").write_text("#ifndef NEEDED\n#error NEEDED is missing\n#endif\n")
    short = ("run", small, "--aqm", "mine.p4", "--duration", "0.1 s", "--out", "out")
    assert "own.p4" in sojourn(*short).stderr
    ran = sojourn(*short, "-I", "own", "-D", "NEEDED=1")
    assert ran.returncode == 0, ran.stderr
    again = json.loads((tmp_path / "out/run.json").read_text())["scenario"]["aqms"][0]
    assert again["defines"] == {"NEEDED": "1"}
    assert again["include_paths"] == [str(tmp_path / "own")]


def test_a_rate_for_several_links_is_refused_with_the_right_form(sojourn: Sojourn) -> None:
    ran = sojourn("run", "two_bottlenecks", "--rate", "5 Mbit/s")
    assert ran.returncode == 2
    assert "--set links.0.rate" in ran.stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("run", "small.toml", "--aqm", "codel_exact", "-D", "CODEL_ECM"), 'mean "CODEL_ECN"'),
        (("run", "small.toml", "--aqm", "codel", "-D", "X"), "no P4 program"),
        (("replay", "wander", "--aqm", "codel_exact", "-D", "CODEL_ECM"), 'mean "CODEL_ECN"'),
        (("run", "small.toml", "--aqm", "codel", "--aqm", "codel"), "codel is given twice"),
    ],
)
def test_a_mistyped_option_that_would_change_results_is_refused(
    sojourn: Sojourn, small: Path, command: tuple[str, ...], said: str
) -> None:
    done = sojourn(*command)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split())


def test_a_check_reports_an_unused_macro(sojourn: Sojourn) -> None:
    program = programs_folder() / "tna/codel_exact.p4"
    done = sojourn("check", program, "--language-only", "-D", "CODEL_ECN", "--json")
    assert json.loads(done.stdout)["diagnostics"] == []
    done = sojourn("check", program, "-D", "CODEL_EXACT", "--json")
    assert done.returncode == 0
    (warning,) = json.loads(done.stdout)["diagnostics"]
    assert (warning["severity"], warning["place"]) == ("warning", None)
    assert "CODEL_EXACT" in warning["message"]


def partial(finished: Finished, tmp_path: Path, label: str, ran: int) -> Path:
    """A copy of the finished run in which one AQM came no further than `ran`."""
    folder = tmp_path / "partial"
    shutil.copytree(finished.folder, folder)
    own = folder / label
    counters = json.loads((own / "counters.json").read_text())
    (own / "counters.json").write_text(json.dumps(counters | {"simulated": ran}))
    for name, column in (("packets.parquet", "dequeued"), ("flows.parquet", "time")):
        rows = pq.read_table(own / name)
        pq.write_table(rows.filter(pc.less_equal(rows[column], ran)), own / name)
    return folder


def test_figures_in_one_table_cover_the_same_part_of_the_run(
    finished: Finished, tmp_path: Path, sojourn: Sojourn
) -> None:
    folder = partial(finished, tmp_path, "fifo", 1_000 * MS)
    result = read_result(RunFolder.open(folder))
    whole, part = result.aqms["codel"], result.aqms["fifo"]
    assert (result.compared, part.ran, whole.ran) == (1_000 * MS, 1_000 * MS, 3_000 * MS)
    rows = whole.packets
    early = rows.filter(pc.less_equal(rows["dequeued"], 1_000 * MS))
    assert whole.summary.packets == early.num_rows < rows.num_rows
    assert whole.summary.max == pc.max(pc.subtract(early["dequeued"], early["enqueued"])).as_py()
    samples = whole.flows.filter(pc.less_equal(whole.flows["time"], 1_000 * MS)).to_pylist()
    delivered = {row["flow"]: row["delivered"] for row in samples}
    assert whole.summary.goodput == 8 * sum(delivered.values())
    said = sojourn("report", folder)
    assert "fifo (partial)" in said.stdout
    assert "the figures of all runs are of their first 1.000 s" in " ".join(said.stdout.split())
    report = json.loads(sojourn("report", folder, "--json").stdout)
    assert report["compared_until"] == 1_000 * MS
    assert [aqm.get("interrupted", False) for aqm in report["aqms"]] == [True, False]


def test_a_queue_with_negligible_delay_has_settled_at_once(tmp_path: Path) -> None:
    """Waits of a microsecond, which are not even: nothing that could settle."""
    bottleneck = Bottleneck("switch", "receivers", "", 8_000_000, ((10**9, 80_000_000),))
    times = [at * 10 * MS for at in range(1, 200)]
    rows = {
        "packet": list(range(len(times))),
        "flow": [0] * len(times),
        "size": [1000] * len(times),
        "queue": [0] * len(times),
        "enqueued": [at - (1_000 if place % 7 else 9_000) for place, at in enumerate(times)],
        "dequeued": times,
        "verdict": ["sent"] * len(times),
    }
    rows["verdict"] = pa.array(rows["verdict"]).dictionary_encode()
    rows["verdict"] = rows["verdict"].cast(pa.dictionary(pa.uint8(), pa.string()))
    pq.write_table(pa.table(rows, schema=PACKET_SCHEMA), tmp_path / "packets.parquet")
    assert [phase.settled for phase in read_phases(tmp_path, bottleneck, 2 * 10**9)] == [0, 0]


@pytest.mark.parametrize("width", [60, 80])
def test_tables_fit_a_narrow_window(finished: Finished, width: int) -> None:
    console = Console(width=1000)
    tables = result_tables(finished.result, width)
    assert len(tables) > 1
    for table in tables:
        assert Measurement.get(console, console.options, table).maximum <= width
    (whole,) = result_tables(finished.result, 120)
    heads = [column.header for table in tables for column in table.columns[1:]]
    assert heads == [column.header for column in whole.columns[1:]], "every column is in one piece"


def test_the_report_shows_all_panels_at_an_instant_and_zooms_in_time(
    finished: Finished,
) -> None:
    (queue,) = plotted(finished.result)
    figure = over_time(finished.result, queue)
    assert figure.zoom == "width" and len(figure.panels) > 1
    plots = figure.model().attributes["children"]
    assert len({id(plot.attributes["x_range"]) for plot in plots}) == 1, "one time axis for all"
    curves = [curve for panel in figure.panels for curve in panel.curves]
    assert {"fifo", "codel"} <= {curve.attributes["name"] for curve in curves}


@pytest.mark.parametrize(
    "command",
    [
        ("run", "nosuch.toml"),
        ("run", "small.toml", "--aqm", "broken.p4"),
        ("run", "small.toml", "--nosuch"),
        ("aqms", "surplus"),
        ("report", "."),
    ],
)
def test_an_error_under_json_is_json(
    tmp_path: Path, sojourn: Sojourn, small: Path, command: tuple[str, ...]
) -> None:
    (tmp_path / "broken.p4").write_text("#include <core.p4>\nstruct s { bit<3> y }\n")
    done = sojourn(*command, "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["message"]
    assert done.stderr, "people read that"
    if "broken.p4" in command:
        assert [each["place"]["line"] for each in error["diagnostics"]] == [2]


def test_a_programs_mistakes_print_as_text_and_come_as_data(tmp_path: Path) -> None:
    path = tmp_path / "broken.p4"
    path.write_text("#include <core.p4>\nstruct s { bit<3> y }\n")
    with pytest.raises(ProgramError) as raised:
        compiled(path, include_paths=with_own_folder(()))
    assert str(raised.value).startswith("error[E0301]: expected `;`")
    assert [each["code"] for each in raised.value.diagnostics] == ["E0301"]


def test_an_invalid_control_plane_is_reported_with_file_and_line(
    tmp_path: Path, sojourn: Sojourn, small: Path
) -> None:
    shutil.copy(programs_folder() / "v1model/router.p4", tmp_path / "mine.p4")
    control = '# routes\n[[tables]]\nname = "Router.paths"\n'
    (tmp_path / "mine.toml").write_text(control)
    done = sojourn("run", small, "--aqm", "mine.p4")
    assert done.returncode == 2
    assert "mine.toml:3: there is no table `Router.paths`" in done.stderr


@pytest.mark.parametrize(
    ("command", "status"),
    [(("aqms", "--json"), 0), (("run", "small.toml", "--out", "out"), 0), (("run", "nosuch"), 2)],
)
def test_a_closed_output_pipe_does_not_change_the_status(
    tmp_path: Path, small: Path, command: tuple[str, ...], status: int
) -> None:
    shell = f'{sys.executable} -m sojourn {" ".join(command)} | true; exit "${{PIPESTATUS[0]}}"'
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == status
    assert "Broken" not in done.stderr
    if "out" in command:
        assert (tmp_path / "out/report.html").is_file(), "the work is done to its end"


def test_a_pipe_gets_whole_lines_of_the_list_of_aqms(sojourn: Sojourn) -> None:
    listed = sojourn("aqms").stdout
    assert "..." not in listed
    assert max(map(len, listed.splitlines())) > 100


def test_the_version_is_reported(sojourn: Sojourn) -> None:
    assert re.fullmatch(r"sojourn \d+\.\d+\.\d+\n", sojourn("--version").stdout)


def test_packet_tests_and_emitted_files_report_an_unused_macro(
    tmp_path: Path, sojourn: Sojourn
) -> None:
    program = programs_folder() / "v1model/router.p4"
    (tmp_path / "no.stf").write_text("# no packets\n")
    for command in (("test", program, "no.stf"), ("emit", program, "--for", "bmv2")):
        done = sojourn(*command, "-D", "QUEUE_MEASUREMENTS")
        assert done.returncode == 0
        assert "QUEUE_MEASUREMENTS: no file of the program reads it; did you mean" in done.stderr
        assert sojourn(*command, "-D", "QUEUE_MEASUREMENT").stderr == ""
