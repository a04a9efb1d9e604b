"""Instructions of a process, counted by valgrind's callgrind.

Neither the machine nor what else it does matters to them.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

MISSING = "instructions are not counted: valgrind is not installed (apt-get install valgrind)"


def is_there() -> bool:
    """Whether valgrind is installed."""
    return shutil.which("valgrind") is not None


def count(command: Sequence[str], out: Path, folder: Path | None = None) -> tuple[int, str]:
    """Instructions of all threads of a command, run in `folder`, and what it prints.

    Costs by source line are left in the file `out`. Ends this process if the command fails.
    """
    valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}"]
    done = subprocess.run([*valgrind, *command], cwd=folder, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or found is None:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return int(found[1]), done.stdout
