"""A lab from outside: started, found again by commands that go into it, ended.

Depends on `namespaces`: whatever ends the command ends the lab. Where the lab of a user is, is in a
file of that user's cache.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sojourn.backends.linux.xstate_shim import cache_folder
from sojourn.backends.live import namespaces
from sojourn.common.atomic_write import write_text
from sojourn.common.resources import shown
from sojourn.errors import ScenarioError, SojournError
from sojourn.tools.lab.topology import Topology, TopologyError

ORDERS, LAB = "lab-job.json", "lab.json"
CONSOLE = "console.log"


class LabError(SojournError):
    """A lab does not run, or has not what was asked for."""


@dataclass(frozen=True)
class Orders:
    """The orders of the lab's first process."""

    topology: str
    programs: dict[str, str]
    """The program of each switch."""


@dataclass(frozen=True)
class Lab:
    """A lab that runs."""

    process: int
    """Its first process, by the number that it has outside."""
    user: int
    folder: str
    hosts: list[str]
    switches: list[str]


def programs_of(topology: Topology, program: str, others: Mapping[str, str]) -> dict[str, str]:
    """The program of each switch: its own, by `others` or by the topology, or the common one."""
    for name in others.keys() - topology.switches.keys():
        raise TopologyError(f"--switch {name}: there is none; {', '.join(topology.switches)}")
    found = {}
    for name, switch in topology.switches.items():
        found[name] = others.get(name) or program
        if switch.program is not None and name not in others:
            found[name] = str(_own(topology.path, name, switch.program, program))
    return found


def _own(path: Path, name: str, stem: str, program: str) -> Path:
    if Path(program).stem == stem:
        return Path(program)
    folders = (Path(program).parent, path.parent, path.parent.parent)
    for folder in folders:
        if (folder / f"{stem}.p4").is_file():
            return folder / f"{stem}.p4"
    raise TopologyError(f"{name} runs {stem}: name it with --switch {name}={stem}.p4")


@contextlib.contextmanager
def running(topology: Topology, programs: Mapping[str, str], folder: Path) -> Iterator[Lab]:
    """A lab while it runs."""
    namespaces.require()
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    known = {name: _full(program) for name, program in programs.items()}
    orders = asdict(Orders(str(topology.path.resolve()), known))
    write_text(folder / ORDERS, json.dumps(orders, indent=1))
    path = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-P", "-m", "sojourn.tools.lab.lab_init", str(folder)]
    with (folder / CONSOLE).open("wb") as console:
        process = subprocess.Popen(
            namespaces.enclosed(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=console,
            env=os.environ | {"PYTHONPATH": path},
            start_new_session=True,
        )
    assert process.stdin is not None and process.stdout is not None
    try:
        if process.stdout.readline().strip() != b"ready":
            said = (folder / CONSOLE).read_text(encoding="utf-8", errors="replace").strip()
            raise LabError(f"the lab did not start: {said.splitlines()[-1] if said else 'no word'}")
        lab = Lab(
            namespaces.first_process(process.pid),
            os.geteuid(),
            str(folder),
            list(topology.hosts),
            list(topology.switches),
        )
        _remember(lab)
        yield lab
    finally:
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _full(program: str) -> str:
    """A file's path in full; a shipped program's name as it is."""
    return str(Path(program).resolve()) if Path(program).suffix == ".p4" else program


def _remember(lab: Lab) -> None:
    cache_folder().mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(lab))
    write_text(Path(lab.folder) / LAB, text)
    write_text(cache_folder() / LAB, text)


def find(folder: Path | None = None) -> Lab:
    """The lab in `folder`, or the one that was started last."""
    path = (folder or cache_folder()) / LAB
    try:
        lab = Lab(**json.loads(path.read_text(encoding="utf-8")))
        command = Path(f"/proc/{lab.process}/cmdline").read_bytes()
    except (OSError, ValueError, TypeError):
        raise LabError(_NONE) from None
    if b"sojourn.tools.lab.lab_init" not in command or lab.user != os.geteuid():
        raise LabError(_NONE)
    return lab


_NONE = "no lab runs; start one with `sojourn lab TOPOLOGY.json PROGRAM.p4` in another terminal"


def into(lab: Lab, host: str, command: Sequence[str]) -> list[str]:
    """The command that runs `command` on a host of the lab."""
    if host not in lab.hosts:
        raise ScenarioError(
            f"{host}: no host of the lab in {shown(Path(lab.folder))}: {', '.join(lab.hosts)}"
        )
    return [*namespaces.entered(lab.process), "ip", "netns", "exec", host, *command]
