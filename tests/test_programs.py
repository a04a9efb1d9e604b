"""One compiled program serves every command that uses it."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from sojourn import _core
from sojourn.common.resources import programs_folder
from sojourn.errors import ProgramError
from sojourn.model.programs import compiled, inputs_of, target_folders, with_own_folder
from sojourn.runner import plan_scenario
from sojourn.tools.check.checker import check

EXACT = programs_folder() / "tna" / "codel_exact.p4"
ROUTER = programs_folder() / "v1model" / "router.p4"


def test_a_program_names_its_target_and_its_files() -> None:
    program = compiled(EXACT, include_paths=with_own_folder(()))
    assert program.target == "tofino1"
    assert compiled(ROUTER, include_paths=with_own_folder(())).target == "v1model"
    for path, digest in program.sources.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest
    names = {path.name for path in inputs_of(program)}
    assert {"codel_exact.p4", "tna.p4", "core.p4"} <= names


def test_a_program_is_compiled_once_and_again_when_a_file_of_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "router.p4"
    path.write_text(ROUTER.read_text())
    paths = [str(ROUTER.parent), *with_own_folder(())]
    first = compiled(path, include_paths=paths)
    assert compiled(path, include_paths=paths) is first
    path.write_text(ROUTER.read_text() + "// changed\n")
    second = compiled(path, include_paths=paths)
    assert second is not first
    assert second.digest != first.digest
    assert compiled(path, include_paths=paths, defines={"A": "1"}).digest != second.digest
    # A file that now comes first when an include looks for it is a change, too.
    included = re.search(r'#include "(.+?)"', ROUTER.read_text())
    assert included is not None
    first_found = tmp_path / included[1]
    first_found.parent.mkdir(exist_ok=True)
    first_found.write_text("")
    with pytest.raises(ProgramError):
        compiled(path, include_paths=paths)


def test_a_run_has_the_program_that_its_plan_has_hashed(tmp_path: Path) -> None:
    path = tmp_path / "mine.p4"
    text = ROUTER.read_text().replace('"common/', f'"{ROUTER.parent}/common/')
    path.write_text(text)
    run = plan_scenario("bufferbloat", aqms=[str(path)]).runs[0]
    (program,) = run.programs
    path.write_text("this is no program any more")
    # The plan's text is what runs; without it the engine reads the file.
    _core.check_config(json.dumps(run.config), [program])
    with pytest.raises(ProgramError):
        _core.check_config(json.dumps(run.config))


def test_the_text_of_a_program_is_all_of_it() -> None:
    program = compiled(ROUTER, include_paths=with_own_folder(()))
    text = json.loads(program.text())
    assert text["program"] == str(ROUTER)
    assert set(text["files"]) == set(map(str, program.sources))


def test_a_check_hands_back_program_and_stages() -> None:
    done = check(EXACT)
    assert done.program is not None
    assert done.stages is not None and done.stages[0]["fits"]
    assert check(ROUTER).stages is None
    assert check(EXACT, language_only=True).program is None


def test_every_folder_of_shipped_programs_belongs_to_a_target() -> None:
    for folder, target in target_folders().items():
        for path in sorted((programs_folder() / folder).glob("*.p4")):
            assert compiled(path, include_paths=with_own_folder(())).target == target, path
