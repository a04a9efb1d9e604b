"""`bf-rt.json`: what a controller that speaks BfRt, Tofino's interface, knows a program by.

The engine makes it; it depends on the program alone and not on a control plane. Uses no protocol.
"""

from sojourn.tools.emit.job import Job, Target


def _files(job: Job) -> dict[str, str | bytes]:
    return {"bf-rt.json": job.choice.compiled.bfrt()}


BFRT = Target(
    name="bfrt",
    architecture=None,
    summary="bf-rt.json, the tables of Tofino's runtime interface",
    files=_files,
)
