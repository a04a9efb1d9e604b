"""The parts that all commands share: the application, its console, flags of several commands.

Of a command it has only name and help line. A command's module is imported when the command runs,
so that no command waits for the imports of others.
"""

import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from sojourn.errors import ScenarioError
from sojourn.model.programs import unread_macros

if TYPE_CHECKING:
    from rich.console import Console

    from sojourn._core import Program

WIDTH = 100

COMMANDS = {
    "agree": "Run cells of a grid in the simulator, through the live switch and on Linux, side by "
    "side.",
    "aqms": "List the native disciplines and the shipped P4 programs, and on which backends they "
    "run.",
    "check": "Check a P4 program: the language, whether the target can load it, and its stages.",
    "ctl": "Change and read tables, registers, counters, rates of a live switch while it runs.",
    "compare": "Show runs beside each other: what differs, each AQM's figures, differences with "
    "intervals.",
    "delays": "Read back the queue delays that queue_measurement.p4 has written into TCP payloads.",
    "emit": "Write what a switch needs besides a program: entries, sessions, shapers, steps.",
    "int": "Collect In-band Network Telemetry: a row for each packet and hop, a table of hops.",
    "link-trace": "Make a link's trace in mahimahi's format: from a CSV of rates, or generated.",
    "new": "Write a small AQM of your own: program, control plane, scenario and packet tests that "
    "run.",
    "lab": "Run a network of p4lang's tutorials around live switches, until Ctrl-C.",
    "lsp": "Serve P4 to an editor: diagnostics, types, stages, definitions; on stdin and stdout.",
    "paper": "Run a paper's set-ups; draw its figures, ours beside its values; a verdict for each "
    "claim.",
    "papers": "List the papers whose figures and claims can be run, one line each.",
    "published": "List programs that others have published, and what becomes of each in your "
    "clones.",
    "replay": "Put the same packets to P4 programs and to RFC 8289; compare their decisions one by "
    "one.",
    "report": "Make table, plots and report again from the rows of an earlier run.",
    "run": "Run a scenario through each of its AQMs; write rows, table, plots and report.",
    "scenarios": "List the shipped scenarios, one line each.",
    "schema": "Print the JSON schema of a scenario, sweep or control-plane file, for editors.",
    "switch": "Run a program between real interfaces, until Ctrl-C; then say what became of the "
    "packets.",
    "sweep": "Run a scenario with every combination of seeds and values; one table, plots and a "
    "page.",
    "test": "Run packet tests (STF) on a P4 program.",
    "trace": "Show one packet's way through a program: states, tables, actions, registers.",
    "linux": "Kernels for --on linux.",
}
"""Each command, a module of this folder, with its line in the help."""

_MODULES = {"int": "telemetry"}
"""Modules with other names: a module `int` would hide the type in this package."""


class Commands(TyperGroup):
    """The commands by name; one is imported when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """In the order of the help."""
        return list(COMMANDS)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Plain: rich's Markdown would take half of the time to show one line for each command."""
        super(TyperGroup, self).format_help(ctx, formatter)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command's name and help line."""
        line = COMMANDS.get(cmd_name)
        return TyperCommand(cmd_name, help=line, short_help=line) if line else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of that name, or an error that suggests a near one."""
        name, stub, rest = super().resolve_command(ctx, args)
        if name is None or stub is None:
            return name, stub, rest
        import_module(f"sojourn.cli.{_MODULES.get(name, name.replace('-', '_'))}")
        known = typer.main.get_command(app)
        assert isinstance(known, TyperGroup)
        return name, known.commands[name], rest


app = typer.Typer(
    cls=Commands,
    help="What a P4 queue-management program does to real traffic, from its source text.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"sojourn {version('sojourn')}")
        raise typer.Exit


@app.callback()
def _sojourn(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    """Makes a group of the application before it has a command."""


Include = Annotated[
    list[Path] | None, typer.Option("-I", metavar="DIR", help="Where #include looks first.")
]

Define = Annotated[
    list[str] | None, typer.Option("-D", metavar="NAME[=VALUE]", help="Define a macro.")
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def open_console(*, stderr: bool = False) -> "Console":
    """A console no wider than 100 columns."""
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console


Kernel = Annotated[
    str,
    typer.Option(
        help="With --on linux: 'uml' (Debian's user-mode-linux), 'virtual' or '7.3' (`sojourn "
        "linux build-kernel` makes them), 'host', or a kernel's file."
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


NoScripts = Annotated[
    bool,
    typer.Option(
        "--no-scripts",
        help="Refuse code that a scenario brings along: [control] script, process, .sv modules.",
    ),
]


def definitions(given: Iterable[str] | None) -> dict[str, str]:
    """The macros of `-D NAME[=VALUE]`, each with its value; 1 if there is none."""
    return dict(_definition(text) for text in given or ())


def _definition(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.isidentifier():
        raise ScenarioError(f"-D {text}: write NAME or NAME=VALUE")
    return name, value if "=" in text else "1"


Cluster = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster there.")
]

Sources = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="For published programs: the folder with your clones."),
]

Processes = Annotated[
    int | None, typer.Option(min=1, help="Processes here, in place of one for each core.")
]


def warn_of_unread_macros(program: "Program", defines: Mapping[str, str]) -> None:
    """Warns of macros that none of the program's files reads."""
    for name, hint in unread_macros(program, defines).items():
        print(f"warning: -D {name}: no file of the program reads it{hint}", file=sys.stderr)
