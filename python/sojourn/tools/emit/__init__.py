"""Files for a real switch: a control plane in the form that an operator runs and reads.

A target is a module here and a line in `TARGETS`. It turns a job into the text of files and writes
none itself. The entries are those of the simulation. Must not depend on the command line.
"""

from collections.abc import Mapping
from pathlib import Path

from sojourn.common.atomic_write import write_bytes, write_text
from sojourn.common.resources import shown
from sojourn.errors import OutputError, output_error
from sojourn.tools.emit.bfrt import BFRT
from sojourn.tools.emit.bmv2 import BMV2
from sojourn.tools.emit.job import Job, Shaper, Target
from sojourn.tools.emit.p4runtime import P4RUNTIME
from sojourn.tools.emit.tofino import TOFINO, TOFINO_2

__all__ = ["TARGETS", "Job", "Shaper", "Target", "emit"]

TARGETS: Mapping[str, Target] = {
    target.name: target for target in (TOFINO, TOFINO_2, BMV2, P4RUNTIME, BFRT)
}
"""The targets of `emit --for`."""


def emit(job: Job, target: Target, folder: Path) -> list[Path]:
    """Writes the files of `job` for `target` into `folder`, all of them or none; their paths."""
    files = target.files(job)
    if folder.exists() and not folder.is_dir():
        raise OutputError(f"{shown(folder)}: there is a file of that name")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            if isinstance(content, bytes):
                write_bytes(folder / name, content)
            else:
                write_text(folder / name, content)
    except OSError as error:
        raise output_error(error, shown(folder)) from error
    return [folder / name for name in files]
