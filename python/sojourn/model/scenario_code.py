"""Code that a scenario brings along and that runs with the user's rights: admitted or refused.

A controller's script or command and a hardware module are such code. Each is announced once
by a line on the standard error, or refused (`--no-scripts`). Must not depend on scenarios or runs.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from sojourn.common.resources import shown
from sojourn.errors import ScenarioError


class Policy(Enum):
    """Treatment of code that a scenario brings along."""

    ANNOUNCE = "announce"
    REFUSE = "refuse"
    SILENT = "silent"
    """For processes whose starter has announced the code."""


_policy = Policy.ANNOUNCE
_announced: set[tuple[Path | None, str]] = set()


def set_policy(policy: Policy) -> None:
    """Sets the policy of this process."""
    global _policy
    _policy = policy


def refuse_if(refuse: bool) -> None:
    """Refuses such code in this process, if `refuse`."""
    if refuse:
        set_policy(Policy.REFUSE)


@contextmanager
def refused(refuse: bool = True) -> Iterator[None]:
    """Refuses such code within, if `refuse`."""
    earlier = _policy
    refuse_if(refuse)
    try:
        yield
    finally:
        set_policy(earlier)


def admit(path: Path, kind: str) -> None:
    """Announces the file at `path`, which is `kind`; `ScenarioError` if such code is refused.

    To be called before any of the code runs.
    """
    admit_command(shown(path), kind)


def admit_command(command: str, kind: str, folder: Path | None = None) -> None:
    """Announces or refuses a command line that runs in `folder`, or another name of code, as
    `admit` does a file."""
    if _policy is Policy.REFUSE:
        raise ScenarioError(f"{command}: {kind}; --no-scripts refuses it")
    if _policy is Policy.ANNOUNCE and (folder, command) not in _announced:
        _announced.add((folder, command))
        print(f"runs {command}: {kind}, with your rights", file=sys.stderr, flush=True)
