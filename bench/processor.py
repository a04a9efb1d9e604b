"""Processor time of a process, where its instructions cannot be counted.

It depends on the machine and on what else that does, so that it is compared with nothing.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

REPEAT = 5
"""Runs, of which the shortest counts: what disturbs one only ever slows it down."""


def seconds(command: Sequence[str], folder: Path) -> tuple[float, str]:
    """Processor time of all threads of a command, run in `folder`, and what it prints.

    Ends this process if the command fails.
    """
    return min(_once(command, folder) for _ in range(REPEAT))


def _once(command: Sequence[str], folder: Path) -> tuple[float, str]:
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, printed
