"""Machine code and interpreter write the same rows."""

import hashlib
from pathlib import Path
from typing import Literal

import sojourn

PROGRAMS = ["p4_codel", "codel_exact", "v1model/codel", "v1model/pie"]
"""Of two targets; enough of their packets pass for all of their parts to be compiled."""


def rows(folder: Path, executor: Literal["native", "interpreter"]) -> dict[str, str]:
    """Digests of the rows of a run."""
    sojourn.run(
        "bufferbloat",
        aqms=PROGRAMS,
        executor=executor,
        set={"duration": "2 s"},
        report=False,
        out=folder,
    )
    files = sorted(folder.rglob("*.parquet"))
    assert len(files) > len(PROGRAMS)
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
    }


def test_machine_code_and_interpreter_leave_the_same_rows(tmp_path: Path) -> None:
    assert rows(tmp_path / "native", "native") == rows(tmp_path / "other", "interpreter")
