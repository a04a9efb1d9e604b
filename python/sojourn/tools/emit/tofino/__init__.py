"""A switch with a Tofino 1: a script for bfrt_python, and the steps in their order.

Depends on the job. `names` has BfRt's names, `script` the writes, `readme` the steps.
"""

from sojourn.tools.emit.job import Job, Target
from sojourn.tools.emit.tofino.check import check
from sojourn.tools.emit.tofino.readme import readme
from sojourn.tools.emit.tofino.script import script

SETUP = "setup.py"
README = "README.md"


def _files(job: Job) -> dict[str, str]:
    check(job)
    return {SETUP: script(job), README: readme(job, SETUP)}


TOFINO = Target("tofino", "tofino1", "a script for bfrt_python, and the steps in order", _files)
