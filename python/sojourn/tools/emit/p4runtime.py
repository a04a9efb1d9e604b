"""P4Info: what a controller that speaks P4Runtime knows a program by.

The engine makes it; it depends on the program alone and not on a control plane. Uses no protocol.
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
