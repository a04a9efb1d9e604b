"""`sojourn emit --for p4runtime` and `--for bfrt`: the schemas for controllers."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Sojourn
from sojourn.common.resources import programs_folder
from sojourn.control.file import ProgramChoice
from sojourn.tools.emit import TARGETS, Job, emit

PROGRAMS = programs_folder()
INCLUDE = (str(PROGRAMS / "include"),)


def schema(program: str) -> dict[str, Any]:
    """The `bf-rt.json` of a program for Tofino."""
    chosen = ProgramChoice(PROGRAMS / "tna" / f"{program}.p4", None, INCLUDE)
    made: dict[str, Any] = json.loads(chosen.compiled.bfrt())
    return made


def test_p4info_is_written_as_text_and_in_binary(sojourn: Sojourn, tmp_path: Path) -> None:
    out = tmp_path / "out"
    program = PROGRAMS / "v1model" / "router.p4"
    done = sojourn("emit", str(program), "--for", "p4runtime", "--out", str(out))
    assert done.returncode == 0, done.stderr
    text = (out / "router.p4info.txtpb").read_text()
    assert text.startswith("# proto-file: p4/config/v1/p4info.proto\n")
    names = re.findall(r'^    name: "(.*)"$', text, re.MULTILINE)
    assert "SwitchIngress.Router.routes" in names
    # A string is in the binary form as it is in the text.
    binary = (out / "router.p4info.bin").read_bytes()
    assert all(name.encode() in binary for name in names)


class Shell:
    """A node of bfrt_python's tree that takes what a program's schema has, and nothing else."""

    def __init__(self, path: str, tables: dict[str, dict[str, Any]], added: list[str]) -> None:
        self._path, self._tables, self._added = path, tables, added

    def __getattr__(self, name: str) -> "Shell":
        return Shell(f"{self._path}.{name}" if self._path else name, self._tables, self._added)

    def __call__(self, **given: int | str) -> "Shell":
        # `bfrt.PROGRAM.pipe.Control.table.add_with_action`
        path, _, method = self._path.rpartition(".")
        _, _, table = path.partition(".")
        # Fixed tables are the switch's and not the program's.
        if method in ("batch_begin", "batch_end") or not table.startswith("pipe."):
            return self
        of = self._tables[table]
        kind, _, called = method.partition("_with_")
        if not called:
            assert kind in ("clear", "dump", "mod"), f"{table} has no {method}"
            return self
        specs = {spec["name"].rpartition(".")[2]: spec for spec in of["action_specs"]}
        fields = {field["name"]: field for field in specs[called]["data"]}
        keys = of["key"] if kind == "add" else []
        for name, value in given.items():
            number = value if isinstance(value, int) else int(value, 0)
            assert 0 <= number < 1 << width(name, keys, fields), f"{table}: {name} = {value}"
        self._added.append(table)
        return self


def width(name: str, keys: list[dict[str, Any]], fields: dict[str, dict[str, Any]]) -> int:
    """Bits of the field that an argument sets."""
    if name in fields:
        return int(fields[name]["type"]["width"])
    for key in keys:
        if key["type"]["type"] != "bytes":
            if key["name"] == f"${name.upper()}":
                return 32
            continue
        bits = int(key["type"]["width"])
        parts = {"LPM": ["_p_length"], "Ternary": ["_mask"], "Range": ["_start", "_end"]}
        endings = ["", *parts.get(key["match_type"], [])]
        words = re.sub(r"\W", "_", key["name"])
        if any(f"_{words}".endswith(f"_{name.removesuffix(ending)}") for ending in endings):
            return bits
    raise AssertionError(f"no field is called {name}")


@pytest.mark.parametrize("program", ["codel_exact", "codel_act", "p4_codel"])
def test_a_script_for_tofino_uses_names_of_the_schema(program: str, tmp_path: Path) -> None:
    """The two are made apart from each other: the script from the control plane, by names."""
    chosen = ProgramChoice(PROGRAMS / "tna" / f"{program}.p4", "tofino1", INCLUDE)
    emit(Job.of(chosen), TARGETS["tofino"], tmp_path)
    tables = {table["name"]: table for table in schema(program)["tables"]}
    added: list[str] = []
    text = (tmp_path / "setup.py").read_text()
    names = {"bfrt": Shell("", tables, added), "print": lambda _: None}
    exec(compile(text, "setup.py", "exec"), names, {})
    assert added
