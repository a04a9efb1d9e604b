"""Programs between the hosts: started before them, ended after them.

Each writes `ready` when frames pass, reads time zero from its input, and ends when its input does;
so it ends if this process is killed, too. Must not depend on the programs.
"""

import subprocess
from typing import Any

_PATIENCE = 60
"""s in which it must have written what it has to write."""


class Between:
    """One of them, in the namespace in which this process is."""

    def __init__(self, process: dict[str, Any]) -> None:
        self._process = subprocess.Popen(
            process["command"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=process["environment"],
            text=True,
        )

    def wait(self) -> None:
        """Until frames pass; `RuntimeError` if it ends before."""
        if self._output.readline().strip() != "ready":
            self._process.wait()
            raise RuntimeError("what stands between the hosts did not start; see the console")

    @property
    def _output(self) -> Any:
        return self._process.stdout

    def begin(self, origin: int) -> None:
        """Sends it time zero, ns on the monotonic clock."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{origin}\n")
        self._process.stdin.flush()

    def end(self) -> None:
        """Ends it; `RuntimeError` if it failed."""
        self._process.communicate(timeout=_PATIENCE)
        if self._process.returncode != 0:
            raise RuntimeError("what stands between the hosts failed; see the console")
