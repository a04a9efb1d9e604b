"""The command line: one file for each command, `shared.py` for common parts.

Depends on the package's functions and shows what they return. A mistake of the user's ends in a
message of one screen and status 2, a fault of ours in status 1, an interruption in 130.
"""

import gc
import json
import os
import sys
from pathlib import Path
from textwrap import TextWrapper
from typing import Any

from sojourn.cli.output import ignore_closed_reader
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
    ignore_closed_reader()
    # Commands are short and make little garbage: a tenth of their start went into looking for it.
    gc.set_threshold(50_000, 20, 50)
    # pydantic would read what every installed distribution says of itself.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # OpenBLAS's threads, which nothing here needs, keep cores busy while they wait for work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        _run_command()
    except Interrupted as error:
        ignore()
        _complain(error, "interrupted")
        sys.exit(EXIT_INTERRUPTED)
    except SojournError as error:
        _complain(error, "error")
        sys.exit(EXIT_USER)
    except KeyboardInterrupt:
        ignore()
        sys.exit(EXIT_INTERRUPTED)
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
    finally:
        # The interpreter looks through all that is there when it ends; nothing of it is garbage.
        gc.freeze()


def _run_command() -> None:
    """Runs the command line. Typer shows a usage error with the way to the help; under --json it is
    an error like others."""
    _refuse_other_than_text()
    if not _wants_json():
        app(standalone_mode=True)
        return
    try:
        status = app(standalone_mode=False)
    except Exception as error:
        if (said := getattr(error, "format_message", None)) is None:
            raise
        raise UsageError(said()) from error
    sys.exit(status if isinstance(status, int) else 0)


def _refuse_other_than_text() -> None:
    """Refuses names that are not UTF-8: results, messages and pages are, and have them in them."""
    try:
        here = str(Path.cwd())
    except OSError as error:
        raise UsageError(f"this folder: {error.strerror}") from error
    for name in (here, *sys.argv[1:]):
        try:
            name.encode("utf-8")
        except UnicodeEncodeError:
            raise UsageError(f"{name}: not UTF-8 text; rename it") from None


class UsageError(SojournError):
    """A command line that says something which no command knows."""


def _wants_json() -> bool:
    return "--json" in sys.argv[1:]


def _complain(what: SojournError | str, kind: str) -> None:
    """The message on standard error; under --json also an object on standard output, so that
    whoever reads that always gets JSON."""
    message = str(what)
    if _wants_json():
        document: dict[str, Any] = {"kind": kind, "message": message}
        if isinstance(what, SojournError):
            document["type"] = type(what).__name__
        if isinstance(what, ProgramError):
            document["diagnostics"] = what.diagnostics
        print(json.dumps({"error": document}, indent=2), flush=True)
    if isinstance(what, ProgramError):
        # The engine's diagnostics have their own heads, and a layout of their own.
        print(message.rstrip("\n"), file=sys.stderr)
    else:
        _print_message(message, kind)


def _print_message(message: str, kind: str) -> None:
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
