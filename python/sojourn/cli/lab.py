"""`sojourn lab`: a tutorial's network around live switches, and commands on its hosts."""

import os
import signal
from pathlib import Path
from typing import Annotated

import typer

from sojourn.cli.shared import app
from sojourn.common.atomic_write import locked
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError
from sojourn.runtime.folder import default_folder
from sojourn.tools.lab.lab_process import find, into, programs_of, running
from sojourn.tools.lab.topology import Topology, read_topology


@app.command(context_settings={"allow_interspersed_args": False})
def lab(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="TOPOLOGY.json PROGRAM.p4 | exec HOST COMMAND...",
            help="The network and what runs in its switches; or what to run on a host of the lab "
            "that runs.",
        ),
    ],
    switch: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=PROGRAM.p4", help="Another program in a switch. Repeatable."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The lab's folder.")] = None,
) -> None:
    """Run a network of p4lang's tutorials around live switches, until Ctrl-C.

    `sojourn lab exec h1 ping 10.0.2.2` runs a command on a host of it. Options stand in front.
    """
    if words[0] == "exec":
        _execute(words[1:], out)
    if len(words) != 2:
        raise ScenarioError("write sojourn lab TOPOLOGY.json PROGRAM.p4")
    topology = read_topology(Path(words[0]))
    programs = programs_of(topology, words[1], dict(map(_other, switch or ())))
    _check(topology, programs)
    folder = out or default_folder(f"lab-{Path(words[1]).stem}")
    with locked(folder), running(topology, programs, folder) as here:
        print(f"hosts   {', '.join(here.hosts)}: sojourn lab exec {here.hosts[0]} bash")
        control = f"sojourn ctl {shown(folder)}/{here.switches[0]} ..."
        print(f"switches {', '.join(here.switches)}: {control}")
        print("Ctrl-C ends it", flush=True)
        signal.pause()


def _check(topology: Topology, programs: dict[str, str]) -> None:
    """Programs and entries, before anything is made."""
    # A command on a host need not wait for what compiles programs.
    from sojourn.control import read_description
    from sojourn.tools.lab.entries import check, read_runtime
    from sojourn.tools.lab.lab_init import plan_of

    for name, program in programs.items():
        plan = plan_of(topology, name, program)
        runtime = topology.switches[name].runtime
        if runtime is not None:
            if not plan.programs:
                raise ScenarioError(f"{name}: {program} is no P4 program; {runtime} is for one")
            described = read_description(plan.programs[0].declarations())
            check(read_runtime(runtime, described), plan.programs[0])


def _other(text: str) -> tuple[str, str]:
    name, equals, program = text.partition("=")
    if not equals:
        raise ScenarioError(f"--switch {text}: write NAME=PROGRAM.p4")
    return name, program


def _execute(words: list[str], folder: Path | None) -> None:
    """Becomes the command. Does not return."""
    if len(words) < 2:
        raise ScenarioError("write sojourn lab exec HOST COMMAND...")
    command = into(find(folder), words[0], words[1:])
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise ScenarioError(f"{command[0]}: {error.strerror}") from error
