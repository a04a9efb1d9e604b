"""The command line: one file a command, `shared.py` for what they share.

Stands on the package's functions and shows what they return. A mistake of the user's ends in a
message of one screen and status 2, a fault of ours in status 1, an interruption in 130.
"""

import os
import sys
from textwrap import TextWrapper

from sojourn.cli.shared import WIDTH, app, open_console
from sojourn.cli.signals import ignore, listen
from sojourn.errors import (
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_USER,
    Interrupted,
    ProgramError,
    SojournError,
)


def main() -> None:
    """The entry point: runs the command and turns errors into messages and statuses."""
    # Being asked to end is an interruption: what was started is ended, what was written is kept.
    listen()
    try:
        app(standalone_mode=True)
    except Interrupted as error:
        ignore()
        _complain(str(error), "interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except ProgramError as error:
        # The engine's diagnostics have their own heads, and a layout of their own.
        print(str(error.args[0]).rstrip("\n"), file=sys.stderr)
        sys.exit(EXIT_USER)
    except SojournError as error:
        _complain(str(error.args[0]), "error")
        sys.exit(EXIT_USER)
    except KeyboardInterrupt:
        ignore()
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_FAULT)
    except Exception as error:
        _complain(
            f"{type(error).__name__}: {error}\n"
            "This is a fault in Sojourn, not in what you asked for. Please report it with the\n"
            "command that you ran; SOJOURN_TRACEBACK=1 shows where it happened.",
            "internal error",
        )
        if _wants_traceback():
            raise
        sys.exit(EXIT_FAULT)


def _complain(message: str, kind: str) -> None:
    from rich.text import Text

    console = open_console(stderr=True)
    colour = "yellow" if kind == "interrupted" else "red"
    console.print(f"[bold {colour}]{kind}:[/]", end=" ")
    console.print(Text(_wrapped(_visible(message))), soft_wrap=True)


def _visible(message: str) -> str:
    """`message` without anything that a terminal obeys; it may quote a file."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in message
    )


def _wrapped(message: str) -> str:
    """`message` in lines that fit, with what is continued set in."""
    wrap = TextWrapper(
        WIDTH - 8, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(wrap.fill(line) for line in message.splitlines())


def _wants_traceback() -> bool:
    return bool(os.environ.get("SOJOURN_TRACEBACK"))
