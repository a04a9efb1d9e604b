"""Standard output whose reader may close it, as `head` does when it has enough.

That is no error: the work goes on, files are written, and the status is that of the work. Must not
depend on commands.
"""

import io
import sys
from typing import Any


class _ForAsLongAsWanted(io.FileIO):
    """A file that discards its bytes once its reader is gone."""

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except BrokenPipeError:
            return len(memoryview(data).cast("B"))


def ignore_closed_reader() -> None:
    """Discards output from the moment on that its reader closes it."""
    plain = sys.stdout
    try:
        number = plain.fileno()
    except (AttributeError, OSError, ValueError):
        return
    plain.flush()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(_ForAsLongAsWanted(number, "w", closefd=False)),
        encoding=plain.encoding,
        errors=plain.errors,
        line_buffering=plain.isatty(),
    )
