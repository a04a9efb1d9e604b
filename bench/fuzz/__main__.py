"""Fuzzer for every reader of untrusted bytes, bounded in time.

    python bench/fuzz --minutes 10 --corpus target/fuzz [--seed N] [--kind p4 ...] [--noise FILE]

Each kind of input is tried in a process of its own (`worker.py`), which this one watches. An input
that ends the process, takes longer than `PATIENCE` or raises anything but an error for the user is
stored in the corpus under `failures/`, with the end of what the process said; the status is then 1.
Inputs with a new outcome are stored, too, and mutated in later runs. Must not know what an input
means.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from inputs import KINDS

PATIENCE = 60.0
"""Seconds that one input may take."""
_STEP = 0.2
"""Seconds between two looks at a worker."""


def main() -> int:
    """Fuzzes each kind for its share of the time; 1 if an input failed."""
    parser = argparse.ArgumentParser(description=__doc__, prog="fuzz")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--corpus", type=Path, default=Path("target/fuzz"))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--kind", action="append", choices=sorted(KINDS))
    parser.add_argument("--noise", type=Path, help="the example `noise` of sojourn-engine")
    given = parser.parse_args()
    kinds = given.kind or [kind for kind in KINDS if given.noise or not KINDS[kind].needs_noise]
    failures = 0
    for kind in kinds:
        share = 60 * given.minutes / len(kinds)
        tried, failed = fuzz(kind, given.seed, share, given.corpus, given.noise)
        print(f"{kind}: {tried} inputs, {failed} failures", flush=True)
        failures += failed
    if failures:
        print(f"failures in {given.corpus / 'failures'}; seed {given.seed}")
    return 1 if failures else 0


def fuzz(
    kind: str, seed: int, seconds: float, corpus: Path, noise: Path | None = None
) -> tuple[int, int]:
    """Tries inputs of a kind for so many seconds; how many there were, and how many failed."""
    end, first, failed = time.monotonic() + seconds, 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        while (left := end - time.monotonic()) > 0:
            place = Path(scratch)
            command = [kind, str(seed), str(first), str(left), str(corpus), scratch]
            if noise is not None:
                command.append(str(noise))
            status, said = _watched(command, place, left)
            tried = _number(place / "tried")
            first = max(tried, first)
            if status == 0:
                break
            failed += 1
            first += 1
            _store(corpus / "failures", kind, place / "case", f"status {status}\n{said}")
    return first, failed


def _watched(command: list[str], place: Path, seconds: float) -> tuple[int, str]:
    """The status of a worker, and the end of what it said. One that hangs is killed."""
    output = place / "output"
    worker = [sys.executable, str(Path(__file__).parent / "worker.py"), *command]
    with output.open("wb") as file:
        process = subprocess.Popen(worker, stdout=file, stderr=subprocess.STDOUT)
    started = time.monotonic()
    while process.poll() is None:
        time.sleep(_STEP)
        case = place / "case"
        begun = case.stat().st_mtime if case.exists() else time.time()
        overdue = time.monotonic() - started > seconds + 2 * PATIENCE
        if overdue or time.time() - begun > PATIENCE:
            process.kill()
            process.wait()
            return -9, f"no answer within {PATIENCE:.0f} s"
    return process.returncode, output.read_bytes()[-4000:].decode("utf-8", "replace")


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return 0


def _store(folder: Path, kind: str, case: Path, said: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = case.read_bytes() if case.exists() else b""
    name = f"{kind}-{hashlib.sha256(data).hexdigest()[:16]}"
    if case.exists():
        shutil.copy(case, folder / name)
    (folder / f"{name}.txt").write_text(said, encoding="utf-8")
    print(f"{kind}: failure {folder / name}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
