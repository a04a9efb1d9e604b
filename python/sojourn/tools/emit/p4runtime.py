"""P4Info: the schema of a program for P4Runtime controllers.

It depends on the program alone. Must not depend on control planes or protocols.
"""

from sojourn.tools.emit.job import Job, Target


def _files(job: Job) -> dict[str, str | bytes]:
    text, binary = job.choice.compiled.p4info()
    return {f"{job.name}.p4info.txtpb": text, f"{job.name}.p4info.bin": binary}


P4RUNTIME = Target(
    name="p4runtime",
    architecture=None,
    summary="P4Info, as text and in binary",
    files=_files,
)
