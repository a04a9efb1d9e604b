"""A switch with a Tofino: a script for bfrt_python, and the steps in their order.

Depends on the job. `chip` has the chips, `names` BfRt's names, `script` the writes, `readme` the
steps.
"""

from functools import partial

from sojourn.tools.emit.job import Job, Target
from sojourn.tools.emit.tofino.check import check
from sojourn.tools.emit.tofino.chip import TOFINO1, TOFINO2, Chip
from sojourn.tools.emit.tofino.readme import readme
from sojourn.tools.emit.tofino.script import script

SETUP = "setup.py"
README = "README.md"


def _files(chip: Chip, job: Job) -> dict[str, str]:
    check(job, chip)
    return {SETUP: script(job, chip), README: readme(job, SETUP, chip)}


_SUMMARY = "a script for bfrt_python, and the steps in order"

TOFINO = Target("tofino", "tofino1", _SUMMARY, partial(_files, TOFINO1))
TOFINO_2 = Target("tofino2", "tofino2", f"the same for {TOFINO2.title}", partial(_files, TOFINO2))
