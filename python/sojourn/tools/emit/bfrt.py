"""`bf-rt.json`: the schema of a program for BfRt, Tofino's interface for controllers.

It depends on the program alone. Must not depend on control planes or protocols.
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
