"""The commands that README and the pages print: each is one that the command line takes. Those of
the README are run in `test_readme.py`, those of `console` blocks in `test_tutorials.py`."""

import re
import shlex
from pathlib import Path

import pytest
import typer

from sojourn.cli.shared import app

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
def test_the_command_line_accepts_the_commands_of_a_page(page: str, line: str) -> None:
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
