"""The outcome of a packet test: passed, failed with reasons, or not a valid test."""

from dataclasses import dataclass, field

from sojourn.errors import SojournError


class StfError(SojournError):
    """A test file that cannot be read or does not fit the program; the message has its place."""


@dataclass(frozen=True)
class Failure:
    """One thing that is not as the test expects."""

    line: int
    """Line of the test file, from 1."""
    message: str
    detail: tuple[str, ...] = ()
    """Lines that show the difference."""
    expected: str | None = None
    """The packet that was expected, in hexadecimal with wildcards."""
    received: str | None = None
    """The packet that came, in hexadecimal."""


@dataclass(frozen=True)
class StfResult:
    """A test that ran."""

    file: str
    packets_in: int
    packets_out: int
    failures: tuple[Failure, ...]
    notes: tuple[str, ...] = field(default=())
    """Values that the test prints: registers, sessions."""
    faults: tuple[str, ...] = field(default=())
    """Faults: operations that the program's target lacks, in words."""

    @property
    def passed(self) -> bool:
        """True if everything was as expected."""
        return not self.failures
