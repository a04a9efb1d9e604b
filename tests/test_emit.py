"""`sojourn emit --for tofino`: the script configures a switch as the simulation's start does.

The script runs against an object that has the names of bfrt_python and remembers what it was told.
"""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.control.file import ProgramChoice, read_control_plane
from sojourn.errors import ControlPlaneError
from sojourn.tools.emit import TARGETS, Job, Shaper, emit

TNA = programs_folder() / "tna"


class Bfrt:
    """A node of bfrt_python's tree; a call is remembered with its path and arguments."""

    def __init__(self, path: str, calls: list[tuple[str, dict[str, Any]]]) -> None:
        self._path = path
        self._calls = calls

    def __getattr__(self, name: str) -> Bfrt:
        return Bfrt(f"{self._path}.{name}" if self._path else name, self._calls)

    def __call__(self, **arguments: Any) -> Bfrt:
        self._calls.append((self._path, arguments))
        return self


def run_script(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """What the script in `folder` tells the switch, in order."""
    calls: list[tuple[str, dict[str, Any]]] = []
    text = (folder / "setup.py").read_text()
    # The shell runs a script inside a function: globals and locals are not the same there.
    exec(compile(text, "setup.py", "exec"), {"bfrt": Bfrt("", calls), "print": lambda _: None}, {})
    return calls


def choice(program: str, control: Path | None = None, **defines: str) -> ProgramChoice:
    path = TNA / f"{program}.p4"
    return ProgramChoice(path, "tofino1", (str(programs_folder() / "include"),), defines, control)


def emitted(
    chosen: ProgramChoice, folder: Path, *shapers: Shaper
) -> list[tuple[str, dict[str, Any]]]:
    """What the switch is told by the script for a program."""
    emit(Job.of(chosen, shapers), TARGETS["tofino"], folder)
    return run_script(folder)


def number(value: int | str) -> int:
    return value if isinstance(value, int) else int(value, 0)


def simulated_entries(chosen: ProgramChoice) -> Iterator[tuple[str, str, dict[str, int]]]:
    """Table, action and BfRt's parameters of every entry that the engine installs."""
    control = read_control_plane(chosen)
    for table in control["tables"]:
        overlapping = table["name"].endswith("beyond")
        for entry in table["entries"]:
            arguments: dict[str, int] = {"match_priority": 0} if overlapping else {}
            for key, value in entry["match"].items():
                name = key.rpartition(".")[2]
                if not isinstance(value, dict):
                    arguments[name] = number(value)
                elif "mask" in value:
                    arguments |= {name: value["value"], f"{name}_mask": value["mask"]}
                else:
                    arguments |= {name: number(value["value"]), f"{name}_p_length": value["prefix"]}
            arguments |= {name: number(value) for name, value in entry["args"].items()}
            yield table["name"], entry["action"].rpartition(".")[2], arguments


@pytest.mark.parametrize(
    ("program", "entries"), [("p4_codel", 2), ("codel_act", 2), ("codel_exact", 4 + 16_383 + 4_608)]
)
def test_the_script_writes_exactly_the_entries_that_the_simulation_uses(
    tmp_path: Path, program: str, entries: int
) -> None:
    pipe = f"{program}.pipe."
    written = [
        (*path.removeprefix(pipe).split(".add_with_"), arguments)
        for path, arguments in emitted(choice(program), tmp_path)
        if ".add_with_" in path
    ]
    assert written == list(simulated_entries(choice(program)))
    assert len(written) == entries


def test_another_interval_reaches_the_switch_s_table(sojourn: Sojourn, tmp_path: Path) -> None:
    arguments = ("--for", "tofino", "--out", "out", "-D", "INTERVAL=20000000", "--json")
    done = sojourn("emit", TNA / "codel_exact.p4", *arguments)
    assert done.returncode == 0, done.stderr
    files = [Path(name) for name in json.loads(done.stdout)["files"]]
    assert [file.name for file in files] == ["setup.py", "README.md"]
    path = "codel_exact.pipe.Egress.codel.control_law.add_with_set_spacing"
    spacings = [arguments for name, arguments in run_script(tmp_path / "out") if name == path]
    assert spacings[:2] == [{"count": 1, "ns": 20_000_000}, {"count": 2, "ns": 14_142_136}]
    assert "-DINTERVAL=20000000" in (tmp_path / "out" / "README.md").read_text()


@pytest.mark.parametrize(
    ("target", "folder", "flag"), [("tofino", "tna", "-I"), ("bmv2", "v1model", "-I ")]
)
def test_a_compiler_gets_the_folders_of_shipped_parts(
    sojourn: Sojourn, tmp_path: Path, target: str, folder: str, flag: str
) -> None:
    """For a program of one's own; one of theirs stands where its parts are."""
    shipped = programs_folder() / folder
    name = {"tna": "p4_codel", "v1model": "codel"}[folder]
    shutil.copy(shipped / f"{name}.p4", tmp_path / "mine.p4")
    readmes = {}
    for program in (tmp_path / "mine.p4", shipped / f"{name}.p4"):
        done = sojourn("emit", program, "--for", target, "--out", program.stem)
        assert done.returncode == 0, done.stderr
        readmes[program.stem] = (tmp_path / program.stem / "README.md").read_text()
    assert f"{flag}{shipped.resolve()}" in readmes["mine"]
    assert "-I" not in readmes[name]
    assert "include" not in readmes["mine"]


def test_tables_are_emptied_before_they_are_filled_so_that_the_script_can_run_again(
    tmp_path: Path,
) -> None:
    calls = [path for path, _ in emitted(choice("codel_exact"), tmp_path)]
    for table in ("Ingress.route_ipv4", "Egress.codel.control_law"):
        node = f"codel_exact.pipe.{table}"
        filled = next(at for at, path in enumerate(calls) if path.startswith(f"{node}.add_with"))
        assert calls.index(f"{node}.clear") < filled


def test_session_shaper_and_recirculation_have_the_chip_s_names(tmp_path: Path) -> None:
    # 99.9999 Mbit/s: the unit is kbit/s, and a bottleneck is no slower than asked for.
    shapers = (Shaper(2, 99_999_900, 9216), Shaper(3, 10**9, 1600))
    calls = emitted(choice("codel_act"), tmp_path, *shapers)
    session = {
        "sid": 100,
        "direction": "EGRESS",
        "session_enable": True,
        "ucast_egress_port": 68,
        "ucast_egress_port_valid": True,
        "egress_port_queue": 0,
        "max_pkt_len": 100,
    }
    shaping = {"unit": "BPS", "provisioning": "UPPER"}
    first = {"dev_port": 2, "max_rate": 100_000, "max_burst_size": 9216}
    second = {"dev_port": 3, "max_rate": 1_000_000, "max_burst_size": 1600}
    port = "tf1.tm.port"
    assert [call for call in calls if not call[0].startswith(("batch_", "codel_act."))] == [
        ("mirror.cfg.entry_with_normal", session),
        ("mirror.cfg.entry_with_normal.push", {}),
        (f"{port}.sched_shaping.mod", shaping | first),
        (f"{port}.sched_cfg.mod", {"dev_port": 2, "max_rate_enable": True}),
        (f"{port}.sched_shaping.mod", shaping | second),
        (f"{port}.sched_cfg.mod", {"dev_port": 3, "max_rate_enable": True}),
        ("complete_operations", {}),
    ]


def changed(tmp_path: Path, before: str, after: str) -> ProgramChoice:
    """CoDel-ACT with another control plane."""
    text = (TNA / "codel_act.toml").read_text()
    assert before in text
    (tmp_path / "mine.toml").write_text(text.replace(before, after))
    return choice("codel_act", tmp_path / "mine.toml")


def test_tofino_2_has_its_own_tables_and_recirculation_ports(tmp_path: Path) -> None:
    folders = (str(programs_folder() / "include"), str(TNA))
    path = programs_folder() / "t2na" / "codel_exact.p4"
    chosen = ProgramChoice(path, "tofino2", folders, {}, None)
    emit(Job.of(chosen, (Shaper(9, 10_000_000, 1600),)), TARGETS["tofino2"], tmp_path)
    paths = [path for path, _ in run_script(tmp_path)]
    assert "tf2.tm.port.sched_shaping.mod" in paths
    assert not any(path.startswith("tf1.") for path in paths)
    assert "Port 6 always recirculates" in (tmp_path / "setup.py").read_text()
    assert "on a Tofino 2" in (tmp_path / "README.md").read_text()


def test_a_port_that_needs_a_setting_to_recirculate_is_reported(tmp_path: Path) -> None:
    calls = emitted(changed(tmp_path, "port = 68", "port = 64"), tmp_path / "out")
    enabled = ("tf1.pktgen.port_cfg.entry", {"dev_port": 64, "recirculation_enable": True})
    assert enabled in calls


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("Ingress.forward", "Ingress.forwards", "Ingress.forward"),
        ("port = 2 }", "ports = 2 }", "ports"),
        ('action = "send"', 'action = "sent"', "sent"),
        (
            "[[mirror_sessions]]",
            "[[register_params]]\nname = 'x'\nvalue = 1\n\n[[mirror_sessions]]",
            "x",
        ),
    ],
)
def test_a_control_plane_that_does_not_fit_is_reported_before_anything_is_written(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    with pytest.raises(ControlPlaneError, match=said):
        emitted(changed(tmp_path, before, after), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_tables_are_below_the_pipeline_that_the_program_names(tmp_path: Path) -> None:
    text, include, _ = (TNA / "p4_codel.p4").read_text().partition('#include "common/switch.p4"')
    pipe = (TNA / "common" / "switch.p4").read_text()
    assert include and "EgressDeparser()) pipe;" in pipe
    pipe = pipe.replace("EgressDeparser()) pipe;", "EgressDeparser()) leaf;")
    (tmp_path / "mine.p4").write_text(text + pipe.replace("Switch(pipe) main", "Switch(leaf) main"))
    (tmp_path / "mine.toml").write_text((TNA / "p4_codel.toml").read_text())
    folders = (str(TNA), str(programs_folder() / "include"))
    calls = emitted(ProgramChoice(tmp_path / "mine.p4", "tofino1", folders), tmp_path / "out")
    assert calls[0][0] == "mine.leaf.Ingress.forward.clear"


def test_copies_that_would_come_back_in_another_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ControlPlaneError, match="use port 196"):
        emitted(choice("codel_act"), tmp_path / "out", Shaper(130, 10**9, 1600))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--for", "tofinoo"), "tofino"),
        (("--for", "tofino", "--shape", "2"), "PORT=RATE"),
        (("--for", "tofino", "--shape", "2=fast"), "not a rate"),
    ],
)
def test_a_mistake_on_the_command_line_is_reported(
    sojourn: Sojourn, arguments: tuple[str, ...], said: str
) -> None:
    done = sojourn("emit", TNA / "codel_act.p4", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_the_script_is_python_of_the_switch_s_age(tmp_path: Path) -> None:
    """An SDE has Python 3.5 at the oldest: no f-strings, no annotations, no walrus."""
    emitted(choice("codel_act"), tmp_path)
    ast.parse((tmp_path / "setup.py").read_text(), feature_version=(3, 5))


@pytest.mark.parametrize(
    ("program", "target"), [("tna/codel_exact.p4", "tofino"), ("v1model/codel.p4", "bmv2")]
)
def test_a_link_in_place_of_a_file_is_replaced_and_not_followed(
    sojourn: Sojourn, tmp_path: Path, program: str, target: str
) -> None:
    arguments = ("emit", programs_folder() / program, "--for", target, "--out", "out")
    assert sojourn(*arguments).returncode == 0
    victim = tmp_path / "thesis.tex"
    victim.write_text("precious")
    texts = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for path in texts:
        path.unlink()
        path.symlink_to(victim)
    assert sojourn(*arguments).returncode == 0
    assert victim.read_text() == "precious"
    assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == texts
    assert not any(path.is_symlink() for path in texts)
