"""A whole file of commands, each with its place; nothing is done if one of them is wrong."""

import re
from dataclasses import dataclass
from pathlib import Path

from sojourn import _core
from sojourn.control import ControlError, Operation, ProgramDescription, SetQueue, apply
from sojourn.errors import ControlPlaneError
from sojourn.runtime_cli.command import run_command
from sojourn.runtime_cli.session import Query, Session
from sojourn.textfile import read_text

_COMMENT = re.compile(r"#|(?:^|(?<=\s))//")
"""`//` only where a word could begin: within one it is not for us to say what it means."""


class CommandFileError(ControlPlaneError):
    """A file of commands with mistakes; the message has file and line of each."""


@dataclass(frozen=True)
class PlacedOperation:
    """What a line asks for."""

    line: int
    operation: Operation


def without_comment(line: str) -> str:
    """What stands before `#` or `//`: published files have either."""
    return _COMMENT.split(line, maxsplit=1)[0]


def read_commands(path: Path, name: str, program: ProgramDescription) -> list[PlacedOperation]:
    """What the commands in a file ask for; what only shows something is left out."""
    text = read_text(path, name, CommandFileError)
    session = Session(program)
    placed: list[PlacedOperation] = []
    wrong: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        stripped = without_comment(line).strip()
        if not stripped:
            continue
        try:
            outcome = run_command(stripped, session)
        except ControlError as error:
            wrong.append(f"{name}:{number}: {error}")
            continue
        placed += [PlacedOperation(number, item) for item in outcome if not isinstance(item, Query)]
    if wrong:
        raise CommandFileError("\n".join(wrong))
    return placed


def try_commands(placed: list[PlacedOperation], name: str, switch: _core.PacketSwitch) -> None:
    """Carries the commands of a file out on `switch`; what is refused is named with its place."""
    for item in placed:
        # A switch without traffic has no rates to set.
        if isinstance(item.operation, SetQueue):
            continue
        try:
            apply(item.operation, switch)
        except ControlError as error:
            raise CommandFileError(f"{name}:{item.line}: {error}") from None
