"""Commands of a page that begin a live switch, run as they are printed, between interfaces that
are named as there; runs inside `unshare`.

    unshare --user --map-root-user --net --mount python live_page_commands.py FOLDER < given.json

What is given is `setup`, the page's own lines for a shell that make hosts, and `switches`: each a
`folder` to run in, a `command`, and the `controls` that are run while the switch does. A switch
is then ended as by Ctrl-C. Prints what became of each as JSON.
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 60
"""Seconds until a switch that has not begun is given up."""


def sojourn(line: str) -> list[str]:
    """A printed command, of the Sojourn that is tested."""
    return [sys.executable, "-m", *shlex.split(line)]


def shell(text: str) -> None:
    subprocess.run(["sh", "-e", "-c", text], check=True, capture_output=True, text=True)


@contextlib.contextmanager
def switch(command: str, folder: Path) -> Iterator[dict[str, object]]:
    """A switch while it runs; its status and what it printed once it has ended."""
    process = subprocess.Popen(
        sojourn(command), cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    said: dict[str, object] = {"command": command}
    until = time.monotonic() + PATIENCE
    try:
        while process.poll() is None and time.monotonic() < until:
            if any(folder.rglob("switch.json")):
                break
            time.sleep(0.02)
        said["began"] = any(folder.rglob("switch.json"))
        time.sleep(0.3)
        yield said
    finally:
        process.send_signal(signal.SIGINT)
        said["printed"], _ = process.communicate(timeout=PATIENCE)
        said["status"] = process.returncode


def controlled(line: str, folder: Path) -> dict[str, object]:
    """What a command says to the switch that runs."""
    done = subprocess.run(
        sojourn(line), cwd=folder, text=True, capture_output=True, timeout=PATIENCE, check=False
    )
    return {"command": line, "status": done.returncode, "printed": done.stdout + done.stderr}


def main() -> None:
    given = json.load(sys.stdin)
    # `ip netns` keeps its names below /run.
    shell("mount -t tmpfs none /run; ip link set lo up")
    shell(given["setup"])
    ran: list[dict[str, object]] = []
    for one in given["switches"]:
        folder = Path(one["folder"])
        with switch(one["command"], folder) as said:
            ran += [controlled(line, folder) for line in one["controls"]]
        ran.append(said)
    json.dump(ran, sys.stdout)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
