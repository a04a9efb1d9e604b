"""Data files of the documentation: each has complete rows and is rendered by one page.

Depends on the files alone; `test_site.py` renders the pages.
"""

import csv
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
FILES = sorted(file for file in DOCS.rglob("*.csv") if "_build" not in file.parts)


def rows(file: Path) -> list[list[str]]:
    """All lines of a CSV file."""
    with file.open(newline="") as lines:
        return list(csv.reader(lines))


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.name))
def test_rows_of_a_data_file_are_complete(file: Path) -> None:
    header, *lines = rows(file)
    assert lines
    assert {len(line) for line in lines} == {len(header)}


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.name))
def test_no_cell_of_a_data_file_is_a_block_of_markdown(file: Path) -> None:
    # The site reads a cell as Markdown: a lone `-` is an empty list.
    block = re.compile(r"([-+*>]|\d+[.)]|#+)( |$)|```|---|    ")
    assert [cell for line in rows(file) for cell in line if block.match(cell)] == []


def test_each_data_file_is_rendered_by_one_page() -> None:
    rendered = Counter(
        (page.parent / name).resolve()
        for page in DOCS.rglob("*.md")
        for name in re.findall(r"^:file: (\S+)$", page.read_text(), re.MULTILINE)
    )
    assert rendered == Counter(FILES)


def test_only_ns3_as_it_is_signals_other_packets_than_a_discipline() -> None:
    header, *lines = rows(DOCS / "data" / "second-sources.csv")
    for line in lines:
        row = dict(zip(header, line, strict=True))
        equal = row["ours"] == row["theirs"] == row["equal"]
        assert equal or row["source"] == "ns-3", row


def test_documents_have_at_most_60000_words() -> None:
    root = DOCS.parent
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=root, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a checkout of git")
    pages = [root / name for name in listed.stdout.splitlines()]
    words = {str(page): len(page.read_text().split()) for page in pages if page.is_file()}
    assert sum(words.values()) <= 60_000, sorted(words.items(), key=lambda item: -item[1])[:5]
