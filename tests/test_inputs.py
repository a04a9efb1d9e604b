"""The files that a run reads: one list for a sweep's digest, `run.json`, `compare` and `trace`."""

import json
import shutil
from pathlib import Path

import pytest

import sojourn
from conftest import call_sojourn
from sojourn import ScenarioError
from sojourn.common.resources import programs_folder
from sojourn.model.inputs import distinct, hashed, named
from sojourn.runner import plan_scenario
from sojourn.studies.sweeps.sweep import plan_file

SCENARIO = """
duration = "100 ms"
aqms = ["v1model/codel"]
[switch]
rate = "10 Mbit/s"
[control]
script = "controller.py"
[[flows]]
kind = "udp"
rate = "5 Mbit/s"
rtt = "5 ms"
"""
SCRIPT = """
from law import WHEN

def start(switch):
    switch.at(WHEN, lambda s: s.table("routes").clear())  # from here on nothing is routed
"""


@pytest.fixture
def controlled(tmp_path: Path) -> Path:
    """A scenario whose script imports a module of its folder, and a sweep of it."""
    folder = tmp_path / "controlled"
    folder.mkdir()
    (folder / "s.toml").write_text(SCENARIO)
    (folder / "controller.py").write_text(SCRIPT)
    (folder / "law.py").write_text('WHEN = "50 ms"\n')
    (folder / "sw.toml").write_text('scenario = "s.toml"\nseeds = "1..2"\n')
    return folder


def digests(sweep: Path) -> list[str]:
    return [run.job.digest for run in plan_file(sweep).runs]


@pytest.mark.parametrize(
    ("file", "changed"),
    [("controller.py", SCRIPT.replace("clear()", "clear() ")), ("law.py", 'WHEN = "60 ms"\n')],
)
def test_a_changed_script_is_another_run_of_a_sweep(
    controlled: Path, file: str, changed: str
) -> None:
    before = digests(controlled / "sw.toml")
    assert digests(controlled / "sw.toml") == before
    (controlled / file).write_text(changed)
    assert not set(digests(controlled / "sw.toml")) & set(before)


def test_a_run_of_another_aqm_than_the_controllers_is_sent_without_it(controlled: Path) -> None:
    text = SCENARIO.replace('["v1model/codel"]', '["fifo", "v1model/codel"]')
    (controlled / "s.toml").write_text(
        text.replace("[control]", '[control]\naqms = ["v1model/codel"]')
    )
    jobs = [run.job for run in plan_file(controlled / "sw.toml").runs]
    with_control = {job.label for job in jobs if "control" in job.scenario}
    assert {job.label for job in jobs} == {"fifo", "v1model/codel"}
    assert with_control == {"v1model/codel"}


def test_the_same_files_elsewhere_are_the_same_runs(controlled: Path, tmp_path: Path) -> None:
    shutil.copytree(controlled, tmp_path / "elsewhere")
    assert digests(tmp_path / "elsewhere" / "sw.toml") == digests(controlled / "sw.toml")


def test_a_link_to_a_script_of_the_package_loads_no_module_next_to_it(
    controlled: Path,
) -> None:
    own = next(Path(sojourn.__file__).parent.rglob("recipes/*/pie_cp.py"))
    (controlled / "controller.py").unlink()
    (controlled / "controller.py").symlink_to(own)
    planned = plan_scenario(controlled / "s.toml").runs[0].controller
    assert planned is not None and planned.work == own.resolve()
    assert not any(path.is_relative_to(controlled) for path in planned.files)


def test_a_script_and_its_imports_are_sent_with_the_run(controlled: Path, tmp_path: Path) -> None:
    done = call_sojourn(tmp_path, "sweep", "controlled/sw.toml", "--out", "o", "--processes", "1")
    assert done.returncode == 0, done.stderr + done.stdout
    alone = sojourn.run(controlled / "s.toml", report=False).aqms["v1model/codel"].summary
    rows = [run.job for run in plan_file(controlled / "sw.toml").runs]
    assert {"controller.py", "law.py"} <= set(rows[0].files)
    [found] = json.loads((tmp_path / "o/runs" / rows[0].digest / "result.json").read_text())[
        "bottlenecks"
    ]
    assert (found["packets"], found["mean"]) == (alone.packets, alone.mean)


