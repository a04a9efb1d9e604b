"""A process that runs jobs for `local`: one message in, one message out, until its input ends."""

import os
import signal
import sys
import threading

from sojourn.model.scenario_code import Policy, set_policy
from sojourn.studies.sweeps.job import Job
from sojourn.studies.sweeps.local import receive, send
from sojourn.studies.sweeps.run_job import work


def main() -> None:
    """Answers jobs. What a run prints goes to the standard error; only answers go out."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # The coordinator ends what it started; Ctrl-C reaches it alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    set_policy(Policy.SILENT)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    while True:
        try:
            job: Job = receive(sys.stdin.buffer)
        except EOFError:
            return
        send(answers, work(job))


def _end_with(parent: int) -> None:
    """Ends this process once `parent` is gone, also in the middle of a run."""
    while os.getppid() == parent:
        threading.Event().wait(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
