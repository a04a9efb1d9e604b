"""Exceptions and exit statuses.

A `SojournError` is a fault that the user can correct; its message says what, where and how. Every
other exception is a fault of Sojourn. Depends on the engine's own exceptions.
"""

import errno

from sojourn._core import ConfigError, ProgramError, SojournError

EXIT_FAULT = 1
EXIT_USER = 2
EXIT_INTERRUPTED = 130

__all__ = [
    "EXIT_FAULT",
    "EXIT_INTERRUPTED",
    "EXIT_USER",
    "ConfigError",
    "ControlPlaneError",
    "Interrupted",
    "OutputError",
    "ProgramError",
    "ScenarioError",
    "SojournError",
    "UnknownAqmError",
    "UnknownRuleError",
    "is_full",
    "output_error",
]


class ScenarioError(SojournError):
    """A scenario that cannot be read or does not make sense."""


class ControlPlaneError(SojournError):
    """A control plane that does not fit its program."""


class UnknownAqmError(SojournError):
    """A name that is neither a native discipline nor a program."""


class UnknownRuleError(SojournError):
    """A code that no rule of the target has."""


class OutputError(SojournError):
    """Results that cannot be written: disk full, no permission, a folder that is not ours."""


class Interrupted(SojournError):
    """The user stopped a run; the rows until then are in the run folder."""


def output_error(error: OSError, path: object, *, rows: bool = False) -> OutputError:
    """`error`, met while writing to `path`, in the user's words. `rows`: a run's rows until then
    are there, because the room for the end of their files is reserved."""
    if not is_full(error):
        return OutputError(f"{path}: {error.strerror or error}")
    written = "What was written until then is complete and readable.\n" if rows else ""
    return OutputError(
        f"{path}: the disk is full\n{written}Free some space, or choose another disk with --out."
    )


def is_full(error: OSError) -> bool:
    """True if the disk has no room left."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