def test_files_that_exchange_their_contents_are_another_run(tmp_path: Path) -> None:
    program = (programs_folder() / "v1model" / "codel.p4").read_text()
    (tmp_path / "mine.p4").write_text(f'#include "one.p4"\n{program}')
    for name, text in (("one.p4", '#include "two.p4"\n'), ("two.p4", "/* nothing */\n")):
        (tmp_path / name).write_text(text)
    shutil.copy(programs_folder() / "v1model" / "codel.toml", tmp_path / "mine.toml")
    folder = programs_folder() / "v1model"
    (tmp_path / "s.toml").write_text(
        SCENARIO.replace('[control]\nscript = "controller.py"\n', "").replace(
            '"v1model/codel"', f'{{use = "mine.p4", include_paths = ["{folder}"]}}'
        )
    )
    (tmp_path / "sw.toml").write_text('scenario = "s.toml"\n')
    before = digests(tmp_path / "sw.toml")
    (tmp_path / "one.p4").write_text("/* nothing */\n")
    (tmp_path / "two.p4").write_text('#include "one.p4"\n')
    (tmp_path / "mine.p4").write_text(f'#include "two.p4"\n{program}')
    swapped = digests(tmp_path / "sw.toml")
    assert swapped != before


def test_two_switches_that_exchange_their_programs_are_another_run(tmp_path: Path) -> None:
    for name in ("a", "b"):
        for ending in (".p4", ".toml"):
            shutil.copy(
                programs_folder() / "v1model" / f"router{ending}", tmp_path / (name + ending)
            )
    (tmp_path / "b.p4").write_text((tmp_path / "b.p4").read_text() + "// another\n")
    found = []
    for order in (("a", "b"), ("b", "a")):
        switches = "".join(
            f'[[switches]]\nname = "s{place}"\naqm = "{name}.p4"\n'
            for place, name in enumerate(order)
        )
        (tmp_path / "s.toml").write_text(
            'duration = "10 ms"\naqms = ["fifo"]\n[[hosts]]\nname = "h0"\n[[hosts]]\nname = "h1"\n'
            + switches
            + "".join(
                f'[[links]]\nbetween = ["{one}", "{other}"]\nrate = "10 Mbit/s"\n'
                for one, other in (("h0", "s0"), ("s0", "s1"), ("s1", "h1"))
            )
            + '[[flows]]\nfrom = "h0"\nto = "h1"\n'
        )
        (tmp_path / "sw.toml").write_text('scenario = "s.toml"\n')
        found.append(digests(tmp_path / "sw.toml"))
    assert found[0] != found[1]


def test_a_run_lists_every_file_that_it_read(controlled: Path) -> None:
    [run] = plan_scenario(controlled / "s.toml").runs
    assert {"controller.py", "law.py", "p4/v1model/codel.p4", "p4/v1model/codel.toml"} <= set(
        run.sources
    )


def test_names_do_not_depend_on_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one.py", "p4/v1model/x.p4"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    shipped = programs_folder() / "v1model" / "codel.p4"
    files = [tmp_path / "one.py", tmp_path / "p4/v1model/x.p4", shipped]
    for here in (tmp_path, Path("/")):
        monkeypatch.chdir(here)
        assert list(named(hashed(files), tmp_path)) == [
            "./p4/v1model/x.p4",
            "one.py",
            "p4/v1model/codel.p4",
        ]


def test_the_shortest_ends_distinguish_names() -> None:
    names = ["/x/a/h.p4", "/x/b/h.p4", "main.p4"]
    assert distinct(names) == {"/x/a/h.p4": "a/h.p4", "/x/b/h.p4": "b/h.p4", "main.p4": "main.p4"}
    assert distinct(["h.p4", "a/h.p4"]) == {"h.p4": "h.p4", "a/h.p4": "a/h.p4"}


def test_a_trace_runs_the_script_from_any_folder_and_refuses_a_changed_one(
    controlled: Path, tmp_path: Path
) -> None:
    done = call_sojourn(controlled, "run", "s.toml", "--out", "r", "--no-report")
    assert done.returncode == 0, done.stderr
    assert "runs controller.py: a Python script of the scenario" in done.stderr
    for where, run in ((controlled, "r"), (tmp_path, "controlled/r")):
        done = call_sojourn(where, "trace", run, "ingress")
        assert done.returncode == 0, done.stderr
        assert "dropped (ingress)" in done.stdout and "sent" not in done.stdout, done.stdout
    (controlled / "law.py").write_text('WHEN = "60 ms"\n')
    done = call_sojourn(tmp_path, "trace", "controlled/r", "ingress")
    assert done.returncode == 2
    assert "not the same as in this run: law.py" in " ".join(done.stderr.split())


