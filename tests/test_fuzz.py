"""The fuzzer detects an input that ends its process, hangs or raises."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1] / "bench" / "fuzz"


def fuzz(corpus: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, BENCH, "--corpus", corpus, "--seed", "1", *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("kind", ["topology", "runtime", "capture", "stf", "scenario", "p4"])
def test_each_kind_of_input_is_tried_and_its_outcomes_are_stored(tmp_path: Path, kind: str) -> None:
    done = fuzz(tmp_path, "--minutes", "0.05", "--kind", kind)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{kind}: " in done.stdout and "0 failures" in done.stdout
    assert list((tmp_path / kind).iterdir())


@pytest.mark.parametrize("fault", ["os.abort()", "1 / 0", "raise MemoryError"])
def test_a_failing_input_is_stored_with_the_processs_output(tmp_path: Path, fault: str) -> None:
    faulty = tmp_path / "faulty"
    faulty.mkdir()
    for name in ("__main__.py", "worker.py", "mutate.py"):
        (faulty / name).write_text((BENCH / name).read_text("utf-8"), "utf-8")
    (faulty / "inputs.py").write_text(
        "import contextlib, dataclasses, os\n"
        "class Kind:\n"
        "    words, needs_noise = (), False\n"
        "    def seeds(self): return [b'good', b'bad']\n"
        "    @contextlib.contextmanager\n"
        "    def opened(self, scratch): yield self.run\n"
        "    def run(self, data):\n"
        f"        if data == b'bad': {fault}\n"
        "        return 'taken'\n"
        "KINDS = {'odd': Kind()}\n"
    )
    corpus = tmp_path / "corpus"
    command = (sys.executable, faulty, "--corpus", corpus, "--seed", "3", "--minutes", "0.03")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert b"bad" in [path.read_bytes() for path in (corpus / "failures").iterdir()]
