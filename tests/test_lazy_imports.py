"""Start-up of commands: libraries with a long import time are loaded during the runs, or not at
all."""

import json
import subprocess
import sys
from pathlib import Path

HEAVY = ("matplotlib", "numpy", "pyarrow", "rich", "scipy")


def loaded(code: str, folder: Path) -> set[str]:
    """Those of `HEAVY` that are loaded when `code` has run in a process of its own."""
    script = f"import json, sys\n{code}\nprint(json.dumps(list(sys.modules)))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return {name for name in json.loads(done.stdout.splitlines()[-1]) if name in HEAVY}


def test_a_run_begins_before_the_plot_libraries_are_loaded(tmp_path: Path) -> None:
    begins = (
        "import sojourn.cli.run",
        "from sojourn.runner import plan_scenario",
        "plan_scenario('bufferbloat', aqms=['codel'])",
    )
    assert loaded("\n".join(begins), tmp_path) == set()


def test_a_run_without_a_report_draws_nothing_and_so_loads_nothing_that_draws(
    tmp_path: Path,
) -> None:
    words = ["sojourn", "run", "bufferbloat", "--duration", "1 s", "--aqm", "codel"]
    runs = (
        "from sojourn.__main__ import main",
        f"sys.argv = {[*words, '--no-report', '--out', 'out']}",
        "try: main()",
        "except SystemExit as ended: assert not ended.code",
    )
    assert loaded("\n".join(runs), tmp_path) == {"numpy", "pyarrow", "rich"}
    assert (tmp_path / "out/codel/packets.parquet").is_file()
