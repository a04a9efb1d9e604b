"""`bench/judge/corpus.py` and `stages.py` on a generated folder of repositories."""

import csv
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "bench" / "judge"))

import corpus

LOADER = """#!/bin/sh
for last; do :; done
case $(basename "$last") in
  new*) if grep -q "__TARGET_TOFINO__ 2$" "$last"; then echo "error[E0002]: of Tofino 2"; exit 1; fi
    echo "1 loaded, 0 refused";;
  bad*) echo "error[E0001]: a sum of words"; echo "  --> /x/$(basename "$last"):3:1"; exit 1;;
  lost*) echo "error[E0124]: the file \\`gone.p4\\` is not found"; exit 1;;
  *) echo "1 loaded, 0 refused";;
esac
"""
MAIN = {"tna": "Switch(pipe) main;\n", "v1model": "V1Switch(P(), I()) main;\n"}
BOTH = "#if __TARGET_TOFINO__ == 2\n#include <t2na.p4>\n#else\n#include <tna.p4>\n#endif\n"


def _program(path: Path, *includes: str, main: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"#include {name}\n" for name in includes) + main)


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    one, two = tmp_path / "who+one", tmp_path / "who+two"
    # The architecture comes through a file that the program includes.
    _program(one / "common" / "all.p4", "<tna.p4>")
    _program(one / "good.p4", '"all.p4"', main=MAIN["tna"])
    _program(one / "bad.p4", "<v1model.p4>", main=MAIN["v1model"])
    _program(one / "lost.p4", "<tna.p4>", '"gone.p4"', main=MAIN["tna"])
    _program(one / "elsewhere.p4", "<pna.p4>", main=MAIN["v1model"])
    _program(one / "part.p4", "<tna.p4>")
    (one / ".commit").write_text("abc1234\n")
    # A program that another one includes is a part of it; a `main` in a comment is none.
    _program(two / "base.p4", "<v1model.p4>", main=MAIN["v1model"])
    _program(two / "whole.p4", '"base.p4"', main=MAIN["v1model"])
    _program(two / "bad_exercise.p4", "<v1model.p4>", main=MAIN["v1model"])
    _program(two / "note.p4", "<tna.p4>", main="// " + MAIN["tna"])
    # For both chips, for the second one, and for PSA.
    three = tmp_path / "who+three"
    _program(three / "both.p4", main=BOTH + MAIN["tna"])
    _program(three / "newer.p4", main=BOTH + MAIN["tna"])
    _program(three / "second.p4", "<t2na.p4>", main=MAIN["tna"])
    _program(three / "portable.p4", "<bmv2/psa.p4>", main="PSA_Switch(i, p, e, b) main;\n")
    loader = tmp_path / "loader"
    loader.write_text(LOADER)
    loader.chmod(0o755)
    return tmp_path


def _table(folder: Path, *options: str) -> list[str]:
    roots = sorted(str(path) for path in folder.glob("who+*"))
    words = ["--loader", str(folder / "loader"), "--details", str(folder / "why"), *options]
    command = [sys.executable, corpus.__file__, *roots, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [*done.stdout.splitlines(), *done.stderr.splitlines()]


def test_a_repositorys_programs_are_those_with_a_main_that_nothing_else_includes(
    repositories: Path,
) -> None:
    found = {path.name: kind for path, kind, _ in corpus.programs(repositories / "who+one")}
    assert found == {
        "good.p4": ["tna"],
        "bad.p4": ["v1model"],
        "lost.p4": ["tna"],
        "elsewhere.p4": ["pna.p4"],
    }
    other = [path.name for path, _, _ in corpus.programs(repositories / "who+two")]
    assert other == ["bad_exercise.p4", "whole.p4"]
    third = {path.name: kinds for path, kinds, _ in corpus.programs(repositories / "who+three")}
    assert third == {
        "both.p4": ["tna", "t2na"],
        "newer.p4": ["tna", "t2na"],
        "second.p4": ["t2na"],
        "portable.p4": ["psa"],
    }


def test_the_table_counts_complete_programs_of_our_architectures(repositories: Path) -> None:
    lines = _table(repositories)
    assert lines[1:] == [
        "who/one,abc1234,4,3,2,0,1,0,0,0",
        "who/three,,4,4,4,0,4,3,0,2",
        "who/two,,2,2,2,0,1,0,0,0",
        "all,,10,9,8,0,6,3,0,2",
        "6 of 8 loaded, 75.0 %",
        "T2NA: 2 of 3 loaded, 66.7 %",
    ]
    assert (repositories / "why").read_text().splitlines() == [
        "v1model\twho+one/bad.p4\terror[E0001]: a sum of words bad.p4:3:1",
        "incomplete\twho+one/lost.p4\terror[E0124]: the file `gone.p4` is not found",
        "t2na\twho+three/newer.p4 t2na\terror[E0002]: of Tofino 2 ",
        "v1model\twho+two/bad_exercise.p4\terror[E0001]: a sum of words bad_exercise.p4:3:1",
    ]


def test_a_program_that_its_own_compiler_refuses_is_not_counted(repositories: Path) -> None:
    wrong = repositories / "wrong"
    wrong.write_text("who+two/bad_exercise.p4\nwho+three/newer.p4 t2na\n")
    lines = _table(repositories, "--wrong", str(wrong))
    assert "who/two,,2,2,2,1,1,0,0,0" in lines
    assert "who/three,,4,4,4,0,4,3,1,2" in lines
    assert lines[-2:] == ["6 of 7 loaded, 85.7 %", "T2NA: 2 of 2 loaded, 100.0 %"]


def test_the_stages_of_a_repository_s_programs_are_compared_and_kept(tmp_path: Path) -> None:
    root = tmp_path / "who+one"
    tests = Path(__file__).parent / "stf" / "tna"
    root.mkdir()
    for name in ("copies.p4", "state.p4", "frame.p4"):
        (root / name).write_text((tests / name).read_text())
    judge = tmp_path / "p4c-tofino"
    judge.write_text(
        "#!/bin/sh\ncase $1 in *copies.p4) echo 'stages: ingress 1, egress 9 (x)'; exit 0;; esac\n"
        "echo 'x.p4(3): error: it cannot be done'; exit 1\n"
    )
    judge.chmod(0o755)
    script = Path(__file__).parents[1] / "bench" / "judge" / "stages.py"
    command = [sys.executable, script, "--judge", tmp_path, "--keep", tmp_path / "kept", root]

    def table() -> list[str]:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    first = table()
    assert first[2].startswith("| `who/one: copies.p4` | 1 + 9 | ")
    assert first[3].startswith("| `who/one: state.p4` | refused: it cannot be done | ")
    assert first[-1] == "The same number in 0 of 1, within one in 0."
    judge.write_text("#!/bin/sh\nexit 3\n")
    command += ["--csv", tmp_path / "stages.csv"]
    assert table() == first, "what the compiler said is kept"
    with (tmp_path / "stages.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["program", "p4c", "sojourn check", "difference"]
    assert [f"| `{name}` | {' | '.join(rest)} |" for name, *rest in rows] == first[2:-2]