def test_runs_with_different_scripts_are_different_setups(controlled: Path) -> None:
    for out, when in (("r1", "50 ms"), ("r2", "60 ms")):
        (controlled / "law.py").write_text(f'WHEN = "{when}"\n')
        assert (
            call_sojourn(controlled, "run", "s.toml", "--out", out, "--no-report").returncode == 0
        )
    done = call_sojourn(controlled, "compare", "r1", "r2", "--json")
    first, second = json.loads(done.stdout)["setups"]
    assert first["name"] == "r1"
    assert [line.split(" SHA")[0] for line in second["differs"]] == ["v1model/codel: law.py:"]


def test_each_run_has_modules_of_its_own(controlled: Path) -> None:
    """Two AQMs run at the same time in one process; a module's variables are not shared."""
    (controlled / "law.py").write_text('WHEN = "50 ms"\nstarted = []\n')
    (controlled / "controller.py").write_text(
        "import law\ndef start(switch):\n    law.started.append(1)\n    assert law.started == [1]\n"
    )
    aqms = ["v1model/codel", {"use": "v1model/codel", "label": "again", "defines": {}}]
    sojourn.run(controlled / "s.toml", aqms=aqms, report=False)


def test_packages_of_the_scripts_folder_are_imported_and_listed(controlled: Path) -> None:
    package = controlled / "laws"
    package.mkdir()
    (package / "__init__.py").write_text("from .when import WHEN\n")
    (package / "when.py").write_text("from . import base\nWHEN = base.WHEN\n")
    (package / "base.py").write_text('WHEN = "40 ms"\n')
    (controlled / "controller.py").write_text(SCRIPT.replace("from law", "from laws"))
    [run] = plan_scenario(controlled / "s.toml").runs
    own = {f"laws/{name}.py" for name in ("__init__", "when", "base")}
    assert own <= set(run.sources) and "law.py" not in run.sources
    sojourn.run(controlled / "s.toml", report=False)


def test_a_mistake_in_an_imported_module_is_reported_with_its_line(controlled: Path) -> None:
    (controlled / "law.py").write_text('WHEN = "50 ms"\n1 / 0\n')
    with pytest.raises(ScenarioError, match=r"law\.py:2: ZeroDivisionError"):
        sojourn.run(controlled / "s.toml", report=False)
    (controlled / "law.py").write_text("WHEN =\n")
    with pytest.raises(ScenarioError, match=r"law\.py:1: SyntaxError"):
        sojourn.run(controlled / "s.toml", report=False)


REFUSED = "controller.py: a Python script of the scenario; --no-scripts refuses it"


@pytest.mark.parametrize("command", [("run", "s.toml"), ("sweep", "sw.toml")])
def test_no_scripts_refuses_a_script_before_it_runs(
    controlled: Path, command: tuple[str, ...]
) -> None:
    (controlled / "controller.py").write_text(f'open(r"{controlled}/RAN", "w")\n{SCRIPT}')
    done = call_sojourn(controlled, *command, "--no-scripts")
    said = " ".join(done.stderr.split())
    assert done.returncode == 2 and REFUSED in said and "runs controller.py" not in said
    assert not (controlled / "RAN").exists()


def test_a_trace_refuses_the_script_of_a_run(controlled: Path) -> None:
    assert call_sojourn(controlled, "run", "s.toml", "--out", "r", "--no-report").returncode == 0
    done = call_sojourn(controlled, "trace", "r", "ingress", "--no-scripts")
    assert done.returncode == 2 and REFUSED in " ".join(done.stderr.split())


def test_no_scripts_from_python(controlled: Path) -> None:
    with pytest.raises(ScenarioError, match="--no-scripts refuses it"):
        sojourn.run(controlled / "s.toml", scripts=False, report=False)
    with pytest.raises(ScenarioError, match="--no-scripts refuses it"):
        sojourn.sweep(controlled / "s.toml", seeds="1..2", scripts=False)
    sojourn.run(controlled / "s.toml", report=False)


def test_no_scripts_refuses_a_users_hardware_module_before_it_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "mine.sv").write_text("module mine(); endmodule\n")
    (tmp_path / "s.toml").write_text(
        SCENARIO.replace('[control]\nscript = "controller.py"\n', "").replace(
            "v1model/codel", "mine.sv"
        )
    )
    done = call_sojourn(tmp_path, "run", "s.toml", "--no-scripts")
    assert done.returncode == 2
    assert "mine.sv: a hardware module, compiled to machine code; --no-scripts" in " ".join(
        done.stderr.split()
    )
