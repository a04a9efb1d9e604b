"""The commands of README.md and docs/tour.md run as printed.

README comes first; a command on both pages runs once. The commands run in order in one folder."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from conftest import SMALL, call_sojourn
from sojourn.common.resources import programs_folder

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "docs/tour.md"]


def printed(page: Path) -> list[str]:
    """The commands of a page in order, without trailing comments."""
    lines = re.findall(r"^    ((?:sojourn|cd) [^\n]*)$", page.read_text(), re.MULTILINE)
    return [re.sub(r"\s+# .*$", "", line) for line in lines]


def _commands() -> list[str]:
    """The commands of both pages; a repeated command appears once, a change of folder each time."""
    commands: list[str] = []
    for line in (line for page in PAGES for line in printed(page)):
        if line.startswith("cd ") or line not in commands:
            commands.append(line)
    return commands


COMMANDS = _commands()

ELSEWHERE = {
    "published/pi2-for-p4 --sources DIR": "of a clone: tests/test_published.py",
    "sojourn paper codel-act": "half a minute of every core: tests/test_papers.py runs another",
    "sojourn paper my_paper.toml": "the paper of a tutorial: tests/test_tutorials.py",
    "--on linux": "on a kernel in real time: tests/test_linux.py",
    "sojourn agree": "on a kernel: tests/test_agree.py, tests/test_linux.py",
    "--on live": "in real time: tests/test_live_backend.py",
    "sojourn switch": "between interfaces, until Ctrl-C: tests/test_live.py",
    "sojourn lab": "in namespaces, until its shell ends: tests/test_lab.py",
}
"""What a command has that is run elsewhere, and where."""

SWEEP = """
scenario = "my.toml"
seeds = "1..2"

[grid]
"switch.rate" = ["20 Mbit/s", "50 Mbit/s"]
"""


def elsewhere(line: str) -> bool:
    """Whether another test runs it."""
    return any(part in line for part in ELSEWHERE)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a reader, with the files that the pages call the reader's own."""
    folder = tmp_path_factory.mktemp("reader")
    for kind in (".p4", ".toml"):
        shutil.copy(programs_folder() / f"tna/p4_codel{kind}", folder / f"my_codel{kind}")
        shutil.copy(programs_folder() / f"v1model/router{kind}", folder / f"my_router{kind}")
    for name in ("forwarding", "drops"):
        (folder / f"{name}.stf").write_text("# no packets\n")
    (folder / "include").mkdir()
    shutil.copytree(programs_folder(), folder / "p4")
    (folder / "my.toml").write_text(SMALL)
    (folder / "my_sweep.toml").write_text(SWEEP)
    _runs_of_before(folder)
    return folder


def _runs_of_before(folder: Path) -> None:
    """The runs and the capture that a reader has by then."""
    for name, seed in (("bufferbloat-20250101-120000", 1), ("before", 1), ("after", 2)):
        options = ("--seed", seed, "--out", f"runs/{name}", "--no-report")
        assert call_sojourn(folder, "run", "my.toml", *options).returncode == 0
    aqm = ("--aqm", "v1model/codel", "-D", "QUEUE_MEASUREMENT")
    captured = call_sojourn(folder, "run", "my.toml", *aqm, "--pcap", "--out", "captured")
    assert captured.returncode == 0, captured.stderr
    (capture,) = (folder / "captured").glob("*/bottleneck.pcapng")
    shutil.copy(capture, folder / "capture.pcapng")


def test_every_command_of_both_pages_runs_as_printed(reader: Path, with_verilator: None) -> None:
    here = reader
    ran = 0
    for line in COMMANDS:
        words = shlex.split(line)
        if words[0] == "cd":
            here = reader / words[1]
            assert here.is_dir(), line
        elif not elsewhere(line):
            # What `new` has made is used where it is; everything else beside the reader's files.
            here = here if (here / words[-1]).exists() else reader
            done = call_sojourn(here, *words[1:])
            assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
            ran += 1
    assert ran + sum(map(elsewhere, COMMANDS)) + COMMANDS.count("cd my_aqm") == len(COMMANDS)


def test_commands_that_other_tests_run_exist_on_a_page() -> None:
    for part in ELSEWHERE:
        assert any(part in line for line in COMMANDS), part
