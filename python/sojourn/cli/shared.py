"""What every command shares: the application, its console, flags of several commands.

Knows no command.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from sojourn.errors import ScenarioError

WIDTH = 100

app = typer.Typer(
    help="What a P4 queue-management program does to real traffic, from its source text.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Include = Annotated[
    list[Path] | None, typer.Option("-I", metavar="DIR", help="Where #include looks first.")
]

Define = Annotated[
    list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro.")
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def open_console(*, stderr: bool = False) -> Console:
    """A console no wider than 100 columns."""
    console = Console(stderr=stderr, highlight=False)
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console


Kernel = Annotated[
    str,
    typer.Option(
        help="With --on linux: 'uml' (Debian's user-mode-linux), 'virtual' (`sojourn linux "
        "build-kernel` makes it), 'host', or a kernel's file."
    ),
]

AcceptDisturbed = Annotated[
    bool,
    typer.Option("--accept-disturbed", help="Keep a run on Linux whose timers were disturbed."),
]

Attempts = Annotated[
    int,
    typer.Option(min=1, max=20, help="How often a run on Linux is made until it is undisturbed."),
]


def definitions(given: Iterable[str] | None) -> dict[str, str]:
    """The macros of `-D NAME[=VALUE]`, each with its value; 1 if there is none."""
    return dict(_definition(text) for text in given or ())


def _definition(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.isidentifier():
        raise ScenarioError(f"-D {text}: write NAME or NAME=VALUE")
    return name, value if "=" in text else "1"
