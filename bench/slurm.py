"""A sweep on a SLURM cluster of one machine: `python bench/slurm.py`, as root.

Starts munged, slurmctld and slurmd (Debian: slurmctld slurmd slurm-client munge) below a temporary
folder, hands the job of docs/sweeps.md over with `sbatch`, with fewer tasks, and compares its
table with that of the same sweep without a cluster. The machine counts as four processors, however
many it has. Ends what it started. Status 3 if a package is missing.
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "sweeps.md"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "srun", "scancel")
PACKAGES = "slurmctld slurmd slurm-client munge"
NOT_THERE = 3
TASKS = {"65": "4", "63": "2"}
"""The document's numbers of tasks, and those of here."""
PATIENCE = 300
"""s"""

SWEEP = """
seeds = "1..4"
aqms = ["fifo", "codel"]
[scenario]
duration = "1 s"
aqms = ["fifo"]
switch = { rate = "20 Mbit/s" }
flows = [{ count = 2, rtt = "10 ms" }]
"""

CONFIGURATION = """
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""


def job() -> str:
    """The document's, with the tasks of here."""
    text = DOCUMENT.read_text()
    begin = text.index("    #!/bin/bash")
    lines = []
    for line in text[begin:].splitlines():
        if line and not line.startswith("    "):
            break
        lines.append(line[4:])
    script = "\n".join(lines).strip()
    return re.sub(r"--ntasks=(\d+)", lambda n: f"--ntasks={TASKS.get(n[1], n[1])}", script) + "\n"


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Cluster:
    """The daemons, while they are needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        host = socket.gethostname().partition(".")[0]
        for name in ("state", "spool"):
            (folder / name).mkdir()
        text = CONFIGURATION.format(host=host, ports=free_ports(2), folder=folder)
        (folder / "slurm.conf").write_text(text)
        self.environment = os.environ | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }

    def start(self) -> None:
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        files = {name: self.folder / f"munge.{name}" for name in ("socket", "pid", "log", "seed")}
        self._daemon(
            *("munged", "--foreground", "--force", f"--key-file={key}"),
            *(f"--{name}-file={files[name]}" for name in ("pid", "log", "seed")),
            f"--socket={files['socket']}",
        )
        self._wait(files["socket"].exists, "munged")
        self._daemon("slurmctld", "-D")
        self._daemon("slurmd", "-D")
        self._wait(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%t"), "slurmd")

    def ask(self, *words: str) -> str:
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout

    def _daemon(self, *words: str) -> None:
        with (self.folder / f"{words[0]}.out").open("wb") as out:
            self.started.append(
                subprocess.Popen(
                    words, env=self.environment, stdout=out, stderr=out, start_new_session=True
                )
            )

    def _wait(self, condition: Callable[[], object], what: str) -> None:
        end = time.monotonic() + 60
        while not condition():
            if time.monotonic() > end:
                said = "\n".join(path.read_text()[-1000:] for path in self.folder.glob("*.out"))
                raise SystemExit(f"{what} does not come up\n{said}")
            time.sleep(0.2)

    def stop(self) -> None:
        for daemon in reversed(self.started):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(daemon.pid, signal.SIGKILL)
                daemon.wait()


def wait_for(cluster: Cluster, number: str) -> None:
    end = time.monotonic() + PATIENCE
    while cluster.ask("squeue", "-h", "-j", number).strip():
        if time.monotonic() > end:
            cluster.ask("scancel", number)
            raise SystemExit(f"the job has not ended in {PATIENCE} s")
        time.sleep(1)


def run(words: Sequence[str], place: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        words, cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


def table(place: Path) -> pa.Table:
    """The sweep's rows, but for what a machine's clock says."""
    (found,) = place.glob("sweeps/*/table.parquet")
    return pq.read_table(found)


def main() -> int:
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.geteuid():
        print(f"as root, and with these packages: apt-get install {PACKAGES}", file=sys.stderr)
        return NOT_THERE
    with tempfile.TemporaryDirectory(prefix="sojourn-slurm-") as name:
        folder = Path(name)
        cluster = Cluster(folder)
        try:
            cluster.start()
            for place in ("there", "here"):
                (folder / place).mkdir()
                (folder / place / "my_sweep.toml").write_text(SWEEP)
            (folder / "there" / "job.sh").write_text(job())
            begin = time.monotonic()
            there = folder / "there"
            number = run(["sbatch", "--parsable", "job.sh"], there, cluster.environment).strip()
            wait_for(cluster, number)
            took = time.monotonic() - begin
            said = (there / f"slurm-{number}.out").read_text()
            run(["sojourn", "sweep", "my_sweep.toml"], folder / "here", cluster.environment)
            try:
                same = table(there).equals(table(folder / "here"))
            except ValueError:
                print(said)
                raise SystemExit("the sweep has left no table") from None
        finally:
            cluster.stop()
    print(f"job {number}: {took:.0f} s; its table is {'' if same else 'NOT '}that of one machine")
    if not same:
        print(said)
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
