"""A process that has imported `sojourn` and forks for each command that a test calls.

Half of a short command's time goes into imports, so `conftest.call_sojourn` sends its commands
here. A command runs in a process of its own, with the folder, environment and arguments of its
caller, through `python -m sojourn`'s own entry point. A request is a line of JSON on the socket
whose descriptor is the first argument; the answers are the process and, at its end, the exit
status. Only memory allocators may start threads here: others would not survive a fork.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import socket
import sys
from typing import Any

# As `sojourn.cli.main` sets them, before numpy and pydantic are imported.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def load() -> None:
    """Imports what commands import, and builds what they build at first use."""
    for package in ("sojourn.cli", "sojourn.results", "sojourn.model"):
        folder = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(folder, package + "."):
            importlib.import_module(module.name)
    for name in ("matplotlib.figure", "matplotlib.backends.backend_agg", "pyarrow.parquet"):
        importlib.import_module(name)
    from sojourn.model.scenario.model import Scenario

    Scenario.model_rebuild()
    gc.collect()
    gc.freeze()


def serve(connection: socket.socket) -> None:
    """Answers requests. Returns in the process of a command; the server ends with its caller."""
    with connection.makefile("rw") as stream:
        for line in stream:
            if (process := os.fork()) == 0:
                become(json.loads(line))
                return
            print(process, file=stream, flush=True)
            status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            print(status, file=stream, flush=True)
    os._exit(0)


def become(request: dict[str, Any]) -> None:
    """Gives this process the place of the command's caller."""
    os.setpgid(0, 0)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv[1:] = request["arguments"]
    for descriptor, name in enumerate((os.devnull, request["stdout"], request["stderr"])):
        opened = os.open(name, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, descriptor)
        os.close(opened)


if __name__ == "__main__":
    load()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        serve(connection)
    runpy.run_module("sojourn", run_name="__main__", alter_sys=True)
