"""The commands that README and the pages print: each is one that the command line takes, and those
that need nothing but a moment run as they stand."""

import re
import shlex
import shutil
from pathlib import Path

import pytest
import typer

from conftest import call_sojourn
from sojourn.cli.shared import app
from sojourn.layout import programs_folder

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "p4/README.md"]


def printed(page: Path) -> list[str]:
    """The lines of a page's indented and console blocks that call sojourn, with those that go on
    joined."""
    text = page.read_text().replace("\\\n", " ")
    lines = re.findall(r"^(?:    |\$ |    \$ )(sojourn [^\n]*)$", text, re.MULTILINE)
    return [re.split(r"\s{3,}|\s\|\s|\s&&\s", line)[0].strip() for line in lines]


ALL = [(page.name, line) for page in PAGES for line in printed(page)]


@pytest.mark.parametrize(("page", "line"), ALL, ids=[f"{p}: {c[:60]}" for p, c in ALL])
def test_the_command_line_takes_what_a_page_prints(page: str, line: str) -> None:
    if "..." in line or "PROGRAM" in line or "RUN" in line or "$(" in line:
        pytest.skip("a pattern, and no command")
    group = typer.main.get_command(app)
    _, *words = shlex.split(line)
    words = [word for word in words if word not in ("--help", "--version")]
    if not words or words[0].startswith("--"):
        return
    context = group.make_context("sojourn", list(words), resilient_parsing=True)
    _, command, rest = group.resolve_command(context, words)  # type: ignore[attr-defined]
    command.make_context(command.name, rest, parent=context)


QUICK = ("aqms", "scenarios", "schema", "papers", "new", "check", "test", "emit")
"""Commands that need no traffic."""


def test_the_quick_commands_of_the_readme_run_as_printed(tmp_path: Path) -> None:
    """In their order and in one folder, which has the files that are said to be the reader's."""
    for kind in (".p4", ".toml"):
        shutil.copy(programs_folder() / f"tna/p4_codel{kind}", tmp_path / f"my_codel{kind}")
        shutil.copy(programs_folder() / f"v1model/router{kind}", tmp_path / f"my_router{kind}")
    for name in ("forwarding", "drops"):
        (tmp_path / f"{name}.stf").write_text("# no packets\n")
    (tmp_path / "include").mkdir()
    shutil.copytree(programs_folder(), tmp_path / "p4")
    folder = tmp_path
    ran = 0
    for line in re.findall(
        r"^    ((?:sojourn|cd) [^\n]*)$", (ROOT / "README.md").read_text(), re.M
    ):
        words = shlex.split(line)
        if words[0] == "cd":
            folder = folder / words[1]
            assert folder.is_dir(), line
            continue
        if words[1] not in QUICK:
            folder = tmp_path
            continue
        done = call_sojourn(folder, *words[1:])
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
        ran += 1
    assert ran >= 10
