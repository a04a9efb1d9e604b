"""docs/equivalence-tables.md and its CSV files, as bench/equivalence.py writes them.

Depends on the generator alone; `test_site.py` renders the page.
"""

import csv
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"

SECTION = """## Title

| AQM | drops | p99 |
|---|---|---|
| codel_act, 1 us | 1,234,567 | - |
| codel | -12,345.5 | 0.1 |

| trace | AQM |
|---|---|
| wander: 214,394 packets in 60 s | codel |
"""


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    """bench/equivalence.py as a module."""
    found = importlib.util.spec_from_file_location("equivalence", ROOT / "bench/equivalence.py")
    assert found and found.loader
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def rows(file: Path) -> list[list[str]]:
    """All lines of a CSV file."""
    with file.open(newline="") as lines:
        return list(csv.reader(lines))


def test_each_table_of_a_section_becomes_a_csv_file(generator: ModuleType, tmp_path: Path) -> None:
    text = generator.write_section("rfc", SECTION, tmp_path)
    assert text.startswith("## Title\n\n```{csv-table}\n:file: data/equivalence-rfc-1.csv\n")
    assert "|" not in text
    assert rows(tmp_path / "data/equivalence-rfc-1.csv") == [
        ["AQM", "drops", "p99"],
        ["codel_act, 1 us", "1234567", ""],
        ["codel", "-12345.5", "0.1"],
    ]
    assert rows(tmp_path / "data/equivalence-rfc-2.csv") == [
        ["trace", "AQM"],
        ["wander: 214,394 packets in 60 s", "codel"],
    ]


def test_the_page_names_each_csv_file_once_and_every_row_is_complete() -> None:
    page = (DOCS / "equivalence-tables.md").read_text()
    named = re.findall(r"^:file: (data/equivalence-\S+)$", page, re.MULTILINE)
    assert sorted(DOCS / name for name in named) == sorted(DOCS.glob("data/equivalence-*.csv"))
    for name in named:
        header, *lines = rows(DOCS / name)
        assert lines, name
        assert {len(line) for line in lines} == {len(header)}, name
