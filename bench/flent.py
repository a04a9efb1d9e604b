"""flent through a live switch: its `rrul` and `tcp_nup` with tail drop and with AQMs.

Its plots and data are left in a folder.

python bench/flent.py [--seconds 30] [--out flent] [AQM...]

Needs flent (PyPI), netperf with its server (Debian's is in non-free) and irtt in PATH; as root.
"""

import argparse
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AbstractContextManager
from pathlib import Path

from hosts import PORTS, SERVER, Host, enclose, started, two_hosts
from sojourn import _core

TESTS = ("tcp_nup", "rrul")
AQMS = ("fifo", "fq_codel", "v1model/codel", "codel_exact")
RATE, LIMIT = "20 Mbit/s", "500 kB"
NATIVE = {name for name, *_ in _core.native_disciplines()}


def main() -> None:
    """Every test through every AQM; a line of figures for each."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=int, default=30)
    options.add_argument("--out", type=Path, default=Path("flent"))
    options.add_argument("aqms", nargs="*", default=AQMS)
    given = options.parse_args()
    enclose()
    given.out.mkdir(parents=True, exist_ok=True)
    print(f"{RATE} both ways, {LIMIT} of queue, {given.seconds} s\n")
    print("| test | AQM | up, Mbit/s | down, Mbit/s | ping, mean ms | ping, 99 % ms |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place, two_hosts() as (one, other):
        servers = [
            subprocess.Popen(other.command(*words), stdout=subprocess.DEVNULL)
            for words in (("netserver", "-D"), ("irtt", "server"))
        ]
        try:
            for aqm in given.aqms or AQMS:
                with live(aqm, Path(place) / aqm.replace("/", "-")):
                    for test in TESTS:
                        show(test, aqm, measured(test, aqm, one, given))
        finally:
            for server in servers:
                server.kill()
                server.wait()


def live(aqm: str, folder: Path) -> AbstractContextManager[object]:
    """The switch, shaped both ways."""
    what = ["--aqm", aqm] if aqm in NATIVE else [aqm]
    command = [sys.executable, "-m", "sojourn", "switch", *what, "--out", str(folder)]
    for number, port in enumerate(PORTS, 1):
        command += [f"--port={number}={port}", f"--rate={number}={RATE}"]
        command.append(f"--queue-limit={number}={LIMIT}")
    return started(command, "rows and control")


def measured(test: str, aqm: str, host: Host, given: argparse.Namespace) -> Path:
    """flent's data of one test; its plot lies beside it."""
    time.sleep(1)
    name = f"{test}-{aqm.replace('/', '-')}"
    before = set(given.out.glob("*.flent.gz"))
    words = ["flent", test, "-H", SERVER, "-l", str(given.seconds), "-D", str(given.out)]
    words += [f"--title-extra={aqm}", "-f", "plot", "-o", str(given.out / f"{name}.png")]
    words += ["--test-parameter", "cc=cubic", "--test-parameter", "upload_streams=4"]
    host.run(*words, timeout=given.seconds + 120)
    data: Path
    (data,) = set(given.out.glob("*.flent.gz")) - before
    return data.rename(given.out / f"{name}.flent.gz")


def show(test: str, aqm: str, data: Path) -> None:
    """A row of the table."""
    with gzip.open(data, "rt") as file:
        results = json.load(file)["results"]

    def values(name: str) -> list[float]:
        """Without slow start and what is idle around the flows."""
        found = results.get(name) or []
        cut = len(found) // 4
        return [value for value in found[cut:-cut] if value is not None]

    def mean(name: str) -> str:
        found = values(name)
        return f"{statistics.mean(found):.2f}" if found else "-"

    ping = sorted(values("Ping (ms) ICMP"))
    worst = f"{ping[min(len(ping) * 99 // 100, len(ping) - 1)]:.1f}" if ping else "-"
    up, down = mean("TCP upload sum"), mean("TCP download sum")
    cells = [f"`{test}`", aqm, up, down, mean("Ping (ms) ICMP"), worst]
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
