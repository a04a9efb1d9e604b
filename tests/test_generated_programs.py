"""Generated programs: our verdict equals the compiler's, which is stored and checked again where
the compiler is installed.

What differs is in `verdicts/differences.csv` with its reason, and `docs/compiler-messages.md` names
the kinds.
"""

import csv
import os
from pathlib import Path

import pytest

import tofino_programs
import v1model_programs
from sojourn import _core
from sojourn.model.programs import with_own_folder
from tofino_programs import Case, TextOf, Verdict, verdicts

JUDGE = os.environ.get("SOJOURN_JUDGE")
DIFFERENCES = Path(__file__).parent / "verdicts" / "differences.csv"


def ours(text: str, folder: Path) -> tuple[bool, list[str]]:
    """Whether the checker takes a program, and the codes of its errors."""
    path = folder / "program.p4"
    path.write_text(text)
    found = _core.check(str(path), False, [*with_own_folder((), path)], {}, False, None)
    return found.ok, [found.rendered]


def disagreeing(known: dict[Case, Verdict], text_of: TextOf, folder: Path) -> set[str]:
    """The programs about which checker and compiler disagree."""
    return {
        case.name
        for case, verdict in known.items()
        if ours(text_of(case), folder)[0] != verdict.takes
    }


def listed(architecture: str) -> set[str]:
    """The programs that are known to differ."""
    with DIFFERENCES.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {row["program"] for row in rows if row["architecture"] == architecture}


def test_every_construct_has_a_program_in_every_place() -> None:
    every = tofino_programs.cases()
    assert len(every) >= 500
    cells = {(case.construct, case.place) for case in every}
    assert len(cells) == len(tofino_programs.CONSTRUCTS) * len(tofino_programs.PLACES)
    assert len(v1model_programs.cases()) >= 100


def test_the_programs_depend_on_the_seed_alone() -> None:
    assert tofino_programs.cases() == tofino_programs.cases()
    assert tofino_programs.cases(1) != tofino_programs.cases(2)


@pytest.mark.parametrize("programs", [tofino_programs, v1model_programs])
def test_no_program_surprises_the_checker(programs: object, tmp_path: Path) -> None:
    for case in programs.cases():  # type: ignore[attr-defined]
        text = programs.text(case)  # type: ignore[attr-defined]
        _, (said,) = ours(text, tmp_path)
        assert "error[E01" not in said and "error[E02" not in said, f"{case.name}\n{said}"


@pytest.mark.skipif(not tofino_programs.VERDICTS.is_file(), reason="no stored verdicts")
def test_the_checkers_verdicts_equal_the_tofino_compilers(tmp_path: Path) -> None:
    known = verdicts(tofino_programs.VERDICTS)
    assert len(known) >= 500
    assert sum(not verdict.takes for verdict in known.values()) * 3 >= len(known)
    assert disagreeing(known, tofino_programs.text, tmp_path) == listed("tna")


@pytest.mark.skipif(not v1model_programs.VERDICTS.is_file(), reason="no stored verdicts")
def test_the_checkers_verdicts_equal_the_bmv2_compilers(tmp_path: Path) -> None:
    known = verdicts(v1model_programs.VERDICTS)
    assert len(known) >= 100
    assert disagreeing(known, v1model_programs.text, tmp_path) == listed("v1model")


@pytest.mark.skipif(not JUDGE, reason="SOJOURN_JUDGE names no folder of compilers")
@pytest.mark.parametrize(
    ("programs", "compiler"),
    [(tofino_programs, "p4c-tofino"), (v1model_programs, "p4c-bmv2")],
)
def test_the_compilers_verdicts_equal_the_stored_ones(programs: object, compiler: str) -> None:
    known = verdicts(programs.VERDICTS)  # type: ignore[attr-defined]
    text = programs.text  # type: ignore[attr-defined]
    asked = tofino_programs.ask_all(known, text, Path(JUDGE or "", compiler), 2)
    assert {case: verdict.takes for case, verdict in asked} == {
        case: verdict.takes for case, verdict in known.items()
    }
