"""Tutorial pages, executed from their first line to their last: every file is written, every
command run, and the output equals the page's.

`python tests/page_reader.py PAGE...` writes what comes out into a page.
"""

from pathlib import Path

import pytest

from page_reader import Command, File, Ran, Reader, agrees, rewritten, steps

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "```console\n" in page.read_text())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_the_real_output(page: Path, tmp_path: Path) -> None:
    reader = Reader(tmp_path)
    reader.follow(page)
    assert reader.done
    for ran in reader.done:
        message = (
            f"$ {ran.command.line}\n{ran.printed}\n[{ran.status}]\nis not:\n{ran.command.shown}"
        )
        assert ran.as_shown, message


def test_an_ellipsis_is_a_part_of_a_line_or_any_number_of_lines() -> None:
    assert agrees("took ... s\n", "took 3.1 s")
    assert agrees("one\n...\nfour\n", "one\ntwo\nthree\nfour")
    assert agrees("one\n...\nfour\n", "one\nfour")
    assert not agrees("one\n...\nfour\n", "one\ntwo\nthree\nfive")
    assert not agrees("took ... s\n", "took 3.1 s\nand more")


def test_steps_are_files_changes_and_commands_in_their_order(tmp_path: Path) -> None:
    page = (
        "```{code-block} toml\n:caption: a.toml\n\nx = 1\n```\n"
        "```diff\n--- a/a.toml\n```\n```text\nnothing\n```\n"
        "```console\n$ one \\\n    more\nsaid\n$ two\n```\n"
        "```{literalinclude} b.py\n:caption: c.py\n:language: python\n```\n"
    )
    (tmp_path / "b.py").write_text("y = 2\n")
    found = list(steps(page, tmp_path))
    kinds = [(type(step).__name__, getattr(step, "line", "")) for step in found]
    commands = [("Command", "one more"), ("Command", "two")]
    assert kinds == [("File", ""), ("Change", ""), *commands, ("File", "")]
    assert found[-1] == File("c.py", "y = 2\n")


def test_a_page_s_figures_are_brought_up_to_date_and_its_gaps_stay() -> None:
    page = "```console\n$ run\n mean  p99\n 1.20 3.4\n...\ntook ... s\n```\n"
    (command,) = steps(page)
    assert isinstance(command, Command)
    reader = Reader(Path(), [Ran(command, 0, " mean   p99\n 11.20 3.4\nrows\ntook 3 s")])
    new = "```console\n$ run\n mean   p99\n 11.20 3.4\n...\ntook ... s\n```\n"
    assert rewritten(page, reader) == new
    reader.done[0] = Ran(command, 0, "something else")
    assert rewritten(page, reader) == "```console\n$ run\nsomething else\n```\n"
